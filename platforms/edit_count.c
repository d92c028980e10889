/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit_count.c - edits of the number of devices and cores. No state.
 *
 * Each device in use takes a CPU host for its driver. The number of CPU
 * workers, which are the others, changes by cpu.count alone: the CPU hosts of
 * drivers are added and removed with their devices.
 */
#include "platforms/edit_private.h"

#include "core/base/plural.h"
#include "platforms/desc_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More than a program can use (STARPU_MAXNODES); their routes grow with the
 * square, and each edit looks at all of them. */
#define MAX_DEVICES 256

/* OpenCL devices that have the number of a CUDA device are that device. */
static unsigned drivers_of(unsigned ncuda, unsigned nopencl)
{
    return ncuda > nopencl ? ncuda : nopencl;
}

static int set_hosts(struct orr_edit_work *work, const char *prefix, unsigned n,
                     unsigned wanted)
{
    bool *gone;
    int rc;

    if (wanted >= n)
        return wanted == n ? 0
                           : orr_edit_add_hosts(work, prefix, n, wanted, NULL);
    gone = calloc(n, sizeof(*gone));
    if (!gone)
        return orr_edit_no_memory(work);
    for (unsigned k = wanted; k < n; k++)
        gone[k] = true;
    rc = orr_edit_remove_hosts(work, prefix, gone);
    free(gone);
    return rc;
}

/* The count that the edit makes of `old`; `hosts` are there to be copied. */
static int wanted_count(struct orr_edit_work *work, unsigned old,
                        unsigned hosts, unsigned most, unsigned *ret)
{
    double wanted;
    int rc = orr_edit_compute(work, old, true, &wanted);

    if (rc)
        return rc;
    if (floor(wanted) != wanted)
        return orr_edit_wrong(work, work->edit->at_value,
                              "the result would be %g, which is no count",
                              wanted);
    if (wanted > most)
        return orr_edit_wrong(work, work->edit->at_value,
                              "that would be %.0f, and a machine can have %u",
                              wanted, most);
    if (wanted > 0 && hosts == 0)
        return orr_edit_wrong(work, work->edit->at_target,
                              "this machine has no %s that could be copied",
                              orr_edit_class_host(work->edit->class));
    *ret = (unsigned)wanted;
    return 0;
}

/* ---- cores ---- */

static int say_cpus(struct orr_edit_work *work, unsigned before, unsigned after,
                    unsigned drivers, unsigned nodes)
{
    struct orr_edit_echo *echo = work->echo;
    int rc;

    if (before == after)
        return orr_edit_echo_say(echo, "no effect: already so");
    echo->effect = work->changed = true;
    rc = orr_edit_echo_say(echo,
                           "%u -> %u CPU workers, beside %u core%s that "
                           "drive devices",
                           before, after, drivers, drivers == 1 ? "" : "s");
    return rc || nodes < 2
               ? rc
               : orr_edit_echo_say(echo, "; evenly on %u NUMA nodes", nodes);
}

static int set_cpus(struct orr_edit_work *work, unsigned workers,
                    unsigned drivers, unsigned *ret_nodes)
{
    struct orr_edit_cores cores;
    int rc;

    if (orr_edit_cores_init(work->desc, &cores))
        return orr_edit_no_memory(work);
    orr_edit_cores_spread(&cores, workers);
    orr_edit_cores_count_drivers(work->desc, &cores, 1);
    rc = orr_edit_cores_apply(work, &cores, workers + drivers);
    *ret_nodes = cores.n;
    orr_edit_cores_done(&cores);
    return rc;
}

static int change_cpus(struct orr_edit_work *work)
{
    struct orr_machine_desc *desc = work->desc;
    unsigned drivers = drivers_of(desc->ncuda, desc->nopencl);
    unsigned before = desc->ncpu > drivers ? desc->ncpu - drivers : 0, after;
    unsigned others = desc->nhosts - desc->ncpu + drivers, nodes = 0;
    int rc = wanted_count(
        work, before, desc->ncpu,
        others < ORR_DESC_MAX_HOSTS ? ORR_DESC_MAX_HOSTS - others : 0, &after);

    if (rc == 0 && after != before)
        rc = set_cpus(work, after, drivers, &nodes);
    if (rc)
        return rc;
    return say_cpus(work, before, after, drivers, nodes)
               ? orr_edit_no_memory(work)
               : 0;
}

/* ---- devices ---- */

/* OpenCL devices `before` and above were in use, of which there are nopencl. */
static int say_hidden(struct orr_edit_echo *echo, unsigned before,
                      unsigned after, unsigned nopencl)
{
    unsigned end = after < nopencl ? after : nopencl;

    if (end <= before)
        return 0;
    return orr_edit_echo_say(echo,
                             "; OpenCL devices %u to %u go out of use, since "
                             "CUDA drives the devices of these numbers",
                             before, end - 1);
}

/* "CUDA3" or "CUDA3 to CUDA7" */
static int say_range(struct orr_edit_echo *echo, const char *prefix,
                     unsigned first, unsigned last)
{
    if (first == last)
        return orr_edit_echo_say(echo, "%s%u", prefix, first);
    return orr_edit_echo_say(echo, "%s%u to %s%u", prefix, first, prefix, last);
}

static int say_new(struct orr_edit_echo *echo, const char *prefix,
                   unsigned before, unsigned after)
{
    unsigned added = after - before;
    unsigned nroutes = echo->nroutes + echo->routes_left_out;
    int rc = say_range(echo, prefix, before, after - 1);

    if (rc == 0)
        rc = orr_edit_echo_say(echo, " like ");
    if (rc == 0)
        rc = say_range(echo, prefix, 0, (added < before ? added : before) - 1);
    if (rc == 0 && added > before && before > 1)
        rc = orr_edit_echo_say(echo, " in turn");
    return rc ? rc
              : orr_edit_echo_say(
                    echo, ", with %u link%s and %u route%s of their own",
                    echo->nlinks, orr_plural(echo->nlinks), nroutes,
                    orr_plural(nroutes));
}

static int echo_device_count(struct orr_edit_work *work, unsigned before,
                             unsigned after, unsigned cores)
{
    struct orr_edit_echo *echo = work->echo;
    const char *prefix = orr_edit_class_host(work->edit->class);
    int rc =
        orr_edit_echo_say(echo, "%u -> %u %s devices: ", before, after, prefix);

    if (rc == 0 && after > before)
        rc = say_new(echo, prefix, before, after);
    else if (rc == 0)
        rc = orr_edit_echo_say(echo, "%u device%s and %u link%s removed",
                               echo->ndevices, orr_plural(echo->ndevices),
                               echo->nlinks, orr_plural(echo->nlinks));
    if (rc == 0)
        rc = orr_edit_echo_say(echo,
                               "; %u core%s %s for device workers, as many "
                               "CPU workers as before",
                               cores, cores == 1 ? "" : "s",
                               after > before ? "more" : "fewer");
    if (rc == 0 && after == before + 1 && before == 1 && echo->nroutes == 2)
        return orr_edit_echo_say(echo, "; the two have no direct route");
    return rc;
}

/* OpenCL devices above the last CUDA device are in use; if that changed, they
 * would get other numbers, and the models of others. */
static int shrink_twins(struct orr_edit_work *work, unsigned ncuda)
{
    struct orr_machine_desc *desc = work->desc;

    if (desc->nopencl > desc->ncuda)
        return orr_edit_wrong(work, work->edit->at_target,
                              "OpenCL%u and above are devices of their own, "
                              "whose numbers would change: take them away "
                              "first, with \"opencl.count = %u\"",
                              desc->ncuda, desc->ncuda);
    if (desc->nopencl <= ncuda)
        return 0;
    return set_hosts(work, "OpenCL", desc->nopencl, ncuda);
}

/* CPU hosts for the drivers, on the nodes of their devices; none when the
 * devices took all there were. `cores`: as before, without the drivers that
 * there were. */
static int set_drivers(struct orr_edit_work *work, struct orr_edit_cores *cores,
                       unsigned before, unsigned after)
{
    unsigned ncpu = work->desc->ncpu, total = ncpu;

    if (ncpu > before)
        total = ncpu - before + after;
    else if (ncpu > after)
        total = after;
    orr_edit_cores_count_drivers(work->desc, cores, 1);
    return total == ncpu ? 0 : orr_edit_cores_apply(work, cores, total);
}

static int set_with_drivers(struct orr_edit_work *work, unsigned before,
                            unsigned after, struct orr_edit_cores *cores)
{
    struct orr_machine_desc *desc = work->desc;
    bool is_cuda = work->edit->class == ORR_EDIT_CUDA;
    unsigned nopencl = desc->nopencl, old, new;
    int rc = is_cuda && after < before ? shrink_twins(work, after) : 0;

    if (is_cuda && after < before && nopencl > after)
        nopencl = after;
    old = drivers_of(desc->ncuda, desc->nopencl);
    new = is_cuda ? drivers_of(after, nopencl) : drivers_of(desc->ncuda, after);
    if (rc == 0)
        rc = set_hosts(work, orr_edit_class_host(work->edit->class), before,
                       after);
    if (rc == 0 && echo_device_count(work, before, after,
                                     new > old ? new - old : old - new))
        rc = orr_edit_no_memory(work);
    if (rc == 0)
        rc = set_drivers(work, cores, old, new);
    if (rc == 0 && is_cuda && after > before &&
        say_hidden(work->echo, before, after, nopencl))
        rc = orr_edit_no_memory(work);
    return rc;
}

static int set_devices(struct orr_edit_work *work, unsigned before,
                       unsigned after)
{
    struct orr_edit_cores cores;
    int rc;

    if (orr_edit_cores_init(work->desc, &cores))
        return orr_edit_no_memory(work);
    memcpy(cores.wanted, cores.have, cores.n * sizeof(*cores.wanted));
    orr_edit_cores_count_drivers(work->desc, &cores, -1);
    rc = set_with_drivers(work, before, after, &cores);
    orr_edit_cores_done(&cores);
    return rc;
}

static int change_devices(struct orr_edit_work *work)
{
    struct orr_machine_desc *desc = work->desc;
    bool is_cuda = work->edit->class == ORR_EDIT_CUDA;
    unsigned before = is_cuda ? desc->ncuda : desc->nopencl, after;
    unsigned others = is_cuda ? desc->nopencl : desc->ncuda;
    int rc = wanted_count(work, before, before,
                          others < MAX_DEVICES ? MAX_DEVICES - others : before,
                          &after);

    if (rc)
        return rc;
    if (after == before) {
        rc = orr_edit_echo_say(work->echo, "no effect: already so");
        return rc ? orr_edit_no_memory(work) : 0;
    }
    work->changed = true;
    work->echo->effect = is_cuda || before > desc->ncuda || after > desc->ncuda;
    rc = set_devices(work, before, after);
    if (rc == 0 && !work->echo->effect &&
        orr_edit_echo_say(work->echo, "; no effect: CUDA drives these devices"))
        rc = orr_edit_no_memory(work);
    return rc;
}

int orr_edit_change_count(struct orr_edit_work *work)
{
    work->echo->quantity = "count";
    if (work->edit->class == ORR_EDIT_CPU)
        return change_cpus(work);
    return change_devices(work);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit_values.c - edits of the values of existing hosts and links, and
 * of costs. No state.
 */
#include "core/base/number.h"
#include "platforms/edit_private.h"

#include "platforms/desc_build.h"
#include "platforms/speeds.h"
#include "platforms/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int orr_edit_compute(const struct orr_edit_work *work, double old, bool zero,
                     double *ret)
{
    const struct orr_edit *edit = work->edit;
    double value = edit->value;

    switch (edit->op) {
    case ORR_EDIT_SET:
        break;
    case ORR_EDIT_TIMES:
        value = old * value;
        break;
    case ORR_EDIT_OVER:
        value = old / value;
        break;
    case ORR_EDIT_PLUS:
        value = old + value;
        break;
    case ORR_EDIT_MINUS:
        value = old - value;
        break;
    }
    if (!isfinite(value) || value < 0 || (value <= 0 && !zero))
        return orr_edit_wrong(work, edit->at_value,
                              "the result would be %g, from %g", value, old);
    *ret = value;
    return 0;
}

static int edit_set_number(const struct orr_edit_work *work,
                           struct orr_host_desc *host, const char *id,
                           double value)
{
    char text[ORR_NUMBER_MAX];
    int rc;

    orr_number_print(value, text);
    rc = orr_props_set(&host->props, &host->nprops, id, text);
    if (rc == -E2BIG)
        return orr_edit_wrong(work, 1, "host \"%.60s\" has too many properties",
                              host->id);
    return rc ? orr_edit_no_memory(work) : 0;
}

/* "CUDA0, CUDA1 and 2 more" would be long: "CUDA0-CUDA3" or "CUDA2". */
static int echo_device_range(struct orr_edit_echo *echo)
{
    if (echo->ndevices == 1)
        return orr_edit_echo_say(echo, "%s", echo->devices[0].name);
    return orr_edit_echo_say(echo, "%u devices from %s to %s", echo->ndevices,
                             echo->devices[0].name,
                             echo->devices[echo->ndevices - 1].name);
}

/* ---- memory, speed ---- */

/* OpenCL devices that are CUDA's under another name are not used. */
static bool is_shadowed(const struct orr_machine_desc *desc,
                        enum orr_edit_class kind, unsigned number)
{
    return kind == ORR_EDIT_OPENCL && number < desc->ncuda;
}

/* Bytes are whole, and a device whose memory is not stated has no bounds. */
static int change_memory(struct orr_edit_work *work, struct orr_host_desc *host,
                         double *ret_before, double *ret_after)
{
    const char *stated = orr_host_desc_prop(host, "memsize");
    double old = stated ? orr_strtod(stated, NULL) : 0;
    char text[32];
    int rc;

    if (!(old > 0) && work->edit->op != ORR_EDIT_SET)
        return orr_edit_wrong(work, work->edit->at_target,
                              "the memory of %.60s is not stated: give it "
                              "with \"=\"",
                              host->id);
    rc = orr_edit_compute(work, old, false, ret_after);
    if (rc)
        return rc;
    *ret_after = floor(*ret_after);
    if (*ret_after < 2097152 || *ret_after >= 1e17)
        return orr_edit_wrong(work, work->edit->at_value,
                              "a memory is between 2 MiB and 100 PB");
    *ret_before = old > 0 ? old : (double)NAN;
    orr_snprintf(text, sizeof(text), "%.0f", *ret_after);
    if (orr_props_set(&host->props, &host->nprops, "memsize", text))
        return orr_edit_no_memory(work);
    return 0;
}

/* Beyond that no date of a run would be a number that means anything. */
static int check_speed(const struct orr_edit_work *work, double speed)
{
    if (speed >= 1e-6 && speed <= 1e6)
        return 0;
    return orr_edit_wrong(work, work->edit->at_value,
                          "the speed would be %g: from a millionth to a million "
                          "times that of the models are possible",
                          speed);
}

static int change_speed(struct orr_edit_work *work, struct orr_host_desc *host,
                        double *ret_before, double *ret_after)
{
    int rc;

    *ret_before = orr_host_desc_speed(host);
    rc = orr_edit_compute(work, *ret_before, false, ret_after);
    if (rc == 0)
        rc = check_speed(work, *ret_after);
    return rc || !(*ret_after < *ret_before || *ret_after > *ret_before)
               ? rc
               : edit_set_number(work, host, ORR_PROP_SPEED, *ret_after);
}

static int change_host(struct orr_edit_work *work, struct orr_host_desc *host,
                       bool *used)
{
    enum orr_edit_class kind = work->edit->class;
    int number = orr_host_desc_number(host, orr_edit_class_host(kind)), rc;
    double before = 0, after = 0;

    if (number < 0 || !orr_edit_has_number(work->edit, (unsigned)number))
        return 0;
    rc = work->edit->prop == ORR_EDIT_MEMORY
             ? change_memory(work, host, &before, &after)
             : change_speed(work, host, &before, &after);
    if (rc)
        return rc;
    if (!(before == after))
        work->changed = true;
    if (!is_shadowed(work->desc, kind, (unsigned)number))
        *used = true;
    if (orr_edit_echo_device(work->echo, host->id, before, after))
        return orr_edit_no_memory(work);
    return 0;
}

/* Copies from and to a memory may depend on its size. */
static int note_memory_routes(struct orr_edit_work *work)
{
    const struct orr_machine_desc *desc = work->desc;

    for (unsigned r = 0; r < desc->nroutes; r++) {
        const struct orr_host_desc *ends[] = {
            &desc->hosts[desc->routes[r].src],
            &desc->hosts[desc->routes[r].dst]};
        bool meant = false;

        for (unsigned e = 0; e < 2; e++) {
            int number = orr_host_desc_number(ends[e], "RAM");

            meant |= number >= 0 &&
                     orr_edit_has_number(work->edit, (unsigned)number);
        }
        if (meant && orr_edit_echo_route(work->echo, ends[0]->id, ends[1]->id))
            return orr_edit_no_memory(work);
    }
    return 0;
}

static int say_hosts(struct orr_edit_work *work, bool used)
{
    struct orr_edit_echo *echo = work->echo;
    const char *kind = orr_edit_class_host(work->edit->class);
    int rc;

    if (echo->ndevices == 0 && work->edit->class == ORR_EDIT_RAM)
        return orr_edit_echo_say(echo,
                                 "no effect: main memory is one node here, "
                                 "which is unlimited, or limited by "
                                 "STARPU_LIMIT_CPU_MEM");
    if (echo->ndevices == 0)
        return orr_edit_echo_say(echo, "no effect: this machine has no %s",
                                 kind);
    if (!work->changed)
        return orr_edit_echo_say(echo, "no effect: already so");
    if (!used)
        return orr_edit_echo_say(echo, "no effect: CUDA drives these devices");
    echo->effect = true;
    rc = orr_edit_echo_items(echo, echo->devices, echo->ndevices);
    return rc || work->edit->class != ORR_EDIT_RAM
               ? rc
               : orr_edit_echo_say(echo, "; counts with STARPU_USE_NUMA=1");
}

int orr_edit_change_hosts(struct orr_edit_work *work)
{
    struct orr_machine_desc *desc = work->desc;
    bool used = false;
    int rc = orr_edit_check_numbers(work, work->edit->class);

    work->echo->quantity =
        work->edit->prop == ORR_EDIT_MEMORY ? "bytes" : "speed";
    for (unsigned i = 0; i < desc->nhosts && rc == 0; i++)
        rc = change_host(work, &desc->hosts[i], &used);
    if (rc == 0 && work->edit->class == ORR_EDIT_RAM)
        rc = note_memory_routes(work);
    if (rc)
        return rc;
    return say_hosts(work, used) ? orr_edit_no_memory(work) : 0;
}

/* ---- kernels ---- */

static int change_kernel_on(struct orr_edit_work *work,
                            struct orr_host_desc *host, double *ret_speed)
{
    char id[256];
    double before = 1, after = 0, number;
    bool time = work->edit->prop == ORR_EDIT_TIME;
    const char *stated;
    int rc;

    snprintf(id, sizeof(id), ORR_PROP_KERNEL_SPEED "%s]", work->edit->name);
    stated = orr_host_desc_prop(host, id);
    if (stated && orr_number_parse(stated, &number) == NULL && number > 0)
        before = number;
    rc = orr_edit_compute(work, time ? 1 / before : before, false, &after);
    if (rc)
        return rc;
    if (time)
        after = 1 / after;
    rc = check_speed(work, after);
    if (rc)
        return rc;
    *ret_speed = after;
    if (orr_edit_echo_device(work->echo, host->id, before, after))
        return orr_edit_no_memory(work);
    if (!(fabs(after - before) > 1e-12 * before))
        return 0;
    work->changed = true;
    return edit_set_number(work, host, id, after);
}

static int say_kernel(struct orr_edit_work *work, double speed)
{
    struct orr_edit_echo *echo = work->echo;
    const char *name = work->edit->name;
    bool whole = *name == '"', glob = !whole && strpbrk(name, "*?");
    int rc;

    if (echo->ndevices == 0)
        return orr_edit_echo_say(echo, "no effect: this machine has no %s",
                                 orr_edit_class_host(work->edit->on));
    if (!work->changed)
        return orr_edit_echo_say(echo, "no effect: already so");
    echo->effect = true;
    rc = orr_edit_echo_say(echo,
                           "%s %s run at %.4g times the speed of their "
                           "models (%.4g times as long) on ",
                           whole  ? "kernels called"
                           : glob ? "kernels that match"
                                  : "kernels whose name contains",
                           name, speed, 1 / speed);
    return rc ? rc : echo_device_range(echo);
}

int orr_edit_change_kernel(struct orr_edit_work *work)
{
    struct orr_machine_desc *desc = work->desc;
    double speed = 1;
    int rc = 0;

    work->echo->quantity = "speed";
    work->echo->kernel = strdup(work->edit->name);
    if (!work->echo->kernel)
        return orr_edit_no_memory(work);
    for (unsigned k = ORR_EDIT_CPU; k <= ORR_EDIT_OPENCL && rc == 0; k++) {
        if (work->edit->on != ORR_EDIT_ANYWHERE && work->edit->on != k)
            continue;
        if (work->edit->on == k)
            rc = orr_edit_check_numbers(work, k);
        for (unsigned i = 0; i < desc->nhosts && rc == 0; i++) {
            int number =
                orr_host_desc_number(&desc->hosts[i], orr_edit_class_host(k));

            if (number >= 0 &&
                orr_edit_has_number(work->edit, (unsigned)number))
                rc = change_kernel_on(work, &desc->hosts[i], &speed);
        }
    }
    if (rc)
        return rc;
    return say_kernel(work, speed) ? orr_edit_no_memory(work) : 0;
}

/* What was known before the edits of a figure, after one more. */
static double edit_stated(const struct orr_edit_work *work, double stated,
                          double before)
{
    if (work->edit->op == ORR_EDIT_SET)
        return (double)NAN;
    return stated > 0 || isnan(stated) ? stated : before;
}

/* ---- links ---- */

static int change_link(struct orr_edit_work *work, struct orr_link_desc *link)
{
    bool latency = work->edit->prop == ORR_EDIT_LATENCY;
    double *value = latency ? &link->latency : &link->bandwidth;
    double *stated = latency ? &link->stated_latency : &link->stated_bandwidth;
    double before = *value, after = 0;
    int rc = orr_edit_compute(work, before, latency, &after);

    if (rc)
        return rc;
    *value = after;
    *stated = edit_stated(work, *stated, before);
    if (after != before)
        work->changed = true;
    return orr_edit_echo_link(work->echo, link->id, before, after)
               ? orr_edit_no_memory(work)
               : 0;
}

/* `ram` is of main memory's own links and of those to devices, which have no bandwidth
 * in common; `bus` says that all links are meant. */
static int check_one_rate(const struct orr_edit_work *work, const bool *links)
{
    const struct orr_edit *edit = work->edit;
    unsigned n = 0, nmembus = 0;

    if (edit->op != ORR_EDIT_SET || edit->prop != ORR_EDIT_BANDWIDTH ||
        edit->class != ORR_EDIT_RAM)
        return 0;
    for (unsigned l = 0; l < work->desc->nlinks; l++) {
        n += links[l];
        nmembus += links[l] && orr_edit_is_membus(&work->desc->links[l]);
    }
    if (nmembus == 0 || nmembus == n)
        return 0;
    return orr_edit_wrong(work, edit->at_target,
                          "main memory's own links and those of devices have no "
                          "one bandwidth: write membus.bandwidth, "
                          "pcie.bandwidth or disk.bandwidth, a factor, or "
                          "bus.bandwidth for all links");
}

/* All routes between memories that pass one of the links. */
static int note_routes(struct orr_edit_work *work, const bool *links,
                       unsigned *ret_n)
{
    const struct orr_machine_desc *desc = work->desc;

    *ret_n = 0;
    for (unsigned r = 0; r < desc->nroutes; r++) {
        const struct orr_route_desc *route = &desc->routes[r];
        bool passes = false;

        for (unsigned h = 0; h < route->nhops && !passes; h++)
            passes = links[route->hops[h].link];
        if (!passes)
            continue;
        ++*ret_n;
        if (orr_edit_echo_route(work->echo, desc->hosts[route->src].id,
                                desc->hosts[route->dst].id))
            return orr_edit_no_memory(work);
    }
    return 0;
}

/* The slowest of main memory's own links that is slower than a changed one on its
 * route, NULL: none. The routes gain nothing beyond it. */
static const struct orr_link_desc *
find_limiting_membus(const struct orr_machine_desc *desc, const bool *links)
{
    const struct orr_link_desc *found = NULL;

    for (unsigned r = 0; r < desc->nroutes; r++) {
        const struct orr_route_desc *route = &desc->routes[r];
        double fastest = 0;

        for (unsigned h = 0; h < route->nhops; h++)
            if (links[route->hops[h].link])
                fastest = fmax(fastest, desc->links[route->hops[h].link].bandwidth);
        for (unsigned h = 0; h < route->nhops; h++) {
            const struct orr_link_desc *link = &desc->links[route->hops[h].link];

            if (!links[route->hops[h].link] && orr_edit_is_membus(link) &&
                link->bandwidth < fastest &&
                (!found || link->bandwidth < found->bandwidth))
                found = link;
        }
    }
    return found;
}

static int say_links(struct orr_edit_work *work, const bool *links,
                     unsigned nroutes)
{
    struct orr_edit_echo *echo = work->echo;
    const struct orr_link_desc *limit;
    int rc;

    if (echo->nlinks == 0)
        return orr_edit_echo_say(echo, "no effect: this machine has no route "
                                       "of that class");
    if (!work->changed)
        return orr_edit_echo_say(echo, "no effect: already so");
    if (nroutes == 0)
        return orr_edit_echo_say(echo, "no effect: no route passes it");
    echo->effect = true;
    rc = orr_edit_echo_say(echo, "%u link%s on %u route%s: ", echo->nlinks,
                           echo->nlinks == 1 ? "" : "s", nroutes,
                           nroutes == 1 ? "" : "s");
    if (rc == 0)
        rc = orr_edit_echo_items(echo, echo->links, echo->nlinks);
    limit = work->edit->prop == ORR_EDIT_BANDWIDTH
                ? find_limiting_membus(work->desc, links)
                : NULL;
    if (rc == 0 && limit)
        rc = orr_edit_echo_say(echo,
                               "; main memory's \"%.60s\", %.4g GB/s, limits "
                               "them: membus.bandwidth",
                               limit->id, limit->bandwidth * 1e-9);
    return rc;
}

int orr_edit_change_links(struct orr_edit_work *work)
{
    struct orr_machine_desc *desc = work->desc;
    bool *links = calloc(desc->nlinks + (size_t)1, sizeof(*links));
    unsigned nroutes = 0;
    int rc;

    if (!links)
        return orr_edit_no_memory(work);
    work->echo->quantity =
        work->edit->prop == ORR_EDIT_LATENCY ? "seconds" : "bytes_per_second";
    rc = orr_edit_select_links(work, links);
    if (rc == 0)
        rc = check_one_rate(work, links);
    for (unsigned l = 0; l < desc->nlinks && rc == 0; l++)
        if (links[l])
            rc = change_link(work, &desc->links[l]);
    if (rc == 0)
        rc = note_routes(work, links, &nroutes);
    if (rc == 0 && say_links(work, links, nroutes))
        rc = orr_edit_no_memory(work);
    free(links);
    return rc;
}

/* ---- costs of the runtime ---- */

static int unknown_cost(const struct orr_edit_work *work)
{
    char known[400] = "";
    size_t n = 0;

    for (unsigned i = 0; i < ORR_NCOSTS; i++)
        n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s",
                              i ? ", " : "", orr_cost_fields[i].name);
    return orr_edit_wrong(work, work->edit->at_range,
                          "there is no cost \"%.60s\": they are %s",
                          work->edit->name, known);
}

/* Descriptions have microseconds, edits seconds. */
static int change_cost(struct orr_edit_work *work, unsigned cost)
{
    double *value = orr_machine_desc_cost(work->desc, cost), after = 0;
    double before = isnan(*value) ? orr_cost_fields[cost].usual : *value;
    double *stated = &work->desc->stated_costs[cost];
    int rc = orr_edit_compute(work, before * 1e-6, true, &after);

    if (rc)
        return rc;
    if (isnan(*value) || work->edit->op == ORR_EDIT_SET)
        *stated = edit_stated(work, *stated, before);
    if (fabs(after * 1e6 - before) > 1e-12 * before) {
        *value = after * 1e6;
        work->changed = true;
    }
    return orr_edit_echo_cost(work->echo, orr_cost_fields[cost].name,
                              before * 1e-6, after)
               ? orr_edit_no_memory(work)
               : 0;
}

int orr_edit_change_costs(struct orr_edit_work *work)
{
    struct orr_edit_echo *echo = work->echo;
    const char *name = work->edit->name;
    int rc = 0;

    echo->quantity = "seconds";
    for (unsigned i = 0; i < ORR_NCOSTS && rc == 0; i++)
        if (!name || strcmp(name, orr_cost_fields[i].name) == 0)
            rc = change_cost(work, i);
    if (rc)
        return rc;
    if (echo->ncosts == 0)
        return unknown_cost(work);
    if (!work->changed)
        rc = orr_edit_echo_say(echo, "no effect: already so");
    else
        rc = orr_edit_echo_items(echo, echo->costs, echo->ncosts);
    echo->effect = work->changed;
    return rc ? orr_edit_no_memory(work) : 0;
}

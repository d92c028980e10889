/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/real.c - the real machine: threads, and the drivers that this
 * library has. Opened and closed by main.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/device/cpu/driver.h"
#include "core/device/disk/disk.h"
#include "core/device/open.h"
#include "core/device/pinned.h"
#include "core/device/threads.h"
#include "perfmodel/sampling.h"

/* Also for a machine that was only half opened. */
static void real_close(struct orr_machine *machine)
{
    if (machine->pinned)
        orr_pinned_forget(machine->pinned);
    orr_drivers_close(machine);
    orr_threads_free(machine->exec);
    free(machine->name);
    free(machine->host);
    free(machine->nodes);
    free(machine->workers);
    free(machine->bandwidth);
    free(machine->latency);
    free(machine->neighbours);
    free(machine->distances);
    free(machine->direct);
    free(machine);
}

static const struct orr_machine_ops real_ops = {
    .close = real_close,
    .add_disk = orr_disks_add,
};

static int fill_names(struct orr_machine *machine,
                      const struct orr_machine_options *options,
                      struct orr_error *err)
{
    struct orr_host_options host = {.hostname = options->host};
    int rc = orr_host_name(&host, &machine->host, err);

    if (rc < 0)
        return rc;
    machine->name = strdup(machine->host);
    return machine->name ? 0 : -ENOMEM;
}

static int real_check_workers(const struct orr_machine *machine,
                              const struct orr_machine_options *options,
                              struct orr_error *err)
{
    if (machine->nworkers > 0)
        return 0;
    return orr_fail(err, -ENODEV,
                    "no worker is left: %d cores are reserved by "
                    "STARPU_RESERVE_NCPU, STARPU_NCPU is %d",
                    options->reserve_ncpu > 0 ? options->reserve_ncpu : 0,
                    options->ncpu);
}

static int real_machine_fill(struct orr_machine *machine,
                             const struct orr_machine_options *options,
                             struct orr_error *err)
{
    const struct orr_threads_options threads = {
        .first_pauses = options->first_pauses,
        .most_pauses = options->most_pauses,
    };
    int rc = fill_names(machine, options, err);

    if (rc == 0)
        rc = orr_threads_new(&threads, &machine->exec);
    if (rc == 0)
        rc = orr_drivers_open(options, machine, err);
    if (rc == 0)
        rc = real_check_workers(machine, options, err);
    if (rc == 0)
        rc = orr_cpu_driver_finish(options, machine->drivers[0], err);
    if (rc == 0 && options->pinned) {
        machine->pinner = orr_pinner_of(machine);
        machine->pinned = machine->pinner ? options->pinned : NULL;
    }
    return rc;
}

int orr_real_machine_open(const struct orr_machine_options *options,
                          struct orr_machine **ret, struct orr_error *err)
{
    struct orr_machine *machine = calloc(1, sizeof(*machine));
    int rc;

    if (!machine)
        return orr_fail(err, -ENOMEM, "no memory to open the machine");
    machine->ops = &real_ops;
    machine->runs_kernels = true;
    machine->host_copies_at_once = true;
    rc = real_machine_fill(machine, options, err);
    if (rc < 0) {
        real_close(machine);
        return rc == -ENOMEM
                   ? orr_fail(err, rc, "no memory to open the machine")
                   : rc;
    }
    *ret = machine;
    return 0;
}

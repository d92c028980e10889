/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/powers.c - see powers.h. */
#include "sim/powers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "platforms/power.h"

/* The kernel that a property has the power of; NULL: it has that of none. */
static const char *kernel_of(const char *prop)
{
    const char *busy = orr_power_prop(ORR_POWER_BUSY);
    size_t n = strlen(busy);

    return !strncmp(prop, busy, n) && prop[n] == '-' ? prop + n + 1 : NULL;
}

/* `less`: what the worker draws when it executes nothing. */
static int read_kernels(const struct orr_host_desc *host, double less,
                        struct orr_worker_powers *powers)
{
    for (unsigned i = 0; i < host->nprops; i++) {
        const char *kernel = kernel_of(host->props[i].id);
        struct orr_kernel_power *item;

        if (!kernel)
            continue;
        item = orr_array_add(powers->items, powers->n);
        if (!item)
            return -ENOMEM;
        item->watts = orr_host_desc_kernel_power(host, kernel) - less;
        item->kernel = strdup(kernel);
        if (!item->kernel)
            return -ENOMEM;
    }
    return 0;
}

/* Those of a device, or of all processors, which are stated with MAIN. */
static int add_powers(struct orr_machine *machine,
                      const struct orr_host_desc *host, bool device,
                      struct orr_worker_powers **ret)
{
    struct orr_worker_powers *powers = &machine->powers[machine->npowers++];
    double idle = device ? orr_host_desc_power(host, ORR_POWER_IDLE) : 0;

    powers->busy = orr_host_desc_power(host, ORR_POWER_BUSY) - idle;
    *ret = powers;
    return read_kernels(host, idle, powers);
}

int orr_sim_powers(const struct orr_machine_desc *desc, const unsigned *hosts,
                   struct orr_machine *machine)
{
    int host = orr_machine_desc_host(desc, "MAIN"), err = 0;
    struct orr_worker_powers *processors = NULL;

    machine->idle_watts = (double)NAN;
    if (!orr_machine_desc_has_power(desc))
        return 0;
    machine->powers = calloc(machine->nworkers + 1, sizeof(*machine->powers));
    if (!machine->powers)
        return -ENOMEM;
    if (host >= 0) {
        machine->idle_watts =
            orr_host_desc_power(&desc->hosts[host], ORR_POWER_IDLE);
        err = add_powers(machine, &desc->hosts[host], false, &processors);
    }
    for (unsigned w = 0; !err && w < machine->nworkers; w++) {
        struct orr_worker_desc *worker = &machine->workers[w];

        worker->powers = processors;
        if (worker->type == STARPU_CPU_WORKER)
            continue;
        machine->idle_watts +=
            orr_host_desc_power(&desc->hosts[hosts[w]], ORR_POWER_IDLE);
        err =
            add_powers(machine, &desc->hosts[hosts[w]], true, &worker->powers);
    }
    return err;
}

void orr_sim_powers_done(struct orr_machine *machine)
{
    for (unsigned i = 0; i < machine->npowers; i++) {
        for (unsigned k = 0; k < machine->powers[i].n; k++)
            free(machine->powers[i].items[k].kernel);
        free(machine->powers[i].items);
    }
    free(machine->powers);
}

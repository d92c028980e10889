/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/place.c - see place.h. */
#include "sim/place.h"

#include <errno.h>
#include <stdlib.h>

#include "core/device/neighbours.h"
#include "platforms/locality.h"
#include "sim/what_if.h"

/* The NUMA node that a host is in or next to; 0 without. */
static unsigned host_numa_node(const struct orr_host_desc *host, unsigned nmain)
{
    const char *value = orr_host_desc_prop(host, "numa");
    unsigned long node = value ? strtoul(value, NULL, 10) : 0;

    return node < nmain ? (unsigned)node : 0;
}

/* The host of each CPU by its number. */
static unsigned *list_cpus(const struct orr_machine_desc *desc)
{
    unsigned *cpus = calloc((size_t)desc->ncpu + 1, sizeof(*cpus));

    for (unsigned h = 0; cpus && h < desc->nhosts; h++) {
        int number = orr_host_desc_number(&desc->hosts[h], "CPU");

        if (number >= 0)
            cpus[number] = h;
    }
    return cpus;
}

/* Takes a driver's CPU from the list, whose order stays. */
static void take_driver(const struct orr_machine_desc *desc, unsigned nmain,
                        const struct orr_host_desc *device, unsigned *cpus,
                        unsigned *n)
{
    unsigned taken = *n - 1, wanted = host_numa_node(device, nmain);

    for (unsigned i = *n; i-- > 0;)
        if (host_numa_node(&desc->hosts[cpus[i]], nmain) == wanted) {
            taken = i;
            break;
        }
    for (unsigned i = taken; i + 1 < *n; i++)
        cpus[i] = cpus[i + 1];
    --*n;
}

struct places {
    const struct orr_machine_desc *desc;
    const unsigned *hosts;
};

/* Devices are far from all, as on the real machine. */
static unsigned worker_distance(const void *arg, unsigned a, unsigned b)
{
    const struct places *places = arg;
    const struct orr_host_desc *here = &places->desc->hosts[places->hosts[a]];
    const struct orr_host_desc *there = &places->desc->hosts[places->hosts[b]];

    return orr_host_desc_number(here, "CPU") < 0 ||
                   orr_host_desc_number(there, "CPU") < 0
               ? ORR_FAR
               : orr_host_desc_distance(here, there);
}

int orr_sim_place_neighbours(const struct orr_machine_desc *desc,
                             const unsigned *hosts,
                             struct orr_machine *machine)
{
    const struct places places = {desc, hosts};
    unsigned ncpu = 0;

    for (unsigned w = 0; w < machine->nworkers; w++)
        ncpu += orr_host_desc_number(&desc->hosts[hosts[w]], "CPU") >= 0;
    return ncpu > 1 && orr_machine_desc_places_cpus(desc)
               ? orr_neighbours_fill(machine, worker_distance, &places)
               : 0;
}

int orr_sim_place_cpus(const struct orr_machine_desc *desc, unsigned nmain,
                       unsigned ncpu, struct orr_machine *machine,
                       unsigned *hosts)
{
    unsigned *cpus = list_cpus(desc), n = desc->ncpu;
    int error = 0;

    if (!cpus)
        return -ENOMEM;
    for (unsigned w = ncpu; nmain > 1 && w < machine->nworkers && n > ncpu; w++)
        take_driver(desc, nmain, &desc->hosts[hosts[w]], cpus, &n);
    for (unsigned w = 0; w < ncpu && error == 0; w++) {
        const struct orr_host_desc *host = &desc->hosts[cpus[w]];

        hosts[w] = cpus[w];
        machine->workers[w].node = nmain > 1 ? host_numa_node(host, nmain) : 0;
        error = orr_sim_speeds(host, "CPU", machine, w);
    }
    free(cpus);
    return error;
}

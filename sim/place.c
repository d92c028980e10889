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

/* Devices are far from all, as on the real machine. */
static unsigned worker_distance(const void *arg, unsigned a, unsigned b)
{
    const struct orr_cpu_place *places = arg;

    return places[a].is_cpu && places[b].is_cpu
               ? orr_cpu_distance(&places[a], &places[b])
               : ORR_FAR;
}

int orr_sim_place_neighbours(const struct orr_machine_desc *desc,
                             const unsigned *hosts,
                             struct orr_machine *machine)
{
    struct orr_cpu_place *places =
        calloc((size_t)machine->nworkers + 1, sizeof(*places));
    unsigned ncpu = 0;
    int error = 0;

    if (!places)
        return -ENOMEM;
    for (unsigned w = 0; w < machine->nworkers; w++) {
        places[w] = orr_host_desc_place(&desc->hosts[hosts[w]]);
        ncpu += places[w].is_cpu;
    }
    if (ncpu > 1 && orr_machine_desc_places_cpus(desc))
        error = orr_neighbours_fill(machine, worker_distance, places);
    free(places);
    return error;
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

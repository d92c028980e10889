/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/cpu/places.c - see places.h. */
#include "core/device/cpu/places.h"

#include <errno.h>
#include <stdlib.h>

#include "core/device/kind.h"
#include "core/device/open.h"

enum { FREE = -1, DEVICES = -2 };

struct places {
    struct orr_machine *machine;
    const struct orr_cpus *cpus;
    const struct orr_cpu_choice *choice;
    /* Per processor of the choice: the worker that has it, FREE, or a device's.
     * Owned. */
    int *owner;
    struct orr_topology *topology; /* with devices; owned */
};

static bool worker_is_processor(const struct orr_worker_desc *worker)
{
    return orr_device_kind(worker->type)->is_processor;
}

/* Without one that is known the system places its workers. */
static const char *worker_bus(const struct places *p, unsigned worker)
{
    const struct orr_worker_desc *desc = &p->machine->workers[worker];
    const char *bus = p->machine->nodes[desc->node].bus;

    return !worker_is_processor(desc) && bus[0] ? bus : NULL;
}

/* -- a processor for a device -- */

/* The first that has such an owner, or any worker (`taken`), near the bus (NULL: anywhere).
 * -1: there is none. */
static int places_find_processor(const struct places *p, bool taken,
                                 bool whole_core, const char *bus)
{
    for (unsigned i = 0; i < p->choice->n; i++) {
        const struct orr_cpu *cpu = &p->choice->cpus[i];

        if ((taken ? p->owner[i] < 0 : p->owner[i] != FREE) ||
            (whole_core && cpu->rank > 0))
            continue;
        if (!bus || orr_topology_is_near_bus(p->topology, cpu->number, bus))
            return (int)i;
    }
    return -1;
}

/* The last one: main and the first workers keep theirs. */
static int places_find_worker_near(const struct places *p, const char *bus)
{
    for (unsigned i = p->choice->n; i-- > 0;)
        if (p->owner[i] >= 0 &&
            orr_topology_is_near_bus(p->topology, p->choice->cpus[i].number,
                                     bus))
            return (int)i;
    return -1;
}

/* The worker of a processor near the bus goes to a free one. */
static int places_move_worker(struct places *p, const char *bus)
{
    int from = places_find_worker_near(p, bus),
        to = places_find_processor(p, false, true, NULL);
    struct orr_worker_desc *worker;

    if (from < 0 || to < 0)
        return -1;
    worker = &p->machine->workers[p->owner[from]];
    worker->cpu = p->choice->cpus[to].number;
    if (p->choice->cpus[to].node < p->machine->nnodes &&
        orr_node_is_main(&p->machine->nodes[p->choice->cpus[to].node]))
        worker->node = p->choice->cpus[to].node;
    p->owner[to] = p->owner[from];
    return from;
}

/* Its number, -1: none. */
static int places_take_processor(struct places *p, const char *bus, bool listed)
{
    int i = places_find_processor(p, false, !listed, listed ? NULL : bus);

    if (i < 0 && !listed)
        i = places_move_worker(p, bus);
    if (i < 0 && !listed)
        i = places_find_processor(p, false, false, bus);
    if (i < 0)
        return -1;
    p->owner[i] = DEVICES;
    return p->choice->cpus[i].number;
}

/* -- all -- */

static int places_bind_worker(struct places *p,
                              const struct orr_machine_options *options,
                              unsigned w, const char *bus,
                              struct orr_error *err)
{
    struct orr_worker_desc *worker = &p->machine->workers[w];
    const unsigned *bindid = options->workers_bindid;
    const struct orr_cpu *cpu;
    int rc;

    if (worker->beside) {
        worker->cpu = worker[-1].cpu;
        return 0;
    }
    if (!bindid) {
        worker->cpu = places_take_processor(
            p, bus, options->workers_cpuid || options->workers_coreid);
        return 0;
    }
    rc = orr_cpus_bindid(p->cpus, bindid, w, &cpu, err);
    if (rc == 0)
        worker->cpu = cpu->number;
    return rc;
}

static int fill_owners(struct places *p)
{
    unsigned n = p->choice->n;

    p->owner = malloc((n ? n : 1) * sizeof(*p->owner));
    if (!p->owner)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++)
        p->owner[i] = FREE;
    for (unsigned w = 0; n > 0 && w < p->machine->nworkers; w++)
        if (worker_is_processor(&p->machine->workers[w]))
            p->owner[w % n] = (int)w;
    return 0;
}

static bool any_bus(const struct places *p)
{
    for (unsigned w = 0; w < p->machine->nworkers; w++)
        if (worker_bus(p, w))
            return true;
    return false;
}

int orr_places_fill(struct orr_machine *machine,
                    const struct orr_machine_options *options,
                    const struct orr_cpus *cpus,
                    const struct orr_cpu_choice *choice, struct orr_error *err)
{
    struct orr_topology_input input = {
        .xml = options->hwloc_input,
        .ignore_affinity = options->ignore_affinity,
        .bus = true,
    };
    struct places p = {.machine = machine, .cpus = cpus, .choice = choice};
    int rc;

    /* To look for devices takes hwloc some milliseconds. */
    if (!options->bind || !any_bus(&p))
        return 0;
    rc = orr_topology_open(&input, &p.topology, err);
    if (rc == 0)
        rc = fill_owners(&p);
    for (unsigned w = 0; rc == 0 && w < machine->nworkers; w++) {
        const char *bus = worker_bus(&p, w);

        if (bus && orr_topology_knows_bus(p.topology, bus))
            rc = places_bind_worker(&p, options, w, bus, err);
    }
    free(p.owner);
    orr_topology_close(p.topology);
    return rc;
}

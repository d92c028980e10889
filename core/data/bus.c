/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/bus.c - see bus.h. */
#include "core/data/bus.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "core/base/number.h"
#include "core/data/nodes.h"
#include "core/exec/runtime.h"
#include "core/observe/views.h"

static size_t pair(const struct orr_runtime *rt, unsigned src, unsigned dst)
{
    return orr_machine_pair(rt->machine, src, dst);
}

/* Whether a pair is a link: a node needs none to itself. */
static bool is_link(const struct orr_runtime *rt, unsigned src, unsigned dst)
{
    return src != dst && rt->machine->direct[pair(rt, src, dst)];
}

static void add_link(struct orr_runtime *rt, unsigned src, unsigned dst)
{
    struct orr_bus *bus = &rt->nodes->buses[rt->nodes->nbuses];

    if (!is_link(rt, src, dst))
        return;
    bus->src = src;
    bus->dst = dst;
    bus->since = orr_exec_now(rt->exec);
    rt->nodes->bus_at[pair(rt, src, dst)] = bus;
    rt->nodes->nbuses++;
}

int orr_buses_new(struct orr_runtime *rt)
{
    size_t npairs = (size_t)rt->machine->row * rt->machine->row;

    rt->nodes->buses = calloc(npairs, sizeof(*rt->nodes->buses));
    rt->nodes->bus_at = calloc(npairs, sizeof(*rt->nodes->bus_at));
    if (!rt->nodes->buses || !rt->nodes->bus_at)
        return -ENOMEM;
    for (unsigned src = 0; src < rt->nodes->n; src++)
        for (unsigned dst = 0; dst < rt->nodes->n; dst++)
            add_link(rt, src, dst);
    return 0;
}

void orr_buses_add(struct orr_runtime *rt, unsigned node)
{
    for (unsigned other = 0; other < node; other++) {
        add_link(rt, other, node);
        add_link(rt, node, other);
    }
}

void orr_buses_free(struct orr_runtime *rt)
{
    free(rt->nodes->buses);
    free(rt->nodes->bus_at);
    rt->nodes->buses = NULL;
    rt->nodes->bus_at = NULL;
    rt->nodes->nbuses = 0;
}

struct orr_bus *orr_bus_find(struct orr_runtime *rt, long src, long dst)
{
    long n = (long)rt->nodes->n;

    if (src < 0 || dst < 0 || src >= n || dst >= n)
        return NULL;
    return rt->nodes->bus_at[pair(rt, (unsigned)src, (unsigned)dst)];
}

void orr_bus_count(struct orr_runtime *rt, unsigned src, unsigned dst,
                   size_t bytes)
{
    struct orr_bus *bus = rt->nodes->bus_at[pair(rt, src, dst)];

    assert(bus); /* what has no link passes main memory */
    atomic_fetch_add_explicit(&bus->transfers, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bus->bytes, bytes, memory_order_relaxed);
}

/* How many devices share the bus. Disks, which come later, have no part in it. */
static unsigned count_devices(const struct orr_runtime *rt)
{
    return rt->machine->row - rt->machine->spare_nodes - rt->nodes->nram;
}

static bool is_of_disk(const struct orr_runtime *rt, const struct orr_bus *bus)
{
    return rt->machine->nodes[bus->src].stores ||
           rt->machine->nodes[bus->dst].stores;
}

unsigned orr_bus_sharers(const struct orr_runtime *rt,
                         const struct orr_bus *bus)
{
    int ngpus = atomic_load_explicit(&bus->ngpus, memory_order_relaxed);

    if (ngpus > 0)
        return (unsigned)ngpus;
    if (atomic_load_explicit(&bus->direct, memory_order_relaxed) ||
        (bus->src < rt->nodes->nram && bus->dst < rt->nodes->nram) ||
        is_of_disk(rt, bus))
        return 1;
    return count_devices(rt);
}

void orr_bus_take_counters(struct orr_runtime *rt, struct orr_bus *bus,
                           struct orr_bus_counters *ret)
{
    double now = orr_exec_now(rt->exec);
    unsigned long long transfers, bytes;

    orr_lock(&rt->lock);
    transfers = atomic_load_explicit(&bus->transfers, memory_order_relaxed);
    bytes = atomic_load_explicit(&bus->bytes, memory_order_relaxed);
    *ret = (struct orr_bus_counters){
        .start = bus->since,
        .length = now - bus->since,
        .transfers = transfers - bus->seen_transfers,
        .bytes = bytes - bus->seen_bytes,
    };
    bus->seen_transfers = transfers;
    bus->seen_bytes = bytes;
    bus->since = now;
    orr_unlock(&rt->lock);
}

void orr_buses_total(const struct orr_runtime *rt,
                     unsigned long long *ret_transfers,
                     unsigned long long *ret_bytes)
{
    unsigned long long transfers = 0, bytes = 0;

    for (unsigned i = 0; i < rt->nodes->nbuses; i++) {
        transfers += atomic_load_explicit(&rt->nodes->buses[i].transfers,
                                          memory_order_relaxed);
        bytes += atomic_load_explicit(&rt->nodes->buses[i].bytes,
                                      memory_order_relaxed);
    }
    *ret_transfers = transfers;
    *ret_bytes = bytes;
}

/* The shape is that of StarPU, whose users' scripts read it. */
void orr_buses_print(struct orr_runtime *rt, FILE *out)
{
    const struct orr_node_desc *nodes = rt->machine->nodes;
    double length = orr_exec_now(rt->exec) - rt->views->opened_at;
    unsigned long long transfers, bytes;

    fprintf(out, "\n#---------------------\nData transfer stats:\n");
    for (unsigned i = 0; i < rt->nodes->nbuses; i++) {
        const struct orr_bus *bus = &rt->nodes->buses[i];
        double mb = (double)atomic_load(&bus->bytes) / 1e6;
        unsigned long long n = atomic_load(&bus->transfers);

        orr_fprintf(out,
                    "\t%s -> %s\t%.4f MB\t%.4f MB/s\t"
                    "(transfers : %llu - avg %.4f MB)\n",
                    nodes[bus->src].name, nodes[bus->dst].name, mb,
                    length > 0 ? mb * 1e6 / length : 0, n, n ? mb / (double)n : 0);
    }
    orr_buses_total(rt, &transfers, &bytes);
    orr_fprintf(out, "Total transfers: %.4f GB\n#---------------------\n",
                (double)bytes / 1e9);
}

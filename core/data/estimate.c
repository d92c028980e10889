/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/estimate.c - how long transfers will take, for schedulers and for
 * the choice of a source. Any context; reads without locks.
 */
#include <math.h>
#include <stdlib.h>

#include "core/data/bus.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"

static void estimate_route(struct orr_runtime *rt, unsigned src, unsigned dst)
{
    struct orr_route *route = &rt->nodes->at[dst].routes[src];
    const struct orr_bus *bus = orr_bus_find(rt, src, dst);
    unsigned sharers =
        bus ? orr_bus_sharers(rt, bus) : rt->nodes->n - rt->nodes->nram;
    unsigned pair = orr_machine_pair(rt->machine, src, dst);

    /* As in StarPU, all devices are expected to share the bus, both ways at once. */
    atomic_store_explicit(&route->slowness,
                          2.0 * sharers / rt->machine->bandwidth[pair],
                          memory_order_relaxed);
    route->latency = rt->machine->latency[pair];
    route->direct = rt->machine->direct[pair];
}

/* Whether no value comes later from a than from b, be it large or small. */
static bool source_is_first(const struct orr_runtime *rt, unsigned a, unsigned b,
                        unsigned dst)
{
    const struct orr_route *routes = rt->nodes->at[dst].routes;

    if (routes[a].direct != routes[b].direct)
        return a == STARPU_MAIN_RAM; /* through which it comes from b */
    if (!routes[a].direct)
        routes = rt->nodes->at[STARPU_MAIN_RAM].routes;
    return routes[a].slowness <= routes[b].slowness &&
           routes[a].latency <= routes[b].latency;
}

/* Which sources need not be looked at if there is another one: most machines have few
 * sorts of links. */
static void rank_sources(struct orr_runtime *rt, unsigned dst)
{
    for (unsigned a = 0; a < rt->nodes->n; a++) {
        uint64_t later = UINT64_C(1) << a;

        for (unsigned b = 0; b < rt->nodes->n; b++)
            if (source_is_first(rt, a, b, dst))
                later |= UINT64_C(1) << b;
        atomic_store_explicit(&rt->nodes->at[dst].routes[a].later, later,
                              memory_order_relaxed);
    }
}

/* µs until a value of that size is on each node, from the best of `valid`. Programs have
 * few sizes, and few sets of nodes where values are. */
struct brought {
    uint64_t valid; /* 0: none */
    size_t size;
    double us[];
};

enum { BROUGHT_BITS = 6 };

static size_t brought_size(const struct orr_runtime *rt)
{
    return sizeof(struct brought) + rt->machine->row * sizeof(double);
}

/* Without memory for them they are made each time. */
static void forget_brought(struct orr_runtime *rt)
{
    if (!rt->exec->one_thread)
        return;
    free(rt->nodes->brought);
    rt->nodes->brought = calloc(1 << BROUGHT_BITS, brought_size(rt));
}

void orr_nodes_estimate(struct orr_runtime *rt)
{
    forget_brought(rt);
    for (unsigned src = 0; src < rt->nodes->n; src++)
        for (unsigned dst = 0; dst < rt->nodes->n; dst++)
            estimate_route(rt, src, dst);
    for (unsigned dst = 0; dst < rt->nodes->n; dst++)
        rank_sources(rt, dst);
}

static inline double route_time(const struct orr_route *route, size_t size)
{
    double time =
        atomic_load_explicit(&route->slowness, memory_order_relaxed) *
            (double)size +
        route->latency;

    return isnan(time) ? 0 : time;
}

double orr_transfer_predict(struct orr_runtime *rt, unsigned src, unsigned dst,
                            size_t size)
{
    return src == dst ? 0 : route_time(&rt->nodes->at[dst].routes[src], size);
}

/* From one of `valid` other nodes. */
static inline double from_best_source(struct orr_runtime *rt, uint64_t valid,
                                      unsigned dst, size_t size)
{
    const struct orr_route *routes = rt->nodes->at[dst].routes;
    double best = -1;

    for (uint64_t left = valid; left;) {
        unsigned src = (unsigned)__builtin_ctzll(left);
        double time = route_time(&routes[src], size);

        if (!routes[src].direct)
            time = orr_transfer_predict(rt, src, STARPU_MAIN_RAM, size) +
                   route_time(&routes[STARPU_MAIN_RAM], size);
        if (best < 0 || time < best)
            best = time;
        left &= ~atomic_load_explicit(&routes[src].later, memory_order_relaxed);
    }
    return best < 0 ? 0 : best;
}

static void brought_fill(struct orr_runtime *rt, struct brought *brought,
                         uint64_t valid, size_t size)
{
    brought->valid = valid;
    brought->size = size;
    for (unsigned node = 0; node < rt->nodes->n; node++)
        brought->us[node] =
            valid >> node & 1 ? 0 : from_best_source(rt, valid, node, size);
}

/* By node; NULL: they have to be made. `valid` is not 0. */
static inline const double *find_brought(struct orr_runtime *rt, uint64_t valid,
                                         size_t size)
{
    uint64_t hash = (valid ^ size << 1) * UINT64_C(0x9e3779b97f4a7c15);
    struct brought *brought;

    if (!rt->nodes->brought)
        return NULL;
    brought = (struct brought *)((char *)rt->nodes->brought +
                                 (hash >> (64 - BROUGHT_BITS)) *
                                     brought_size(rt));
    if (brought->valid != valid || brought->size != size)
        brought_fill(rt, brought, valid, size);
    return brought->us;
}

/* From one of `valid` nodes to one that lacks the value. */
static inline double bring_time(struct orr_runtime *rt,
                                const struct orr_handle *handle, uint64_t valid,
                                unsigned node, uint32_t mode)
{
    double time = from_best_source(rt, valid, node, handle->size);

    if (rt->nodes->count_write_back && mode & STARPU_W &&
        handle->home_node >= 0)
        time += orr_transfer_predict(rt, node, (unsigned)handle->home_node,
                                     handle->size);
    return time;
}

/* The nodes (bits) that have the value, or to which it is on its way. */
static inline uint64_t reached_nodes(const struct orr_handle *handle,
                                     uint64_t valid)
{
    return valid |
           atomic_load_explicit(&handle->loading, memory_order_relaxed);
}

double orr_handle_transfer_time(struct orr_runtime *rt,
                                const struct orr_handle *handle, unsigned node,
                                uint32_t mode)
{
    uint64_t valid = atomic_load_explicit(&handle->valid, memory_order_relaxed);

    if (!(mode & STARPU_R) || handle->size == 0 ||
        reached_nodes(handle, valid) >> node & 1)
        return 0;
    return bring_time(rt, handle, valid, node, mode);
}

uint64_t orr_job_absent(const struct orr_job *job)
{
    uint64_t absent = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        const struct orr_handle *handle = access->handle;

        if (access->placed)
            absent = ~UINT64_C(0);
        else if (access->mode & STARPU_R && !(access->mode & STARPU_SCRATCH))
            absent |=
                ~(atomic_load_explicit(&handle->valid, memory_order_relaxed) |
                  atomic_load_explicit(&handle->loading, memory_order_relaxed));
    }
    return absent;
}

/* Whether a value comes to the job's node for the access. */
static inline bool brings_value(const struct orr_access *access)
{
    return (access->mode & (STARPU_R | STARPU_SCRATCH)) == STARPU_R &&
           !access->duplicate && access->handle->size > 0;
}

static void add_placed_times(struct orr_runtime *rt,
                             const struct orr_access *access, uint64_t nodes,
                             double *us)
{
    for (; nodes; nodes &= nodes - 1) {
        unsigned node = (unsigned)__builtin_ctzll(nodes);
        int at = orr_access_place_for(access, node);

        if (at >= 0)
            us[node] += orr_handle_transfer_time(rt, access->handle,
                                                 (unsigned)at, access->mode);
    }
}

/* From one of `valid` nodes to those that lack the value. */
static inline void add_times(struct orr_runtime *rt,
                             const struct orr_access *access, uint64_t valid,
                             uint64_t nodes, double *us)
{
    const double *times = NULL;

    if (valid && !rt->nodes->count_write_back)
        times = find_brought(rt, valid, access->handle->size);
    for (; times && nodes; nodes &= nodes - 1)
        us[__builtin_ctzll(nodes)] += times[__builtin_ctzll(nodes)];
    for (; nodes; nodes &= nodes - 1) {
        unsigned node = (unsigned)__builtin_ctzll(nodes);

        us[node] += bring_time(rt, access->handle, valid, node, access->mode);
    }
}

void orr_job_transfer_times(struct orr_runtime *rt, const struct orr_job *job,
                            uint64_t nodes, double *us)
{
    for (uint64_t left = nodes; left; left &= left - 1)
        us[__builtin_ctzll(left)] = 0;
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        const struct orr_handle *handle = access->handle;
        uint64_t valid, left;

        if (!brings_value(access))
            continue;
        if (access->placed) {
            add_placed_times(rt, access, nodes, us);
            continue;
        }
        valid = atomic_load_explicit(&handle->valid, memory_order_relaxed);
        left = nodes & ~reached_nodes(handle, valid);
        if (left)
            add_times(rt, access, valid, left, us);
    }
}

double orr_job_transfer_time(struct orr_runtime *rt, const struct orr_job *job,
                             unsigned node)
{
    double us[STARPU_MAXNODES];

    orr_job_transfer_times(rt, job, UINT64_C(1) << node, us);
    return us[node];
}

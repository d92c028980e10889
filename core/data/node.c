/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/node.c - memory nodes: capacity, eviction, transfer estimates.
 *
 * Eviction holds the lock of the handle that needs memory and tries those of
 * its victims; one that is taken is passed over, so no order among handles is
 * needed.
 */
#include "core/data/node.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/bus.h"
#include "core/data/request.h"
#include "core/runtime.h"

void orr_node_estimate(struct orr_runtime *rt, unsigned id)
{
    struct orr_node *node = &rt->nodes[id];

    for (unsigned dst = 0; dst < rt->nnodes; dst++) {
        const struct orr_bus *bus = orr_bus_find(rt, id, dst);
        unsigned sharers =
            bus ? orr_bus_sharers(rt, bus) : rt->nnodes - rt->nram;
        double bandwidth = rt->machine->bandwidth[id * rt->nnodes + dst];

        /* FORMATS 2.6: all devices are expected to share the bus, both ways
         * at once. */
        atomic_store_explicit(&node->slowness[dst], 2.0 * sharers / bandwidth,
                              memory_order_relaxed);
    }
}

static int node_init(struct orr_runtime *rt, struct orr_node *node, unsigned id)
{
    node->id = id;
    node->capacity = rt->machine->nodes[id].capacity;
    node->progress_worker = rt->nworkers;
    /* A single main memory needs no driver: devices drive what concerns them. */
    for (unsigned w = rt->nworkers; (id != 0 || rt->nram > 1) && w-- > 0;)
        if (rt->machine->workers[w].node == id) {
            node->progress_worker = w;
            node->nprogress++;
        }
    orr_lock_init(&node->lock, ORR_RANK_NODE);
    orr_list_init(&node->lru);
    for (unsigned level = 0; level < ORR_FETCH_LEVELS; level++)
        orr_list_init(&node->queues[level]);
    node->inflight = calloc(rt->nnodes * 2, sizeof(*node->inflight));
    node->latency = calloc(rt->nnodes, sizeof(*node->latency));
    node->slowness = calloc(rt->nnodes, sizeof(*node->slowness));
    if (!node->inflight || !node->latency || !node->slowness)
        return -ENOMEM;
    memcpy(node->latency, &rt->machine->latency[(size_t)id * rt->nnodes],
           rt->nnodes * sizeof(*node->latency));
    orr_node_estimate(rt, id);
    return 0;
}

int orr_nodes_new(struct orr_runtime *rt)
{
    rt->nodes = calloc(rt->nnodes, sizeof(*rt->nodes));
    if (!rt->nodes)
        return -ENOMEM;
    for (unsigned id = 0; id < rt->nnodes; id++)
        if (node_init(rt, &rt->nodes[id], id) != 0)
            return -ENOMEM;
    return 0;
}

void orr_nodes_free(struct orr_runtime *rt)
{
    for (unsigned id = 0; rt->nodes && id < rt->nnodes; id++) {
        free(rt->nodes[id].inflight);
        free(rt->nodes[id].latency);
        free(rt->nodes[id].slowness);
    }
    free(rt->nodes);
    rt->nodes = NULL;
}

double orr_transfer_predict(struct orr_runtime *rt, unsigned src, unsigned dst,
                            size_t size)
{
    const struct orr_node *node = &rt->nodes[src];
    double time;

    if (src == dst)
        return 0;
    time = atomic_load_explicit(&node->slowness[dst], memory_order_relaxed) *
               (double)size +
           node->latency[dst];
    return isnan(time) ? 0 : time;
}

/* One that has nothing to do, one that waits for data, or the first. A worker
 * that falls asleep says so before it looks at `nqueued` for the last time, so
 * that it sees what was queued or is seen here. */
static struct orr_worker *pick_progress_worker(struct orr_runtime *rt,
                                               const struct orr_node *node)
{
    struct orr_worker *waits = NULL;

    for (unsigned w = node->progress_worker; w < rt->nworkers; w++) {
        struct orr_worker *worker = &rt->workers[w];

        if (worker->desc->node != node->id)
            continue;
        if (atomic_load(&worker->asleep))
            return worker;
        if (!waits &&
            atomic_load_explicit(&worker->state, memory_order_relaxed) ==
                ORR_WORKER_FETCHING)
            waits = worker;
    }
    return waits ? waits : &rt->workers[node->progress_worker];
}

void orr_node_kick(struct orr_runtime *rt, unsigned id)
{
    struct orr_node *node = &rt->nodes[id];

    if (node->progress_worker < rt->nworkers && atomic_load(&node->nqueued))
        orr_worker_wake(node->nprogress == 1
                            ? &rt->workers[node->progress_worker]
                            : pick_progress_worker(rt, node));
}

void orr_nodes_kick(struct orr_runtime *rt, uint64_t nodes)
{
    for (; nodes; nodes &= nodes - 1)
        orr_node_kick(rt, (unsigned)__builtin_ctzll(nodes));
}

/* --- what may be evicted --- */

void orr_node_offer(struct orr_node *node, struct orr_replicate *replicate)
{
    if (!replicate->owned)
        return;
    if (!replicate->offered) {
        replicate->offered = true;
        orr_lock(&node->lock);
        if (replicate->handle->wont_use)
            orr_list_prepend(&node->lru, &replicate->lru);
        else
            orr_list_append(&node->lru, &replicate->lru);
        orr_unlock(&node->lock);
    }
    if (atomic_load(&node->short_of_memory))
        orr_nodes_kick(replicate->handle->runtime,
                       atomic_exchange(&node->short_of_memory, 0));
}

void orr_node_retain(struct orr_node *node, struct orr_replicate *replicate)
{
    if (!replicate->offered)
        return;
    replicate->offered = false;
    orr_lock(&node->lock);
    orr_list_remove(&replicate->lru);
    orr_unlock(&node->lock);
}

/* --- eviction --- */

static bool has_other_copy(const struct orr_handle *handle, unsigned node)
{
    return (handle->valid & ~(UINT64_C(1) << node)) != 0;
}

static bool worthless(const struct orr_handle *handle, unsigned node)
{
    return !(handle->valid & UINT64_C(1) << node);
}

/* Takes the first replicate off the list that `wanted` accepts, its handle
 * locked. Those whose handle is busy stay. */
static struct orr_replicate *take_victim(struct orr_node *node,
                                         bool (*wanted)(struct orr_replicate *))
{
    struct orr_replicate *found = NULL;

    orr_lock(&node->lock);
    orr_list_foreach (link, &node->lru) {
        struct orr_replicate *replicate =
            orr_container(link, struct orr_replicate, lru);

        if (!orr_trylock(&replicate->handle->lock))
            continue;
        if (replicate->refs == 0 && !replicate->request && wanted(replicate)) {
            found = replicate;
            found->offered = false;
            orr_list_remove(link);
            break;
        }
        orr_unlock(&replicate->handle->lock);
    }
    orr_unlock(&node->lock);
    return found;
}

static bool is_clean(struct orr_replicate *replicate)
{
    return worthless(replicate->handle, replicate->node) ||
           has_other_copy(replicate->handle, replicate->node);
}

static bool is_unwanted(struct orr_replicate *replicate)
{
    return worthless(replicate->handle, replicate->node) ||
           (replicate->handle->wont_use &&
            has_other_copy(replicate->handle, replicate->node));
}

/* Where the only copy of a value goes when it must leave the node: to the
 * application's memory, else to node 0. */
static unsigned write_back_target(const struct orr_replicate *replicate)
{
    return orr_handle_base(replicate->handle);
}

/* The only copy, and not on its way to its write-back target yet. */
static bool is_dirty(struct orr_replicate *replicate)
{
    unsigned to = write_back_target(replicate);

    return to != replicate->node && !is_clean(replicate) &&
           !replicate->handle->replicates[to].request;
}

static bool evict_one(struct orr_runtime *rt, struct orr_node *node,
                      bool (*wanted)(struct orr_replicate *))
{
    struct orr_replicate *victim = take_victim(node, wanted);
    struct orr_handle *handle;

    if (!victim)
        return false;
    handle = victim->handle;
    handle->valid &= ~(UINT64_C(1) << node->id);
    orr_replicate_release(rt, victim);
    orr_unlock(&handle->lock);
    atomic_fetch_add_explicit(&rt->nevictions, 1, memory_order_relaxed);
    return true;
}

/* Sends the oldest dirty replicate home; it can be evicted when that is done.
 * Returns whether there was one. */
static bool write_back_one(struct orr_runtime *rt, struct orr_node *node)
{
    struct orr_replicate *victim = take_victim(node, is_dirty);
    struct orr_handle *handle;
    uint64_t wake = 0;

    if (!victim)
        return false;
    handle = victim->handle;
    (void)orr_request_need(rt, handle, write_back_target(victim), true,
                           ORR_FETCH, NULL, &wake);
    orr_unlock(&handle->lock);
    orr_nodes_kick(rt, wake);
    return true;
}

static bool fits(const struct orr_node *node, size_t size)
{
    return node->capacity == 0 || node->used + size <= node->capacity;
}

/* Where main memory is several nodes, a limit says what is kept on one, not
 * what running tasks may need: the workers of a node could each hold a part of
 * it and wait for the rest. */
static bool may_exceed(const struct orr_runtime *rt,
                       const struct orr_node *node)
{
    return rt->nram > 1 && node->id < rt->nram;
}

static int make_room(struct orr_runtime *rt, struct orr_node *node, size_t size,
                     unsigned level)
{
    while (!fits(node, size)) {
        if (evict_one(rt, node, level == ORR_FETCH ? is_clean : is_unwanted))
            continue;
        if (level == ORR_FETCH && !write_back_one(rt, node) &&
            may_exceed(rt, node))
            return 0;
        return -ENOMEM;
    }
    return 0;
}

int orr_node_malloc(struct orr_runtime *rt, unsigned id, size_t size,
                    uintptr_t *ret)
{
    struct orr_node *node = &rt->nodes[id];
    int err = make_room(rt, node, size, ORR_FETCH);

    if (!err)
        err = rt->machine->ops->alloc(rt->machine, id, size, ret);
    if (!err)
        atomic_fetch_add_explicit(&node->used, size, memory_order_relaxed);
    return err;
}

void orr_node_free(struct orr_runtime *rt, unsigned id, uintptr_t address,
                   size_t size)
{
    rt->machine->ops->free(rt->machine, id, address, size);
    atomic_fetch_sub_explicit(&rt->nodes[id].used, size, memory_order_relaxed);
}

int orr_replicate_allocate_level(struct orr_runtime *rt,
                                 struct orr_replicate *replicate,
                                 unsigned level)
{
    struct orr_handle *handle = replicate->handle;
    struct orr_node *node = &rt->nodes[replicate->node];
    int err = make_room(rt, node, handle->size, level);

    if (err)
        return err;
    if (handle->ops->allocate_data_on_node(replicate->interface,
                                           replicate->node) < 0)
        return -ENOMEM;
    replicate->allocated = replicate->owned = true;
    handle->allocated |= UINT64_C(1) << replicate->node;
    return 0;
}

int orr_replicate_allocate(struct orr_runtime *rt,
                           struct orr_replicate *replicate)
{
    return orr_replicate_allocate_level(rt, replicate, ORR_FETCH);
}

void orr_replicate_release(struct orr_runtime *rt,
                           struct orr_replicate *replicate)
{
    struct orr_handle *handle = replicate->handle;

    orr_node_retain(&rt->nodes[replicate->node], replicate);
    handle->ops->free_data_on_node(replicate->interface, replicate->node);
    replicate->allocated = replicate->owned = false;
    handle->allocated &= ~(UINT64_C(1) << replicate->node);
}

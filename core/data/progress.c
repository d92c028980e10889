/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/progress.c - requests are taken from the queues of their nodes,
 * given memory, and copied. Called by the progress workers of memory nodes, and
 * by the machine when a copy has ended.
 */
#include <math.h>

#include "core/data/bus.h"
#include "core/data/pending.h"
#include "core/data/request.h"
#include "core/observe/record.h"
#include "core/observe/tally.h"
#include "core/runtime.h"

static uint64_t bit(unsigned node)
{
    return UINT64_C(1) << node;
}

/* Whether the machine copies from main memory to main memory, in start_copy; a
 * simulated one needs no processor for it. */
static bool is_at_once(const struct orr_runtime *rt,
                       const struct orr_request *request)
{
    return !rt->machine->simulated && request->src < rt->nram &&
           request->dst < rt->nram;
}

/* --- the machine's side --- */

static void trace_copy(struct orr_runtime *rt,
                       const struct orr_request *request)
{
    static const enum orr_trace_copy_kind kinds[ORR_FETCH_LEVELS] = {
        [ORR_FETCH] = ORR_TRACE_FETCH,
        [ORR_PREFETCH] = ORR_TRACE_TASK_PREFETCH,
        [ORR_IDLE_PREFETCH] = ORR_TRACE_IDLE_FETCH,
    };
    struct orr_worker *worker = orr_self->worker;
    struct orr_trace_copy event = {
        .id = request->copy.id,
        .handle = request->handle->id,
        .src = request->src,
        .dst = request->dst,
        .size = request->copy.size,
        .start = request->start,
        .end = orr_exec_now(rt->exec),
    };

    orr_lock(&request->handle->lock);
    event.kind = kinds[request->level];
    if (request->level == ORR_FETCH && request->dst < rt->nram &&
        !request->waiters)
        event.kind = ORR_TRACE_WRITEBACK;
    orr_unlock(&request->handle->lock);
    orr_trace_copy(rt->trace, worker ? worker->id : ORR_TRACE_OUTSIDE, &event);
}

static void tally_copy(struct orr_runtime *rt,
                       const struct orr_request *request)
{
    const struct orr_copy *copy = &request->copy;
    size_t link = copy->src * rt->nnodes + copy->dst;
    double predicted =
        orr_transfer_predict(rt, copy->src, copy->dst, copy->size);
    struct orr_tally_link tally = {
        .src = copy->src,
        .dst = copy->dst,
        .count = 1,
        .bytes = copy->size,
        .total = orr_exec_now(rt->exec) - request->start,
        .predicted = predicted > 0 ? predicted : (double)NAN,
        .alone = rt->machine->latency[link] +
                 (double)copy->size / rt->machine->bandwidth[link],
    };

    orr_tally_copy(rt->tally, &tally);
}

static void uncount(struct orr_node *node, unsigned peer, unsigned direction)
{
    orr_lock(&node->lock);
    node->inflight[peer * 2 + direction]--;
    orr_unlock(&node->lock);
}

static void copy_done(struct orr_copy *copy)
{
    struct orr_request *request = orr_container(copy, struct orr_request, copy);
    struct orr_runtime *rt = request->runtime;
    struct orr_node *node = &rt->nodes[request->progress_node];
    unsigned peer = node->id == request->dst ? request->src : request->dst;
    unsigned direction = node->id == request->dst;
    struct orr_deferred deferred = {0};

    if (rt->trace)
        trace_copy(rt, request);
    orr_bus_count(rt, copy->src, copy->dst, copy->size);
    uncount(node, peer, direction);
    if (rt->tally) {
        orr_lock(&rt->nodes[copy->dst].lock);
        tally_copy(rt, request);
        orr_unlock(&rt->nodes[copy->dst].lock);
    }
    orr_request_finish(request, &deferred);
    orr_deferred_run(rt, &deferred);
    orr_node_kick(rt, node->id);
    orr_active_end(rt);
}

/* --- the progress worker's side --- */

static void perform(struct orr_copy *copy)
{
    struct orr_request *request = orr_container(copy, struct orr_request, copy);

    orr_handle_copy(request->handle, request->src, request->dst);
    /* Pairs with await_copies. */
    if (is_at_once(request->runtime, request))
        atomic_fetch_sub_explicit(&request->handle->ncopying, 1,
                                  memory_order_release);
}

static void start_copy(struct orr_runtime *rt, struct orr_request *request)
{
    struct orr_copy *copy = &request->copy;

    copy->src = request->src;
    copy->dst = request->dst;
    copy->size = request->handle->size;
    copy->id =
        atomic_fetch_add_explicit(&rt->last_copy, 1, memory_order_relaxed) + 1;
    copy->perform = perform;
    copy->done = copy_done;
    request->start = orr_exec_now(rt->exec);
    atomic_fetch_add_explicit(&rt->nactive, 1, memory_order_relaxed);
    rt->machine->ops->copy_start(rt->machine, copy);
}

enum start_result { STARTED, DROPPED, NO_MEMORY, NO_COPY };

/* Gives the request's destination its memory, if it has none. A prefetch that
 * finds no memory is dropped if nobody waits for it, nor was promised it. Locked
 * on entry and on return, not meanwhile. */
static enum start_result allocate_locked(struct orr_handle *handle,
                                         struct orr_request *request,
                                         struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    struct orr_replicate *replicate = &handle->replicates[request->dst];
    enum orr_fetch_level level = (enum orr_fetch_level)request->level;
    struct orr_block *block = NULL;

    if (replicate->allocated)
        return STARTED;
    orr_unlock(&handle->lock);
    (void)orr_block_new(handle->runtime, handle, request->dst, level, &block);
    orr_lock(&handle->lock);
    if (block) {
        orr_block_attach_locked(handle, block);
        return STARTED;
    }
    if (request->waiters || request->next_hop || request->level == ORR_FETCH ||
        (level == ORR_PREFETCH && replicate->promised))
        return NO_MEMORY;
    orr_request_detach_locked(handle, request, deferred);
    return DROPPED;
}

/* The request was taken out of its queue by the caller. */
static enum start_result try_start(struct orr_runtime *rt,
                                   struct orr_request *request)
{
    struct orr_handle *handle = request->handle;
    struct orr_deferred deferred = {0};
    enum start_result result;

    orr_lock(&handle->lock);
    result = allocate_locked(handle, request, &deferred);
    if (result == STARTED &&
        (request->src == ORR_NO_NODE || handle->size == 0)) {
        result = NO_COPY;
    } else if (result == STARTED &&
               (request->stale || !(handle->valid & bit(request->src)))) {
        /* Overwritten while it was queued: nothing to copy any more. */
        request->stale = true;
        result = NO_COPY;
    }
    if (result == STARTED) {
        orr_request_pin_source(handle, request, ORR_FETCH);
        request->state = ORR_REQUEST_RUNNING;
        if (is_at_once(rt, request))
            atomic_fetch_add_explicit(&handle->ncopying, 1,
                                      memory_order_relaxed);
    }
    orr_unlock(&handle->lock);
    switch (result) {
    case STARTED:
        start_copy(rt, request);
        break;
    case DROPPED:
        orr_slab_put(rt->requests, request);
        orr_handle_leave(handle);
        break;
    case NO_COPY:
        orr_request_finish(request, &deferred);
        break;
    case NO_MEMORY:
        break;
    }
    orr_deferred_run(rt, &deferred);
    return result;
}

/* Whoever frees memory meanwhile sees `short_of_memory`, or did so before the
 * last look that a worker takes when it falls asleep. */
static void put_back(struct orr_runtime *rt, struct orr_node *node,
                     struct orr_request *request)
{
    struct orr_handle *handle = request->handle;
    unsigned dst = request->dst;

    orr_lock(&handle->lock); /* for the level */
    orr_lock(&node->lock);
    orr_pending_put_back(node, request);
    orr_unlock(&node->lock);
    orr_unlock(&handle->lock);
    atomic_fetch_or(&rt->nodes[dst].short_of_memory, bit(node->id));
}

/* Starts one request of the level; false when there is none that may. Adds a
 * node to *full when it had no memory: what makes room may go on meanwhile.
 * Sets *at_once when a copy has been made, not only started. */
static bool start_one(struct orr_runtime *rt, struct orr_node *node,
                      unsigned level, uint64_t *full, bool *at_once)
{
    struct orr_request *request;
    unsigned peer, direction, dst;
    enum start_result result;
    bool counted;

    orr_lock(&node->lock);
    request = orr_pending_take(node, level, *full);
    orr_unlock(&node->lock);
    if (!request)
        return false;
    counted = request->src != ORR_NO_NODE;
    direction = node->id == request->dst;
    dst = request->dst;
    peer = direction ? request->src : dst;
    *at_once = is_at_once(rt, request);
    result = try_start(rt, request);
    if (result != STARTED && counted)
        uncount(node, peer, direction);
    if (result == NO_MEMORY) {
        put_back(rt, node, request);
        *full |= bit(dst);
        *at_once = false;
        return true;
    }
    atomic_fetch_sub_explicit(&node->nqueued, 1, memory_order_relaxed);
    return true;
}

bool orr_node_progress(struct orr_runtime *rt, unsigned id)
{
    struct orr_node *node = &rt->nodes[id];
    uint64_t full = 0;
    bool any = false, at_once;

    for (unsigned level = 0; level < ORR_FETCH_LEVELS; level++) {
        /* Pairs with enqueue. */
        if (!atomic_load(&node->nqueued))
            return any;
        while (start_one(rt, node, level, &full, &at_once))
            any |= !full || at_once;
    }
    return any;
}

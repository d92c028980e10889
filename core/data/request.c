/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/request.c - see request.h. Under a handle's lock requests only change their
 * state and their places in queues: objects come from the spares, and what allocates,
 * wakes or calls others is put off until after the lock (struct orr_deferred). Called
 * by contexts that need data, and when a copy has ended. How requests are taken from
 * their queues and started: progress.c.
 */
#include "core/data/request.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/log.h"
#include "core/base/race.h"
#include "core/data/eviction.h"
#include "core/data/lost.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/traffic.h"
#include "core/exec/runtime.h"
#include "core/job/follow.h"
#include "core/job/job.h"
#include "core/slab_set.h"
#include "core/worker/workers.h"

/* --- making requests --- */

bool orr_handle_reaches(const struct orr_handle *handle, unsigned src,
                        unsigned dst)
{
    const struct orr_machine *machine = handle->runtime->machine;

    return machine->direct[orr_machine_pair(machine, src, dst)] &&
           !(handle->detours && handle->detours[src] >> dst & 1);
}

/* The valid replicate with the least predicted time among those from which
 * the node can be reached directly; else main memory, else the first one. There
 * is one. */
static unsigned choose_source(struct orr_runtime *rt,
                              const struct orr_handle *handle, unsigned dst)
{
    uint64_t valid = orr_handle_values(handle);
    unsigned best = ORR_NO_NODE;
    double best_time = 0;

    for (uint64_t left = valid; left; left &= left - 1) {
        unsigned src = (unsigned)__builtin_ctzll(left);
        double time;

        if (!orr_handle_reaches(handle, src, dst))
            continue;
        time = orr_transfer_predict(rt, src, dst, handle->size);
        if (time <= 0 && (valid & 1) && orr_handle_reaches(handle, 0, dst))
            return 0;
        if (best == ORR_NO_NODE || time < best_time) {
            best = src;
            best_time = time;
        }
    }
    if (best != ORR_NO_NODE)
        return best;
    return valid & 1 ? 0 : (unsigned)__builtin_ctzll(valid);
}

/* The node whose workers start the request. Devices drive what concerns them; between
 * two, the destination. A request between main memories is started by the context that
 * asks, since any thread can; one to a node without workers, by the workers of another
 * node. */
static unsigned choose_progress_node(struct orr_runtime *rt, unsigned src,
                                     unsigned dst)
{
    const struct orr_worker *worker = orr_self->worker;
    unsigned node = dst;

    if (src == ORR_NO_NODE)
        return dst;
    if (dst < rt->nodes->nram &&
        (src >= rt->nodes->nram || (worker && worker->desc->node == src)))
        node = src;
    if (rt->nodes->at[node].nprogress == 0)
        node = src;
    for (unsigned n = 0; rt->nodes->at[node].nprogress == 0 && n < rt->nodes->n;
         n++)
        node = n;
    return node;
}

int orr_deferred_prepare(struct orr_runtime *rt, struct orr_deferred *deferred)
{
    return orr_deferred_prepare_n(rt, deferred, ORR_SPARES);
}

int orr_deferred_prepare_n(struct orr_runtime *rt,
                           struct orr_deferred *deferred, unsigned n)
{
    while (deferred->nspare < n) {
        struct orr_request *request = orr_slab_get(rt->slabs->requests);

        if (!request)
            return -ENOMEM;
        request->next_hop = deferred->spare;
        deferred->spare = request;
        deferred->nspare++;
    }
    return 0;
}

static struct orr_request *deferred_take_spare(struct orr_deferred *deferred)
{
    struct orr_request *request = deferred->spare;

    deferred->spare = request->next_hop;
    deferred->nspare--;
    return request;
}

void orr_request_pin_source(struct orr_handle *handle,
                            struct orr_request *request,
                            enum orr_fetch_level level)
{
    bool keeps = handle->runtime->nodes->eviction->keeps_sources;

    if (request->src == ORR_NO_NODE || request->pinned ||
        (!keeps && (level != ORR_FETCH ||
                    !(handle->valid & UINT64_C(1) << request->src))))
        return;
    request->pinned = true;
    handle->replicates[request->src].refs++;
    orr_node_retain(handle, request->src);
}

void orr_request_leaves(struct orr_handle *handle, struct orr_request *request)
{
    struct orr_runtime *rt = handle->runtime;

    if (!request->pinned || request->state == ORR_REQUEST_WAITING ||
        request->leaving || !rt->nodes->at[request->src].capacity)
        return;
    request->leaving = true;
    atomic_fetch_add(&rt->nodes->at[request->src].admission.nleaving, 1);
}

void orr_request_stays(struct orr_handle *handle, struct orr_request *request,
                       struct orr_deferred *deferred)
{
    struct orr_runtime *rt = handle->runtime;

    if (!request->leaving)
        return;
    request->leaving = false;
    if (atomic_fetch_sub(&rt->nodes->at[request->src].admission.nleaving, 1) ==
        1)
        orr_admit_retry_later(rt, request->src, deferred);
}

static struct orr_request *new_request(struct orr_handle *handle, unsigned src,
                                       unsigned dst, enum orr_fetch_level level,
                                       struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_request *request = deferred_take_spare(deferred);

    assert(!handle->dying);
    memset(request, 0, sizeof(*request));
    request->handle = handle;
    request->runtime = rt;
    request->src = src;
    request->dst = dst;
    request->level = (uint8_t)level;
    request->priority = deferred->priority;
    request->progress_node = choose_progress_node(rt, src, dst);
    handle->nusers++;
    handle->replicates[dst].request = request;
    handle->replicates[dst].refs++;
    orr_node_retain(handle, dst);
    if (src != ORR_NO_NODE)
        orr_handle_set_loading(handle, handle->loading | orr_bit(dst));
    orr_request_pin_source(handle, request, level);
    return request;
}

static void enqueue(struct orr_handle *handle, struct orr_request *request,
                    struct orr_deferred *deferred) ORR_REQUIRES(handle->lock)
{
    struct orr_node *node = &handle->runtime->nodes->at[request->progress_node];

    request->state = ORR_REQUEST_QUEUED;
    request->use = orr_use_of_prefetch(
        &handle->replicates[request->next_hop ? request->next_hop->dst
                                              : request->dst]);
    orr_request_leaves(handle, request);
    orr_lock(&node->lock);
    orr_pending_add(node, request);
    orr_unlock(&node->lock);
    atomic_fetch_add(&node->nqueued, 1); /* see pick_progress_worker */
    deferred->kick |= orr_bit(request->progress_node);
}

static void raise_level(struct orr_handle *handle, struct orr_request *request,
                        enum orr_fetch_level level,
                        struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    struct orr_node *node = &handle->runtime->nodes->at[request->progress_node];

    if (request->level < level ||
        (request->level == level && request->priority >= deferred->priority))
        return;
    if (request->state != ORR_REQUEST_QUEUED)
        request->level = (uint8_t)level;
    orr_request_pin_source(handle, request, level);
    orr_request_leaves(handle, request);
    if (request->state == ORR_REQUEST_QUEUED) {
        orr_lock(&node->lock);
        request->level = (uint8_t)level;
        if (orr_pending_has(request)) {
            orr_pending_remove(node, request);
            request->priority = deferred->priority;
            orr_pending_add(node, request);
        }
        orr_unlock(&node->lock);
        deferred->kick |= orr_bit(request->progress_node);
    } else if (request->state == ORR_REQUEST_WAITING &&
               handle->replicates[0].request) {
        /* The hop that it waits for. */
        raise_level(handle, handle->replicates[0].request, level, deferred);
    }
}

/* Only memory was asked for; now the value is wanted too. If a progress worker has
 * taken the request already, or there is no direct way, its end sees to that: jobs that
 * read ask once more. */
static void add_source(struct orr_handle *handle, struct orr_request *request)
    ORR_REQUIRES(handle->lock)
{
    struct orr_node *node = &handle->runtime->nodes->at[request->progress_node];
    unsigned src = choose_source(handle->runtime, handle, request->dst);
    bool queued;

    if (!orr_handle_reaches(handle, src, request->dst))
        return;
    orr_lock(&node->lock);
    queued = orr_pending_has(request);
    if (queued)
        request->src = src;
    orr_unlock(&node->lock);
    if (!queued)
        return;
    orr_handle_set_loading(handle, handle->loading | orr_bit(request->dst));
    orr_request_pin_source(handle, request,
                           (enum orr_fetch_level)request->level);
    orr_request_leaves(handle, request);
}

static void add_waiter(struct orr_request *request, struct orr_access *access)
{
    *orr_access_waits(access) = request->waiters;
    request->waiters = access;
}

static bool has_mode(const struct orr_access *access, uint32_t mode)
{
    return access && (access->mode & STARPU_RW) == mode;
}

/* The value is going to be overwritten where the request brings it: a copy that has not
 * started is not made any more. Returns whether a copy is under way, which would end
 * after the writer had begun. */
static bool supersede_locked(struct orr_handle *handle,
                             struct orr_request *request)
    ORR_REQUIRES(handle->lock)
{
    (void)handle;
    if (request->src == ORR_NO_NODE)
        return false;
    if (request->state == ORR_REQUEST_RUNNING)
        return true;
    request->stale = true;
    return false;
}

static void request_join(struct orr_handle *handle, struct orr_request *request,
                         bool reads, enum orr_fetch_level level,
                         struct orr_access *access,
                         struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    raise_level(handle, request, level, deferred);
    if (reads && request->src == ORR_NO_NODE && orr_handle_values(handle))
        add_source(handle, request);
    if (has_mode(access, STARPU_W))
        (void)supersede_locked(handle, request);
    if (access)
        add_waiter(request, access);
}

void orr_request_await_locked(struct orr_handle *handle,
                              struct orr_request *request,
                              struct orr_access *access,
                              struct orr_deferred *deferred)
{
    raise_level(handle, request, ORR_FETCH, deferred);
    if (!request->waiters)
        (void)supersede_locked(handle, request);
    add_waiter(request, access);
}

static void first_hop(struct orr_handle *handle, struct orr_request *request,
                      struct orr_deferred *deferred) ORR_REQUIRES(handle->lock)
{
    struct orr_request *hop = handle->replicates[0].request;
    enum orr_fetch_level level = (enum orr_fetch_level)request->level;

    bool begins = !hop;

    if (begins)
        hop = new_request(handle, request->src, 0, level, deferred);
    else
        request_join(handle, hop, true, level, NULL, deferred);
    request->next_hop = hop->next_hop;
    hop->next_hop = request;
    request->state = ORR_REQUEST_WAITING;
    if (begins)
        enqueue(handle, hop, deferred);
}

static void leave_replicate_locked(struct orr_handle *handle,
                                   const struct orr_request *request)
    ORR_REQUIRES(handle->lock)
{
    handle->replicates[request->dst].request = NULL;
    orr_handle_set_loading(handle, handle->loading & ~orr_bit(request->dst));
}

/* Whether the request's copy is in a queue where a job that follows others waits for it:
 * by what this job does, or by what those do that it follows. */
static bool is_in_order(const struct orr_request *request,
                        const struct orr_access *access)
{
    return request && access && request->ahead && orr_job_follows(access->job);
}

int orr_request_make(struct orr_runtime *rt, struct orr_handle *handle,
                     unsigned node, bool reads, enum orr_fetch_level level,
                     struct orr_access *access, struct orr_deferred *deferred)
{
    struct orr_replicate *replicate = &handle->replicates[node];
    struct orr_request *request = replicate->request;
    bool in_order = is_in_order(request, access);
    unsigned src = ORR_NO_NODE;
    bool detours;

    if (orr_replicate_has(replicate, reads)) { /* … and a request, and is written */
        if (in_order || !supersede_locked(handle, request)) {
            orr_node_touch(handle, node);
            return 1;
        }
        add_waiter(request, access);
        return 0;
    }
    /* What is being written must not be copied, nor need what will be
     * overwritten. */
    if (reads && !access && (replicate->writers || handle->writing))
        return 1;
    if (reads && !orr_handle_values(handle))
        return handle->valid ? -ENODEV : -ENODATA;
    if (in_order && reads && !request->stale)
        return 1;
    in_order = in_order && reads && !request->waiters && !request->next_hop;
    if (request && !in_order) {
        request_join(handle, request, reads, level, access, deferred);
        return 0;
    }
    if (!deferred->nspare)
        return -EAGAIN;
    if (reads)
        src = choose_source(rt, handle, node);
    detours = src != ORR_NO_NODE && !orr_handle_reaches(handle, src, node);
    if (detours && deferred->nspare < ORR_SPARES_PER_NEED)
        return -EAGAIN;
    if (request) {
        request->passed = true;
        leave_replicate_locked(handle, request);
    }
    request = new_request(handle, src, node, level, deferred);
    if (detours) {
        first_hop(handle, request, deferred);
    } else if (src == ORR_NO_NODE && orr_node_gives_at_once(rt, node)) {
        request->state = ORR_REQUEST_QUEUED;
        request->next_now = deferred->now;
        deferred->now = request;
    } else {
        enqueue(handle, request, deferred);
    }
    if (access)
        add_waiter(request, access);
    return 0;
}

void orr_handle_outdate_locked(struct orr_handle *handle, uint64_t valid)
{
    handle->former = handle->valid;
    orr_handle_set_valid(handle, valid);
    orr_handle_touch(handle, valid);
    orr_traffic_outdate(handle);
    if (!valid) /* jobs that can do without a value lack nothing any more */
        for (unsigned node = 0; node < handle->nnodes; node++)
            orr_node_changed_for_jobs(&handle->runtime->nodes->at[node]);
    for (uint64_t left = handle->allocated & ~valid; left; left &= left - 1)
        orr_node_outdate(handle, (unsigned)__builtin_ctzll(left));
    for (uint64_t left = handle->loading; left; left &= left - 1) {
        unsigned node = (unsigned)__builtin_ctzll(left);
        struct orr_request *request = handle->replicates[node].request;

        if (request)
            request->stale = true;
    }
}

void orr_handle_outdate_retry_locked(struct orr_handle *handle, uint64_t valid,
                                     struct orr_deferred *deferred)
{
    orr_handle_outdate_locked(handle, valid);
    for (uint64_t left = handle->allocated; left; left &= left - 1)
        orr_node_retry(handle->runtime, (unsigned)__builtin_ctzll(left),
                       deferred);
}

void orr_handle_forget_value(struct orr_handle *handle)
{
    struct orr_deferred deferred = {0};

    orr_lock(&handle->lock);
    orr_handle_outdate_retry_locked(handle, 0, &deferred);
    orr_unlock(&handle->lock);
    orr_deferred_run(handle->runtime, &deferred);
}

/* --- the end of a request --- */

static void request_unpin(struct orr_handle *handle, unsigned node,
                          struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    struct orr_replicate *replicate = &handle->replicates[node];

    if (--replicate->refs == 0)
        orr_node_offer(handle, node, deferred);
}

/* What waits for memory or a value that cannot be had there: a worker's job goes
 * elsewhere. */
static void break_waiters(struct orr_runtime *rt, struct orr_access *access)
{
    for (; access; access = *orr_access_waits(access)) {
        if (!access->job->type->may_avoid)
            orr_access_fail(rt, access, -EIO);
        atomic_store_explicit(&access->job->data.broken, ORR_BROKEN,
                              memory_order_relaxed);
    }
}

/* A request that hindered it, from another node or of an old value, has ended: the only
 * copy can be written back from now on, and its block can leave. */
static void tell_only_copy(struct orr_handle *handle,
                           struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    uint64_t valid = handle->valid;
    unsigned node = valid ? (unsigned)__builtin_ctzll(valid) : 0;

    if (valid && valid == orr_bit(node) && handle->replicates[node].offered)
        orr_node_retry(handle->runtime, node, deferred);
}

void orr_request_detach_locked(struct orr_handle *handle,
                               struct orr_request *request,
                               struct orr_deferred *deferred)
{
    if (!request->passed)
        leave_replicate_locked(handle, request);
    orr_request_stays(handle, request, deferred);
    request_unpin(handle, request->dst, deferred);
    if (request->pinned) {
        request_unpin(handle, request->src, deferred);
        orr_node_end_leaving(handle, request->src, deferred);
    }
    tell_only_copy(handle, deferred);
}

unsigned orr_request_uses(const struct orr_handle *handle, unsigned node)
{
    unsigned uses = handle->replicates[node].refs;

    for (uint64_t left = handle->loading; left; left &= left - 1) {
        const struct orr_request *request =
            handle->replicates[__builtin_ctzll(left)].request;

        uses -= request && request->pinned && request->src == node &&
                (request->state != ORR_REQUEST_RUNNING || request->relieves);
    }
    return uses;
}

/* The value has gone from there: requests that were to copy it, and have not begun,
 * find it elsewhere. Until then they do not hold the memory. */
static void let_go_source(struct orr_handle *handle, unsigned node,
                          struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    for (uint64_t left = handle->loading; left; left &= left - 1) {
        struct orr_request *request =
            handle->replicates[__builtin_ctzll(left)].request;

        if (!request || !request->pinned || request->src != node ||
            request->state == ORR_REQUEST_RUNNING)
            continue;
        request->stale = true;
        request->pinned = false;
        orr_request_stays(handle, request, deferred);
        request_unpin(handle, node, deferred);
    }
}

/* Whether parts may be in the memory of the handle's value with newer ones. */
static bool keeps_rests_locked(const struct orr_handle *handle)
    ORR_REQUIRES(handle->lock)
{
    return handle->family && handle->family->had_rests;
}

/* A write-back has ended, or a value was moved. What was brought stays where it is,
 * since it is the only one now, unless the other one is used. */
static void request_move_locked(struct orr_handle *handle,
                                struct orr_request *request,
                                struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    unsigned src = request->src;

    if (!request->pinned || request->stale || keeps_rests_locked(handle))
        return;
    if (request->moves && handle->replicates[src].refs == 1) {
        orr_handle_set_valid(handle, handle->valid & ~orr_bit(src));
    } else if (request->relieves && orr_request_uses(handle, src) == 0) {
        orr_handle_set_valid(handle, handle->valid & ~orr_bit(src));
        let_go_source(handle, src, deferred);
    }
}

/* A stale copy is of no use, nor is memory alone to readers: readers that still wait
 * need the new value. Returns what does not have to wait any more; *ret_failed is one
 * that never gets the value, if there is one. */
static struct orr_access *
again_locked(struct orr_runtime *rt, struct orr_handle *handle,
             struct orr_access *waiters, unsigned dst,
             struct orr_deferred *deferred, struct orr_access **ret_failed)
    ORR_REQUIRES(handle->lock)
{
    struct orr_access *done = NULL;

    while (waiters) {
        struct orr_access *access = waiters;
        int there;

        waiters = *orr_access_waits(access);
        there = orr_request_need(rt, handle, dst, access->reads, ORR_FETCH,
                                 access, deferred);
        assert(there != -EAGAIN); /* lock_for_end has seen to that */
        if (there < 0 && !(there == -ENODATA && access->optional))
            *ret_failed = access;
        if (there != 0) {
            *orr_access_waits(access) = done;
            done = access;
        }
    }
    return done;
}

/* The request has brought the value to main memory, or only memory, and others
 * wait to carry it on from there. */
static void next_hops_locked(struct orr_handle *handle,
                             struct orr_request *request,
                             struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    struct orr_request *hop = request->next_hop;

    while (hop) {
        struct orr_request *next = hop->next_hop;

        hop->next_hop = NULL;
        if (request->src == ORR_NO_NODE) {
            first_hop(handle, hop, deferred);
        } else {
            if (hop->pinned)
                request_unpin(handle, hop->src, deferred);
            hop->pinned = false;
            hop->src = 0;
            orr_request_pin_source(handle, hop,
                                   (enum orr_fetch_level)hop->level);
            hop->stale |= request->stale;
            hop->progress_node =
                choose_progress_node(handle->runtime, 0, hop->dst);
            enqueue(handle, hop, deferred);
        }
        hop = next;
    }
}

/* Locks the handle, and sees to spares for what follows. */
static void lock_for_end(struct orr_handle *handle, struct orr_request *request,
                         struct orr_deferred *deferred)
    ORR_ACQUIRES(handle->lock)
{
    orr_lock(&handle->lock);
    if (request->failed || (!request->stale && request->src != ORR_NO_NODE))
        return;
    orr_unlock(&handle->lock);
    if (orr_deferred_prepare(handle->runtime, deferred) != 0) {
        orr_log_error("out of memory while data number %llu are transferred",
                      (unsigned long long)handle->id);
        orr_runtime_fail(handle->runtime);
    }
    orr_lock(&handle->lock);
}

/* The copy is valid: no job was writing what it has read. Of the interfaces whose bytes
 * are in one piece. */
static void note_read_locked(struct orr_handle *handle,
                             const struct orr_request *request)
    ORR_REQUIRES(handle->lock)
{
    enum starpu_data_interface_id id = handle->ops->interfaceid;
    const struct orr_machine *machine = request->runtime->machine;

    if (machine->nodes[request->src].host_addressable &&
        (id == STARPU_VARIABLE_INTERFACE_ID ||
         id == STARPU_VECTOR_INTERFACE_ID))
        orr_race_read(orr_handle_pointer(handle, request->src), handle->size);
}

void orr_request_finish(struct orr_request *request,
                        struct orr_deferred *deferred)
{
    struct orr_runtime *rt = request->runtime;
    struct orr_handle *handle = request->handle;
    struct orr_access *waiters, *failed = NULL;
    struct orr_request *dropped = NULL;

    lock_for_end(handle, request, deferred);
    if (request->src != ORR_NO_NODE && !request->stale && !request->failed) {
        orr_handle_set_valid(handle, handle->valid | orr_bit(request->dst));
        orr_handle_touch(handle, orr_bit(request->dst));
        orr_traffic_arrive(handle, request->dst);
        if (ORR_RACE_SEEN)
            note_read_locked(handle, request);
    }
    waiters = request->waiters;
    if (!request->failed)
        request_move_locked(handle, request, deferred);
    orr_request_detach_locked(handle, request, deferred);
    if (!request->failed && (request->stale || request->src == ORR_NO_NODE))
        waiters =
            again_locked(rt, handle, waiters, request->dst, deferred, &failed);
    if (request->stale && !request->passed &&
        handle->replicates[request->dst].promised)
        (void)orr_request_need(rt, handle, request->dst, true, ORR_PREFETCH,
                               NULL, deferred);
    next_hops_locked(handle, request, deferred);
    if (handle->loading)
        dropped = orr_requests_cancel_locked(handle, deferred);
    orr_unlock(&handle->lock);
    orr_requests_free_dropped(rt, dropped);
    if (failed)
        orr_access_fail(rt, failed, -ENODATA);
    if (request->failed)
        break_waiters(rt, waiters);
    for (struct orr_access *access = waiters, *next; access; access = next) {
        next = *orr_access_waits(access);
        orr_job_arrive(rt, access->job);
    }
    orr_slab_put(rt->slabs->requests, request);
    orr_handle_leave(handle);
}

/* --- what was put off --- */

static void perform_now(struct orr_runtime *rt, struct orr_request *request,
                        struct orr_deferred *deferred)
{
    struct orr_handle *handle = request->handle;
    struct orr_block *block = NULL;
    size_t reserved;

    orr_lock(&handle->lock);
    reserved = handle->replicates[request->dst].reserved;
    orr_unlock(&handle->lock);
    (void)orr_block_new(rt, handle, request->dst, ORR_FETCH, reserved, &block);
    if (!block && rt->nodes->at[request->dst].nprogress == 0 &&
        request->waiters)
        orr_access_fail(rt, request->waiters, -ENOMEM);
    orr_lock(&handle->lock);
    if (block)
        orr_block_place_locked(handle, block, reserved, deferred);
    else
        enqueue(handle, request, deferred);
    orr_unlock(&handle->lock);
    if (block)
        orr_request_finish(request, deferred);
}

void orr_requests_now(struct orr_runtime *rt, struct orr_deferred *deferred)
{
    while (deferred->now) {
        struct orr_request *request = deferred->now;

        deferred->now = request->next_now;
        perform_now(rt, request, deferred);
    }
}

void orr_deferred_run_some(struct orr_runtime *rt,
                           struct orr_deferred *deferred)
{
    orr_requests_now(rt, deferred);
    while (deferred->nspare)
        orr_slab_put(rt->slabs->requests, deferred_take_spare(deferred));
    orr_nodes_kick(rt, deferred->kick);
    deferred->kick = 0;
    while (deferred->admit) {
        unsigned node = (unsigned)__builtin_ctzll(deferred->admit);

        deferred->admit &= deferred->admit - 1;
        orr_admit_retry(rt, node);
    }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/progress.c - requests are taken from the queues of their nodes,
 * given memory, and copied. Called by the progress workers of memory nodes, and
 * by the machine when a copy has ended.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/log.h"
#include "core/base/race.h"
#include "core/data/bus.h"
#include "core/data/label.h"
#include "core/data/lost.h"
#include "core/data/nodes.h"
#include "core/data/pending.h"
#include "core/data/placement.h"
#include "core/data/plan.h"
#include "core/data/request.h"
#include "core/device/driver.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/exec/tell.h"
#include "core/job/follow.h"
#include "core/job/job.h"
#include "core/job/tasks.h"
#include "core/layouts/multiformat.h"
#include "core/slab_set.h"
#include "core/worker/workers.h"

/* How often a copy that failed is made again. */
enum { MAX_TRIES = 2 };

/* Whether the machine copies from main memory to main memory, in start_copy. */
static bool is_at_once(const struct orr_runtime *rt,
                       const struct orr_request *request)
{
    return rt->machine->host_copies_at_once && request->src < rt->nodes->nram &&
           request->dst < rt->nodes->nram;
}

/* Whether this thread itself writes to main memory for a copy: copies from disks are
 * made by the disk's thread. */
static bool is_made_here(const struct orr_runtime *rt,
                         const struct orr_request *request)
{
    return is_at_once(rt, request) ||
           (rt->machine->nodes[request->src].stores &&
            request->dst < rt->nodes->nram);
}

/* --- the machine's side --- */

static void uncount(struct orr_node *node, unsigned peer, unsigned direction)
{
    orr_lock(&node->lock);
    node->inflight[peer * 2 + direction]--;
    orr_unlock(&node->lock);
}

/* The request's copy is none of those of its link any more that others wait for. */
static void leave_link(struct orr_runtime *rt, const struct orr_request *request)
{
    struct orr_node *node = &rt->nodes->at[request->progress_node];
    unsigned direction = node->id == request->dst;

    uncount(node, direction ? request->src : request->dst, direction);
}

/* The copy is not made any more. A value cannot be had from a lost device: it is looked
 * for elsewhere. It need not come to a lost device: jobs that wait go elsewhere. */
static void request_give_up(struct orr_runtime *rt, struct orr_request *request)
{
    struct orr_handle *handle = request->handle;
    const struct orr_node_desc *dst = &rt->machine->nodes[request->dst];

    if (orr_node_is_lost(rt, request->dst)) {
        request->failed = true;
    } else if (orr_node_is_lost(rt, request->src)) {
        orr_lock(&handle->lock);
        request->stale = true;
        orr_unlock(&handle->lock);
    } else if (orr_node_is_main(dst) || dst->stores) {
        orr_log_error("data number %llu%s%s cannot be copied from %s to %s, "
                      "where their value is needed",
                      (unsigned long long)handle->id, handle->name ? " " : "",
                      handle->name ? handle->name : "",
                      rt->machine->nodes[request->src].name, dst->name);
        orr_runtime_fail(rt);
    } else {
        request->failed = true;
    }
}

/* Kernels behind it in queues, of workers of its node, use what it has not brought. */
static _Noreturn void fail_ahead(struct orr_runtime *rt,
                                 const struct orr_request *request)
{
    orr_log_error("tasks follow the copy of %s to %s, which has failed, in "
                  "queues, and may have used what was there before: "
                  "ORRERY_FOLLOW_PLACED=0 lets tasks wait for copies, which "
                  "are then made once more",
                  orr_handle_label(request->handle).text,
                  rt->machine->nodes[request->dst].name);
    orr_runtime_fail(rt);
}

/* The source is as it was, and nothing that waits has been told of the destination, but
 * jobs that follow others: a copy that failed may be made once more. Returns whether it
 * is. */
static bool again(struct orr_runtime *rt, struct orr_request *request)
{
    struct orr_copy *copy = &request->copy;
    const struct orr_handle *handle = request->handle;
    bool may = copy->async.error == -EIO && !request->ahead &&
               request->ntries++ < MAX_TRIES;

    orr_log_warning(
        "%s: the copy of data number %llu%s%s from %s to %s, %zu bytes, "
        "failed: %s%s",
        orr_machine_copier(rt->machine, copy->src, copy->dst)->ops->name,
        (unsigned long long)handle->id, handle->name ? " " : "",
        handle->name ? handle->name : "", rt->machine->nodes[copy->src].name,
        rt->machine->nodes[copy->dst].name, copy->size,
        copy->async.error == -ENODEV ? "the device is lost"
                                     : strerror(-copy->async.error),
        may ? "; it is made once more" : "");
    if (request->ahead)
        fail_ahead(rt, request);
    if (copy->async.error == -ENODEV)
        orr_copy_lose(rt, copy);
    if (may)
        orr_machine_copy_start(rt->machine, copy);
    else
        request_give_up(rt, request);
    return may;
}

static void copy_done(struct orr_copy *copy)
{
    struct orr_request *request = orr_container(copy, struct orr_request, copy);
    struct orr_runtime *rt = request->runtime;
    struct orr_node *node = &rt->nodes->at[request->progress_node];
    unsigned peer = node->id == request->dst ? request->src : request->dst;
    struct orr_deferred deferred = {0};
    struct orr_waiter *sync = request->sync;

    if (copy->async.error && again(rt, request))
        return;
    if (!copy->async.error)
        orr_bus_count(rt, copy->src, copy->dst, copy->size);
    ORR_TELL(rt, ORR_TOLD_COPY_ENDED, .request = request);
    if (!request->ahead)
        leave_link(rt, request);
    orr_request_finish(request, &deferred);
    orr_deferred_run(rt, &deferred);
    orr_node_kick(rt, node->id);
    if (rt->nodes->tidies)
        orr_node_kick(rt, peer); /* its value may be elsewhere now */
    if (sync)
        orr_waiter_release(sync);
    orr_active_end(rt);
}

/* --- the progress worker's side --- */

/* Whether a job waits for it that goes ahead of those whose kernels have the value. */
static bool is_behind_kernels_locked(const struct orr_handle *handle,
                                     const struct orr_request *request)
    ORR_REQUIRES(handle->lock)
{
    if (!handle->runtime->tasks->follow_placed)
        return false;
    for (; request; request = request->next_hop)
        for (struct orr_access *a = request->waiters; a;
             a = *orr_access_waits(a))
            if (orr_job_follows_still(a->job))
                return true;
    return false;
}

/* Whether the job's kernel can be put behind the copy. */
static bool can_be_behind(const struct orr_runtime *rt,
                          const struct orr_job *job,
                          const struct orr_copy *copy)
{
    const struct orr_worker_desc *worker;

    if (!rt->tasks->follow_placed || !orr_job_follows(job) || job->worker < 0)
        return false;
    worker = &rt->machine->workers[job->worker];
    return worker->driver == copy->async.driver && worker->node == copy->dst &&
           worker->driver->ops->after;
}

/* The copy is in its queue: jobs that follow others need not wait for its end, nor need
 * copies for those behind them: it may have many kernels before it. */
static void copy_queued(struct orr_copy *copy)
{
    struct orr_request *request = orr_container(copy, struct orr_request, copy);
    struct orr_runtime *rt = request->runtime;
    struct orr_handle *handle = request->handle;
    struct orr_access *told = NULL, **link = &request->waiters;

    orr_lock(&handle->lock);
    while (*link && !request->stale) {
        struct orr_access *access = *link;

        if (!can_be_behind(rt, access->job, copy)) {
            link = orr_access_waits(access);
            continue;
        }
        *link = *orr_access_waits(access);
        *orr_access_waits(access) = told;
        told = access;
    }
    request->ahead = told != NULL;
    orr_unlock(&handle->lock);
    if (told)
        leave_link(rt, request);
    for (struct orr_access *next; told; told = next) {
        next = *orr_access_waits(told);
        orr_job_arrive(rt, told->job);
    }
}

/* Of data that were registered for estimates only. Copies of data that are not dense
 * find that out by themselves; those of an application's interface may start without
 * memory. */
static void expect_memory(const struct orr_handle *handle, unsigned node)
{
    const struct starpu_data_interface_ops *ops = handle->ops;
    const struct orr_node_desc *desc = &handle->runtime->machine->nodes[node];

    if (!desc->host_addressable || !handle->size ||
        !orr_handle_is_dense(handle) || !ops->to_pointer ||
        ops->to_pointer(handle->replicates[node].interface, node))
        return;
    orr_log_error(
        "%s are to be copied, but were registered with a NULL pointer "
        "on %s, which is for estimates only",
        orr_handle_label(handle).text, desc->name);
    orr_runtime_fail(handle->runtime);
}

static int request_perform_copy(struct orr_copy *copy, struct orr_async *async)
{
    struct orr_request *request = orr_container(copy, struct orr_request, copy);
    struct orr_runtime *outer = orr_self->runtime;
    bool repeats = ORR_RACE_SEEN && is_made_here(request->runtime, request) &&
                   orr_plans_repeat(request->handle, request->dst);
    int rc;

    orr_self->runtime = request->runtime; /* the context may be a driver's */
    expect_memory(request->handle, request->src);
    expect_memory(request->handle, request->dst);
    if (repeats)
        orr_race_repeat_begin();
    rc = orr_handle_copy(request->handle, request->src, request->dst, async);
    if (repeats)
        orr_race_repeat_end();
    orr_self->runtime = outer;
    /* Pairs with await_copies. */
    if (is_at_once(request->runtime, request))
        atomic_fetch_sub_explicit(&request->handle->ncopying, 1,
                                  memory_order_release);
    return rc;
}

struct awaited_copy {
    struct orr_awaited awaited; /* first; its object is the handle */
    unsigned src, dst;
};

static void copy_describe_awaited(const struct orr_awaited *awaited, char *text,
                                  size_t size)
{
    const struct awaited_copy *copy = (const struct awaited_copy *)awaited;
    const struct orr_handle *handle = awaited->object;
    const struct orr_node_desc *nodes = handle->runtime->machine->nodes;

    snprintf(text, size, "the copy of %s from %s to %s",
             orr_handle_words(handle).text, nodes[copy->src].name,
             nodes[copy->dst].name);
}

/* Whether the caller waits for copies, since these have not ended when they are
 * started. Code of the application must not wait. */
static bool is_waited_for(const struct orr_runtime *rt,
                          const struct orr_request *request)
{
    const struct orr_node_desc *nodes = rt->machine->nodes;

    return (nodes[request->src].copies_wait ||
            nodes[request->dst].copies_wait) &&
           !orr_self->frozen;
}

static void start_copy(struct orr_runtime *rt, struct orr_request *request)
{
    struct orr_copy *copy = &request->copy;
    const struct awaited_copy what = {
        .awaited = {.noun = "a copy",
                    .describe = copy_describe_awaited,
                    .object = request->handle},
        .src = request->src,
        .dst = request->dst};
    struct orr_waiter sync;
    bool waits = is_waited_for(rt, request);

    copy->src = request->src;
    copy->dst = request->dst;
    copy->size = request->handle->size;
    copy->fresh =
        orr_handle_is_untouched(request->handle, request->dst) ? copy->size : 0;
    copy->id = atomic_fetch_add_explicit(&rt->nodes->last_copy, 1,
                                         memory_order_relaxed) +
               1;
    copy->perform = request_perform_copy;
    copy->waited = 0;
    copy->done = copy_done;
    copy->queued = copy_queued;
    copy->post.mailbox = &rt->nodes->at[request->progress_node].mailbox;
    request->start = orr_exec_now(rt->exec);
    ORR_TELL(rt, ORR_TOLD_COPY_BEGINS, .request = request);
    atomic_fetch_add_explicit(&rt->workers->nactive, 1, memory_order_relaxed);
    orr_waiter_init(&sync);
    request->sync = waits ? &sync : NULL;
    if (request->handle->multiformat && !rt->machine->runs_kernels)
        orr_multiformat_sent(request->handle->replicates[copy->src].interface,
                             request->handle->replicates[copy->dst].interface,
                             copy->dst);
    orr_machine_copy_start(rt->machine, copy);
    if (waits)
        orr_wait(&sync, &what.awaited);
}

enum start_result { STARTED, DROPPED, NO_MEMORY, NO_COPY };

/* Whether the handle is not used any more once the request has ended, with those that
 * wait for it, and a context waits for that. */
static bool is_last_use(const struct orr_handle *handle,
                        const struct orr_request *request)
    ORR_REQUIRES(handle->lock)
{
    unsigned n = 0;

    for (; request; request = request->next_hop, n++)
        if (request->waiters)
            return false;
    return (handle->doomed || handle->awaited) && handle->nusers == n;
}

/* Whether the request is of no use any more: it was to free its source's memory, and
 * nothing waits for it. Where the value is elsewhere now, or has changed there, the
 * source's block can leave as it is, but such a request holds it there while it waits
 * for memory itself. While memory is being found for one job (relieve.c) no such
 * request is of use. */
static bool is_pointless(const struct orr_handle *handle,
                         const struct orr_request *request)
    ORR_REQUIRES(handle->lock)
{
    return request->moves && !request->waiters && !request->next_hop &&
           !handle->replicates[request->dst].promised &&
           (request->stale ||
            orr_handle_values(handle) & ~orr_bit(request->src) ||
            orr_memory_is_relieved(handle->runtime));
}

/* Whether anything needs what the request brings. A prefetch that goes on from main
 * memory gives up what it holds there and at its destination. */
static bool request_is_wanted(const struct orr_handle *handle,
                              const struct orr_request *request)
    ORR_REQUIRES(handle->lock)
{
    const struct orr_replicate *replicate = &handle->replicates[request->dst];

    if (is_last_use(handle, request) || is_pointless(handle, request))
        return false;
    if (request->waiters || request->level == ORR_FETCH ||
        (request->level == ORR_PREFETCH && replicate->promised))
        return true;
    if (request->next_hop &&
        !request->runtime->nodes->at[request->dst].capacity)
        return true;
    for (const struct orr_request *hop = request->next_hop; hop;
         hop = hop->next_hop)
        if (hop->waiters || hop->level == ORR_FETCH)
            return true;
    return false;
}

/* Detaches the request and those that wait for it. What kept a value from being
 * written back is gone then. */
static void drop_locked(struct orr_handle *handle, struct orr_request *request,
                        struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    for (struct orr_request *r = request; r; r = r->next_hop)
        orr_request_detach_locked(handle, r, deferred);
    for (uint64_t left = handle->allocated; left; left &= left - 1)
        orr_node_retry(handle->runtime, (unsigned)__builtin_ctzll(left),
                       deferred);
}

void orr_requests_free_dropped(struct orr_runtime *rt,
                               struct orr_request *request)
{
    while (request) {
        struct orr_request *next = request->next_hop;
        struct orr_handle *handle = request->handle;

        orr_slab_put(rt->slabs->requests, request);
        orr_handle_leave(handle);
        request = next;
    }
}

/* Takes the request out of its queue, if it is there. */
static bool unqueue_locked(struct orr_handle *handle,
                           struct orr_request *request)
    ORR_REQUIRES(handle->lock)
{
    struct orr_node *node = &handle->runtime->nodes->at[request->progress_node];
    bool queued;

    orr_lock(&node->lock);
    queued = request->state == ORR_REQUEST_QUEUED && orr_pending_has(request);
    if (queued)
        orr_pending_remove(node, request);
    orr_unlock(&node->lock);
    if (queued)
        atomic_fetch_sub_explicit(&node->nqueued, 1, memory_order_relaxed);
    return queued;
}

/* Takes the request out of its queue if it is there for want of memory and nothing
 * needs what it brings. */
static bool cancel_locked(struct orr_handle *handle,
                          struct orr_request *request,
                          struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    if (!request->starves ||
        !(is_last_use(handle, request) || is_pointless(handle, request)) ||
        !unqueue_locked(handle, request))
        return false;
    drop_locked(handle, request, deferred);
    return true;
}

struct orr_request *orr_requests_cancel_locked(struct orr_handle *handle,
                                               struct orr_deferred *deferred)
{
    struct orr_request *dropped = NULL;

    for (unsigned node = 0; node < handle->nnodes; node++) {
        struct orr_request *request = handle->replicates[node].request;
        struct orr_request *last = request;

        if (!request || !cancel_locked(handle, request, deferred))
            continue;
        while (last->next_hop)
            last = last->next_hop;
        last->next_hop = dropped;
        dropped = request;
    }
    return dropped;
}

/* Takes the request, which waits for a hop to main memory, from that one. */
static struct orr_request *leave_hop_locked(struct orr_handle *handle,
                                            struct orr_request *request)
    ORR_REQUIRES(handle->lock)
{
    struct orr_request *hop = handle->replicates[STARPU_MAIN_RAM].request;
    struct orr_request **link = &hop->next_hop;

    while (*link != request)
        link = &(*link)->next_hop;
    *link = request->next_hop;
    request->next_hop = NULL;
    return hop;
}

/* Whether the request is there for nothing but what follows it. */
static bool is_left_alone(const struct orr_request *request)
{
    return !request->waiters && !request->next_hop && !request->moves;
}

struct orr_request *orr_request_leave_locked(struct orr_handle *handle,
                                             struct orr_access *access,
                                             bool *ret_left,
                                             struct orr_deferred *deferred)
{
    struct orr_request *request = handle->replicates[access->at].request;
    struct orr_request *hop, *dropped = NULL;
    struct orr_access **link = request ? &request->waiters : NULL;

    while (link && *link && *link != access)
        link = orr_access_waits(*link);
    *ret_left = link && *link;
    if (!*ret_left)
        return NULL;
    *link = *orr_access_waits(access);
    if (request->waiters || request->state == ORR_REQUEST_RUNNING)
        return NULL;
    if (request->state == ORR_REQUEST_WAITING) {
        hop = leave_hop_locked(handle, request);
        drop_locked(handle, request, deferred);
        dropped = request;
        request = hop;
    }
    if (is_left_alone(request) && unqueue_locked(handle, request)) {
        drop_locked(handle, request, deferred);
        request->next_hop = dropped;
        dropped = request;
    }
    return dropped;
}

/* Where main memory is several nodes, a value that is written back to one, or
 * passes through it, may exceed its limit: see admit.c. NULL without memory. */
static struct orr_block *exceed(struct orr_handle *handle, unsigned dst)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_block *block = NULL;

    if (rt->nodes->nram > 1 && dst < rt->nodes->nram && handle->size > 0)
        (void)orr_block_new_anyway(rt, handle, dst, &block);
    return block;
}

/* Gives the request's destination its memory, if it has none. A prefetch that finds no
 * memory is dropped if no job waits for it or was promised its replicate. Locked on
 * entry and on return, not meanwhile. */
static enum start_result allocate_locked(struct orr_handle *handle,
                                         struct orr_request *request,
                                         struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock)
{
    struct orr_replicate *replicate = &handle->replicates[request->dst];
    enum orr_fetch_level level = (enum orr_fetch_level)request->level;
    struct orr_block *block = NULL;
    size_t reserved = replicate->reserved;

    if (replicate->allocated)
        return STARTED;
    if (is_pointless(handle, request)) {
        drop_locked(handle, request, deferred);
        return DROPPED;
    }
    orr_unlock(&handle->lock);
    (void)orr_block_new(handle->runtime, handle, request->dst, level, reserved,
                        &block);
    if (!block && level == ORR_FETCH && !reserved)
        block = exceed(handle, request->dst);
    orr_lock(&handle->lock);
    if (block) {
        orr_block_place_locked(handle, block, reserved, deferred);
        return STARTED;
    }
    if (request_is_wanted(handle, request))
        return NO_MEMORY;
    drop_locked(handle, request, deferred);
    return DROPPED;
}

/* Whether all that wait are tasks that other workers may run. */
static bool may_go_elsewhere(struct orr_handle *handle,
                             const struct orr_request *request)
    ORR_REQUIRES(handle->lock)
{
    struct orr_runtime *rt = handle->runtime;
    const struct orr_access *waiter = request->waiters;

    for (; waiter; waiter = waiter->next)
        if (!waiter->job->type->may_avoid ||
            !waiter->job->type->may_avoid(rt, waiter->job,
                                          orr_bit(request->dst)))
            return false;
    return request->waiters != NULL;
}

/* Memory was reserved when the request was tried, but the device refuses it, and
 * nothing on the node could give some back: no other task runs there, and no block is
 * leaving. */
static bool is_hopeless(struct orr_handle *handle,
                        const struct orr_request *request, bool reserved)
    ORR_REQUIRES(handle->lock)
{
    const struct orr_admission *a =
        &handle->runtime->nodes->at[request->dst].admission;

    return reserved && atomic_load(&a->nadmitted) == 1 &&
           atomic_load(&a->nleaving) == 0 && may_go_elsewhere(handle, request);
}

/* The request was taken out of its queue by the caller. */
static enum start_result try_start(struct orr_runtime *rt,
                                   struct orr_request *request)
{
    struct orr_handle *handle = request->handle;
    struct orr_deferred deferred = {0};
    enum start_result result;
    bool reserved;

    orr_lock(&handle->lock);
    request->starves = false;
    reserved = orr_request_has_reserved(request); /* a job may join meanwhile */
    result = allocate_locked(handle, request, &deferred);
    if (result != DROPPED &&
        (orr_node_is_lost(rt, request->dst) ||
         (result == NO_MEMORY && is_hopeless(handle, request, reserved)))) {
        request->failed = true;
        result = NO_COPY;
    } else if (result == STARTED &&
               (request->src == ORR_NO_NODE || handle->size == 0)) {
        result = NO_COPY;
    } else if (result == STARTED &&
               (request->stale ||
                !(orr_handle_values(handle) & orr_bit(request->src)))) {
        /* Overwritten while it was queued: nothing to copy any more. */
        request->stale = true;
        result = NO_COPY;
    }
    if (result == STARTED) {
        request->copy.behind = is_behind_kernels_locked(handle, request);
        orr_request_pin_source(handle, request, ORR_FETCH);
        request->state = ORR_REQUEST_RUNNING;
        orr_request_leaves(handle, request);
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
        orr_requests_free_dropped(rt, request);
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

/* A context that frees memory meanwhile sees `short_of_memory`, or has freed it before
 * the last look that a worker takes when it falls asleep. A context that has reserved
 * memory for the request since the request was tried found it in no queue, and woke no
 * worker that would find it now: the node's requests are looked at once more. */
static void put_back(struct orr_runtime *rt, struct orr_node *node,
                     struct orr_request *request, bool had_reserved)
{
    struct orr_handle *handle = request->handle;
    struct orr_deferred deferred = {0};
    unsigned dst = request->dst;
    enum orr_need need;
    bool can_start;

    orr_lock(&handle->lock); /* for the level */
    if (is_last_use(handle, request) || is_pointless(handle, request)) {
        drop_locked(handle, request, &deferred);
        orr_unlock(&handle->lock);
        atomic_fetch_sub_explicit(&node->nqueued, 1, memory_order_relaxed);
        orr_requests_free_dropped(rt, request);
        orr_deferred_run(rt, &deferred);
        return;
    }
    request->starves = true;
    orr_request_stays(handle, request, &deferred);
    if (request->pinned) /* it frees nothing for now */
        orr_node_end_leaving(handle, request->src, &deferred);
    can_start = !had_reserved && orr_request_has_reserved(request);
    orr_lock(&node->lock);
    request->starved = handle->size;
    need = orr_need_of((enum orr_fetch_level)request->level);
    orr_pending_put_back(node, request);
    orr_unlock(&node->lock);
    orr_unlock(&handle->lock);
    if (can_start && orr_self->worker)
        orr_self->worker->again = true;
    if (can_start)
        deferred.kick |= orr_bit(node->id);
    atomic_fetch_or(&rt->nodes->at[dst].short_of_memory[need],
                    orr_bit(node->id));
    orr_deferred_run(rt, &deferred);
}

/* Starts one request, of the level or the next one that has some; false when there
 * is none that may. Adds a node to *full when it had no memory.
 * Sets *at_once when a copy has been made, not only started. */
static bool start_one(struct orr_runtime *rt, struct orr_node *node,
                      unsigned *level, struct orr_full *full, bool *at_once)
{
    struct orr_request *request;
    unsigned peer, direction, dst, nqueued;
    enum start_result result;
    bool counted, reserved;

    orr_lock(&node->lock);
    request = orr_pending_take(node, level, full);
    orr_unlock(&node->lock);
    if (!request)
        return false;
    counted = request->src != ORR_NO_NODE;
    direction = node->id == request->dst;
    dst = request->dst;
    peer = direction ? request->src : dst;
    *at_once = is_at_once(rt, request);
    reserved = orr_request_has_reserved(request);
    nqueued = atomic_load_explicit(&node->nqueued, memory_order_relaxed);
    result = try_start(rt, request);
    if (result != STARTED && counted)
        uncount(node, peer, direction);
    if (result == NO_MEMORY) {
        put_back(rt, node, request, reserved);
        full->nodes |= orr_bit(dst);
        full->machines |= reserved ? orr_bit(dst) : 0;
        *at_once = false;
        /* What was to make room may be a request of this node, and more urgent: nothing
         * wakes the context that has made that one itself. */
        if (atomic_load_explicit(&node->nqueued, memory_order_relaxed) >
            nqueued)
            *level = ORR_FETCH;
        return true;
    }
    atomic_fetch_sub_explicit(&node->nqueued, 1, memory_order_relaxed);
    return true;
}

/* Requests of the node, the most urgent first. */
static bool start_all(struct orr_runtime *rt, struct orr_node *node)
{
    struct orr_full full = {0};
    unsigned level = 0;
    bool any = false, at_once;

    /* Pairs with enqueue. */
    while (atomic_load(&node->nqueued) &&
           start_one(rt, node, &level, &full, &at_once))
        any |= !full.nodes || at_once;
    for (unsigned need = 0; need < ORR_NNEEDS; need++)
        if (full.vain[need]) /* as in put_back */
            atomic_fetch_or(&node->short_of_memory[need], orr_bit(node->id));
    return any;
}

bool orr_node_start(struct orr_runtime *rt, struct orr_node *node)
{
    unsigned id = node->id;
    bool any = orr_mailbox_serve(&node->mailbox);

    any |= orr_admit_serve(rt, id);
    any |= start_all(rt, node);
    if (rt->nodes->tidies) {
        unsigned nqueued =
            atomic_load_explicit(&node->nqueued, memory_order_relaxed);

        any |= orr_node_tidy(rt, id);
        /* Write-backs that are this node's to start: nobody wakes who has made them
         * himself. */
        any |= atomic_load_explicit(&node->nqueued, memory_order_relaxed) >
               nqueued;
    }
    return any;
}

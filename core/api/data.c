/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/data.c - the application's use of data: acquisition, the end of
 * handles, transfers. Any thread; what waits is refused in callbacks and
 * kernels.
 */
#include <errno.h>
#include <limits.h>
#include <orrery.h>
#include <stdlib.h>

#include "core/api/api.h"
#include "core/api/early.h"
#include "core/api/poll.h"
#include "core/data/data.h"
#include "core/data/evict.h"
#include "core/data/label.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/reduction.h"
#include "core/data/traffic.h"
#include "core/observe/trace_observer.h"

/* -- acquisition -- */

static int refuse_node(const char *call, starpu_data_handle_t handle, int node)
{
    orr_log_error(
        "%s of %s: there is no memory node %d, they are numbered 0 to "
        "%u",
        call, orr_handle_label(orr_handle_of(handle)).text, node,
        orr_runtime_need(call)->nodes->n - 1);
    return -EINVAL;
}

/* The arguments of all variants; node < 0 is main memory, or all. */
static int check_acquisition(const struct orr_runtime *rt, const char *call,
                             starpu_data_handle_t handle, int node,
                             enum starpu_data_access_mode mode)
{
    const char *trouble = NULL;

    if (!handle)
        trouble = "the data handle is NULL: register the data first";
    else if (orr_data_check(orr_handle_of(handle), call) != 0)
        return -EINVAL;
    else if (node >= (int)rt->nodes->n ||
             node < STARPU_ACQUIRE_NO_NODE_LOCK_ALL)
        return refuse_node(call, handle, node);
    else if (node >= (int)orr_handle_of(handle)->nnodes)
        trouble = "the data were registered before that disk: call "
                  "starpu_disk_register first";
    else if (mode & (STARPU_SCRATCH | STARPU_REDUX))
        trouble = "STARPU_SCRATCH and STARPU_REDUX are for tasks only: acquire "
                  "the data with STARPU_R, STARPU_W or STARPU_RW";
    else if (!(mode & STARPU_RW))
        trouble = "the mode must be STARPU_R, STARPU_W or STARPU_RW";
    else if (mode & STARPU_W && orr_handle_of(handle)->is_duplicate)
        trouble = "copies by starpu_data_dup_ro are shared, and only read";
    if (!trouble)
        return 0;
    if (handle)
        orr_log_error("%s of %s: %s", call,
                      orr_handle_label(orr_handle_of(handle)).text, trouble);
    else
        orr_log_error("%s: %s", call, trouble);
    return -EINVAL;
}

/* The record of a rank without the others says which values mean nothing. */
static void record_unreal(struct orr_runtime *rt, starpu_data_handle_t handle,
                          enum starpu_data_access_mode mode, int rc)
{
    if (rc == 0 && rt->nranks > 1 && mode & STARPU_R &&
        orr_handle_of(handle)->unreal)
        ORR_RECORD(rt, UNREAL, .id = orr_handle_of(handle)->id);
}

static int api_acquire(enum orr_acquire_call by, starpu_data_handle_t handle,
                       int node, enum starpu_data_access_mode mode)
{
    const char *call = orr_acquire_name(by);
    ORR_API(rt, call);
    int rc = check_acquisition(rt, call, handle, node, mode);

    if (rc < 0)
        return rc;
    ORR_RECORD(rt, ACQUIRE, .id = orr_handle_of(handle)->id, .value = mode,
               .node = node);
    rc = orr_data_acquire(rt, by, orr_handle_of(handle), node, mode);
    record_unreal(rt, handle, mode, rc);
    return rc;
}

/* The node that calls without a node argument use; a NULL handle is refused later. */
static int base_of(starpu_data_handle_t handle)
{
    return handle ? (int)orr_handle_base(orr_handle_of(handle))
                  : STARPU_MAIN_RAM;
}

int starpu_data_acquire_on_node(starpu_data_handle_t handle, int node,
                                enum starpu_data_access_mode mode)
{
    return api_acquire(ORR_ACQUIRE_ON_NODE, handle, node, mode);
}

int starpu_data_acquire(starpu_data_handle_t handle,
                        enum starpu_data_access_mode mode)
{
    return api_acquire(ORR_ACQUIRE, handle, base_of(handle), mode);
}

/* For the task, NULL: for none. */
static int acquire_with(struct starpu_task *task, starpu_data_handle_t handle,
                        int node, enum starpu_data_access_mode mode,
                        struct orr_acquisition how)
{
    const char *call = orr_acquire_name(how.call);
    ORR_API(rt, call);
    int rc = check_acquisition(rt, call, handle, node, mode);

    if (rc < 0)
        return rc;
    if (how.fresh > how.copied)
        how.fresh = how.copied;
    ORR_TELL(rt, ORR_TOLD_CALL,
             .called.about = task ? ORR_ABOUT(.task = task) : NULL,
             .called.call = &(struct orr_call){.verb = ORR_CALL_ACQUIRE,
                                               .how = ORR_HOW_CALLBACK,
                                               .id = orr_handle_of(handle)->id,
                                               .value = mode,
                                               .node = node,
                                               .unordered = !how.sequential,
                                               .size = how.copied,
                                               .memory = how.fresh});
    return orr_data_acquire_with(rt, orr_handle_of(handle), node, mode, &how);
}

static int acquire_cb(enum orr_acquire_call by, starpu_data_handle_t handle,
                      int node, enum starpu_data_access_mode mode,
                      void (*callback)(void *), void *arg, int sequential)
{
    return acquire_with(
        NULL, handle, node, mode,
        (struct orr_acquisition){.call = by,
                                 .callback = callback,
                                 .arg = arg,
                                 .sequential = sequential != 0});
}

int orrery_data_acquire_to_copy(starpu_data_handle_t handle, int node,
                                enum starpu_data_access_mode mode, size_t bytes,
                                void (*callback)(void *), void *arg)
{
    return orrery_data_acquire_to_copy_new(handle, node, mode, bytes, 0,
                                           callback, arg);
}

int orrery_data_acquire_to_copy_new(starpu_data_handle_t handle, int node,
                                    enum starpu_data_access_mode mode,
                                    size_t bytes, size_t first_used,
                                    void (*callback)(void *), void *arg)
{
    return acquire_with(NULL, handle, node, mode,
                        (struct orr_acquisition){.call = ORR_ACQUIRE_TO_COPY,
                                                 .callback = callback,
                                                 .arg = arg,
                                                 .copied = bytes,
                                                 .fresh = first_used});
}

int orrery_data_acquire_for_task(struct starpu_task *task,
                                 starpu_data_handle_t handle, int node,
                                 enum starpu_data_access_mode mode,
                                 size_t bytes, size_t first_used,
                                 void (*callback)(void *), void *arg)
{
    return acquire_with(task, handle, node, mode,
                        (struct orr_acquisition){.call = ORR_ACQUIRE_FOR_TASK,
                                                 .callback = callback,
                                                 .arg = arg,
                                                 .copied = bytes,
                                                 .fresh = first_used});
}

int starpu_data_acquire_on_node_cb_sequential_consistency(
    starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode,
    void (*callback)(void *), void *arg, int sequential_consistency)
{
    return acquire_cb(ORR_ACQUIRE_ON_NODE_CB_CONSISTENCY, handle, node, mode,
                      callback, arg, sequential_consistency);
}

int starpu_data_acquire_on_node_cb(starpu_data_handle_t handle, int node,
                                   enum starpu_data_access_mode mode,
                                   void (*callback)(void *), void *arg)
{
    return acquire_cb(ORR_ACQUIRE_ON_NODE_CB, handle, node, mode, callback, arg,
                      1);
}

int starpu_data_acquire_cb(starpu_data_handle_t handle,
                           enum starpu_data_access_mode mode,
                           void (*callback)(void *), void *arg)
{
    return acquire_cb(ORR_ACQUIRE_CB, handle, base_of(handle), mode, callback,
                      arg, 1);
}

int starpu_data_acquire_cb_sequential_consistency(
    starpu_data_handle_t handle, enum starpu_data_access_mode mode,
    void (*callback)(void *), void *arg, int sequential_consistency)
{
    return acquire_cb(ORR_ACQUIRE_CB_CONSISTENCY, handle, base_of(handle), mode,
                      callback, arg, sequential_consistency);
}

int starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(
    starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode,
    void (*callback_acquired)(void *arg, int *node,
                              enum starpu_data_access_mode mode),
    void (*callback)(void *arg), void *arg, int sequential_consistency,
    int quick, long *pre_sync_jobid, long *post_sync_jobid, int prio)
{
    ORR_API(rt, __func__);
    struct orr_acquisition how = {.call = ORR_ACQUIRE_SYNC_JOBIDS,
                                  .callback = callback,
                                  .before = callback_acquired,
                                  .arg = arg,
                                  .sequential = sequential_consistency != 0,
                                  .numbered = true,
                                  .priority = prio};
    int rc = check_acquisition(rt, __func__, handle, node, mode);

    (void)quick; /* what comes after the release is ready then in any case */
    if (rc < 0)
        return rc;
    ORR_RECORD_NOTE(rt, "acquisitions with the numbers of their jobs, which "
                        "replays lack");
    rc = orr_data_acquire_with(rt, orr_handle_of(handle), node, mode, &how);
    if (rc == 0 && pre_sync_jobid)
        *pre_sync_jobid = how.job;
    if (rc == 0 && post_sync_jobid)
        *post_sync_jobid = how.job;
    return rc;
}

static int try_acquire(enum orr_acquire_call by, starpu_data_handle_t handle,
                       int node, enum starpu_data_access_mode mode)
{
    const char *call = orr_acquire_name(by);
    ORR_API(rt, call);
    int rc = check_acquisition(rt, call, handle, node, mode);

    if (rc < 0)
        return rc;
    rc = orr_poll_result(
        orr_data_try_acquire(rt, by, orr_handle_of(handle), node, mode));
    ORR_RECORD(rt, ACQUIRE, .how = rc ? ORR_HOW_REFUSED : ORR_HOW_TRIED,
               .id = orr_handle_of(handle)->id, .value = mode, .node = node);
    return rc;
}

int starpu_data_acquire_on_node_try(starpu_data_handle_t handle, int node,
                                    enum starpu_data_access_mode mode)
{
    return try_acquire(ORR_ACQUIRE_ON_NODE_TRY, handle, node, mode);
}

int starpu_data_acquire_try(starpu_data_handle_t handle,
                            enum starpu_data_access_mode mode)
{
    return try_acquire(ORR_ACQUIRE_TRY, handle, base_of(handle), mode);
}

static void say_not_acquired(const char *call, const struct orr_handle *handle,
                             int node)
{
    orr_log_error("%s of %s: the data are not acquired%s: there is nothing to "
                  "release",
                  call, orr_handle_label(handle).text,
                  node >= 0 ? " on that node" : "");
}

static void api_release(const char *call, starpu_data_handle_t handle, int node)
{
    ORR_API(rt, call);
    struct orr_handle *h = orr_api_handle(call, handle);

    ORR_RECORD(rt, RELEASE, .id = h->id, .node = node);
    if (orr_data_release(rt, h, node) != 0)
        say_not_acquired(call, h, node);
}

void starpu_data_release_on_node(starpu_data_handle_t handle, int node)
{
    api_release(__func__, handle, node);
}

void starpu_data_release(starpu_data_handle_t handle)
{
    api_release(__func__, handle, base_of(handle));
}

static void release_to(const char *call, starpu_data_handle_t handle,
                       enum starpu_data_access_mode down_to_mode, int node)
{
    ORR_API(rt, call);
    struct orr_handle *h = orr_api_handle(call, handle);

    ORR_RECORD(rt, RELEASE, .id = h->id, .node = node, .value = down_to_mode);
    if (!(down_to_mode & STARPU_RW)) {
        if (orr_data_release(rt, h, node) != 0)
            say_not_acquired(call, h, node);
        return;
    }
    switch (orr_data_share(rt, h, node, down_to_mode)) {
    case -ENOENT:
        say_not_acquired(call, h, node);
        break;
    case -EACCES:
        orr_log_error("%s of %s: data that were acquired for reading cannot "
                      "be kept for writing: release them and acquire them "
                      "again",
                      call, orr_handle_label(h).text);
        abort();
    default:
        break;
    }
}

void starpu_data_release_to_on_node(starpu_data_handle_t handle,
                                    enum starpu_data_access_mode down_to_mode,
                                    int node)
{
    release_to(__func__, handle, down_to_mode, node);
}

void starpu_data_release_to(starpu_data_handle_t handle,
                            enum starpu_data_access_mode down_to_mode)
{
    release_to(__func__, handle, down_to_mode, base_of(handle));
}

/* -- the end of a handle -- */

static void unregister(const char *call, starpu_data_handle_t handle,
                       bool coherent)
{
    ORR_API_IF(rt, call);
    struct orr_handle *h;

    if (!rt && orr_early_forget((uintptr_t)handle)) {
        free(orr_handle_of(handle));
        return;
    }
    h = orr_api_handle(call, handle);
    ORR_RECORD(rt, UNREGISTER, .id = h->id,
               .how = coherent ? ORR_HOW_PLAIN : ORR_HOW_DROPPED);
    orr_data_unregister(rt, h, coherent);
}

void starpu_data_unregister(starpu_data_handle_t handle)
{
    unregister(__func__, handle, true);
}

void starpu_data_unregister_no_coherency(starpu_data_handle_t handle)
{
    unregister(__func__, handle, false);
}

void starpu_data_unregister_submit(starpu_data_handle_t handle)
{
    ORR_API(rt, __func__);
    struct orr_handle *h = orr_api_handle(__func__, handle);

    ORR_RECORD(rt, UNREGISTER, .id = h->id, .how = ORR_HOW_SUBMITTED);
    orr_data_unregister_submit(rt, h);
}

static void api_invalidate(const char *call, starpu_data_handle_t handle,
                           bool keeps_memory)
{
    ORR_API(rt, call);
    struct orr_handle *h = orr_api_handle(call, handle);

    ORR_RECORD(rt, INVALIDATE, .id = h->id, .kept = keeps_memory);
    orr_data_invalidate(rt, h, keeps_memory);
}

static void invalidate_submit(const char *call, starpu_data_handle_t handle,
                              bool keeps_memory)
{
    ORR_API(rt, call);
    struct orr_handle *h = orr_api_handle(call, handle);

    ORR_RECORD(rt, INVALIDATE, .id = h->id, .how = ORR_HOW_SUBMITTED,
               .kept = keeps_memory);
    orr_data_invalidate_submit(rt, h, keeps_memory);
}

void starpu_data_invalidate(starpu_data_handle_t handle)
{
    api_invalidate(__func__, handle, false);
}

void starpu_data_invalidate_submit(starpu_data_handle_t handle)
{
    invalidate_submit(__func__, handle, false);
}

void starpu_data_deinitialize(starpu_data_handle_t handle)
{
    api_invalidate(__func__, handle, true);
}

void starpu_data_deinitialize_submit(starpu_data_handle_t handle)
{
    invalidate_submit(__func__, handle, true);
}

/* -- transfers -- */

/* Whether the data are on the node already and an acquisition would have no effect that
 * can be seen. Never in simulations, where an acquisition takes time. */
static bool is_there(struct orr_runtime *rt, struct orr_handle *handle,
                     int node)
{
    return !rt->sim && !orr_is_traced(rt) && !orr_self->frozen &&
           !orr_self->job && !handle->family && node >= 0 &&
           orr_handle_stays_there(rt, handle, (unsigned)node);
}

static int fetch_now(struct orr_runtime *rt, enum orr_acquire_call by,
                     struct orr_handle *handle, int node)
{
    int rc;

    if (is_there(rt, handle, node))
        return 0;
    rc = orr_data_bring(rt, by, handle, node, STARPU_R);
    if (rc == 0)
        orr_data_release(rt, handle, node);
    return rc;
}

/* Whether the data never fit on the node, so that a hint has no effect; warns of the
 * first such hint. */
static bool is_too_large(const char *call, struct orr_runtime *rt,
                         const struct orr_handle *handle, unsigned node)
{
    size_t limit = rt->nodes->at[node].capacity;

    if (!limit || handle->size <= limit || handle->allocated >> node & 1)
        return false;
    if (rt->nodes->said_large)
        return true;
    rt->nodes->said_large = true;
    orr_log_warning("%s has no effect: %s, %zu bytes, is larger than memory "
                    "node %u (%s), whose limit is %zu",
                    call, orr_handle_label(handle).text, handle->size, node,
                    rt->machine->nodes[node].name, limit);
    return true;
}

static const enum orr_how how_of[] = {
    [ORR_FETCH] = ORR_HOW_PLAIN,
    [ORR_PREFETCH] = ORR_HOW_PREFETCH,
    [ORR_IDLE_PREFETCH] = ORR_HOW_IDLE,
};

static int api_bring_value(struct orr_runtime *rt, enum orr_acquire_call by,
                           struct orr_handle *h, unsigned node, unsigned async,
                           enum orr_fetch_level level, int priority)
{
    int rc = orr_handle_begin(rt, h);

    if (rc < 0)
        return rc;
    if (!async)
        return fetch_now(rt, by, h, (int)node);
    /* Where memory is limited the acquisition asks for it as jobs do, and holds nothing
     * while it waits; planned partitions may be switched. */
    if (!(level == ORR_FETCH && rt->nodes->at[node].capacity) && !h->family &&
        orr_handle_try_prefetch(rt, h, node, level, priority))
        return 0;
    return orr_data_bring_later(rt, h, (int)node);
}

static int api_fetch(enum orr_acquire_call by, starpu_data_handle_t handle,
                     unsigned node, unsigned async, enum orr_fetch_level level,
                     int priority)
{
    const char *call = orr_acquire_name(by);
    ORR_API(rt, call);
    int rc;

    /* A program with many data has these in no cache, and no load is started early
     * across the lock. */
    if (handle)
        __builtin_prefetch(&orr_handle_of(handle)->valid);
    rc = check_acquisition(rt, call, handle, (int)node, STARPU_R);
    if (rc == 0 &&
        node >= rt->nodes->n) /* where acquisitions may be at no node */
        rc = refuse_node(call, handle, (int)node);
    if (rc < 0)
        return rc;
    ORR_RECORD(rt, FETCH, .id = orr_handle_of(handle)->id,
               .how = how_of[level], .node = (int)node, .synchronous = !async,
               .priority = priority);
    if (level == ORR_FETCH ||
        !is_too_large(call, rt, orr_handle_of(handle), node))
        rc = api_bring_value(rt, by, orr_handle_of(handle), node, async, level,
                             priority);
    return rc;
}

int starpu_data_fetch_on_node(starpu_data_handle_t handle, unsigned node,
                              unsigned async)
{
    return api_fetch(ORR_ACQUIRE_FETCH, handle, node, async, ORR_FETCH, 0);
}

int starpu_data_prefetch_on_node_prio(starpu_data_handle_t handle,
                                      unsigned node, unsigned async, int prio)
{
    return api_fetch(ORR_ACQUIRE_PREFETCH_PRIO, handle, node, async,
                     ORR_PREFETCH, prio);
}

int starpu_data_prefetch_on_node(starpu_data_handle_t handle, unsigned node,
                                 unsigned async)
{
    return api_fetch(ORR_ACQUIRE_PREFETCH, handle, node, async, ORR_PREFETCH,
                     0);
}

int starpu_data_idle_prefetch_on_node_prio(starpu_data_handle_t handle,
                                           unsigned node, unsigned async,
                                           int prio)
{
    return api_fetch(ORR_ACQUIRE_IDLE_PREFETCH_PRIO, handle, node, async,
                     ORR_IDLE_PREFETCH, prio);
}

int starpu_data_idle_prefetch_on_node(starpu_data_handle_t handle,
                                      unsigned node, unsigned async)
{
    return api_fetch(ORR_ACQUIRE_IDLE_PREFETCH, handle, node, async,
                     ORR_IDLE_PREFETCH, 0);
}

int starpu_data_request_allocation(starpu_data_handle_t handle, unsigned node)
{
    ORR_API(rt, __func__);
    struct orr_handle *h = orr_api_handle(__func__, handle);

    (void)orr_api_node(__func__, node);
    if (orr_data_check(h, __func__) != 0)
        return -EINVAL;
    if (is_too_large(__func__, rt, h, node))
        return 0;
    ORR_RECORD(rt, ALLOCATE, .id = h->id, .node = (int)node);
    orr_handle_allocate(rt, h, node);
    return 0;
}

void orrery_data_untouched(starpu_data_handle_t handle)
{
    ORR_API(rt, __func__);
    struct orr_handle *h = orr_api_handle(__func__, handle);

    ORR_RECORD(rt, UNTOUCHED, .id = h->id);
    if (h->home_node < 0 || !rt->exec->virtual_time)
        return;
    orr_lock(&h->lock);
    h->untouched |= orr_bit((unsigned)h->home_node);
    orr_unlock(&h->lock);
}

void starpu_data_wont_use(starpu_data_handle_t handle)
{
    ORR_API(rt, __func__);
    struct orr_handle *h = orr_api_handle(__func__, handle);

    ORR_RECORD(rt, WONT_USE, .id = h->id);
    ORR_TELL(rt, ORR_TOLD_WONT_USE, .handle = h);
    orr_data_wont_use(rt, h);
}

/* If the node has the only copy of data that are not in use, it is copied to where it
 * would be written back; the caller waits for that, if it may. Of planned data the
 * whole is copied, or the parts, as the plan stands now: it is not switched for this. */
static void send_only_copy(struct orr_runtime *rt, struct orr_handle *h,
                           unsigned node)
{
    const struct orr_replicate *replicate = &h->replicates[node];
    unsigned to = node;

    if (orr_self->frozen || orr_self->job || h->partitioned)
        return;
    orr_lock(&h->lock);
    if (!h->nusers && replicate->block && !replicate->refs &&
        !orr_handle_keeps(h, node) && !orr_replicate_is_clean(replicate))
        to = orr_replicate_write_back_target(replicate);
    orr_unlock(&h->lock);
    if (to != node && orr_data_bring_as_is(rt, h, (int)to) == 0)
        orr_data_release(rt, h, (int)to);
}

int starpu_data_evict_from_node(starpu_data_handle_t handle, unsigned node)
{
    ORR_API(rt, __func__);
    struct orr_handle *h = orr_api_handle(__func__, handle);

    (void)orr_api_node(__func__, node);
    ORR_RECORD(rt, EVICT, .id = h->id, .node = (int)node);
    if (node >= h->nnodes)
        return -1;
    send_only_copy(rt, h, node);
    return orr_node_try_evict(h, node) ? 0 : -1;
}

int starpu_data_can_evict(starpu_data_handle_t handle, unsigned node,
                          enum starpu_is_prefetch is_prefetch)
{
    struct orr_handle *h = orr_api_handle(__func__, handle);
    const struct orr_replicate *replicate = &h->replicates[node];
    bool can;

    (void)orr_api_node(__func__, node);
    if (node >= h->nnodes)
        return 0;
    orr_lock(&h->lock);
    can = replicate->block && !replicate->refs && !orr_handle_keeps(h, node) &&
          !(is_prefetch >= STARPU_TASK_PREFETCH && replicate->promised);
    orr_unlock(&h->lock);
    return can;
}

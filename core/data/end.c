/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/end.c - the end of handles. A handle is in use as long as jobs and requests
 * count in `nusers`. A context that finds none under the lock, and is to free the
 * handle, sets `dying`: from then on there are no new users, transfers that make room
 * included, and a worker or the application frees the memory without the lock.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/data/data.h"
#include "core/data/label.h"
#include "core/data/lend.h"
#include "core/data/node.h"
#include "core/data/plan.h"
#include "core/data/private.h"
#include "core/data/reduction.h"
#include "core/data/registry.h"
#include "core/data/request.h"
#include "core/data/traffic.h"
#include "core/exec/await.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/remote_ops.h"
#include "core/worker/workers.h"

/* --- memory --- */

void orr_handle_free(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;

    assert(!orr_self->machine);
    if (handle->remote)
        rt->remote->handle_ends(handle);
    orr_lock(&rt->lock);
    orr_list_remove(&handle->all);
    rt->data->nhandles--;
    orr_unlock(&rt->lock);
    orr_traffic_end(handle);
    for (unsigned node = 0; node < handle->nnodes; node++) {
        struct orr_block *block;

        orr_lock(&handle->lock);
        handle->dying = true;
        orr_handle_forget_partials_locked(handle);
        block = orr_block_detach_locked(handle, node);
        orr_unlock(&handle->lock);
        orr_block_free(block);
        if (block)
            orr_node_freed(rt, node);
    }
    if (handle->ops->unregister_data_handle)
        handle->ops->unregister_data_handle(orr_handle_public(handle));
    orr_privates_free(handle);
    orr_family_free(handle);
    free(handle->reduction);
    free(handle->children);
    free(handle->name);
    free(atomic_load(&handle->spare_interfaces));
    free(handle->detours);
    *(volatile uint32_t *)&handle->alive = 0;
    orr_handle_dispose(handle);
}

/* --- handles that the machine must not free --- */

static struct orr_handle *take_dead(struct orr_runtime *rt)
{
    struct orr_list *link = NULL;

    orr_lock(&rt->lock);
    if (!orr_list_empty(&rt->data->dead)) {
        link = rt->data->dead.next;
        orr_list_remove(link);
        orr_list_append(&rt->data->handles, link); /* as orr_handle_free wants it */
    }
    orr_unlock(&rt->lock);
    return link ? orr_container(link, struct orr_handle, all) : NULL;
}

void orr_handles_free_dead(struct orr_runtime *rt)
{
    struct orr_handle *handle;

    assert(!orr_self->machine);
    while ((handle = take_dead(rt))) {
        atomic_fetch_sub_explicit(&rt->data->ndead, 1, memory_order_relaxed);
        orr_handle_free(handle);
    }
}

/* --- users --- */

void orr_handle_leave(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_waiters waiters = {NULL};
    struct orr_deferred deferred = {0};
    struct orr_request *dropped = NULL;
    bool dying = false;

    orr_lock(&handle->lock);
    if (--handle->nusers == 0) {
        waiters = orr_waiters_take_all(&handle->idle_waiters);
        dying = handle->dying = handle->doomed;
    } else if (handle->doomed || handle->awaited) {
        dropped = orr_requests_cancel_locked(handle, &deferred);
    }
    orr_unlock(&handle->lock);
    orr_waiters_release(waiters);
    orr_requests_free_dropped(rt, dropped);
    orr_deferred_run(rt, &deferred);
    if (dying && !orr_self->machine) {
        orr_handle_free(handle);
    } else if (dying) { /* whoever comes first does: the first worker is woken to */
        orr_lock(&rt->lock);
        orr_list_remove(&handle->all);
        orr_list_append(&rt->data->dead, &handle->all);
        orr_unlock(&rt->lock);
        atomic_fetch_add_explicit(&rt->data->ndead, 1, memory_order_release);
        orr_worker_wake(&rt->workers->at[0]);
    }
}

/* Returns whether the handle has no user; else the context will be woken. */
static bool handle_is_unused(struct orr_handle *handle,
                             struct orr_waiter *waiter, bool dying)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_deferred deferred = {0};
    struct orr_request *dropped = NULL;
    bool idle;

    orr_lock(&handle->lock);
    idle = handle->nusers == 0;
    handle->awaited = !idle;
    if (idle) {
        handle->dying = dying;
    } else {
        orr_waiters_add(&handle->idle_waiters, waiter);
        dropped = orr_requests_cancel_locked(handle, &deferred);
    }
    orr_unlock(&handle->lock);
    orr_requests_free_dropped(rt, dropped);
    orr_deferred_run(rt, &deferred);
    return idle;
}

/* A task would wait for itself, or for one that waits for it. */
static void handle_check_other_users(struct orr_runtime *rt,
                                     struct orr_handle *handle)
{
    const struct orr_job *job = orr_self->job;
    const struct orr_job *user = orr_lend_find_user(rt, job, handle);

    if (!user)
        return;
    orr_log_error("task `%s' waits until nobody uses %s any more, "
                  "which %s%s%s uses: a task can neither unregister, "
                  "invalidate nor partition the data that it was given. Do so "
                  "after its end, or use a planned partition "
                  "(starpu_data_partition_plan)",
                  orr_job_name(job), orr_handle_label(handle).text,
                  user == job ? "it" : "task `",
                  user == job ? "" : orr_job_name(user),
                  user == job ? "" : "' around it");
    orr_runtime_fail(rt);
}

static void handle_describe_users(const struct orr_awaited *awaited, char *text,
                                  size_t size)
{
    const char *call = awaited->object;

    snprintf(text, size, "the tasks that use %s%s%s%s",
             orr_handle_words(awaited->data).text, call ? " (" : "",
             call ? call : "", call ? ")" : "");
}

/* Looks again after each wake: a transfer that makes room may have begun. */
void orr_handle_wait_idle(struct orr_runtime *rt, struct orr_handle *handle,
                          bool dying)
{
    const struct orr_awaited awaited = {.noun = "tasks that use data",
                                        .describe = handle_describe_users,
                                        .object = orr_self->call,
                                        .data = handle};
    struct orr_waiter waiter;

    if (orr_self->suspends_at)
        handle_check_other_users(rt, handle);
    while (!handle_is_unused(handle, &waiter, dying))
        orr_await(rt, &waiter, &awaited);
}

void orr_handle_wait_unordered(struct orr_runtime *rt,
                               struct orr_handle *handle)
{
    if (!handle->sequential || atomic_load(&handle->turns.requires_claims))
        orr_handle_wait_idle(rt, handle, false);
}

/* --- what the application asks for --- */

static void handle_check_end(const struct orr_handle *handle, const char *call)
{
    if (orr_data_check(handle, call) != 0)
        abort();
    if (handle->parent && handle->parent->partitioned) {
        orr_log_error("%s: the data are a piece of %s: call "
                      "starpu_data_unpartition, which frees its pieces",
                      call, orr_handle_label(handle->parent).text);
        abort();
    }
    if (!orr_handle_has_plans(handle) && !orr_handle_plan(handle))
        return;
    orr_log_error("%s of %s: the data %s: call starpu_data_partition_clean "
                  "first",
                  call, orr_handle_label(handle).text,
                  orr_handle_plan(handle)
                      ? "are a part of a planned partition, which frees them"
                      : "have planned partitions");
    abort();
}

void orr_data_unregister(struct orr_runtime *rt, struct orr_handle *handle,
                         bool coherent)
{
    const char *call = coherent ? "starpu_data_unregister"
                                : "starpu_data_unregister_no_coherency";

    handle_check_end(handle, call);
    if (!orr_may_block(call))
        abort();
    orr_pay();
    if (orr_duplicate_give_back(handle))
        return;
    orr_handle_wait_unordered(rt, handle);
    if (coherent && handle->home_node >= 0 &&
        orr_data_bring_if_any(rt, handle, handle->home_node) == 0)
        orr_data_release(rt, handle, handle->home_node);
    else if (coherent)
        orr_data_combine(rt, handle);
    orr_handle_wait_idle(rt, handle, true);
    orr_handle_free(handle);
}

void orr_data_unregister_submit(struct orr_runtime *rt,
                                struct orr_handle *handle)
{
    handle_check_end(handle, "starpu_data_unregister_submit");
    if (orr_duplicate_give_back(handle))
        return;
    if (handle->remote)
        rt->remote->handle_left(handle);
    orr_lock(&handle->lock);
    handle->doomed = true;
    handle->nusers++;
    orr_unlock(&handle->lock);
    orr_handle_leave(handle); /* frees it if it has no other user */
}

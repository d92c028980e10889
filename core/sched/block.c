/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/block.c - workers that take no tasks while other threads have
 * their processors: threads of a parallel kernel, or of the application.
 * Reasons are counted. Any context.
 */
#include "core/device/kind.h"
#include "core/runtime.h"
#include "core/sched/ctx.h"

/* Woken by workers that have come to rest. */
struct orr_rest_waiter {
    struct orr_rest_waiter *next;
    struct orr_context *context;
};

bool orr_sched_count_block(struct orr_worker *worker, int change)
{
    bool before = worker->nblocks > 0, after;

    worker->nblocks += (unsigned)change;
    after = worker->nblocks > 0;
    if (before == after)
        return false;
    atomic_store(&worker->rests, false);
    if (after)
        atomic_fetch_or(&worker->sched_ctxs, ORR_WORKER_BLOCKED);
    else
        atomic_fetch_and(&worker->sched_ctxs, ~ORR_WORKER_BLOCKED);
    orr_worker_wake(worker);
    return true;
}

void orr_sched_rests(struct orr_worker *worker)
{
    struct orr_runtime *rt = worker->runtime;

    if (atomic_exchange(&worker->rests, true))
        return;
    orr_lock(&rt->lock);
    for (struct orr_rest_waiter *w = rt->rest_waiters; w; w = w->next)
        rt->exec->ops->wake(rt->exec, w->context);
    orr_unlock(&rt->lock);
}

static bool all_rest(struct orr_runtime *rt, const int *ids, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const struct orr_worker *worker = &rt->workers[ids[i]];

        if (worker == orr_self->worker || !orr_worker_is_blocked(worker) ||
            !worker->context) /* nobody drives it */
            continue;
        if (!atomic_load(&worker->rests))
            return false;
    }
    return true;
}

void orr_sched_await_rest(struct orr_runtime *rt, const int *ids, unsigned n)
{
    struct orr_rest_waiter waiter = {.context = orr_self}, **link;

    if (orr_self->frozen)
        return;
    orr_lock(&rt->lock);
    waiter.next = rt->rest_waiters;
    rt->rest_waiters = &waiter;
    orr_unlock(&rt->lock);
    orr_self->waits_for = "workers that are to be blocked";
    while (!all_rest(rt, ids, n))
        rt->exec->ops->park(rt->exec, ORR_FOREVER);
    orr_self->waits_for = NULL;
    orr_lock(&rt->lock);
    for (link = &rt->rest_waiters; *link != &waiter; link = &(*link)->next) {
    }
    *link = waiter.next;
    orr_unlock(&rt->lock);
}

static void workers_count_block(struct orr_runtime *rt, const int *ids,
                                unsigned n, int change)
{
    orr_sched_ctx_lock(rt);
    for (unsigned i = 0; i < n; i++) {
        struct orr_worker *worker = &rt->workers[ids[i]];

        if (orr_device_kind(worker->desc->type)->is_processor)
            (void)orr_sched_count_block(worker, change);
    }
    orr_sched_ctx_unlock(rt);
    orr_sched_ctx_refresh(rt);
}

void orr_sched_block(struct orr_runtime *rt, const int *ids, unsigned n)
{
    workers_count_block(rt, ids, n, 1);
    orr_sched_await_rest(rt, ids, n);
}

void orr_sched_unblock(struct orr_runtime *rt, const int *ids, unsigned n)
{
    workers_count_block(rt, ids, n, -1);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/block.c - workers that take no tasks while other threads have
 * their processors: threads of a parallel kernel, or of the application.
 * Reasons are counted. Any context.
 */
#include <stdio.h>

#include "core/base/wait.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/sched/ctx.h"
#include "core/sched/ctxs.h"
#include "core/worker/workers.h"

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
    struct orr_waiters waiters;

    if (atomic_exchange(&worker->rests, true))
        return;
    orr_lock(&rt->lock);
    waiters = orr_waiters_take_all(&rt->sched_ctxs->rest_waiters);
    orr_unlock(&rt->lock);
    orr_waiters_release(waiters);
}

/* Workers that are to rest, and the context that waits for that. */
struct awaited_workers {
    struct orr_awaited awaited; /* first */
    struct orr_runtime *rt;
    const int *ids;
    unsigned n;
};

/* The first that does not rest yet, NULL: all do. *ret_more: so many more do not. */
static const struct orr_worker *
block_find_busy(const struct awaited_workers *workers,
                const struct orr_worker *self, unsigned *ret_more)
{
    const struct orr_worker *first = NULL;
    unsigned n = 0;

    for (unsigned i = 0; i < workers->n; i++) {
        const struct orr_worker *worker =
            &workers->rt->workers->at[workers->ids[i]];

        if (worker == self || !orr_worker_is_blocked(worker) ||
            !worker->context || /* no thread drives it */
            atomic_load(&worker->rests))
            continue;
        first = first ? first : worker;
        n++;
    }
    *ret_more = n - (first != NULL);
    return first;
}

static void block_describe_awaited(const struct orr_awaited *awaited,
                                   char *text, size_t size)
{
    const struct awaited_workers *workers =
        (const struct awaited_workers *)awaited;
    unsigned more;
    const struct orr_worker *first =
        block_find_busy(workers, awaited->object, &more);

    if (first && more)
        snprintf(text, size, "%s and %u more workers to pause",
                 first->desc->name, more);
    else
        snprintf(text, size, "%s to pause",
                 first ? first->desc->name : "workers");
}

void orr_sched_await_rest(struct orr_runtime *rt, const int *ids, unsigned n)
{
    const struct awaited_workers workers = {
        .awaited = {.noun = "workers to pause",
                    .describe = block_describe_awaited,
                    .object = orr_self->worker},
        .rt = rt,
        .ids = ids,
        .n = n};
    struct orr_waiter waiter;
    unsigned more;
    bool waits;

    if (orr_self->frozen)
        return;
    do {
        orr_lock(&rt->lock);
        waits = block_find_busy(&workers, orr_self->worker, &more) != NULL;
        if (waits)
            orr_waiters_add(&rt->sched_ctxs->rest_waiters, &waiter);
        orr_unlock(&rt->lock);
        if (waits)
            orr_wait(&waiter, &workers.awaited);
    } while (waits);
}

static void workers_count_block(struct orr_runtime *rt, const int *ids,
                                unsigned n, int change)
{
    orr_sched_ctx_lock(rt);
    for (unsigned i = 0; i < n; i++) {
        struct orr_worker *worker = &rt->workers->at[ids[i]];

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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/loop/workers.c - starting and ending the workers. */
#include "core/loop/loop.h"

#include <errno.h>
#include <stdio.h>

#include "core/data/node.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/loop/kernel.h"
#include "core/loop/suspend.h"
#include "core/worker/workers.h"

static void init_worker(struct orr_runtime *rt, unsigned id)
{
    struct orr_worker *worker = &rt->workers->at[id];

    orr_lock_init(&worker->lock, ORR_RANK_WORKER);
    orr_list_init(&worker->local);
    orr_list_init(&worker->ordered);
    worker->next_order = 1;
    atomic_init(&worker->bound, -1);
    orr_list_init(&worker->ended);
    orr_list_init(&worker->behind);
    orr_list_init(&worker->resumed);
    worker->awaited = (struct orr_awaited){.noun = "a task",
                                           .describe = orr_worker_describe,
                                           .object = worker};
    worker->may_suspend = orr_device_kind(worker->desc->type)->is_processor;
}

static void workers_describe_end(const struct orr_awaited *awaited, char *text,
                                 size_t size)
{
    const struct orr_runtime *rt = awaited->object;

    snprintf(text, size, "%u workers and copies to end",
             atomic_load_explicit(&rt->workers->nactive, memory_order_relaxed));
}

static void stop_first(struct orr_runtime *rt, unsigned n)
{
    const struct orr_awaited awaited = {.noun = "workers to end",
                                        .describe = workers_describe_end,
                                        .object = rt};

    atomic_store(&rt->workers->stopper, orr_self);
    for (unsigned id = 0; id < n; id++) {
        atomic_store_explicit(&rt->workers->at[id].stop, true,
                              memory_order_release);
        orr_worker_wake(&rt->workers->at[id]);
    }
    /* Until then other workers may wake one, for a request of its memory node; and ends
     * of copies are posted to mailboxes at which no worker looks any more. */
    while (atomic_load_explicit(&rt->workers->nactive, memory_order_acquire))
        if (!orr_nodes_serve_posts(rt))
            orr_context_park(&awaited, ORR_FOREVER);
    orr_nodes_await_posts(rt);
    for (unsigned id = 0; id < n; id++) {
        orr_suspend_done(&rt->workers->at[id]);
        if (!rt->workers->at[id].driven)
            orr_context_join(&awaited, rt->workers->at[id].context);
        rt->workers->at[id].context = NULL;
        orr_kernels_free(&rt->workers->at[id]);
    }
}

/* A worker's context. Kernels may have left values of keys. */
static void run_worker(void *arg)
{
    struct orr_worker *worker = arg;
    struct orr_runtime *rt = worker->runtime;

    orr_self->cache = orr_worker_cache(worker);
    ORR_TELL(rt, ORR_TOLD_WORKER_UP, .worker = worker);
    atomic_store_explicit(&worker->up, true, memory_order_release);
    orr_worker_loop(worker);
    ORR_TELL(rt, ORR_TOLD_WORKER_DOWN, .worker = worker);
    orr_active_end(rt);
    orr_context_end();
}

int orr_workers_start(struct orr_runtime *rt)
{
    orr_suspend_init(rt);
    for (unsigned id = 0; id < rt->workers->n; id++) {
        struct orr_worker *worker = &rt->workers->at[id];
        struct orr_context init = {
            .runtime = rt, .worker = worker, .name = worker->desc->name};
        struct orr_context *context = NULL;
        int err;

        init_worker(rt, id);
        if (worker->driven)
            continue;
        atomic_fetch_add_explicit(&rt->workers->nactive, 1,
                                  memory_order_relaxed);
        err = rt->exec->ops->spawn(rt->exec, &init, worker->desc->cpu,
                                   run_worker, worker, &context);
        worker->context = context;
        if (err) {
            atomic_fetch_sub_explicit(&rt->workers->nactive, 1,
                                      memory_order_relaxed);
            stop_first(rt, id);
            return err;
        }
    }
    return 0;
}

void orr_workers_stop(struct orr_runtime *rt)
{
    stop_first(rt, rt->workers->n);
}

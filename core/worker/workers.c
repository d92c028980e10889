/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/worker/workers.c - starting, waking and ending the workers. */
#include "core/worker/worker.h"

#include <errno.h>

#include "core/asleep.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "core/data/node.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/task/gang.h"
#include "core/task/job.h"
#include "core/worker/borrow.h"
#include "core/worker/kernel.h"
#include "core/worker/suspend.h"
#include "core/workers.h"

static void init_worker(struct orr_runtime *rt, unsigned id)
{
    struct orr_worker *worker = &rt->workers->at[id];

    orr_lock_init(&worker->lock, ORR_RANK_WORKER);
    orr_list_init(&worker->local);
    orr_list_init(&worker->ordered);
    worker->next_order = 1;
    atomic_init(&worker->bound, -1);
    orr_list_init(&worker->ended);
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
    /* Until then the others may wake a worker, for a request of its memory; and
     * the ends of copies are posted where no worker looks any more. */
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

void orr_active_end(struct orr_runtime *rt)
{
    struct orr_context *stopper;

    if (atomic_fetch_sub_explicit(&rt->workers->nactive, 1,
                                  memory_order_acq_rel) != 1)
        return;
    stopper = atomic_load_explicit(&rt->workers->stopper, memory_order_relaxed);
    if (stopper)
        orr_context_wake(stopper);
}

/* A worker's context. Kernels may have left values of keys. */
static void run_worker(void *arg)
{
    struct orr_worker *worker = arg;
    struct orr_runtime *rt = worker->runtime;

    orr_self->cache = worker->id + 1;
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

void orr_workers_give_way(struct orr_runtime *rt)
{
    struct orr_context *who = NULL;

    if (orr_self->worker || orr_self->debt <= 0)
        return;
    for (unsigned w = 0; w < rt->workers->n; w++) {
        struct orr_worker *worker = &rt->workers->at[w];

        if (!orr_device_kind(worker->desc->type)->is_processor ||
            !worker->context)
            continue;
        if (atomic_load_explicit(&worker->state, memory_order_relaxed) !=
            ORR_WORKER_EXECUTING)
            return;
        if (!who || worker->context->debt < who->debt)
            who = worker->context;
    }
    if (who)
        who->debt += orr_self->debt;
}

void orr_worker_wake(struct orr_worker *worker)
{
    struct orr_context *context;

    /* Whoever has borrowed it finds the flag, if not the wake, when it gives it
     * back. */
    do {
        context = worker->context;
        if (atomic_load(&worker->seat) == ORR_SEAT_LENT)
            atomic_store(&worker->called, true);
    } while (context != worker->context);
    /* It is awake. Not so another one of those that this context drives. */
    if (context == orr_self &&
        (!context || !worker->mate || context->seat == worker))
        return;
    (void)orr_worker_rouse(worker);
    if (context)
        orr_context_wake(context);
}

/* Whether the job goes before one that came earlier. */
static bool goes_before(const struct orr_job *job, const struct orr_job *other)
{
    if (other->priority != job->priority)
        return other->priority < job->priority;
    return orr_job_gang(job) && orr_gang_goes_before(job, other);
}

static struct orr_job *job_at(struct orr_list *link)
{
    return orr_container(link, struct orr_job, queue);
}

static bool local_job_precedes(const struct orr_job *a, const struct orr_job *b,
                               bool prio)
{
    if (prio && a->priority != b->priority)
        return a->priority > b->priority;
    return a->depth > b->depth;
}

static void push_locked(struct orr_worker *worker, struct orr_job *job,
                        bool prio) ORR_REQUIRES(worker->lock)
{
    struct orr_list *position = &worker->local;

    /* From the back: mostly the priorities are equal. From the front, if it comes
     * before older ones because it is deep. */
    while (job->depth && position->next != &worker->local &&
           !local_job_precedes(job, job_at(position->next), prio))
        position = position->next;
    while (!job->depth && prio && position->prev != &worker->local &&
           goes_before(job, job_at(position->prev)))
        position = position->prev;
    orr_list_insert_before(job->depth ? position->next : position,
                           &job->queue);
    atomic_store_explicit(
        &worker->nlocal,
        atomic_load_explicit(&worker->nlocal, memory_order_relaxed) + 1,
        memory_order_relaxed);
}

/* --- tasks that are to run one after the other --- */

static unsigned job_worker_order(struct orr_list *link)
{
    return orr_container(link, struct orr_job, queue)->task->workerorder;
}

/* The next one may run, if it is there: one at a time, whatever the priorities. */
static void take_turn_locked(struct orr_worker *worker)
    ORR_REQUIRES(worker->lock)
{
    struct orr_list *first = worker->ordered.next;

    if (worker->order_out || orr_list_empty(&worker->ordered) ||
        job_worker_order(first) != worker->next_order)
        return;
    orr_list_remove(first);
    worker->order_out = true;
    push_locked(worker, orr_container(first, struct orr_job, queue), true);
}

void orr_worker_next_turn_locked(struct orr_worker *worker)
{
    worker->next_order++;
    worker->order_out = false;
    take_turn_locked(worker);
}

/* Returns false if the number is taken. */
static bool push_ordered_locked(struct orr_worker *worker, struct orr_job *job)
    ORR_REQUIRES(worker->lock)
{
    struct orr_list *position = &worker->ordered;
    unsigned order = job->task->workerorder;

    while (position->prev != &worker->ordered &&
           job_worker_order(position->prev) > order)
        position = position->prev;
    if (order < worker->next_order + worker->order_out ||
        (position->prev != &worker->ordered &&
         job_worker_order(position->prev) == order))
        return false;
    orr_list_insert_before(position, &job->queue);
    take_turn_locked(worker);
    return true;
}

void orr_worker_push_local(struct orr_worker *worker, struct orr_job *job,
                           bool prio)
{
    bool taken = false;

    orr_lock(&worker->lock);
    if (job->task->workerorder)
        taken = !push_ordered_locked(worker, job);
    else
        push_locked(worker, job, prio);
    orr_unlock(&worker->lock);
    if (taken) {
        orr_log_error("task `%s' has workerorder %u on %s, which another task "
                      "had: each number from 1 on belongs to one task",
                      orr_job_name(job), job->task->workerorder,
                      worker->desc->name);
        orr_runtime_fail(worker->runtime);
    }
    orr_worker_wake(worker);
}

void orr_worker_check(struct orr_worker *worker)
{
    const struct orr_runtime *rt = worker->runtime;

    ORR_CHECK(worker == &rt->workers->at[worker->id]);
    ORR_CHECK(worker->class_id < rt->workers->nclasses);
    ORR_CHECK(worker->desc == &rt->machine->workers[worker->id]);
    orr_lock(&worker->lock);
    orr_list_foreach (link, &worker->local)
        orr_job_check(orr_container(link, struct orr_job, queue));
    orr_list_foreach (link, &worker->ended) {
        const struct orr_job *job = orr_container(link, struct orr_job, queue);

        orr_job_check(job);
        ORR_CHECK(job->worker == (int)worker->id);
    }
    orr_unlock(&worker->lock);
}

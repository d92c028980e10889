/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/loop/borrow.c - see borrow.h. */
#include "core/loop/borrow.h"

#include <errno.h>
#include <math.h>

#include "core/device/threads.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/inside.h"
#include "core/job/job.h"
#include "core/job/watched.h"
#include "core/loop/kernel.h"
#include "core/loop/suspend.h"
#include "core/worker/asleep.h"
#include "core/worker/workers.h"

int orr_borrowing_init(struct orr_borrowing *b, struct orr_worker *worker,
                       struct starpu_codelet *cl)
{
    struct orr_runtime *rt = worker->runtime;

    *b = (struct orr_borrowing){.worker = worker};
    b->task = (struct starpu_task)STARPU_TASK_INITIALIZER;
    b->task.cl = cl;
    b->task.workerid = worker->id;
    b->job = orr_job_new_of(rt, &b->task);
    if (!b->job)
        return -ENOMEM;
    b->task.starpu_private = b->job;
    b->task.status = STARPU_TASK_RUNNING;
    b->job->type = &orr_job_task;
    b->job->worker = (int)worker->id;
    b->kernel =
        (struct orr_kernel){.worker = worker->id, .runtime = rt, .job = b->job};
    b->job->kernel = &b->kernel;
    atomic_store(&b->job->waiting, 0);
    atomic_store(&b->job->state, ORR_JOB_RUNNING);
    orr_job_number(rt, b->job);
    atomic_store(&worker->lendable, true);
    return 0;
}

void orr_borrowing_done(struct orr_borrowing *b)
{
    if (!b->job)
        return;
    atomic_store(&b->worker->lendable, false);
    orr_suspend_keep(b->worker, b->spares);
    orr_job_unref(b->worker->runtime, b->job);
    b->task.starpu_private = NULL;
    b->job = NULL;
}

/* Whether the worker is idle and none of its kernels is suspended. */
static bool is_lendable(const struct orr_worker *worker)
{
    return orr_worker_is_idle(worker) && !worker->nsuspended;
}

static bool may_be_lent(const struct orr_worker *worker)
{
    return is_lendable(worker) && !orr_worker_is_blocked(worker) &&
           !atomic_load(&worker->called) && !atomic_load(&worker->disabled) &&
           !atomic_load(&worker->stop) &&
           atomic_load(&worker->runtime->workers->paused) == 0;
}

static void exchange(struct orr_context **a, struct orr_context **b)
{
    struct orr_context *was = *a;

    *a = *b;
    *b = was;
}

/* The stacks of one thread for those of the other. */
static void exchange_stacks(struct orr_borrowing *b)
{
    exchange(&b->worker->spares, &b->spares);
    exchange(&b->worker->first, &b->first);
}

/* The seat is that of the worker's own loop once more, which looks if it has to. Before
 * `called` is read, a context that wakes the worker finds that loop. */
static void leave_seat(struct orr_borrowing *b, bool wake)
{
    struct orr_worker *worker = b->worker;

    atomic_store(&worker->context, b->owner);
    wake |= orr_count_ready(worker->runtime) > 0;
    if (wake) /* until then it is not lent again */
        atomic_store(&worker->called, true);
    atomic_store(&worker->seat, ORR_SEAT_FREE);
    if (wake || atomic_load(&worker->called)) {
        (void)orr_worker_rouse(worker);
        orr_context_wake(b->owner);
    }
}

/* The calling context has the place of the worker, and is in the kernel of the job. */
static void sit_down(struct orr_borrowing *b, struct orr_job *job)
{
    struct orr_context *self = orr_self;

    exchange_stacks(b);
    b->worker->first = self;
    b->cache = self->cache;
    self->cache = orr_worker_cache(b->worker);
    orr_context_sit(self, b->worker);
    self->borrows = true;
    self->job = job;
    self->suspends_at = ++self->frozen;
}

/* It is in the kernel no more. What the loop beside that has begun ends on this thread. */
static void end_kernel(struct orr_worker *worker)
{
    struct orr_context *self = orr_self;

    self->suspends_at = 0;
    self->frozen--;
    self->job = NULL;
    if (is_lendable(worker))
        return;
    worker->leaving = true;
    orr_worker_loop(worker);
    worker->leaving = false;
}

static void stand_up(struct orr_borrowing *b)
{
    struct orr_context *self = orr_self;

    exchange_stacks(b);
    orr_context_sit(self, NULL);
    self->borrows = false;
    self->cache = b->cache;
}

/* Makes the calling context run as a kernel of the borrowed worker. */
static void borrowing_enter(struct orr_borrowing *b)
{
    (void)orr_worker_rouse(b->worker);
    sit_down(b, b->job);
    b->job->kernel->away = 0;
    orr_count_submitted(b->worker->runtime, b->job->sched_ctx);
    orr_worker_set_state(b->worker, ORR_WORKER_EXECUTING);
}

bool orr_worker_borrow(struct orr_borrowing *b)
{
    struct orr_worker *worker = b->worker;
    unsigned expected = ORR_SEAT_FREE;

    if (orr_tasks_are_watched(worker->runtime) ||
        !atomic_compare_exchange_strong(&worker->seat, &expected,
                                        ORR_SEAT_LENT))
        return false;
    b->owner = atomic_load(&worker->context);
    if (!may_be_lent(worker)) {
        leave_seat(b, true);
        return false;
    }
    atomic_store(&worker->context, orr_self);
    /* On the processor of another worker's thread it would wait for the processor. */
    orr_threads_settle(worker->runtime->exec, worker->desc->cpu);
    borrowing_enter(b);
    return true;
}

void orr_worker_give_back(struct orr_borrowing *b)
{
    struct orr_worker *worker = b->worker;
    const struct orr_nest *nest = orr_job_inner(b->job);

    /* Tasks that were submitted in the kernel, and are still there, keep its nest. */
    if (nest && atomic_load_explicit(&nest->refs, memory_order_acquire) > 1)
        orr_kernel_leave_nest(worker->runtime, b->job);
    atomic_store_explicit(&worker->ntasks, worker->ntasks + 1,
                          memory_order_relaxed);
    orr_kernel_count_codelet(worker, b->task.cl);
    orr_count_ended(worker->runtime, b->job->sched_ctx);
    end_kernel(worker);
    orr_worker_set_state(worker, ORR_WORKER_IDLE);
    stand_up(b);
    orr_worker_fall_asleep(worker);
    leave_seat(b, false);
}

/* -- from a kernel -- */

bool orr_kernel_lend(struct orr_borrowing *b, void (*tell)(void *arg),
                     void *arg)
{
    static const struct orr_awaited borrower = {
        .noun = "the thread that executes the task in its place"};
    struct orr_context *self = orr_self;
    struct orr_worker *worker = b->worker;
    unsigned suspends_at = self->suspends_at;

    if (self->worker != worker || self->borrows || !is_lendable(worker))
        return false;
    b->owner = self;
    b->lent = self->job;
    atomic_store(&b->returned, false);
    atomic_store(&worker->seat, ORR_SEAT_LENT);
    self->suspends_at = 0; /* the worker's loop goes on beside the borrower */
    tell(arg);
    while (!atomic_load_explicit(&b->returned, memory_order_acquire))
        orr_context_park(&borrower, ORR_FOREVER);
    self->suspends_at = suspends_at;
    return true;
}

void orr_kernel_borrow(struct orr_borrowing *b)
{
    atomic_store(&b->worker->context, orr_self);
    orr_threads_settle(b->worker->runtime->exec, b->worker->desc->cpu);
    sit_down(b, b->lent);
}

/* A context that wakes the worker late wakes the borrower: the kernel's loop looks at
 * everything when that has ended. */
void orr_kernel_give_back(struct orr_borrowing *b)
{
    struct orr_worker *worker = b->worker;

    end_kernel(worker);
    orr_worker_set_state(worker, ORR_WORKER_EXECUTING);
    stand_up(b);
    atomic_store(&worker->context, b->owner);
    atomic_store(&worker->seat, ORR_SEAT_TAKEN);
    atomic_store_explicit(&b->returned, true, memory_order_release);
    orr_context_wake(b->owner);
}

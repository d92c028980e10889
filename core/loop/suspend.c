/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/loop/suspend.c - see suspend.h. */
#include "core/loop/suspend.h"

#include <errno.h>
#include <string.h>

#include "core/base/log.h"
#include "core/data/lend.h"
#include "core/data/node.h"
#include "core/device/clock.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/job/nest.h"
#include "core/job/tasks.h"
#include "core/loop/kernel.h"
#include "core/observe/trace_record.h"
#include "core/worker/workers.h"

/* A kernel that waits until a date at most; on its stack. */
struct orr_suspend_limit {
    struct orr_suspend_limit *next;
    struct orr_context *context;
    double until_us;
};

/* --- which kernels may go on --- */

/* The `woken` of a kernel's context. Called from any context, under any lock. */
static void kernel_woken(struct orr_context *context)
{
    struct orr_worker *worker = context->seat;
    struct orr_context *first =
        atomic_load_explicit(&worker->woken, memory_order_relaxed);

    do
        context->next = first;
    while (!atomic_compare_exchange_weak(&worker->woken, &first, context));
    orr_worker_wake(worker);
}

/* The `woken` of a loop that waits for its turn: the wake was meant for the worker. */
static void spare_woken(struct orr_context *context)
{
    orr_worker_wake(context->seat);
}

/* The one that was woken first goes on first. */
static void collect_woken(struct orr_worker *worker)
{
    struct orr_context *link, *oldest = NULL, **end = &worker->resumable;

    if (!atomic_load_explicit(&worker->woken, memory_order_relaxed))
        return;
    link = atomic_exchange(&worker->woken, NULL);
    while (link) {
        struct orr_context *next = link->next;

        link->next = oldest;
        oldest = link;
        link = next;
    }
    while (*end)
        end = &(*end)->next;
    *end = oldest;
}

struct orr_context *orr_suspend_next(struct orr_worker *worker)
{
    double now = worker->limits ? orr_exec_now(worker->runtime->exec) : 0;
    struct orr_context *context;

    for (struct orr_suspend_limit *l = worker->limits; l; l = l->next)
        if (l->until_us <= now)
            orr_context_wake(l->context);
    collect_woken(worker);
    context = worker->resumable;
    if (context)
        worker->resumable = context->next;
    return context;
}

double orr_suspend_wakes_at(const struct orr_worker *worker)
{
    double first = ORR_FOREVER;

    for (const struct orr_suspend_limit *l = worker->limits; l; l = l->next)
        if (l->until_us < first)
            first = l->until_us;
    return first;
}

/* --- stacks --- */

/* A loop of the worker on a spare stack: it never ends, but gives its turn to the stack
 * that may go on. */
static void spare_main(void *arg)
{
    for (;;) {
        orr_worker_loop(arg);
        orr_suspend_leave_to_first(arg);
    }
}

static struct orr_context *make_spare(struct orr_worker *worker)
{
    struct orr_runtime *rt = worker->runtime;
    struct orr_context init = {
        .runtime = rt, .worker = worker, .name = worker->desc->name};
    struct orr_context *context;
    int err = rt->exec->ops->beside(rt->exec, &init, spare_main, worker,
                                    &context);

    if (!err) {
        context->cache = orr_self->cache;
        context->borrows = orr_self->borrows;
        return context;
    }
    orr_log_error("task `%s' waits inside of its kernel, and there is no stack "
                  "for its worker to go on with others (%s): %u tasks wait on "
                  "%s. Let fewer wait at once, or raise the limits of the "
                  "system (vm.max_map_count, memory)",
                  orr_job_name(orr_self->job), strerror(-err),
                  worker->nsuspended, worker->desc->name);
    orr_runtime_fail(rt);
}

static struct orr_context *suspend_take_spare_context(struct orr_worker *worker)
{
    struct orr_context *context = worker->spares;

    if (!context)
        return make_spare(worker);
    worker->spares = context->next;
    return context;
}

static void keep_spare(struct orr_worker *worker, struct orr_context *context)
{
    context->next = worker->spares;
    worker->spares = context;
}

/* What belongs to the thread goes with the turn. */
static void suspend_hand_over_thread(struct orr_worker *worker,
                                     struct orr_context *to)
{
    to->thread = orr_self->thread;
    to->at_end = orr_self->at_end;
    atomic_store(&worker->context, to);
}

/* Gives the turn to `to`; returns when the calling context has it back. False, at once:
 * the caller has been woken. */
static bool give_turn(struct orr_worker *worker, struct orr_context *to,
                      bool waits)
{
    struct orr_exec *exec = worker->runtime->exec;
    struct orr_context *self = orr_self;
    int error = errno;
    bool left;

    suspend_hand_over_thread(worker, to);
    left = exec->ops->leave(exec, to, waits);
    if (!left)
        atomic_store(&worker->context, self);
    errno = error;
    return left;
}

/* Gives the turn away and waits as a spare context. A wake in between need not be
 * noticed: the next turn looks in any case. */
static void give_turn_as_spare(struct orr_worker *worker,
                               struct orr_context *to)
{
    keep_spare(worker, orr_self);
    while (!give_turn(worker, to, false))
        ;
}

void orr_suspend_leave_to_first(struct orr_worker *worker)
{
    struct orr_context **link = &worker->spares;

    if (!worker->first || orr_self == worker->first)
        return;
    while (*link != worker->first)
        link = &(*link)->next;
    *link = worker->first->next;
    give_turn_as_spare(worker, worker->first);
}

/* Appends one list to another. */
static void contexts_append(struct orr_context **list,
                            struct orr_context *other)
{
    while (*list)
        list = &(*list)->next;
    *list = other;
}

void orr_suspend_retire(struct orr_worker *worker)
{
    contexts_append(&worker->retired, worker->spares);
    worker->spares = NULL;
    worker->first = NULL;
}

void orr_suspend_keep(struct orr_worker *worker, struct orr_context *stacks)
{
    contexts_append(&worker->retired, stacks);
}

void orr_suspend_done(struct orr_worker *worker)
{
    struct orr_exec *exec = worker->runtime->exec;

    orr_suspend_retire(worker);
    while (worker->retired) {
        struct orr_context *context = worker->retired;

        worker->retired = context->next;
        exec->ops->forget(exec, context);
    }
}

/* --- a kernel waits --- */

/* The worker is away from the task: for durations, and for whatever looks at the
 * worker. */
struct absence {
    struct orr_job *job;
    double since, thread_us;
    unsigned frozen;
};

static bool is_measured_by_thread(const struct orr_job *job)
{
    return job->kernel->runtime->machine->kernels_take_their_length &&
           job->task->cl->flags & STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT;
}

/* What the kernel owes is paid before others run. */
static struct absence begin_absence(struct orr_worker *worker)
{
    struct orr_context *self = orr_self;
    struct absence absence = {.job = self->job, .frozen = self->frozen};

    self->frozen = 0;
    orr_pay();
    orr_job_set_state(absence.job, ORR_JOB_SUSPENDED);
    absence.job->task->status = STARPU_TASK_STOPPED;
    atomic_store_explicit(&worker->exp_end, 0, memory_order_relaxed);
    orr_worker_set_state(worker, ORR_WORKER_SCHEDULING);
    absence.since = orr_exec_now(self->exec);
    if (is_measured_by_thread(absence.job))
        absence.thread_us = orr_thread_time_us();
    worker->nsuspended++;
    absence.job->kernel->waits = self;
    if (orr_job_admitted(absence.job))
        orr_admit_suspend(worker->runtime, absence.job);
    if (!atomic_load_explicit(&worker->runtime->tasks->suspends,
                              memory_order_relaxed))
        atomic_store(&worker->runtime->tasks->suspends, true);
    return absence;
}

static void end_absence(struct orr_worker *worker, struct absence absence)
{
    struct orr_job *job = absence.job;
    double now = orr_exec_now(orr_self->exec);

    worker->nsuspended--;
    if (orr_job_admitted(job))
        orr_admit_resume(worker->runtime, job);
    job->kernel->away += now - absence.since;
    ORR_TELL(worker->runtime, ORR_TOLD_TASK_SUSPENDED, .worker = worker,
             .job = job, .since = absence.since);
    if (is_measured_by_thread(job))
        job->kernel->thread_away += orr_thread_time_us() - absence.thread_us;
    orr_worker_set_state(worker, ORR_WORKER_EXECUTING);
    job->task->status = STARPU_TASK_RUNNING;
    orr_job_set_state(job, ORR_JOB_RUNNING);
    orr_self->frozen = absence.frozen;
}

/* The worker goes on with others until the kernel is woken. */
static void go_away(struct orr_worker *worker, double until_us)
{
    struct orr_suspend_limit limit = {.context = orr_self,
                                      .until_us = until_us};
    struct orr_suspend_limit **link = &worker->limits;
    struct orr_context *spare;

    if (!worker->first)
        worker->first = orr_self;
    if (until_us < ORR_FOREVER) {
        limit.next = worker->limits;
        worker->limits = &limit;
    }
    spare = suspend_take_spare_context(worker);
    if (!give_turn(worker, spare, true))
        keep_spare(worker, spare);
    while (*link && *link != &limit)
        link = &(*link)->next;
    if (*link)
        *link = limit.next;
}

static void suspend_kernel_until(double until_us)
{
    struct orr_worker *worker = orr_self->worker;
    struct orr_nest *nest = orr_job_inner(orr_self->job);
    bool lends = nest && !nest->takes_back;
    struct absence absence = begin_absence(worker);

    if (lends)
        orr_lend_begin(worker->runtime, nest);
    go_away(worker, until_us);
    end_absence(worker, absence);
    if (lends)
        orr_lend_end(worker->runtime, nest);
}

bool orr_suspend_may_yield(void)
{
    const struct orr_context *self = orr_self;

    return self->suspends_at && self->suspends_at == self->frozen &&
           !self->worker->yielded;
}

/* Nothing is lent meanwhile: it does not wait for tasks that would use it. */
void orr_suspend_yield(unsigned n)
{
    struct orr_context *self = orr_self;
    struct orr_worker *worker = self->worker;
    struct absence absence = begin_absence(worker);
    struct orr_context *spare;

    if (!worker->first)
        worker->first = self;
    spare = suspend_take_spare_context(worker);
    worker->yielded = self;
    worker->yields = n;
    while (!give_turn(worker, spare, false))
        ; /* woken too late, for an earlier wait */
    end_absence(worker, absence);
}

void orr_suspend_go_on(struct orr_worker *worker, struct orr_context *kernel)
{
    give_turn_as_spare(worker, kernel);
}

void orr_suspend_init(struct orr_runtime *rt)
{
    rt->exec->suspend = suspend_kernel_until;
    rt->exec->woken = kernel_woken;
    rt->exec->missed = spare_woken;
}

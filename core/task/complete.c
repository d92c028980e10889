/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/complete.c - the end of a job: data, successors, callbacks, waiters. Runs
 * in the worker's context, or in the one that made an empty task ready. Nothing here
 * blocks.
 */
#include "core/data/handle.h"
#include "core/data/release.h"
#include "core/exec/runtime.h"
#include "core/job/ahead.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/sched/ctx.h"
#include "core/slab_set.h"
#include "core/task/again.h"
#include "core/task/end.h"
#include "core/task/tag.h"
#include "core/task/task.h"

/* What has to be read from a task before its successors are released, since these may
 * submit it anew, and free it when it has ended. */
struct ending {
    void (*callback)(void *);
    void *callback_arg;
    starpu_tag_t tag_id;
    bool kept;     /* it may run again */
    bool profiled; /* its times are noted */
};

static void begin_end(struct orr_job *job, struct ending *ret)
{
    struct starpu_task *task = job->task;

    if (task->epilogue_callback_func)
        orr_call_user(job, task->epilogue_callback_func,
                      task->epilogue_callback_arg);
    ret->callback = task->callback_func;
    if (!ret->callback && task->cl)
        ret->callback = task->cl->callback_func;
    ret->callback_arg = task->callback_arg;
    ret->tag_id = task->tag_id;
    ret->kept = !task->destroy || orr_job_again(job);
    ret->profiled = task->profiling_info != NULL;
}

/* Returns when it began and ended, 0 if that is noted nowhere. */
static struct orr_callback_times run_callback(struct orr_runtime *rt,
                                              struct orr_job *job,
                                              const struct ending *ending)
{
    struct orr_callback_times times = {0, 0};
    bool timed = orr_is_told(rt, ORR_TOLD_TASK_CALLED);

    if (!ending->callback)
        return times;
    if (timed)
        times.start = orr_exec_now(rt->exec);
    orr_call_user(job, ending->callback, ending->callback_arg);
    if (timed) {
        times.end = orr_exec_now(rt->exec);
        ORR_TELL(rt, ORR_TOLD_TASK_CALLED, .since = times.start,
                 .until = times.end);
    }
    return times;
}

/* The steps after the successors were released: the tag, and the callback, which may
 * have decided what becomes of the task. Returns whether the task's reference on the
 * job is the caller's then. */
static bool end_task(struct orr_runtime *rt, struct orr_job *job,
                     const struct ending *ending)
{
    struct starpu_task *task = job->task;
    struct orr_callback_times times;

    if (job->tagged)
        orr_tag_end(rt, ending->tag_id);
    times = run_callback(rt, job, ending);
    switch (ending->kept || ending->profiled || job->replaced
                ? orr_again_decide(rt, job, &times)
                : orr_task_fate(rt, task)) {
    case ORR_FATE_FREE:
        orr_task_free_ended(rt, task);
        return true;
    case ORR_FATE_REGENERATE:
        orr_task_regenerate(rt, task);
        return false;
    default:
        return false;
    }
}

void orr_job_complete(struct orr_runtime *rt, struct orr_job *job)
{
    bool is_plain = orr_job_is_plain(job);
    bool is_task = job->task != NULL && !is_plain;
    struct orr_edge *successors;
    struct orr_released released;
    struct orr_waiters waiters = {NULL};
    struct orr_job_rare *rare;
    struct ending ending = {0};
    unsigned nrefs = 1 /* that are ours */, sched_ctx = job->sched_ctx;

    if (is_task) {
        orr_job_called(job);
        begin_end(job, &ending);
    }
    if (job->naccesses) {
        orr_job_leave_order(rt, job, &released);
    } else {
        released.granted = NULL;
        orr_list_init(&released.claimed);
    }
    orr_lock(&job->lock);
    orr_job_set_state(job, ORR_JOB_DONE);
    successors = job->successors;
    job->successors = NULL;
    orr_unlock(&job->lock);
    if (is_task) {
        if (ending.kept)
            orr_again_over(rt, job, &successors);
        job->task->prefetched = 0;
        job->task->status = STARPU_TASK_FINISHED;
    }
    orr_jobs_release(rt, successors, &released);
    if (is_plain) {
        orr_task_free_plain(rt, job->task);
        nrefs++; /* the task's */
    } else if (is_task) {
        nrefs += end_task(rt, job, &ending);
    }
    /* Those who wait for the job have references, and may free its task. */
    if (!orr_job_is_ours(job, nrefs)) {
        orr_lock(&job->lock);
        job->ended = 1;
        rare = orr_job_rare(job);
        if (rare)
            waiters = orr_waiters_take_all(&rare->waiters);
        orr_unlock(&job->lock);
        orr_waiters_release(waiters);
    }
    orr_job_unref_n(rt, job, nrefs);
    if (!is_task && !is_plain)
        return;
    orr_count_ended(rt, sched_ctx);
    if (sched_ctx)
        orr_sched_ctx_task_ended(rt, sched_ctx);
}

/* --- jobs without a kernel --- */

/* Ends an empty task. Chains of them end one after the other, not one inside
 * the other: the stack would not suffice for long ones. */
static void end_empty(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_context *self = orr_self;
    struct orr_list ended, *link;

    if (self->ended) {
        orr_list_append(self->ended, &job->queue);
        return;
    }
    orr_list_init(&ended);
    self->ended = &ended;
    orr_job_complete(rt, job);
    while ((link = orr_list_pop(&ended)))
        orr_job_complete(rt, orr_container(link, struct orr_job, queue));
    self->ended = NULL;
}

/* There is nothing to execute: what a worker would do comes at once. */
static void pass_kernel(struct orr_runtime *rt, struct orr_job *job)
{
    struct starpu_task *task = job->task;

    ORR_TELL(rt, ORR_TOLD_TASK_SKIPPED, .job = job);
    task->status = STARPU_TASK_RUNNING;
    if (task->prologue_callback_pop_func)
        orr_call_user(job, task->prologue_callback_pop_func,
                      task->prologue_callback_pop_arg);
}

void orr_job_skip(struct orr_runtime *rt, struct orr_job *job)
{
    if (job->task)
        pass_kernel(rt, job);
    if (orr_job_ends_later(job))
        orr_job_give_back(rt, job);
    if (orr_count_off(&job->ending, 1))
        end_empty(rt, job);
}

static void empty_ready(struct orr_runtime *rt, struct orr_job *job)
{
    orr_job_set_state(job, ORR_JOB_READY);
    if (job->task && job->task->prologue_callback_func)
        orr_call_user(job, job->task->prologue_callback_func,
                      job->task->prologue_callback_arg);
    orr_job_skip(rt, job);
}

const struct orr_job_type orr_job_empty = {.ready = empty_ready};

/* The data are where they are to be. */
static void view_arrived(struct orr_runtime *rt, struct orr_job *job,
                         int worker)
{
    (void)worker;
    if (job->left && !orr_job_fetch_rest(rt, job))
        return;
    orr_job_take_data(rt, job, STARPU_MAIN_RAM);
    orr_job_set_state(job, ORR_JOB_RUNNING);
    if (orr_job_ends_later(job))
        orr_job_give_back(rt, job);
    else
        orr_job_drop_data(rt, job);
    if (orr_count_off(&job->ending, 1))
        end_empty(rt, job);
}

static void view_ready(struct orr_runtime *rt, struct orr_job *job)
{
    orr_job_set_state(job, ORR_JOB_READY);
    orr_job_set_state(job, ORR_JOB_FETCHING);
    if (orr_job_fetch(rt, job, STARPU_MAIN_RAM))
        view_arrived(rt, job, -1);
}

const struct orr_job_type orr_job_view = {
    .ready = view_ready,
    .arrived = view_arrived,
};

static void after_ready(struct orr_runtime *rt, struct orr_job *job)
{
    orr_job_set_state(job, ORR_JOB_READY);
    orr_job_own(job)->callback(orr_job_own(job)->arg);
    orr_job_complete(rt, job);
}

const struct orr_job_type orr_job_after = {
    .ready = after_ready,
    .is_own = true,
};

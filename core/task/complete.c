/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/complete.c - the end of a job: data, successors, callbacks,
 * waiters. Runs in the worker's context, or in whichever made an empty task
 * ready. Nothing here blocks.
 */
#include <stdlib.h>

#include "core/data/handle.h"
#include "core/runtime.h"
#include "core/task/count.h"
#include "core/task/job.h"
#include "core/task/profile.h"
#include "core/task/tag.h"
#include "core/task/task.h"

/* Successors were pushed at the head: turns them, so that who was submitted
 * first becomes ready first. */
static struct orr_edge *reversed(struct orr_edge *edge)
{
    struct orr_edge *result = NULL;

    while (edge) {
        struct orr_edge *next = edge->next;

        edge->next = result;
        result = edge;
        edge = next;
    }
    return result;
}

/* Releases those that declared to wait for the job and those whose accesses
 * were granted when it left; of both who was submitted first comes first. Then
 * come those that have claimed what it gave back.
 * Jobs submitted long ago are in no cache: the next one's line is fetched
 * meanwhile. */
static void release_successors(struct orr_runtime *rt, struct orr_edge *edge,
                               struct orr_released *released)
{
    struct orr_access *granted = released->granted;
    struct orr_list *link;

    edge = reversed(edge);
    while (edge || granted) {
        struct orr_job *job;

        if (edge && (!granted || edge->job->id <= granted->job->id)) {
            struct orr_edge *next = edge->next;

            job = edge->job;
            orr_slab_put(rt->edges, edge);
            edge = next;
            if (edge)
                __builtin_prefetch(edge->job, 1);
        } else {
            job = granted->job;
            granted = granted->next;
            if (granted)
                __builtin_prefetch(granted->job, 1);
        }
        orr_job_release(rt, job);
    }
    while ((link = orr_list_pop(&released->claimed)) != NULL) {
        struct orr_job *job = orr_container(link, struct orr_job, queue);

        job->type->ready(rt, job);
    }
}

void orr_jobs_release(struct orr_runtime *rt, struct orr_released *released)
{
    release_successors(rt, NULL, released);
}

static void run_callback(struct orr_runtime *rt, struct starpu_task *task)
{
    void (*callback)(void *) = task->callback_func;
    struct orr_worker *worker = orr_self->worker;
    double began = 0;

    if (!callback && task->cl)
        callback = task->cl->callback_func;
    if (!callback)
        return;
    if (orr_profile_is_on(rt))
        began = orr_exec_now(rt->exec);
    ORR_PROFILE(rt, task, callback_start_time);
    orr_call_user(callback, task->callback_arg);
    ORR_PROFILE(rt, task, callback_end_time);
    if (!worker || began <= 0)
        return;
    orr_lock(&worker->lock);
    worker->profile.callback += orr_exec_now(rt->exec) - began;
    orr_unlock(&worker->lock);
}

/* What comes after the successors were released: callback, tag. Frees the task
 * unless its owner does; returns whether its reference of the job is ours
 * then. */
static bool end_task(struct orr_runtime *rt, struct orr_job *job)
{
    struct starpu_task *task = job->task;
    bool destroy;

    task->status = STARPU_TASK_FINISHED;
    run_callback(rt, task);
    /* The callback may have decided it. */
    destroy = task->destroy && task->detach && !task->synchronous;
    if (job->tag)
        orr_tag_notify(rt, task->tag_id);
    if (destroy)
        orr_task_free_ended(rt, task);
    return destroy;
}

/* Who waits for the job goes on, and may free its task. `nrefs` of the job's
 * references are ours; if there are no others, nobody waits. */
static void let_waiters_go(struct orr_runtime *rt, struct orr_job *job,
                           unsigned nrefs)
{
    struct orr_job_waiter *waiters;

    if (!orr_job_is_ours(job, nrefs)) {
        orr_lock(&job->lock);
        job->ended = 1;
        waiters = job->waiters;
        job->waiters = NULL;
        orr_unlock(&job->lock);
        orr_waiters_wake(waiters);
    }
    orr_job_unref_n(rt, job, nrefs);
}

void orr_job_complete(struct orr_runtime *rt, struct orr_job *job)
{
    struct starpu_task *task = job->task;
    struct orr_edge *successors;
    struct orr_released released;
    unsigned nrefs = 1;

    if (task && task->epilogue_callback_func)
        orr_call_user(task->epilogue_callback_func,
                      task->epilogue_callback_arg);
    orr_job_leave_order(rt, job, &released);
    orr_lock(&job->lock);
    orr_job_set_state(job, ORR_JOB_DONE);
    successors = job->successors;
    job->successors = NULL;
    orr_unlock(&job->lock);
    release_successors(rt, successors, &released);
    if (task)
        nrefs += end_task(rt, job);
    let_waiters_go(rt, job, nrefs);
    if (task)
        orr_count_ended(rt);
}

/* --- jobs without a kernel --- */

/* Ends an empty task. Chains of them end one after the other, not one inside
 * the other: the stack would not suffice for long ones. */
static void end_empty(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_context *self = orr_self;

    job->next_ended = NULL;
    if (self->ended_tail) {
        *self->ended_tail = job;
        self->ended_tail = &job->next_ended;
        return;
    }
    self->ended = NULL;
    self->ended_tail = &self->ended;
    orr_job_complete(rt, job);
    while (self->ended) {
        job = self->ended;
        self->ended = job->next_ended;
        if (!self->ended)
            self->ended_tail = &self->ended;
        orr_job_complete(rt, job);
    }
    self->ended_tail = NULL;
}

static void empty_ready(struct orr_runtime *rt, struct orr_job *job)
{
    orr_job_set_state(job, ORR_JOB_READY);
    if (orr_count_off(&job->ending, 1))
        end_empty(rt, job);
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
    job->acquire.callback(job->acquire.arg);
    orr_job_complete(rt, job);
}

const struct orr_job_type orr_job_after = {.ready = after_ready};

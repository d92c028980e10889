/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/sched/local.c - the list of a worker's own jobs, see sched.h. */
#include "core/base/log.h"
#include "core/exec/runtime.h"
#include "core/job/follow.h"
#include "core/job/job.h"
#include "core/sched/gang.h"
#include "core/sched/sched.h"
#include "core/worker/workers.h"

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

/* What follows others in the worker's queue comes in the order in which it was found that
 * it can: that of its data. */
static void push_behind_locked(struct orr_worker *worker, struct orr_job *job)
    ORR_REQUIRES(worker->lock)
{
    orr_list_append(&worker->behind, &job->queue);
    atomic_store_explicit(
        &worker->nbehind,
        atomic_load_explicit(&worker->nbehind, memory_order_relaxed) + 1,
        memory_order_release);
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
    if (orr_job_follows(job))
        push_behind_locked(worker, job);
    else if (job->task->workerorder)
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
    /* Nobody wakes himself: a policy may give the worker that asks it a share of a
     * gang, and no job beside. */
    if (worker == orr_self->worker)
        worker->again = true;
    orr_worker_wake(worker);
}

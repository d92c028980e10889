/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/next_ready.c - tells policies which tasks become ready next: those
 * that wait for one task only, which has just started. That task cannot end
 * meanwhile, in the same context; nor can those that wait for it.
 */
#include "core/data/handle.h"
#include "core/exec/runtime.h"
#include "core/job/follow.h"
#include "core/job/job.h"
#include "core/job/tasks.h"
#include "core/task/end.h"

/* So many are told at once. */
enum { MOST = 64 };

struct soon {
    struct orr_job *jobs[MOST];
    unsigned n;
    bool all; /* those as well that wait for others, too */
};

static void soon_add_job(struct soon *soon, struct orr_job *job)
{
    if (job->task && soon->n < MOST && orr_job_is_submitted(job) &&
        !orr_job_follows(job) &&
        (soon->all ||
         atomic_load_explicit(&job->waiting, memory_order_relaxed) == 1))
        soon->jobs[soon->n++] = job;
}

static void soon_add_declared(struct soon *soon, struct orr_job *job)
{
    orr_lock(&job->lock);
    for (const struct orr_edge *edge = job->successors; edge; edge = edge->next)
        soon_add_job(soon, edge->job);
    orr_unlock(&job->lock);
}

/* Adds the jobs whose turn comes next in the handle's order, if nothing but this job is
 * in their way. */
static void soon_add_ordered(struct soon *soon, struct orr_access *access)
{
    const struct orr_turns *turns = &access->handle->turns;
    const struct orr_access *next;

    orr_lock(&access->handle->lock);
    next = orr_turns_behind(turns, access);
    if (!soon->all && (orr_turns_first(turns) != access ||
                       orr_turns_after(turns, access) != next))
        next = NULL;
    for (; next; next = orr_turns_mate(turns, next))
        soon_add_job(soon, next->job);
    orr_unlock(&access->handle->lock);
}

/* A task without kernel ends at once: the tasks that wait for it are told instead. */
static void soon_tell_policy(struct orr_runtime *rt, struct orr_job *job,
                             double delay, unsigned depth)
{
    orr_ready_soon_func_t func =
        atomic_load_explicit(&rt->tasks->ready_soon, memory_order_acquire);
    struct soon soon = {.n = 0};

    if (!func || depth == 0)
        return;
    soon_add_declared(&soon, job);
    for (unsigned i = 0; i < job->naccesses; i++)
        if (job->accesses[i].ordered)
            soon_add_ordered(&soon, &job->accesses[i]);
    orr_self->frozen++;
    for (unsigned i = 0; i < soon.n; i++) {
        if (ORR_JOB_IS(soon.jobs[i], task))
            func(atomic_load(&rt->tasks->ready_soon_data), soon.jobs[i]->task, delay);
        else
            soon_tell_policy(rt, soon.jobs[i], delay, depth - 1);
    }
    orr_self->frozen--;
}

void orr_job_tell_soon(struct orr_runtime *rt, struct orr_job *job)
{
    const unsigned depth = 8; /* of tasks without kernel */

    soon_tell_policy(rt, job, job->predicted, depth);
}

void orr_job_each_successor(struct orr_job *job,
                            void (*visit)(struct orr_job *successor, void *arg),
                            void *arg)
{
    struct soon soon = {.n = 0, .all = true};

    soon_add_declared(&soon, job);
    for (unsigned i = 0; i < job->naccesses; i++)
        if (job->accesses[i].ordered)
            soon_add_ordered(&soon, &job->accesses[i]);
    for (unsigned i = 0; i < soon.n; i++)
        if (ORR_JOB_IS(soon.jobs[i], task))
            visit(soon.jobs[i], arg);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/pop.c - how a worker gets its next job: from its own list, else
 * from the scheduling contexts that it asks. Those are the ones of which it is a
 * member, and the ones that it has left as long as their policies may still have
 * jobs for it. The worker only, no lock held.
 *
 * A thread that deletes a context waits until no worker asks it (ctx.c): a worker says
 * which context it asks, then looks whether it still may; the thread clears the
 * worker's bit, then looks whether the worker asks.
 */
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/tasks.h"
#include "core/sched/ctx.h"
#include "core/sched/ctxs.h"
#include "core/sched/recruit.h"
#include "core/sched/sched.h"
#include "core/sched/toolbox.h"
#include "core/worker/workers.h"

static struct orr_job *pop_local(struct orr_worker *worker)
{
    unsigned n = atomic_load_explicit(&worker->nlocal, memory_order_relaxed);
    struct orr_job *job;

    if (!n)
        return NULL;
    orr_lock(&worker->lock);
    job = orr_job_of_link(orr_list_pop(&worker->local));
    atomic_store_explicit(
        &worker->nlocal,
        atomic_load_explicit(&worker->nlocal, memory_order_relaxed) - 1,
        memory_order_relaxed);
    if (job->task->workerorder)
        orr_worker_next_turn_locked(worker);
    orr_unlock(&worker->lock);
    return job;
}

struct orr_job *orr_sched_pop_behind(struct orr_runtime *rt,
                                     struct orr_worker *worker)
{
    struct orr_job *job;

    if (!atomic_load_explicit(&worker->nbehind, memory_order_acquire))
        return NULL;
    orr_lock(&worker->lock);
    job = orr_job_of_link(orr_list_pop(&worker->behind));
    atomic_store_explicit(
        &worker->nbehind,
        atomic_load_explicit(&worker->nbehind, memory_order_relaxed) - 1,
        memory_order_relaxed);
    orr_unlock(&worker->lock);
    orr_sched_popped(rt, job);
    return job;
}

/* --- one of several contexts --- */

/* Compares two contexts of the worker: the greater is asked first. */
static bool sched_is_asked_before(const struct orr_sched_worker *a,
                                  const struct orr_sched_worker *b)
{
    bool a_has = atomic_load(&a->ntasks) > 0, b_has = atomic_load(&b->ntasks) > 0;

    if (a_has != b_has)
        return a_has;
    return atomic_load(&a->priority) > atomic_load(&b->priority);
}

/* Which of the contexts `left` the worker asks next: one that has counted tasks for it
 * before the others, then by priority, equal ones in turn. */
static unsigned choose_next_sched(const struct orr_runtime *rt,
                                  const struct orr_worker *worker,
                                  unsigned left)
{
    unsigned best = STARPU_NMAX_SCHED_CTXS;

    for (unsigned i = 1; i <= STARPU_NMAX_SCHED_CTXS; i++) {
        unsigned c = (worker->last_sched_ctx + i) % STARPU_NMAX_SCHED_CTXS;

        if (left >> c & 1 &&
            (best == STARPU_NMAX_SCHED_CTXS ||
             sched_is_asked_before(&rt->sched_ctxs->places[c][worker->id],
                                   &rt->sched_ctxs->places[best][worker->id])))
            best = c;
    }
    return best;
}

static struct orr_job *sched_ask_for_job(struct orr_runtime *rt,
                                         struct orr_worker *worker, unsigned c)
{
    struct orr_sched *sched = rt->sched_ctxs->at[c];
    bool member = atomic_load(&sched->of_worker[worker->id].member);
    bool counted = sched->tracked || sched->of_user;
    bool quiet = counted && atomic_load(&sched->inside) == 0;
    struct orr_job *job = NULL;

    /* A policy of the application knows nothing of blocked workers, so those do not ask
     * it. Our own policies give a blocked worker what they already had for it. */
    if (!sched->of_user || !orr_worker_is_blocked(worker))
        job = sched->ops->pop(sched, worker);
    /* A push under way may bring a job; no context would wake the worker for it, so it
     * asks once more. */
    if (!job && !member && counted)
        worker->again |= !quiet || !orr_sched_ctx_leave(sched, worker);
    return job;
}

/* If the worker is the master of a context without policy inside the job's context, the
 * job runs in the inner context. The outer one still counts its end. Returns the job if
 * the worker executes it now; NULL if all workers of the inner context are to execute
 * it, which find it in their lists. */
static struct orr_job *enter_child(struct orr_runtime *rt,
                                   struct orr_worker *worker,
                                   struct orr_job *job)
{
    unsigned child = orr_sched_ctx_child(rt, worker->id, job->sched_ctx);
    struct orr_sched *sched;

    if (child != STARPU_NMAX_SCHED_CTXS)
        job->task->sched_ctx = child;
    sched = rt->sched_ctxs->at[job->task->sched_ctx];
    if (!sched || sched->has_policy)
        return job;
    job->ncores = (uint16_t)atomic_load(&sched->ncores);
    if (child == STARPU_NMAX_SCHED_CTXS || !orr_sched_is_awake(sched) ||
        sched->ops->push(sched, job) != 0)
        return job;
    worker->again = true;
    return NULL;
}

/* Asks the contexts until one has a job. While worker->asks is set no context is
 * deleted. */
static struct orr_job *pop_of_several(struct orr_runtime *rt,
                                      struct orr_worker *worker)
{
    struct orr_job *job;
    unsigned left;

    atomic_store(&worker->asks, true);
    job = pop_local(worker);
    left = atomic_load(&worker->sched_ctxs) & ~ORR_WORKER_BLOCKED;
    while (left && !job) {
        unsigned c = choose_next_sched(rt, worker, left);

        left &= ~(1U << c);
        job = sched_ask_for_job(rt, worker, c);
        if (job)
            worker->last_sched_ctx = c;
    }
    if (job && !orr_job_gang(job))
        job = enter_child(rt, worker, job);
    atomic_store_explicit(&worker->asks, false, memory_order_release);
    return job;
}

static struct orr_job *pop_of_one(struct orr_sched *sched,
                                  struct orr_worker *worker)
{
    struct orr_job *job = NULL;

    if (atomic_load_explicit(&worker->nlocal, memory_order_relaxed))
        job = pop_local(worker);
    return job ? job : sched->ops->pop(sched, worker);
}

inline void orr_sched_popped(struct orr_runtime *rt, struct orr_job *job)
{
    if (rt->tasks->breaks)
        orr_runtime_break(rt, ORR_BREAK_POP, job->id);
    orr_count_popped(rt, job->sched_ctx);
    ORR_TELL(rt, ORR_TOLD_TASK_POPPED, .job = job);
}

/* What it has in its own list comes first: an alias may be there that it gave back, and nobody
 * is twice in one gang. */
static struct orr_job *join_gang(struct orr_runtime *rt,
                                 struct orr_worker *worker)
{
    if (!atomic_load_explicit(&worker->nlocal, memory_order_relaxed))
        return orr_recruit_alias(rt, worker);
    worker->again = true;
    return NULL;
}

struct orr_job *orr_sched_pop(struct orr_runtime *rt, struct orr_worker *worker)
{
    bool one = atomic_load_explicit(&worker->sched_ctxs,
                                    memory_order_relaxed) == 1;
    struct orr_job *job = orr_recruit_waits(rt) ? join_gang(rt, worker) : NULL;

    if (job)
        return job;
    job = one ? pop_of_one(rt->sched_ctxs->at[0], worker)
              : pop_of_several(rt, worker);
    /* Of a gang's task that is told once. */
    if (!job || orr_job_gang(job))
        return job;
    if (orr_recruit_for(rt, worker, job))
        return join_gang(rt, worker);
    orr_sched_popped(rt, job);
    return job;
}

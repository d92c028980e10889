/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/sched/direct.c - see direct.h. */
#include "core/sched/direct.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/base/wait.h"
#include "core/data/node.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/job/tasks.h"
#include "core/job/watched.h"
#include "core/sched/ctxs.h"
#include "core/sched/queue.h"
#include "core/sched/sched.h"
#include "core/worker/members.h"
#include "core/worker/workers.h"

/* Of a worker. */
struct direct_place {
    struct orr_queue queue;
    atomic_bool asks; /* [owner] calls the source, or is about to look for one */
};

struct orr_direct {
    unsigned n; /* [const] */
    _Atomic(void (*)(void *)) source; /* NULL: none */
    void *source_arg;                 /* [const] while there is a source */
    struct direct_place places[];
};

int orr_direct_init(struct orr_runtime *rt)
{
    struct orr_direct *direct = atomic_load(&rt->sched_ctxs->direct);
    unsigned n = rt->workers->n;

    if (direct || rt->exec->one_thread)
        return 0;
    direct = calloc(1, sizeof(*direct) + n * sizeof(direct->places[0]));
    if (!direct)
        return -ENOMEM;
    direct->n = n;
    for (unsigned i = 0; i < n; i++)
        orr_queue_init(&direct->places[i].queue, true);
    atomic_store(&rt->sched_ctxs->direct, direct);
    return 0;
}

void orr_direct_free(struct orr_runtime *rt)
{
    struct orr_direct *direct = atomic_load(&rt->sched_ctxs->direct);

    for (unsigned i = 0; direct && i < direct->n; i++)
        orr_queue_done(&direct->places[i].queue);
    free(direct);
    atomic_store(&rt->sched_ctxs->direct, NULL);
}

static struct orr_direct *direct_of(const struct orr_runtime *rt)
{
    return atomic_load_explicit(&rt->sched_ctxs->direct, memory_order_acquire);
}

/* Whether all workers are in context 0 and the policy does not care which of them runs
 * a task. */
static bool is_indifferent(const struct orr_runtime *rt)
{
    const struct orr_sched *sched =
        atomic_load_explicit(&rt->sched_ctxs->at[0], memory_order_relaxed);

    return sched->ops->indifferent && sched->has_policy &&
           orr_members_all(&rt->workers->members[0]) &&
           !atomic_load_explicit(&rt->workers->knobs.ndisabled,
                                 memory_order_relaxed) &&
           !atomic_load_explicit(&rt->workers->knobs.capped,
                                 memory_order_relaxed);
}

bool orr_direct_may(struct orr_runtime *rt)
{
    return direct_of(rt) && orr_self->sched_ctx <= 1 && is_indifferent(rt) &&
           orr_memory_is_flat(rt) &&
           !atomic_load_explicit(&rt->tasks->ready_soon,
                                 memory_order_relaxed) &&
           !orr_is_told(rt, ORR_TOLD_TASK_WAITS) && !orr_tasks_are_watched(rt);
}

static void direct_push(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_direct *direct = direct_of(rt);
    const struct orr_worker *self = orr_self->worker;
    unsigned worker = self && self->runtime == rt ? self->id : 0;

    if (orr_queue_push(&direct->places[worker].queue, job) != 0) {
        /* The job's priority needs a new level, and there is no memory for one. */
        orr_log_error("there is no memory for a queue of tasks");
        orr_runtime_fail(rt);
    }
    orr_sched_wake_members(rt->sched_ctxs->at[0]);
}

/* Whether the worker would take a job of this queue. */
static bool takes_some(const struct orr_worker *worker)
{
    unsigned of = atomic_load_explicit(&worker->sched_ctxs, memory_order_relaxed);

    return worker->may_suspend && (of & (1U | ORR_WORKER_BLOCKED)) == 1 &&
           !atomic_load_explicit(&worker->disabled, memory_order_relaxed);
}

static struct orr_job *pop_any(struct orr_direct *direct, unsigned first)
{
    struct orr_job *job = NULL;

    for (unsigned i = 0, w = first; !job && i < direct->n; i++) {
        if (!orr_queue_empty(&direct->places[w].queue))
            job = orr_queue_pop(&direct->places[w].queue);
        w = w + 1 < direct->n ? w + 1 : 0;
    }
    return job;
}

/* While it says that it asks, nobody takes the source away. */
static bool ask_source(struct orr_direct *direct, unsigned worker)
{
    void (*source)(void *arg);

    if (!atomic_load_explicit(&direct->source, memory_order_relaxed))
        return false;
    atomic_store(&direct->places[worker].asks, true);
    source = atomic_load(&direct->source);
    if (source)
        source(direct->source_arg);
    atomic_store_explicit(&direct->places[worker].asks, false, memory_order_release);
    return source != NULL;
}

struct orr_job *orr_direct_pop(struct orr_runtime *rt,
                               struct orr_worker *worker)
{
    struct orr_direct *direct = direct_of(rt);
    struct orr_job *job;

    if (!direct || !takes_some(worker))
        return NULL;
    job = pop_any(direct, worker->id);
    if (!job && ask_source(direct, worker->id))
        job = pop_any(direct, worker->id);
    if (job)
        orr_count_popped(rt, job->sched_ctx);
    return job;
}

bool orr_direct_any(struct orr_runtime *rt)
{
    struct orr_direct *direct = direct_of(rt);
    bool any = false;

    for (unsigned i = 0; direct && i < direct->n && !any; i++)
        any = !orr_queue_empty(&direct->places[i].queue);
    return any;
}

void orr_direct_wake(struct orr_runtime *rt)
{
    orr_sched_wake_members(rt->sched_ctxs->at[0]);
}

void orr_direct_set_source(struct orr_runtime *rt, void (*source)(void *arg), void *arg)
{
    struct orr_direct *direct = direct_of(rt);

    if (source)
        direct->source_arg = arg;
    atomic_store(&direct->source, source);
    for (unsigned w = 0; !source && w < direct->n; w++)
        ORR_SPIN_WHILE(atomic_load(&direct->places[w].asks));
}

/* --- its jobs --- */

static void direct_job_ready(struct orr_runtime *rt, struct orr_job *job)
{
    orr_job_set_state(job, ORR_JOB_READY);
    job->task->status = STARPU_TASK_READY;
    job->task->scheduled = 1;
    orr_count_pushed(rt, job->sched_ctx, job->task->flops);
    direct_push(rt, job);
}

/* Called rarely: the worker had no memory for the job's data, and has gone on with
 * other jobs meanwhile. */
static void direct_job_arrived(struct orr_runtime *rt, struct orr_job *job,
                               int worker)
{
    (void)worker;
    orr_count_pushed(rt, job->sched_ctx, 0);
    direct_push(rt, job);
}

const struct orr_job_type orr_job_direct = {
    .ready = direct_job_ready,
    .arrived = direct_job_arrived,
};

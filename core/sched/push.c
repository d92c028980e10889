/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/push.c - what happens around the policy: how a ready job gets to
 * it or past it, and a worker to its next job. Any context, no lock held.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/runtime.h"
#include "core/sched/sched.h"
#include "core/sched/toolbox.h"
#include "core/task/count.h"
#include "core/task/profile.h"

static void prefetch(struct orr_runtime *rt, struct orr_job *job, unsigned node)
{
    if (orr_config_int(&rt->config, ORR_CFG_PREFETCH) != 0)
        orr_job_prefetch(rt, job, node, ORR_PREFETCH);
}

/* Puts the job in the worker's own list. The policy is notified before, since
 * afterwards the job may end at any time. */
static void push_specific(struct orr_runtime *rt, struct orr_job *job,
                          unsigned worker, unsigned bits)
{
    struct orr_sched *sched = rt->sched;
    struct orr_worker *w = &rt->workers[worker];

    job->implementation =
        orr_recal_pick(job->costs->recal, job->costs, w->class_id, bits);
    prefetch(rt, job, rt->classes[w->class_id].node);
    if (sched->ops->push_notify)
        sched->ops->push_notify(sched, job, w);
    orr_worker_push_local(w, job, true);
}

/* The node to which a job's data will have to go wherever it runs, because it
 * runs on one architecture only whose workers share a node. */
static bool find_only_node(struct orr_runtime *rt, struct orr_job *job,
                           unsigned *ret_node)
{
    const struct orr_cost_row *row = orr_job_costs(rt, job);
    const struct orr_worker_class *first = NULL;

    for (unsigned k = 0; k < rt->nclasses; k++) {
        const struct orr_worker_class *class = &rt->classes[k];
        bool uniform;
        unsigned bits = orr_job_able_class(rt, job, row, k, &uniform);

        if (uniform && !bits)
            continue;
        if (first && (class->type != first->type || class->node != first->node))
            return false;
        first = class;
    }
    if (!first)
        return false;
    *ret_node = first->node;
    return true;
}

/* A worker that can run the job (can_execute aside), when the policy found none
 * or had no memory for it; the job must not be lost. */
static void push_anywhere(struct orr_runtime *rt, struct orr_job *job, int err)
{
    const struct orr_cost_row *row = orr_job_costs(rt, job);

    orr_log_warning("the policy %s %s task `%s': it goes to the first worker "
                    "that has an implementation",
                    rt->sched->ops->name,
                    err == -ENOMEM ? "has no memory for"
                                   : "found no worker that accepts",
                    orr_job_name(job));
    for (unsigned w = 0; w < rt->nworkers; w++) {
        bool ask;
        unsigned bits = orr_job_maybe_able(rt, job, row, w, &ask);

        if (!bits)
            continue;
        push_specific(rt, job, w, bits);
        return;
    }
    orr_log_error("no worker can run task `%s'; give its codelet a function "
                  "for this machine, or check `where' and the task's workers",
                  orr_job_name(job));
    abort();
}

void orr_sched_push(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_sched *sched = rt->sched;
    struct starpu_task *task = job->task;
    unsigned node;
    int err;

    orr_charge(rt->machine->costs.push);
    orr_pay();
    orr_runtime_trace_count(rt, ORR_TRACE_NREADY, 1);
    orr_count_pushed(rt);
    /* Once it is pushed the task may end at any time: no later. */
    task->scheduled = 1;
    if (rt->breaks)
        orr_runtime_break(rt, ORR_BREAK_PUSH, job->id);
    ORR_PROFILE(rt, task, push_end_time);
    if (task->execute_on_a_specific_worker && task->workerid < rt->nworkers) {
        unsigned bits =
            orr_job_able(rt, job, orr_job_costs(rt, job), task->workerid);

        if (bits) {
            push_specific(rt, job, task->workerid, bits);
            return;
        }
    }
    if (rt->nnodes > 1 && !sched->ops->prefetches &&
        find_only_node(rt, job, &node))
        prefetch(rt, job, node);
    err = sched->ops->push(sched, job);
    if (err)
        push_anywhere(rt, job, err);
}

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

struct orr_job *orr_sched_pop(struct orr_runtime *rt, struct orr_worker *worker)
{
    struct orr_job *job = pop_local(worker);

    if (!job)
        job = rt->sched->ops->pop(rt->sched, worker);
    if (!job)
        return NULL;
    if (rt->breaks)
        orr_runtime_break(rt, ORR_BREAK_POP, job->id);
    orr_count_popped(rt);
    orr_runtime_trace_count(rt, ORR_TRACE_NREADY, -1);
    return job;
}

void orr_sched_submitted(struct orr_runtime *rt, struct orr_job *job)
{
    if (rt->sched->ops->submitted)
        rt->sched->ops->submitted(rt->sched, job);
}

void orr_sched_do_schedule(struct orr_runtime *rt)
{
    if (rt->sched->ops->do_schedule)
        rt->sched->ops->do_schedule(rt->sched);
}

void orr_sched_pre_exec(struct orr_runtime *rt, struct orr_job *job,
                        struct orr_worker *worker)
{
    if (rt->sched->ops->pre_exec)
        rt->sched->ops->pre_exec(rt->sched, job, worker);
}

void orr_sched_post_exec(struct orr_runtime *rt, struct orr_job *job,
                         struct orr_worker *worker)
{
    if (rt->sched->ops->post_exec)
        rt->sched->ops->post_exec(rt->sched, job, worker);
}

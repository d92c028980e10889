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
#include "core/data/nodes.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/follow.h"
#include "core/job/tasks.h"
#include "core/sched/bundle.h"
#include "core/sched/gang.h"
#include "core/sched/sched.h"
#include "core/sched/toolbox.h"
#include "core/worker/combined.h"
#include "core/worker/workers.h"

static void prefetch_if_configured(struct orr_runtime *rt, struct orr_job *job,
                                   unsigned node)
{
    if (orr_config_int(&rt->config, ORR_CFG_PREFETCH) != 0)
        orr_job_prefetch(rt, job, node, ORR_PREFETCH);
}

/* Puts the job in the worker's own list. The policy is notified before, since
 * afterwards the job may end at any time. */
static void push_chosen(struct orr_sched *sched, struct orr_job *job,
                        unsigned worker)
{
    struct orr_runtime *rt = sched->runtime;
    struct orr_worker *w = &rt->workers->at[worker];

    prefetch_if_configured(rt, job, rt->workers->classes[w->class_id].node);
    if (sched->ops->push_notify)
        sched->ops->push_notify(sched, job, w);
    orr_worker_push_local(w, job, true);
}

/* The same, and chooses among these implementations. */
static void push_specific(struct orr_sched *sched, struct orr_job *job,
                          unsigned worker, unsigned bits)
{
    job->implementation =
        orr_recal_pick(job->costs->recal, job->costs,
                       sched->runtime->workers->at[worker].class_id, bits);
    push_chosen(sched, job, worker);
}

/* The node to which a job's data will have to go wherever it runs, because it
 * runs on one architecture only whose workers share a node. */
static bool find_only_node(struct orr_runtime *rt, struct orr_job *job,
                           unsigned *ret_node)
{
    const struct orr_cost_row *row = orr_job_row(rt, job);
    const struct orr_worker_class *first = NULL;

    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        const struct orr_worker_class *class = &rt->workers->classes[k];
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

/* --- combined workers that the task names --- */

static void notify_alias(struct orr_job *alias, struct orr_worker *worker,
                         void *arg)
{
    struct orr_sched *sched = arg;

    sched->ops->push_notify(sched, alias, worker);
}

/* False if the combined worker cannot run the job. Without memory for a gang its first
 * member executes the job alone. */
static bool push_combined(struct orr_sched *sched, struct orr_job *job,
                          const struct orr_combined *combined)
{
    struct orr_runtime *rt = sched->runtime;
    unsigned bits =
        orr_job_able_combined(rt, job, orr_job_row(rt, job), combined);

    if (!bits)
        return false;
    job->implementation = orr_first_implementation(bits);
    prefetch_if_configured(rt, job,
                           rt->workers->classes[combined->class_id].node);
    if (orr_gang_push_combined(rt, job, combined,
                               sched->ops->push_notify ? notify_alias : NULL,
                               sched) == 0)
        return true;
    orr_log_warning("out of memory for a gang: task `%s' runs on one worker of "
                    "combined worker %u",
                    orr_job_name(job), combined->id);
    push_specific(sched, job, (unsigned)combined->members[0], bits);
    return true;
}

/* Whether there is a worker in the task's `workerids` that is not a combined one. */
static bool lists_workers(const struct orr_runtime *rt,
                          const struct starpu_task *task)
{
    for (unsigned w = 0; w < rt->workers->n && w / 32 < task->workerids_len;
         w++)
        if (task->workerids[w / 32] >> w % 32 & 1)
            return true;
    return false;
}

/* A task that lists combined workers only: pushes it to the first of them that can run
 * it. Policies that do not know combined workers could not. */
static bool push_listed(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_runtime *rt = sched->runtime;
    unsigned n = orr_combined_count(rt);
    bool done = false;

    if (n == 0 || sched->ops->combines || lists_workers(rt, job->task))
        return false;
    for (unsigned i = 0; !done && i < n; i++)
        done = push_combined(sched, job,
                             orr_combined_at(rt, rt->workers->n + i));
    return done;
}

/* --- when the policy has not taken the job --- */

/* Whether a worker that takes tasks of the context can run it. */
static bool has_taker(struct orr_runtime *rt, struct orr_job *job)
{
    const struct orr_cost_row *row = orr_job_row(rt, job);

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (orr_job_able(rt, job, row, w))
            return true;
    return false;
}

/* Whether the worker is disabled, and may be enabled again: not if its device is lost,
 * which is noted before its workers are disabled. */
static bool may_come_back(const struct orr_runtime *rt, unsigned worker)
{
    const struct orr_worker *w = &rt->workers->at[worker];

    return atomic_load_explicit(&w->disabled, memory_order_acquire) &&
           !(atomic_load_explicit(&rt->nodes->lost, memory_order_relaxed) >>
                 w->desc->node &
             1);
}

/* Whether the workers that could run the job are those of lost devices. */
static bool only_lost_could(const struct orr_sched *sched, struct orr_job *job)
{
    struct orr_runtime *rt = sched->runtime;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (may_come_back(rt, w))
            return false;
    return orr_members_all(&rt->workers->members[sched->id]) &&
           !has_taker(rt, job) && !orr_combined_at(rt, job->task->workerid);
}

void orr_sched_refuse_lost(struct orr_runtime *rt, struct orr_job *job)
{
    if (!only_lost_could(orr_sched_of(rt, job), job))
        return;
    orr_log_error(
        "task `%s' (number %llu) can be run by workers of lost devices "
        "only: let others do it, by its codelet's functions, `where' "
        "or the workers that the task names",
        orr_job_name(job), (unsigned long long)job->id);
    orr_runtime_fail(rt);
}

/* A worker that can run the job (can_execute aside), when the policy found none
 * or had no memory for it; the job must not be lost. */
static void push_anywhere(struct orr_sched *sched, struct orr_job *job, int err)
{
    struct orr_runtime *rt = sched->runtime;
    const struct orr_cost_row *row = orr_job_row(rt, job);

    orr_sched_check_lost(rt, job); /* since it was asked */
    orr_log_warning("the policy %s %s task `%s': it goes to the first worker "
                    "that has an implementation",
                    sched->ops->name,
                    err == -ENOMEM ? "has no memory for"
                                   : "found no worker that accepts",
                    orr_job_name(job));
    for (unsigned w = 0; w < rt->workers->n; w++) {
        bool ask;
        unsigned bits = orr_job_maybe_able(rt, job, row, w, &ask);

        if (!bits)
            continue;
        push_specific(sched, job, w, bits);
        return;
    }
    orr_log_error("no worker can run task `%s'; give its codelet a function "
                  "for this machine, or check `where' and the task's workers",
                  orr_job_name(job));
    abort();
}

/* Whether the job can wait for a worker that is disabled. */
static bool may_be_enabled(const struct orr_runtime *rt,
                           const struct orr_job *job)
{
    for (unsigned w = 0; orr_some_disabled(rt) && w < rt->workers->n; w++)
        if (may_come_back(rt, w) &&
            orr_job_able_if_enabled(rt, job, job->costs, w))
            return true;
    return false;
}

/* Whether no worker can run the job now, so that the application's policy is not asked.
 * Our own policies find that out themselves. */
static bool lacks_taker(struct orr_sched *sched, struct orr_job *job)
{
    return sched->of_user &&
           (!orr_members_all(&sched->runtime->workers->members[sched->id]) ||
            may_be_enabled(sched->runtime, job)) &&
           !has_taker(sched->runtime, job);
}

/* Keeps the job until the context gets other workers, or one is enabled. False if that
 * has happened since `changes` was read. */
static bool sched_park_job(struct orr_sched *sched, struct orr_job *job,
                           unsigned changes)
{
    bool same;

    orr_lock(&sched->lock);
    same = sched->changes == changes;
    if (same)
        orr_list_append(&sched->parked, &job->queue);
    orr_unlock(&sched->lock);
    return same;
}

static unsigned changes_of(struct orr_sched *sched)
{
    unsigned changes;

    orr_lock(&sched->lock);
    changes = sched->changes;
    orr_unlock(&sched->lock);
    return changes;
}

void orr_sched_look(struct orr_sched *sched, struct orr_sched_state *ret)
{
    struct orr_knobs *knobs = &sched->runtime->workers->knobs;

    ret->over = atomic_load(&knobs->over);
    ret->begun = atomic_load(&knobs->begun);
    ret->changes = changes_of(sched);
}

static bool is_as_it_was(struct orr_sched *sched,
                         const struct orr_sched_state *state)
{
    struct orr_sched_state now;

    orr_sched_look(sched, &now);
    return state->begun == state->over && now.begun == state->begun &&
           now.changes == state->changes;
}

enum orr_kept orr_sched_keep(struct orr_sched *sched, struct orr_job *job,
                             const struct orr_sched_state *state)
{
    struct orr_runtime *rt = sched->runtime;
    bool waits = !orr_members_all(&rt->workers->members[sched->id]) ||
                 may_be_enabled(rt, job);

    if (waits && !has_taker(rt, job))
        return sched_park_job(sched, job, state->changes) ? ORR_KEPT
                                                          : ORR_TRY_AGAIN;
    return is_as_it_was(sched, state) ? ORR_NOT_KEPT : ORR_TRY_AGAIN;
}

/* The policy could not take the job: maybe some worker that is no member, is
 * blocked or disabled, can run it. */
static void push_later(struct orr_sched *sched, struct orr_job *job, int err)
{
    unsigned changes;

    while (err == -ENODEV) {
        changes = changes_of(sched);
        if (orr_members_all(&sched->runtime->workers->members[sched->id]) &&
            !may_be_enabled(sched->runtime, job))
            break;
        if (!has_taker(sched->runtime, job) &&
            sched_park_job(sched, job, changes))
            return;
        err = sched->ops->push(sched, job);
        if (!err)
            return;
    }
    push_anywhere(sched, job, err);
}

/* As push_named_worker, to a combined worker. */
static bool push_named_combined(struct orr_sched *sched, struct orr_job *job,
                                const struct orr_combined *combined)
{
    struct orr_runtime *rt = sched->runtime;

    while (orr_combined_is_blocked(rt, combined)) {
        unsigned changes = changes_of(sched);

        if (orr_combined_is_blocked(rt, combined) &&
            sched_park_job(sched, job, changes))
            return true;
    }
    return push_combined(sched, job, combined);
}

/* Pushes to the one worker that the task names; false if that cannot run it. */
static bool push_named_worker(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_runtime *rt = sched->runtime;
    unsigned worker = job->task->workerid;
    unsigned bits = orr_job_able(rt, job, orr_job_row(rt, job), worker);

    if (!bits)
        return false;
    while (orr_worker_is_blocked(&rt->workers->at[worker])) {
        unsigned changes = changes_of(sched);

        if (orr_worker_is_blocked(&rt->workers->at[worker]) &&
            sched_park_job(sched, job, changes))
            return true;
    }
    push_specific(sched, job, worker, bits);
    return true;
}

static bool push_named(struct orr_sched *sched, struct orr_job *job)
{
    const struct orr_combined *combined;

    if (!job->task->execute_on_a_specific_worker)
        return push_listed(sched, job);
    if (job->task->workerid < sched->runtime->workers->n)
        return push_named_worker(sched, job);
    combined = orr_combined_at(sched->runtime, job->task->workerid);
    return combined && push_named_combined(sched, job, combined);
}

static void sched_push_job(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_runtime *rt = sched->runtime;
    const struct starpu_task *task = job->task;
    unsigned node;
    int err;

    /* It has a worker and an implementation: follow.c. */
    if (orr_job_follows(job)) {
        push_chosen(sched, job, orr_job_follow_worker(job));
        return;
    }
    orr_sched_check_lost(rt, job);
    if (!orr_job_is_plain(job) &&
        (task->execute_on_a_specific_worker || task->workerids_len > 0) &&
        push_named(sched, job))
        return;
    if (rt->nodes->n > 1 && !sched->ops->prefetches &&
        find_only_node(rt, job, &node))
        prefetch_if_configured(rt, job, node);
    err = lacks_taker(sched, job) ? -ENODEV : sched->ops->push(sched, job);
    if (err)
        push_later(sched, job, err);
}

void orr_sched_push_again(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_sched *sched = orr_sched_of(rt, job);
    bool tracked = sched->tracked;

    if (tracked)
        atomic_fetch_add(&sched->inside, 1);
    sched_push_job(sched, job);
    if (tracked)
        atomic_fetch_sub(&sched->inside, 1);
}

void orr_sched_push(struct orr_runtime *rt, struct orr_job *job)
{
    if (job->in_graph != ORR_IN_GRAPH_AGAIN)
        orr_charge(rt->machine->costs.push);
    orr_pay();
    ORR_TELL(rt, ORR_TOLD_TASK_PUSHED, .job = job);
    if (orr_job_is_plain(job)) {
        orr_count_pushed(rt, job->sched_ctx, 0);
    } else {
        orr_count_pushed(rt, job->sched_ctx, job->task->flops);
        /* Not after the push: then the task may end at any time. */
        job->task->scheduled = 1;
        if (job->task->bundle)
            orr_bundle_note_push(job->task->bundle, job->task);
    }
    if (rt->tasks->breaks)
        orr_runtime_break(rt, ORR_BREAK_PUSH, job->id);
    orr_sched_push_again(rt, job);
}

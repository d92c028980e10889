/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/peager.c - peager: eager with parallel tasks. A processor that is the
 * first member of combined workers leads them: it takes parallel tasks and hands each
 * to the largest one that can execute it, of equal ones the first, or keeps it if none
 * can. Other members leave parallel tasks alone; devices, and processors in no combined
 * worker, are as under eager. Two queues, of parallel and of other tasks, so that no
 * worker looks through tasks that are not for it: one that takes both takes what was
 * submitted first.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/cost/cost.h"
#include "core/policies/parallel.h"
#include "core/policies/policies.h"
#include "core/sched/gang.h"
#include "core/sched/queue.h"
#include "core/worker/workers.h"

struct peager {
    struct orr_queue parallel, others;
};

/* --- which workers take which jobs --- */

/* Combined workers with one member have no leader. */
static bool is_group(const struct orr_combined *combined)
{
    return combined && combined->size > 1;
}

static bool combined_has_worker(const struct orr_combined *combined,
                                unsigned worker)
{
    for (unsigned i = 0; i < combined->size; i++)
        if ((unsigned)combined->members[i] == worker)
            return true;
    return false;
}

/* Whether the worker takes parallel tasks: it leads, or is in no group. */
static bool takes_parallel(const struct orr_sched *sched, unsigned worker)
{
    const struct orr_runtime *rt = sched->runtime;
    bool follows = false;

    for (unsigned i = 0; i < orr_combined_count(rt); i++) {
        const struct orr_combined *combined = orr_parallel_at(sched, i);

        if (!is_group(combined) || !combined_has_worker(combined, worker))
            continue;
        if ((unsigned)combined->members[0] == worker)
            return true;
        follows = true;
    }
    return !follows;
}

/* Whether the job waits for the workers that take parallel tasks; if none of
 * them can run it, it is one for all. */
static bool is_parallel(struct orr_sched *sched, struct orr_job *job)
{
    const struct starpu_codelet *cl = job->task->cl;
    struct orr_runtime *rt = sched->runtime;
    const struct orr_cost_row *row;

    if (cl->type == STARPU_SEQ || cl->max_parallelism <= 1)
        return false;
    row = orr_job_row(rt, job);
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (takes_parallel(sched, w) && orr_job_able(rt, job, row, w))
            return true;
    return false;
}

/* --- pushing --- */

static void peager_wake_takers(struct orr_sched *sched)
{
    struct orr_runtime *rt = sched->runtime;

    orr_sched_after_queueing(rt);
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (takes_parallel(sched, w))
            (void)orr_sched_wake(&rt->workers->at[w]);
}

static int peager_push(struct orr_sched *sched, struct orr_job *job)
{
    struct peager *peager = sched->data;
    bool parallel, differ;
    uint64_t able_classes;
    int err;

    orr_sched_note_able(sched->runtime, job);
    able_classes = job->able_classes;
    differ = job->differ;
    if (!able_classes)
        return -ENODEV;
    parallel = is_parallel(sched, job);
    err = orr_queue_push(parallel ? &peager->parallel : &peager->others, job);
    if (err)
        return err;
    if (parallel)
        peager_wake_takers(sched);
    else
        orr_sched_wake_able(sched, able_classes, differ);
    return 0;
}

/* --- popping --- */

/* The largest combined worker that the worker leads and that can execute the job
 * by its first implementation; NULL without. */
static const struct orr_combined *leader_find_combined(struct orr_sched *sched,
                                                       struct orr_job *job,
                                                       unsigned leader)
{
    struct orr_runtime *rt = sched->runtime;
    const struct orr_cost_row *row = orr_job_row(rt, job);
    const struct orr_combined *best = NULL;

    for (unsigned i = 0; i < orr_combined_count(rt); i++) {
        const struct orr_combined *combined = orr_parallel_at(sched, i);

        if (is_group(combined) && (unsigned)combined->members[0] == leader &&
            (!best || combined->size > best->size) &&
            orr_parallel_able(sched, job, row, combined) & 1)
            best = combined;
    }
    return best;
}

/* Hands a parallel job to the workers that this worker leads. Returns NULL then: the
 * worker finds its own share in its list. Returns the job, for the worker to execute
 * alone, if it leads none or there is no memory for a gang. */
static struct orr_job *hand_out(struct orr_sched *sched,
                                struct orr_worker *worker, struct orr_job *job)
{
    const struct orr_combined *group =
        leader_find_combined(sched, job, worker->id);
    uint8_t alone = job->implementation;

    if (!group)
        return job;
    job->implementation = 0;
    if (orr_gang_push_combined(sched->runtime, job, group, NULL, NULL) == 0) {
        worker->again = true;
        return NULL;
    }
    job->implementation = alone;
    return job;
}

/* Whether the parallel queue has what comes first. */
static bool parallel_first(struct orr_sched *sched, struct peager *peager)
{
    struct orr_job *job = orr_queue_peek(&peager->parallel);
    bool first;

    if (!job)
        return false;
    first = !orr_queue_is_before(&peager->others, job->priority, job->id);
    orr_job_unref(sched->runtime, job);
    return first;
}

static struct orr_job *peager_take_oldest(struct orr_queue *q,
                                          struct orr_worker *worker)
{
    return orr_queue_empty(q)
               ? NULL
               : orr_queue_take(q, worker, ORR_QUEUE_OLDEST, NULL);
}

static struct orr_job *peager_pop(struct orr_sched *sched,
                                  struct orr_worker *worker)
{
    struct peager *peager = sched->data;
    struct orr_job *job = NULL;
    bool both = !orr_queue_empty(&peager->parallel) &&
                takes_parallel(sched, worker->id);

    if (!both || !parallel_first(sched, peager))
        job = peager_take_oldest(&peager->others, worker);
    if (job || !both)
        return job;
    job = peager_take_oldest(&peager->parallel, worker);
    if (job)
        return hand_out(sched, worker, job);
    return peager_take_oldest(&peager->others, worker);
}

/* --- beginning and end --- */

static int peager_init(struct orr_sched *sched, struct orr_error *err)
{
    struct peager *peager = malloc(sizeof(*peager));

    if (!peager)
        return orr_fail(err, -ENOMEM, "peager: out of memory");
    orr_queue_init(&peager->parallel, true);
    orr_queue_init(&peager->others, true);
    sched->data = peager;
    return 0;
}

static void peager_deinit(struct orr_sched *sched)
{
    struct peager *peager = sched->data;

    orr_queue_done(&peager->parallel);
    orr_queue_done(&peager->others);
    free(peager);
}

const struct orr_sched_ops orr_sched_peager = {
    .name = "peager",
    .help = "as eager, parallel tasks on several processors",
    .init = peager_init,
    .deinit = peager_deinit,
    .add_workers = orr_parallel_add_workers,
    .push = peager_push,
    .pop = peager_pop,
};

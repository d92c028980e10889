/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/static.c - static=FILE: each task goes to the worker that a
 * schedule names for it, which takes its tasks in the order of the file. A
 * worker whose next task is not ready takes the first one that is: so no file,
 * whatever it says, can stop a run. Tasks that the file does not have, or that
 * do something else there, go to workers that have nothing else to do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/policies/policies.h"
#include "core/sched/queue.h"
#include "core/sched/schedule.h"
#include "core/worker/workers.h"

struct follower {
    struct orr_lock lock;         /* rank ORR_RANK_SCHED */
    struct orr_schedule schedule; /* [const] */
    struct orr_prioq *queues;     /* [lock] per worker, owned */
    /* [lock] number of the job `id`, 0: it has none; owned */
    uint32_t *number;
    size_t room;
    uint32_t nsubmitted;    /* [lock] */
    bool prefetch;          /* [const] */
    atomic_bool departed;   /* a warning was printed */
    struct orr_queue other; /* what the schedule does not say */
};

/* Gives the task the next number of submission. Without memory the task counts as one
 * that the schedule does not have. */
static void static_submitted(struct orr_sched *sched, struct orr_job *job)
{
    struct follower *f = sched->data;
    uint64_t id = job->id;

    orr_lock(&f->lock);
    f->nsubmitted++;
    if (orr_grow(&f->number, &f->room, id + 1, sizeof(*f->number)) == 0)
        f->number[id] = f->nsubmitted;
    orr_unlock(&f->lock);
}

/* The job's line, or NULL. */
static const struct orr_schedule_task *follower_line(struct follower *f,
                                                     const struct orr_job *job)
{
    const struct orr_schedule_task *line = NULL;
    uint32_t number = 0;

    orr_lock(&f->lock);
    if (job->id < f->room)
        number = f->number[job->id];
    orr_unlock(&f->lock);
    if (number && number <= f->schedule.ntasks)
        line = &f->schedule.tasks[number - 1];
    return line && line->place ? line : NULL;
}

static void warn_once(struct follower *f, const struct orr_cost_row *row,
                      const struct orr_schedule_task *line)
{
    const char *kernel = orr_cost_symbol(row);

    if (atomic_exchange(&f->departed, true))
        return;
    if (!line)
        orr_log_warning("static: the schedule has no line for a task (%s): it "
                        "goes to any worker, as do others like it",
                        kernel);
    else
        orr_log_warning("static: the schedule is of another program or "
                        "machine: a task is %s where it has %s on worker %u; "
                        "such tasks go to any worker",
                        kernel, line->kernel, line->worker);
}

/* Implementations that the worker of the line can run the job with, 0: none. */
static unsigned able_as_planned(struct orr_runtime *rt, struct orr_job *job,
                                const struct orr_cost_row *row,
                                const struct orr_schedule_task *line)
{
    if (!line || line->worker >= rt->workers->n ||
        strcmp(line->kernel, orr_cost_symbol(row)) != 0)
        return 0;
    return orr_job_able(rt, job, row, line->worker);
}

static int push_planned(struct orr_sched *sched, struct orr_job *job,
                        const struct orr_cost_row *row, unsigned bits,
                        const struct orr_schedule_task *line)
{
    struct orr_runtime *rt = sched->runtime;
    struct follower *f = sched->data;
    struct orr_worker *worker = &rt->workers->at[line->worker];
    int err;

    job->implementation =
        orr_recal_pick(row->recal, row, worker->class_id, bits);
    if (f->prefetch)
        orr_job_prefetch(rt, job, rt->workers->classes[worker->class_id].node,
                         ORR_PREFETCH);
    orr_lock(&f->lock);
    err = orr_prioq_push(&f->queues[worker->id], job, -(int)line->place);
    orr_unlock(&f->lock);
    if (!err)
        orr_sched_wake(worker);
    return err;
}

static int follower_push_unscheduled(struct orr_sched *sched,
                                     struct orr_job *job)
{
    struct follower *f = sched->data;
    uint64_t able_classes;
    bool differ;
    int err;

    orr_sched_note_able(sched->runtime, job);
    able_classes = job->able_classes;
    differ = job->differ;
    if (!able_classes)
        return -ENODEV;
    err = orr_queue_push(&f->other, job);
    if (!err)
        orr_sched_wake_able(sched, able_classes, differ);
    return err;
}

static int static_push(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_runtime *rt = sched->runtime;
    struct follower *f = sched->data;
    const struct orr_cost_row *row = orr_job_costs(rt, job);
    const struct orr_schedule_task *line = follower_line(f, job);
    unsigned bits = able_as_planned(rt, job, row, line);

    if (bits)
        return push_planned(sched, job, row, bits, line);
    warn_once(f, row, line);
    return follower_push_unscheduled(sched, job);
}

static struct orr_job *static_pop(struct orr_sched *sched,
                                  struct orr_worker *worker)
{
    struct follower *f = sched->data;
    struct orr_job *job;

    orr_lock(&f->lock);
    job = orr_prioq_pop(&f->queues[worker->id]);
    orr_unlock(&f->lock);
    if (job || orr_queue_empty(&f->other))
        return job;
    return orr_queue_take(&f->other, worker, ORR_QUEUE_OLDEST, NULL);
}

static void static_deinit(struct orr_sched *sched)
{
    struct follower *f = sched->data;

    for (unsigned w = 0; f->queues && w < sched->runtime->workers->n; w++)
        orr_prioq_done(&f->queues[w]);
    orr_queue_done(&f->other);
    orr_schedule_done(&f->schedule);
    free(f->queues);
    free(f->number);
    free(f);
}

static int static_init(struct orr_sched *sched, struct orr_error *err)
{
    struct orr_runtime *rt = sched->runtime;
    struct follower *f;
    int rc;

    if (!sched->argument || !*sched->argument)
        return orr_fail(err, -EINVAL,
                        "the policy static needs a schedule: static=FILE; "
                        "orrery trace --schedule FILE and orrery optimise "
                        "write some");
    f = calloc(1, sizeof(*f));
    if (!f)
        return orr_fail(err, -ENOMEM, "static: out of memory");
    orr_lock_init(&f->lock, ORR_RANK_SCHED);
    orr_queue_init(&f->other, true);
    f->prefetch = orr_config_int(&rt->config, ORR_CFG_PREFETCH) != 0;
    f->queues = calloc(rt->workers->n, sizeof(*f->queues));
    sched->data = f;
    rc = f->queues ? orr_schedule_read(sched->argument, &f->schedule, err)
                   : orr_fail(err, -ENOMEM, "static: out of memory");
    if (rc)
        static_deinit(sched);
    return rc;
}

const struct orr_sched_ops orr_sched_static = {
    .name = "static",
    .help = "as a schedule says: orrery optimise, orrery trace --schedule",
    .unbounded_priorities = true,
    .by_priority = true,
    .prefetches = true,
    .init = static_init,
    .deinit = static_deinit,
    .push = static_push,
    .pop = static_pop,
    .submitted = static_submitted,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/eager.c - eager and prio: one central list from which idle
 * workers take the first job that they can run. eager keeps the order of
 * arrival, prio puts higher priorities first. One lock, the queue's.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/policies/policies.h"
#include "core/sched/queue.h"

static int central_init(struct orr_sched *sched, struct orr_error *err)
{
    struct orr_queue *q = malloc(sizeof(*q));

    if (!q)
        return orr_fail(err, -ENOMEM, "%s: out of memory", sched->ops->name);
    orr_queue_init(q, sched->ops->by_priority);
    sched->data = q;
    return 0;
}

static void central_deinit(struct orr_sched *sched)
{
    orr_queue_done(sched->data);
    free(sched->data);
}

static int central_push(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_runtime *rt = sched->runtime;
    uint64_t able_classes;
    bool differ;
    int err;

    orr_sched_note_able(rt, job);
    able_classes = job->able_classes;
    differ = job->differ;
    err = orr_queue_push(sched->data, job);
    if (!err)
        orr_sched_wake_able(sched, able_classes, differ);
    return err;
}

static struct orr_job *eager_pop(struct orr_sched *sched,
                                 struct orr_worker *worker)
{
    struct orr_queue *q = sched->data;

    if (orr_queue_empty(q))
        return NULL;
    return orr_queue_take(q, worker, ORR_QUEUE_OLDEST, NULL);
}

/* When the worker can run none of the jobs, one that can is woken: it would
 * have been woken by the push, had it been asleep then. */
static struct orr_job *prio_pop(struct orr_sched *sched,
                                struct orr_worker *worker)
{
    struct orr_queue *q = sched->data;
    struct orr_queue_skipped skipped;
    struct orr_job *job;

    if (orr_queue_empty(q))
        return NULL;
    job = orr_queue_take(q, worker, ORR_QUEUE_OLDEST, &skipped);
    if (skipped.able_classes)
        orr_sched_wake_able(sched, skipped.able_classes, skipped.differ);
    return job;
}

const struct orr_sched_ops orr_sched_eager = {
    .name = "eager",
    .help = "one central list in order of arrival",
    .init = central_init,
    .deinit = central_deinit,
    .push = central_push,
    .pop = eager_pop,
};

const struct orr_sched_ops orr_sched_prio = {
    .name = "prio",
    .help = "one central list, higher priorities first",
    .unbounded_priorities = true,
    .by_priority = true,
    .init = central_init,
    .deinit = central_deinit,
    .push = central_push,
    .pop = prio_pop,
};

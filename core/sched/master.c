/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/master.c - contexts without policy: all tasks go to one processor,
 * the master, in the order in which they come, and may use the other workers of
 * the context, which are blocked, for themselves. If these are awake each of them
 * executes each task, whatever its codelet's type: they begin together, and to the
 * kernel each looks as if it were alone. Any context.
 */
#include <errno.h>

#include "core/cost/cost.h"
#include "core/cost/recalibrate.h"
#include "core/sched/ctx.h"
#include "core/sched/gang.h"
#include "core/sched/sched.h"
#include "core/sched/toolbox.h"
#include "core/worker/workers.h"

static int master_init(struct orr_sched *sched, struct orr_error *err)
{
    (void)sched;
    (void)err;
    return 0;
}

/* The processors that take tasks, ascending; returns how many. */
static unsigned list_awake(const struct orr_sched *sched, int *ids)
{
    const struct orr_runtime *rt = sched->runtime;
    unsigned n = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        if (atomic_load(&sched->of_worker[w].member) &&
            orr_members_has(&rt->workers->members[sched->id], w))
            ids[n++] = (int)w;
    return n;
}

static int push_to_all(struct orr_sched *sched, struct orr_job *job)
{
    int ids[STARPU_NMAXWORKERS];
    struct orr_gang_request request = {
        .size = list_awake(sched, ids),
        .members = ids,
        .each_alone = true,
    };

    return request.size ? orr_gang_push(sched->runtime, job, &request)
                        : -ENODEV;
}

static int master_push(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_runtime *rt = sched->runtime;
    int master = atomic_load(&sched->master);
    const struct orr_cost_row *row = orr_job_row(rt, job);
    unsigned bits = master < 0 ? 0 : orr_job_able(rt, job, row, (unsigned)master);

    if (!bits)
        return -ENODEV;
    job->implementation = orr_recal_pick(
        row->recal, row, rt->workers->at[master].class_id, bits);
    if (sched->said->awake)
        return push_to_all(sched, job);
    orr_worker_push_local(&rt->workers->at[master], job, false);
    return 0;
}

/* All jobs are in the workers' own lists, which are looked at before the policy. */
static struct orr_job *master_pop(struct orr_sched *sched,
                                  struct orr_worker *worker)
{
    (void)sched;
    (void)worker;
    return NULL;
}

const struct orr_sched_ops orr_sched_master = {
    .name = "none",
    .help = "tasks of a context without policy",
    .init = master_init,
    .push = master_push,
    .pop = master_pop,
};

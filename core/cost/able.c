/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/able.c - which workers can run a job: by its cost row and their
 * class, less what the task itself excludes. Any context.
 */
#include "core/cost/cost.h"
#include "core/device/kind.h"
#include "core/runtime.h"
#include "core/task/job.h"

/* What the task allows of an architecture; -1 (and 0, of a task that was not
 * initialised by us) is no restriction. */
static bool where_allows(const struct starpu_task *task,
                         const struct orr_worker_class *class)
{
    return task->where <= 0 ||
           ((uint32_t)task->where & orr_device_where(class->type));
}

static bool names_workers(const struct starpu_task *task)
{
    return task->execute_on_a_specific_worker || task->workerids_len > 0;
}

static bool worker_allowed(const struct starpu_task *task, unsigned worker)
{
    if (task->execute_on_a_specific_worker && task->workerid != worker)
        return false;
    return task->workerids_len == 0 ||
           (worker / 32 < task->workerids_len &&
            task->workerids[worker / 32] >> worker % 32 & 1);
}

unsigned orr_job_maybe_able(const struct orr_runtime *rt,
                            const struct orr_job *job,
                            const struct orr_cost_row *row, unsigned worker,
                            bool *ask)
{
    unsigned class_id = rt->workers[worker].class_id;

    *ask = row->per_worker;
    if (!row->able[class_id] ||
        !where_allows(job->task, &rt->classes[class_id]) ||
        !worker_allowed(job->task, worker))
        return 0;
    return row->able[class_id];
}

unsigned orr_job_able(struct orr_runtime *rt, struct orr_job *job,
                      const struct orr_cost_row *row, unsigned worker)
{
    struct orr_context *self = orr_self;
    bool ask;
    unsigned bits = orr_job_maybe_able(rt, job, row, worker, &ask);

    if (!bits || !ask)
        return bits;
    self->frozen++;
    for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
        if (bits >> i & 1 && !row->cl->can_execute(worker, job->task, i))
            bits &= ~(1U << i);
    self->frozen--;
    return bits;
}

unsigned orr_job_able_class(struct orr_runtime *rt, struct orr_job *job,
                            const struct orr_cost_row *row, unsigned class_id,
                            bool *uniform)
{
    *uniform = true;
    if (!row->able[class_id] ||
        !where_allows(job->task, &rt->classes[class_id]))
        return 0;
    *uniform = !row->per_worker && !names_workers(job->task);
    return *uniform ? row->able[class_id] : 0;
}

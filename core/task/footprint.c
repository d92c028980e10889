/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/footprint.c - the hash under which a task's times are kept
 * (FORMATS 1.5) and the size that goes with it. Computed once per job.
 */
#include "core/base/crc.h"
#include "core/data/handle.h"
#include "core/runtime.h"
#include "core/task/job.h"

static uint32_t of_data(const struct orr_job *job)
{
    uint32_t footprint = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct starpu_task *task = job->task;

        if (STARPU_TASK_GET_MODE(task, i) & STARPU_NOFOOTPRINT)
            continue;
        footprint = starpu_hash_crc32c_be(job->accesses[i].handle->footprint,
                                          footprint);
    }
    return footprint;
}

static uint32_t of_size(size_t size)
{
    return starpu_hash_crc32c_be_n(&size, sizeof(size), 0);
}

static uint32_t compute(const struct orr_job *job)
{
    struct starpu_task *task = job->task;
    struct starpu_perfmodel *model = task->cl ? task->cl->model : NULL;

    if (model && model->footprint)
        return model->footprint(task);
    if (model && model->size_base)
        return of_size(model->size_base(task, job->implementation));
    return of_data(job);
}

uint32_t orr_job_footprint(struct orr_runtime *rt, struct orr_job *job)
{
    (void)rt;
    if (!job->has_footprint) {
        job->footprint = compute(job);
        job->has_footprint = 1;
    }
    return job->footprint;
}

size_t orr_job_size(const struct orr_job *job)
{
    struct starpu_task *task = job->task;
    struct starpu_perfmodel *model = task->cl ? task->cl->model : NULL;
    size_t size = 0;

    if (model && model->size_base)
        return model->size_base(task, job->implementation);
    for (unsigned i = 0; i < job->naccesses; i++)
        if (!(STARPU_TASK_GET_MODE(task, i) & STARPU_NOFOOTPRINT))
            size += job->accesses[i].handle->size;
    return size;
}

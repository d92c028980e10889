/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/footprint.c - the hash under which a job's times are kept. */
#include "core/cost/ask.h"
#include "core/job/job.h"

uint32_t orr_job_footprint(struct orr_runtime *rt, struct orr_job *job)
{
    struct starpu_task *task = job->task;
    const struct starpu_perfmodel *model;

    if (job->has_footprint)
        return job->footprint;
    model = task->cl ? task->cl->model : NULL;
    /* Functions for some devices are part of the state. */
    if (!model || (!model->footprint && !model->size_base && !model->state))
        job->footprint = orr_data_footprint(task);
    else
        job->footprint =
            orr_model_footprint(rt, model, task, NULL, job->implementation);
    job->has_footprint = 1;
    return job->footprint;
}

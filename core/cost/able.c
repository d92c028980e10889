/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/able.c - which workers can run a job: by its cost row and their
 * class, less what the task itself excludes. Any context.
 */
#include "core/cost/cost.h"
#include "core/runtime.h"
#include "core/task/job.h"

#define FUNCTION_BITS(array, single, multiple)                                 \
    function_bits((const void *const *)(const void *)(array),                  \
                  (single) != NULL && (single) != (multiple))

static inline unsigned function_bits(const void *const *functions, bool single)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
        bits |= (unsigned)(functions[i] != NULL) << i;
    return bits ? bits : single;
}

static inline unsigned functions_of(const struct starpu_codelet *cl,
                                    enum starpu_worker_archtype type)
{
    switch (type) {
    case STARPU_CPU_WORKER:
        return FUNCTION_BITS(cl->cpu_funcs, cl->cpu_func,
                             STARPU_MULTIPLE_CPU_IMPLEMENTATIONS);
    case STARPU_CUDA_WORKER:
        return FUNCTION_BITS(cl->cuda_funcs, cl->cuda_func,
                             STARPU_MULTIPLE_CUDA_IMPLEMENTATIONS);
    case STARPU_OPENCL_WORKER:
        return FUNCTION_BITS(cl->opencl_funcs, cl->opencl_func,
                             STARPU_MULTIPLE_OPENCL_IMPLEMENTATIONS);
    case STARPU_HIP_WORKER:
        return function_bits((const void *const *)(const void *)cl->hip_funcs,
                             false);
    default:
        return 0;
    }
}

unsigned orr_codelet_functions(const struct starpu_codelet *cl,
                               enum starpu_worker_archtype type)
{
    return functions_of(cl, type);
}

uint32_t orr_codelet_all_functions(const struct starpu_codelet *cl)
{
    return functions_of(cl, STARPU_CPU_WORKER) |
           functions_of(cl, STARPU_CUDA_WORKER) << 4 |
           functions_of(cl, STARPU_OPENCL_WORKER) << 8 |
           functions_of(cl, STARPU_HIP_WORKER) << 12;
}

/* What the task allows of an architecture; -1 (and 0, of a task that was not
 * initialised by us) is no restriction. */
static bool where_allows(const struct starpu_task *task,
                         const struct orr_worker_class *class)
{
    return task->where <= 0 ||
           ((uint64_t)task->where & STARPU_WORKER_TO_MASK(class->type));
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/wide.c - what tasks take on several processors at once. Such a set is
 * an architecture of its own, of one device with so many cores: the worker class
 * of one of them, but for that. Nothing is kept: any context.
 */
#include <math.h>

#include "core/cost/ask.h"
#include "core/cost/cost_private.h"
#include "core/cost/estimates.h"
#include "core/cost/speed.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/worker/workers.h"
#include "perfmodel/arch.h"
#include "perfmodel/model.h"

static struct orr_device wide_device(const struct orr_runtime *rt,
                                     unsigned class_id, unsigned ncores)
{
    const struct orr_worker_class *class = &rt->workers->classes[class_id];

    return (struct orr_device){(int)class->type, class->devid, (int)ncores};
}

int orr_cost_wide_comb(const struct orr_runtime *rt, unsigned class_id,
                       unsigned ncores, unsigned *ret)
{
    struct orr_device device = wide_device(rt, class_id, ncores);

    return orr_combs_get(orr_models_combs(rt->estimates->models), &device, 1,
                         ret);
}

bool orr_cost_widen(const struct orr_runtime *rt, unsigned class_id,
                    unsigned ncores, struct orr_worker_class *ret)
{
    struct orr_device device = wide_device(rt, class_id, ncores);

    *ret = rt->workers->classes[class_id];
    ret->ncores = ncores;
    ret->relative_speedup = orr_devices_speedup(&device, 1);
    return orr_cost_wide_comb(rt, class_id, ncores, &ret->comb) == 0;
}

struct orr_length orr_cost_wide(struct orr_runtime *rt, struct orr_job *job,
                                  unsigned class_id, unsigned ncores,
                                  unsigned impl)
{
    const struct row *row =
        (const struct row *)(const void *)orr_job_costs(rt, job);
    struct orr_length unknown = {NAN, NAN, ORR_ORIGIN_UNKNOWN};
    struct orr_worker_class wide;

    if (!orr_cost_widen(rt, class_id, ncores, &wide))
        return unknown;
    return orr_row_length(rt, row, job->task, &wide, impl);
}

double orr_cost_wide_at_best(struct orr_runtime *rt, struct orr_job *job,
                             unsigned class_id, unsigned ncores, unsigned impl)
{
    const struct row *row =
        (const struct row *)(const void *)orr_job_costs(rt, job);
    const struct orr_entry *entry = NULL;
    struct orr_model_row stats = {.n = 0};
    struct orr_worker_class wide;

    if (!orr_cost_widen(rt, class_id, ncores, &wide))
        return NAN;
    if (row->model)
        entry = orr_model_find(row->model, wide.comb, impl, row->key.footprint);
    if (entry)
        orr_entry_read(entry, &stats);
    if (stats.n == 0)
        return orr_row_length(rt, row, job->task, &wide, impl).us;
    return fmax(stats.mean - stats.dev, 0) /
           orr_class_speed(&wide, row->key.cl, row->key.perfmodel);
}

bool orr_length_is_known(const struct orr_length *length)
{
    return length->us > 0 ||
           (length->us == 0 && length->origin == ORR_ORIGIN_ASSUMED);
}

struct orr_length orr_job_length(struct orr_runtime *rt, struct orr_job *job,
                                 unsigned class_id)
{
    const struct orr_cost_row *row = orr_job_costs(rt, job);
    unsigned impl = job->implementation;

    if (job->ncores > 1) {
        struct orr_length wide =
            orr_cost_wide(rt, job, class_id, job->ncores, impl);

        if (orr_length_is_known(&wide))
            return wide;
    }
    return (struct orr_length){orr_cost_length(row, class_id, impl),
                               orr_cost_error(row, class_id, impl),
                               orr_cost_origin(row, class_id, impl)};
}

void orr_cost_measure_wide(struct orr_runtime *rt,
                           const struct orr_worker *worker, struct orr_job *job,
                           double us)
{
    const struct row *row = (const struct row *)(const void *)job->costs;
    struct orr_worker_class wide;
    struct orr_measure measure;

    if (!row || !row->model || !orr_model_benchmarking(row->model) ||
        !orr_cost_widen(rt, worker->class_id, job->ncores, &wide))
        return;
    measure = (struct orr_measure){
        .comb = wide.comb,
        .impl = job->implementation,
        .footprint = row->key.footprint,
        .size = orr_model_size(rt, row->key.perfmodel, job->task, &wide,
                               job->implementation),
        .flops = job->task->flops,
        .duration = us,
        .parameters = row->parameters,
    };
    /* A lost measure does not matter; the next task brings another. */
    (void)orr_model_measure(row->model, &measure);
}

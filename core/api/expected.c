/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/expected.c - what a task is expected to take: time, transfers,
 * energy. Any thread, no lock.
 */
#include <errno.h>
#include <math.h>
#include <orrery.h>

#include "core/api/api.h"
#include "core/api/combined.h"
#include "core/api/model.h"
#include "core/base/crc.h"
#include "core/cost/ask.h"
#include "core/cost/cost.h"
#include "core/cost/estimates.h"
#include "core/cost/power.h"
#include "core/job/job.h"
#include "core/worker/workers.h"
#include "perfmodel/store.h"

/* -- footprints -- */

uint32_t starpu_task_data_footprint(struct starpu_task *task)
{
    ORR_QUESTION();

    uint32_t footprint = 0;

    if (!task->cl)
        return 0;
    for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++)
        if (!(STARPU_TASK_GET_MODE(task, i) & STARPU_NOFOOTPRINT))
            footprint = orr_crc_u32(
                orr_handle_of(STARPU_TASK_GET_HANDLE(task, i))->footprint,
                footprint);
    return footprint;
}

/* Whether the task was submitted, and its codelet has this model. */
static bool is_known(const struct starpu_task *task,
                     const struct starpu_perfmodel *model)
{
    const struct orr_job *job = orr_job_of(task);

    return job && orr_job_is_submitted(job) && ORR_JOB_IS(job, task) &&
           task->cl->model == model;
}

uint32_t starpu_task_footprint(struct starpu_perfmodel *model,
                               struct starpu_task *task,
                               struct starpu_perfmodel_arch *arch,
                               unsigned nimpl)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    struct orr_worker_class room;

    if (is_known(task, model))
        return orr_job_footprint(rt, orr_job_of(task));
    return orr_model_footprint(rt, model, task,
                               arch ? orr_api_class(rt, arch, &room) : NULL,
                               nimpl);
}

/* -- time -- */

const struct orr_worker_class *
orr_api_class(struct orr_runtime *rt, const struct starpu_perfmodel_arch *arch,
              struct orr_worker_class *room)
{
    struct starpu_perfmodel_device one = {.ncores = 0};
    unsigned ncores = 1;
    int comb;

    if (arch->ndevices == 1) {
        one = arch->devices[0];
        ncores = one.ncores > 1 ? (unsigned)one.ncores : 1;
        one.ncores = 1;
    }
    comb = ncores > 1
               ? starpu_perfmodel_arch_comb_get(1, &one)
               : starpu_perfmodel_arch_comb_get(arch->ndevices, arch->devices);
    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        if (comb < 0 || rt->workers->classes[k].comb != (unsigned)comb)
            continue;
        if (ncores == 1)
            return &rt->workers->classes[k];
        return orr_cost_widen(rt, k, ncores, room) ? room : NULL;
    }
    return NULL;
}

/* The class of a worker or of a combined worker; that of a combined one is written to
 * `room`. */
static const struct orr_worker_class *
class_of(const char *call, unsigned workerid, struct orr_worker_class *room)
{
    const struct orr_worker *worker = orr_api_first_worker(call, workerid);
    struct orr_runtime *rt = worker->runtime;
    unsigned ncores = orr_api_ncores(rt, workerid);

    if (worker->id == workerid)
        return &rt->workers->classes[worker->class_id];
    return orr_cost_widen(rt, worker->class_id, ncores, room) ? room : NULL;
}

static double expected_task_length(struct orr_runtime *rt,
                                   struct starpu_task *task,
                                   const struct orr_worker_class *class,
                                   unsigned nimpl)
{
    struct starpu_perfmodel *model = task->cl ? task->cl->model : NULL;
    const struct orr_cost_row *row;

    if (nimpl >= STARPU_MAXIMPLEMENTATIONS || !class)
        return (double)NAN;
    if (!task->cl)
        return 0;
    if (class->ncores == 1 && is_known(task, model)) {
        row = orr_job_costs(rt, orr_job_of(task));
        return orr_cost_length(row, (unsigned)(class - rt->workers->classes),
                               nimpl);
    }
    return model ? orr_model_expect(rt, model, task, class, nimpl) : 0;
}

double starpu_task_expected_length(struct starpu_task *task,
                                   struct starpu_perfmodel_arch *arch,
                                   unsigned nimpl)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    struct orr_worker_class room;

    return expected_task_length(rt, task, orr_api_class(rt, arch, &room),
                                nimpl);
}

double starpu_task_worker_expected_length(struct starpu_task *task,
                                          unsigned workerid,
                                          unsigned sched_ctx_id, unsigned nimpl)
{
    ORR_QUESTION();
    const struct orr_worker *worker = orr_api_first_worker(__func__, workerid);
    struct orr_runtime *rt = worker->runtime;
    struct orr_worker_class room;

    (void)sched_ctx_id;
    if (task->cl && task->cl->model && nimpl < STARPU_MAXIMPLEMENTATIONS &&
        task->cl->model->type == STARPU_PER_WORKER)
        return orr_model_ask_worker(rt, task->cl->model, task, worker->id,
                                    nimpl);
    return expected_task_length(rt, task, class_of(__func__, workerid, &room),
                                nimpl);
}

/* The harmonic mean of each worker's best; workers without are left out. */
static double average(struct starpu_task *task,
                      double (*of)(struct starpu_task *, unsigned, unsigned,
                                   unsigned))
{
    struct orr_runtime *rt = ORR_API_RUNTIME();
    double sum = 0;
    unsigned n = 0, bits;

    for (unsigned w = 0; w < rt->workers->n; w++) {
        double best = INFINITY;

        if (!starpu_worker_can_execute_task_impl(w, task, &bits))
            continue;
        for (; bits; bits &= bits - 1)
            best = fmin(best, of(task, w, 0, (unsigned)__builtin_ctz(bits)));
        if (!(best > 0) || isinf(best))
            continue;
        sum += 1 / best;
        n++;
    }
    return n ? n / sum : (double)NAN;
}

double starpu_task_expected_length_average(struct starpu_task *task,
                                           unsigned sched_ctx_id)
{
    ORR_QUESTION();

    (void)sched_ctx_id;
    return average(task, starpu_task_worker_expected_length);
}

double starpu_task_expected_conversion_time(struct starpu_task *task,
                                            struct starpu_perfmodel_arch *arch,
                                            unsigned nimpl)
{
    (void)task;
    (void)arch;
    (void)nimpl;
    return 0; /* no type of data has several forms */
}

double
starpu_worker_get_relative_speedup(struct starpu_perfmodel_arch *perf_arch)
{
    ORR_QUESTION();
    struct orr_worker_class room;
    const struct orr_worker_class *class =
        orr_api_class(ORR_API_RUNTIME(), perf_arch, &room);

    return class ? class->relative_speedup : (double)NAN;
}

/* -- energy -- */

static double expected_energy(struct orr_runtime *rt, struct starpu_task *task,
                              const struct orr_worker_class *class,
                              unsigned nimpl)
{
    struct starpu_perfmodel *model = task->cl ? task->cl->energy_model : NULL;

    if (!model)
        return class && orr_cost_weighs_energy(rt, task->cl)
                   ? orr_class_joules(
                         class, task->cl,
                         expected_task_length(rt, task, class, nimpl))
                   : 0;
    return class ? orr_model_expect(rt, model, task, class, nimpl) : (double)NAN;
}

double starpu_task_expected_energy(struct starpu_task *task,
                                   struct starpu_perfmodel_arch *arch,
                                   unsigned nimpl)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    struct orr_worker_class room;

    return expected_energy(rt, task, orr_api_class(rt, arch, &room), nimpl);
}

double starpu_task_worker_expected_energy(struct starpu_task *task,
                                          unsigned workerid,
                                          unsigned sched_ctx_id, unsigned nimpl)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    struct orr_worker_class room;

    (void)sched_ctx_id;
    return expected_energy(rt, task, class_of(__func__, workerid, &room),
                           nimpl);
}

double starpu_task_expected_energy_average(struct starpu_task *task,
                                           unsigned sched_ctx_id)
{
    ORR_QUESTION();

    (void)sched_ctx_id;
    return average(task, starpu_task_worker_expected_energy);
}

/* -- transfers -- */

double starpu_data_expected_transfer_time(starpu_data_handle_t handle,
                                          unsigned memory_node,
                                          enum starpu_data_access_mode mode)
{
    ORR_QUESTION();
    const struct orr_handle *h = orr_api_handle(__func__, handle);

    (void)orr_api_node(__func__, memory_node);
    return orr_handle_transfer_time(ORR_API_RUNTIME(), h, memory_node, mode);
}

double starpu_task_expected_data_transfer_time(unsigned memory_node,
                                               struct starpu_task *task)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    double sum = 0;

    (void)orr_api_node(__func__, memory_node);
    for (unsigned i = 0; task->cl && i < STARPU_TASK_GET_NBUFFERS(task); i++) {
        int at = orr_task_place(rt, task, i, memory_node);

        if (at >= 0)
            sum += starpu_data_expected_transfer_time(
                STARPU_TASK_GET_HANDLE(task, i), (unsigned)at,
                STARPU_TASK_GET_MODE(task, i));
    }
    return sum;
}

double starpu_task_expected_data_transfer_time_for(struct starpu_task *task,
                                                   unsigned worker)
{
    ORR_QUESTION();

    return starpu_task_expected_data_transfer_time(
        orr_api_first_worker(__func__, worker)->desc->node, task);
}

double orrery_task_length(struct starpu_task *task, unsigned workerid, unsigned nimpl)
{
    ORR_QUESTION();
    const struct orr_worker *worker = orr_api_first_worker(__func__, workerid);
    struct orr_runtime *rt = worker->runtime;
    const struct orr_cost_row *row;
    double us;

    if (!task->cl || worker->id != workerid || nimpl >= STARPU_MAXIMPLEMENTATIONS)
        return (double)NAN;
    row = is_known(task, task->cl->model) ? orr_job_costs(rt, orr_job_of(task))
                                          : orr_task_costs(rt, task);
    if (!row || !(row->able[worker->class_id] >> nimpl & 1))
        return (double)NAN;
    us = orr_cost_length(row, worker->class_id, nimpl);
    return us > 0 ? us : (double)NAN;
}

int orrery_knows_kernel(const char *name, const char *symbol)
{
    ORR_QUESTION();
    return (int)orr_cost_knows(ORR_API_RUNTIME(), name, symbol);
}

int orrery_takes_times_of(const char *host)
{
    ORR_QUESTION();
    return (int)orr_cost_takes_times_of(ORR_API_RUNTIME(), host);
}

int orrery_teach_kernel(const struct orrery_kernel *kernel)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();
    double n = kernel->n, mean = kernel->mean, dev = kernel->deviation;
    const struct orr_model_row row = {
        .hash = kernel->footprint,
        .n = kernel->n,
        .size = kernel->size,
        .flops = kernel->flops,
        .mean = mean,
        .dev = dev,
        .sum = n * mean,
        .sum2 = n * (mean * mean + dev * dev),
        .origin = kernel->derived ? ORR_ORIGIN_DERIVED : ORR_ORIGIN_MEASURED,
    };

    if (!kernel->n || !(mean >= 0) || !(dev >= 0))
        return -EINVAL;
    if (kernel->worker < 0 || (unsigned)kernel->worker > rt->workers->n)
        return -EINVAL;
    return orr_cost_teach(rt, kernel->symbol, kernel->name, kernel->type,
                          kernel->worker ? &rt->workers->at[kernel->worker - 1]
                                         : NULL,
                          kernel->implementation, &row);
}

int orrery_worker_rates(int worker, struct orrery_rates *ret)
{
    ORR_QUESTION();
    const struct orr_workers *workers = ORR_API_RUNTIME()->workers;
    const struct orr_worker_desc *desc;

    if (worker < 0 || (unsigned)worker >= workers->n)
        return -EINVAL;
    desc = workers->at[worker].desc;
    *ret = (struct orrery_rates){desc->flops32, desc->flops64, desc->bytes};
    return 0;
}

void orrery_set_kernel_times(double (*us)(struct starpu_task *task,
                                          enum starpu_worker_archtype type,
                                          unsigned implementation))
{
    ORR_API_RUNTIME()->estimates->kernel_us = us;
}

void orrery_set_costs_in_times(void)
{
    struct orr_costs *costs = &ORR_API_RUNTIME()->machine->costs;

    costs->submit = costs->submit_per_buffer = 0;
    costs->push = costs->fetch = costs->progress = 0;
}

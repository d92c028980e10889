/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/energy.c - measuring the energy of tasks for energy models, and the
 * energy of a simulated run. Any thread; a measurement counts what the whole
 * device takes, whichever tasks run on it.
 */
#include "core/api/energy.h"

#include <errno.h>

#include "core/api/api.h"
#include "core/api/model.h"
#include "core/api/state.h"
#include "core/cost/ask.h"
#include "core/device/gpu/gpu.h"
#include "core/device/kind.h"
#include "core/loop/energy.h"
#include "core/worker/workers.h"

static const struct orr_energy_ops *counters(enum starpu_worker_archtype type)
{
    const struct orr_device_kind *kind = orr_device_kind(type);

    return kind ? kind->energy : NULL;
}

/* The worker `workerid`; -1: the first of the type. NULL after a message. */
static const struct orr_worker *find_worker(const char *call, int workerid,
                                            enum starpu_worker_archtype type)
{
    struct orr_runtime *rt = orr_runtime_need(call);

    for (unsigned w = 0; workerid == -1 && w < rt->workers->n; w++)
        if (rt->workers->at[w].desc->type == type)
            return &rt->workers->at[w];
    if (workerid >= 0 && workerid < (int)rt->workers->n &&
        rt->workers->at[workerid].desc->type == type)
        return &rt->workers->at[workerid];
    orr_log_error("%s: worker %d is no %s worker of this machine; give one of "
                  "starpu_worker_get_ids_by_type, or -1 for all CPUs",
                  call, workerid, starpu_worker_get_type_as_string(type));
    return NULL;
}

/* All processors share the counters of the packages. */
static int energy_device(const struct orr_worker *worker)
{
    return orr_device_kind(worker->desc->type)->is_processor
               ? 0
               : worker->desc->devid;
}

static struct orr_api_energy **
energy_find_locked(struct orr_api_state *state, const struct orr_worker *worker)
    ORR_REQUIRES(state->lock)
{
    struct orr_api_energy **at = &state->energies;

    while (*at && ((*at)->type != worker->desc->type ||
                   (*at)->devid != energy_device(worker)))
        at = &(*at)->next;
    return at;
}

static void energy_free(struct orr_api_energy *energy)
{
    energy->meter->ops->close(energy->meter);
    free(energy);
}

void orr_api_energy_free(struct orr_api_energy *first)
{
    for (struct orr_api_energy *energy = first, *next; energy; energy = next) {
        next = energy->next;
        energy_free(energy);
    }
}

/* Adds it unless this device is being measured already. */
static int energy_add_measurement(struct orr_api_state *state,
                                  const struct orr_worker *worker,
                                  struct orr_api_energy *energy)
{
    struct orr_api_energy **at;
    int rc = 0;

    orr_lock(&state->lock);
    at = energy_find_locked(state, worker);
    if (*at)
        rc = -EBUSY;
    else
        *at = energy;
    orr_unlock(&state->lock);
    return rc;
}

/* Where a CUDA device is; NULL: it is none, or that is not known. */
static const char *bus_of(const struct orr_worker *worker)
{
    const struct gpu *driver =
        orr_gpu_of(worker->runtime->machine, &orr_gpu_cuda);
    int devid = worker->desc->devid;

    return driver && worker->desc->type == orr_gpu_cuda.type && devid >= 0 &&
                   (unsigned)devid < driver->ndevices &&
                   driver->devices[devid].bus[0]
               ? driver->devices[devid].bus
               : NULL;
}

static int open_energy(const struct orr_energy_options *options,
                       const struct orr_worker *worker,
                       struct orr_api_energy **ret, struct orr_error *err)
{
    const struct orr_energy_ops *ops = counters(worker->desc->type);
    struct orr_energy_options placed = {.bus = bus_of(worker)};
    struct orr_api_energy *energy;
    int rc;

    if (!ops)
        return orr_fail(err, -ENODEV,
                        "the energy of %s workers cannot be measured, only "
                        "that of CPU and CUDA ones",
                        starpu_worker_get_type_as_string(worker->desc->type));
    energy = calloc(1, sizeof(*energy));
    if (!energy)
        return orr_fail(err, -ENOMEM, "no memory to measure energy");
    energy->type = worker->desc->type;
    energy->devid = energy_device(worker);
    if (options) {
        placed.powercap = options->powercap;
        placed.nvml = options->nvml;
    }
    rc = ops->open(&placed, energy->devid, &energy->meter, err);
    if (rc) {
        free(energy);
        return rc;
    }
    *ret = energy;
    return 0;
}

int orr_api_energy_start(const struct orr_energy_options *options, int workerid,
                         enum starpu_worker_archtype type)
{
    static const char call[] = "starpu_energy_start";
    const struct orr_worker *worker = find_worker(call, workerid, type);
    struct orr_api_energy *energy = NULL;
    struct orr_error err = {""};
    int rc;

    if (!worker)
        return -EINVAL;
    if (worker->runtime->machine->models_energy) {
        orr_log_error("%s: a simulated machine has no counters; measure on the "
                      "real one, with ORRERY_MACHINE unset",
                      call);
        return -ENODEV;
    }
    rc = open_energy(options, worker, &energy, &err);
    if (rc) {
        orr_log_error("%s: %s", call, err.text);
        return rc;
    }
    rc = energy_add_measurement(orr_api_state(call), worker, energy);
    if (rc) {
        orr_log_error("%s: the energy of %s is being measured already; call "
                      "starpu_energy_stop first",
                      call, worker->desc->name);
        energy_free(energy);
    }
    return rc;
}

int starpu_energy_start(int workerid, enum starpu_worker_archtype archi)
{
    return orr_api_energy_start(NULL, workerid, archi);
}

/* Ends the measurement of the worker's device: joules since its start. */
static int energy_stop_measurement(const char *call,
                                   const struct orr_worker *worker,
                                   double *ret_joules)
{
    struct orr_api_state *state = orr_api_state(call);
    struct orr_api_energy *energy, **at;
    struct orr_error err = {""};
    int rc;

    orr_lock(&state->lock);
    at = energy_find_locked(state, worker);
    energy = *at;
    if (energy)
        *at = energy->next;
    orr_unlock(&state->lock);
    if (!energy) {
        orr_log_error("%s: the energy of %s is not being measured; call "
                      "starpu_energy_start before the tasks",
                      call, worker->desc->name);
        return -EINVAL;
    }
    rc = energy->meter->ops->read(energy->meter, ret_joules, &err);
    if (rc)
        orr_log_error("%s: %s", call, err.text);
    energy_free(energy);
    return rc;
}

/* The model that takes the measure; NULL after a message. */
static struct orr_model *find_model(const char *call, struct orr_runtime *rt,
                                    const struct starpu_perfmodel *model,
                                    const struct starpu_task *task,
                                    unsigned ntasks)
{
    struct orr_model *found = orr_cost_model(rt, model);

    if (!found)
        orr_log_error("%s: the energy model must have a symbol, and be of a "
                      "type that lives in files, such as "
                      "STARPU_HISTORY_BASED",
                      call);
    else if (!task || !task->cl || ntasks == 0)
        orr_log_error("%s: a task with a codelet is needed, and the number of "
                      "tasks that were measured, at least 1",
                      call);
    else
        return found;
    return NULL;
}

int starpu_energy_stop(struct starpu_perfmodel *model, struct starpu_task *task,
                       unsigned nimpl, unsigned ntasks, int workerid,
                       enum starpu_worker_archtype archi)
{
    const struct orr_worker *worker = find_worker(__func__, workerid, archi);
    struct orr_model *found;
    double joules;
    int rc;

    if (!worker)
        return -EINVAL;
    rc = energy_stop_measurement(__func__, worker, &joules);
    if (rc)
        return rc;
    found = find_model(__func__, worker->runtime, model, task, ntasks);
    if (!found)
        return -EINVAL;
    if (!orr_model_benchmarking(found))
        orr_log_warning("%s: %g J of model `%s' were measured but not kept, "
                        "since nothing is being calibrated; set "
                        "STARPU_CALIBRATE=1",
                        __func__, joules, model->symbol);
    starpu_perfmodel_update_history_n(
        model, task, starpu_worker_get_perf_archtype((int)worker->id, 0),
        worker->id, nimpl, joules / ntasks, ntasks);
    return 0;
}

/* -- the energy of a run -- */

void starpu_energy_use(float joules)
{
    orr_energy_use(ORR_API_RUNTIME(), (double)joules);
}

double starpu_energy_used(void)
{
    ORR_QUESTION();
    return orr_energy_used(ORR_API_RUNTIME());
}

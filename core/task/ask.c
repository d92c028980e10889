/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/task/ask.c - see ask.h. No state. */
#include "core/task/ask.h"

#include <math.h>

#include "core/runtime.h"
#include "perfmodel/arch.h"

bool orr_model_asks(const struct starpu_perfmodel *model)
{
    return model->type == STARPU_PER_WORKER || model->type == STARPU_PER_ARCH ||
           model->type == STARPU_COMMON;
}

static bool is_for(const struct orr_per_devices *entry,
                   const struct orr_runtime *rt, const struct orr_kind *kind)
{
    const struct starpu_perfmodel_device *device = entry->devices;
    struct orr_device theirs, ours = {(int)kind->type, kind->devid, 1};

    if (entry->ndevices != 1)
        return false;
    theirs =
        (struct orr_device){(int)device->type, device->devid, device->ncores};
    return orr_devices_equal(&theirs, 1, &ours, 1, rt->homogeneous);
}

static double ask_per_arch(const struct orr_runtime *rt,
                           const struct starpu_perfmodel *model,
                           struct starpu_task *task,
                           const struct orr_kind *kind, unsigned impl)
{
    struct starpu_perfmodel_device device = {kind->type, kind->devid, 1};
    struct starpu_perfmodel_arch arch = {1, &device};
    const struct orr_per_devices *entry =
        model->state ? model->state->per_devices : NULL;

    if (model->arch_cost_function)
        return model->arch_cost_function(task, &arch, impl);
    for (; entry; entry = entry->next)
        if (entry->impl == impl && entry->pub.cost_function &&
            is_for(entry, rt, kind))
            return entry->pub.cost_function(task, &arch, impl);
    return (double)NAN;
}

double orr_model_ask(const struct orr_runtime *rt,
                     const struct starpu_perfmodel *model,
                     struct starpu_task *task, const struct orr_kind *kind,
                     unsigned impl)
{
    if (model->type == STARPU_PER_WORKER && model->worker_cost_function)
        return model->worker_cost_function(task, kind->members[0], impl);
    if (model->type == STARPU_PER_ARCH)
        return ask_per_arch(rt, model, task, kind, impl);
    if (model->type == STARPU_COMMON && model->cost_function)
        return model->cost_function(task, impl) / kind->relative_speedup;
    return (double)NAN;
}

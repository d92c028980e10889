/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/ask.c - see ask.h. No state. */
#include "core/cost/ask.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/crc.h"
#include "core/cost/estimates.h"
#include "core/data/handle.h"
#include "core/data/nodes.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"
#include "perfmodel/arch.h"

bool orr_model_asks(const struct starpu_perfmodel *model)
{
    return model->type == STARPU_PER_WORKER || model->type == STARPU_PER_ARCH ||
           model->type == STARPU_COMMON;
}

static bool entry_is_for_class(const struct orr_per_devices *entry,
                               const struct orr_runtime *rt,
                               const struct orr_worker_class *class)
{
    const struct starpu_perfmodel_device *device = entry->devices;
    struct orr_device theirs, ours = {(int)class->type, class->devid,
                                      (int)class->ncores};

    if (entry->ndevices != 1)
        return false;
    theirs =
        (struct orr_device){(int)device->type, device->devid, device->ncores};
    return orr_devices_equal(&theirs, 1, &ours, 1, rt->estimates->homogeneous);
}

static double ask_per_arch(const struct orr_runtime *rt,
                           const struct starpu_perfmodel *model,
                           struct starpu_task *task,
                           const struct orr_worker_class *class, unsigned impl)
{
    struct starpu_perfmodel_device device = {class->type, class->devid,
                                             (int)class->ncores};
    struct starpu_perfmodel_arch arch = {1, &device};
    const struct orr_per_devices *entry =
        model->state ? model->state->per_devices : NULL;

    if (model->arch_cost_function)
        return model->arch_cost_function(task, &arch, impl);
    for (; entry; entry = entry->next)
        if (entry->impl == impl && entry->pub.cost_function &&
            entry_is_for_class(entry, rt, class))
            return entry->pub.cost_function(task, &arch, impl);
    return (double)NAN;
}

double orr_model_ask(const struct orr_runtime *rt,
                     const struct starpu_perfmodel *model,
                     struct starpu_task *task,
                     const struct orr_worker_class *class, unsigned impl)
{
    if (model->type == STARPU_PER_WORKER && model->worker_cost_function)
        return model->worker_cost_function(task, class->members[0], impl);
    if (model->type == STARPU_PER_ARCH)
        return ask_per_arch(rt, model, task, class, impl);
    if (model->type == STARPU_COMMON && model->cost_function)
        return model->cost_function(task, impl) / class->relative_speedup;
    return (double)NAN;
}

double orr_model_ask_worker(const struct orr_runtime *rt,
                            const struct starpu_perfmodel *model,
                            struct starpu_task *task, unsigned worker,
                            unsigned impl)
{
    const struct orr_worker_class *class =
        &rt->workers->classes[rt->workers->at[worker].class_id];
    double us;

    if (model->type == STARPU_PER_WORKER && model->worker_cost_function)
        us = model->worker_cost_function(task, worker, impl);
    else
        us = orr_model_ask(rt, model, task, class, impl);
    return us / class->speed;
}

/* --- sizes and footprints --- */

starpu_perfmodel_per_arch_size_base
orr_model_size_base(const struct orr_runtime *rt,
                    const struct starpu_perfmodel *model,
                    const struct orr_worker_class *class, unsigned impl)
{
    const struct orr_per_devices *entry =
        model->state ? model->state->per_devices : NULL;

    for (; entry; entry = entry->next)
        if (entry->impl == impl && entry->pub.size_base &&
            entry_is_for_class(entry, rt,
                               class ? class : &rt->workers->classes[0]))
            return entry->pub.size_base;
    return NULL;
}

/* The value of size_base, if there is one. */
static bool based_size(const struct orr_runtime *rt,
                       const struct starpu_perfmodel *model,
                       struct starpu_task *task,
                       const struct orr_worker_class *class, unsigned impl,
                       size_t *ret)
{
    starpu_perfmodel_per_arch_size_base of_devices;
    struct starpu_perfmodel_device device;
    struct starpu_perfmodel_arch arch = {1, &device};

    if (!model)
        return false;
    of_devices = orr_model_size_base(rt, model, class, impl);
    if (!of_devices && !model->size_base)
        return false;
    if (!class)
        class = &rt->workers->classes[0];
    device = (struct starpu_perfmodel_device){class->type, class->devid,
                                              (int)class->ncores};
    orr_self->frozen++;
    *ret = of_devices ? of_devices(task, &arch, impl)
                      : model->size_base(task, impl);
    orr_self->frozen--;
    return true;
}

size_t orr_model_size(const struct orr_runtime *rt,
                      const struct starpu_perfmodel *model,
                      struct starpu_task *task,
                      const struct orr_worker_class *class, unsigned impl)
{
    size_t size = 0;

    if (based_size(rt, model, task, class, impl, &size) || !task->cl)
        return size;
    for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++)
        if (!(STARPU_TASK_GET_MODE(task, i) & STARPU_NOFOOTPRINT))
            size += orr_handle_of(STARPU_TASK_GET_HANDLE(task, i))->size;
    return size;
}

uint32_t orr_model_footprint(const struct orr_runtime *rt,
                             const struct starpu_perfmodel *model,
                             struct starpu_task *task,
                             const struct orr_worker_class *class,
                             unsigned impl)
{
    uint32_t footprint;
    size_t size;

    if (model && model->footprint) {
        orr_self->frozen++;
        footprint = model->footprint(task);
        orr_self->frozen--;
        return footprint;
    }
    if (based_size(rt, model, task, class, impl, &size))
        return orr_crc_size(size, 0);
    return orr_data_footprint(task);
}

/* --- types of models and terms --- */

enum orr_model_kind orr_model_kind_of(enum starpu_perfmodel_type type)
{
    switch (type) {
    case STARPU_REGRESSION_BASED:
        return ORR_MODEL_REGRESSION;
    case STARPU_NL_REGRESSION_BASED:
        return ORR_MODEL_NL_REGRESSION;
    case STARPU_MULTIPLE_REGRESSION_BASED:
        return ORR_MODEL_MULTIPLE_REGRESSION;
    default:
        return ORR_MODEL_HISTORY;
    }
}

int orr_model_declare(struct orr_model *model,
                      const struct starpu_perfmodel *perfmodel)
{
    unsigned n = perfmodel->nparameters;
    unsigned nterms = perfmodel->combinations ? perfmodel->ncombinations : 0;
    struct orr_terms terms = {n, nterms, NULL};
    unsigned *exponents;
    int rc;

    if (perfmodel->type != STARPU_MULTIPLE_REGRESSION_BASED || n == 0)
        return 0;
    /* Without combinations there is no answer, but measures to find some by. */
    exponents = malloc(((size_t)n * nterms + 1) * sizeof(*exponents));
    if (!exponents)
        return -ENOMEM;
    for (unsigned i = 0; i < nterms; i++)
        memcpy(&exponents[(size_t)i * n], perfmodel->combinations[i],
               n * sizeof(*exponents));
    terms.exponents = exponents;
    rc = orr_model_set_terms(model, &terms, perfmodel->parameters_names);
    free(exponents);
    return rc;
}

double *orr_model_parameters(const struct starpu_perfmodel *perfmodel,
                             struct starpu_task *task)
{
    double *parameters;

    if (perfmodel->type != STARPU_MULTIPLE_REGRESSION_BASED ||
        !perfmodel->parameters || perfmodel->nparameters == 0)
        return NULL;
    parameters = calloc(perfmodel->nparameters, sizeof(*parameters));
    if (!parameters)
        return NULL;
    orr_self->frozen++;
    perfmodel->parameters(task, parameters);
    orr_self->frozen--;
    return parameters;
}

/* --- whose memory holds a task's data all at once --- */

static size_t capacity_of(const struct orr_runtime *rt, unsigned class_id)
{
    unsigned node = rt->workers->classes[class_id].node;

    /* Main memory is left to the application. */
    if (node < rt->nodes->nram || node == 0 || node >= rt->nodes->n ||
        rt->machine->nodes[node].capacity == 0)
        return SIZE_MAX;
    return rt->machine->nodes[node].capacity;
}

/* Whether the buffer may have to be on the worker's node: it may if the codelet
 * leaves that to where the value is. */
static bool may_be_with_worker(const struct starpu_task *task, unsigned buffer)
{
    return !orr_task_is_placed(task, buffer) ||
           orr_task_node_code(task, buffer) ==
               STARPU_SPECIFIC_NODE_LOCAL_OR_CPU;
}

/* At least the bytes below, with little work. */
static size_t all_data_bytes(const struct starpu_task *task)
{
    const starpu_data_handle_t *handles =
        task->dyn_handles ? task->dyn_handles : task->handles;
    unsigned n = (unsigned)STARPU_TASK_GET_NBUFFERS(task);
    size_t size = 0;

    for (unsigned i = 0; i < n; i++)
        size += handles[i] ? orr_handle_of(handles[i])->size : 0;
    return size;
}

/* The bytes of the task's data on its worker's node, at most, no handle twice. */
static size_t task_data_bytes(struct starpu_task *task)
{
    size_t size = 0;

    for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++) {
        starpu_data_handle_t handle = STARPU_TASK_GET_HANDLE(task, i);
        bool seen = false;

        for (unsigned j = 0; j < i && !seen; j++)
            seen = STARPU_TASK_GET_HANDLE(task, j) == handle &&
                   may_be_with_worker(task, j);
        if (handle && !seen && may_be_with_worker(task, i))
            size += orr_handle_of(handle)->size;
    }
    return size;
}

size_t orr_memory_least(const struct orr_runtime *rt)
{
    size_t least = SIZE_MAX;

    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (capacity_of(rt, k) < least)
            least = capacity_of(rt, k);
    return least;
}

uint64_t orr_task_misfits(const struct orr_runtime *rt,
                          struct starpu_task *task, size_t least)
{
    uint64_t misfits = 0;
    size_t size;

    if (all_data_bytes(task) <= least)
        return 0;
    size = task_data_bytes(task);
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (size > capacity_of(rt, k))
            misfits |= UINT64_C(1) << k;
    return misfits;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/perfmodel.c - models of the application: their life cycle, estimates
 * of the running program, functions per device. Any thread, but a model is set
 * up by one.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/api.h"
#include "core/api/model.h"
#include "core/cost/ask.h"
#include "core/cost/estimates.h"
#include "core/worker/workers.h"

static double next_to_nothing(struct starpu_task *task,
                              struct starpu_perfmodel_arch *arch,
                              unsigned nimpl)
{
    (void)task;
    (void)arch;
    (void)nimpl;
    return 1e-6;
}

struct starpu_perfmodel starpu_perfmodel_nop = {
    .type = STARPU_PER_ARCH,
    .arch_cost_function = next_to_nothing,
};

/* -- life cycle -- */

struct _starpu_perfmodel_state *
orr_api_model_state(struct starpu_perfmodel *model)
{
    if (!model->state)
        model->state = calloc(1, sizeof(*model->state));
    model->is_init = model->state != NULL;
    return model->state;
}

void starpu_perfmodel_initialize(void)
{
    /* Tools call it before they load models; nothing is needed. */
}

void starpu_perfmodel_init(struct starpu_perfmodel *model)
{
    if (orr_api_model_state(model))
        return;
    orr_log_error("%s: out of memory", __func__);
    abort();
}

int starpu_perfmodel_deinit(struct starpu_perfmodel *model)
{
    struct _starpu_perfmodel_state *state = model->state;
    struct orr_per_devices *entry = state ? state->per_devices : NULL, *next;

    for (; entry; entry = next) {
        next = entry->next;
        free(entry->pub.list);
        free(entry);
    }
    if (state) {
        orr_model_file_free(state->file);
        free(state->path);
    }
    free(state);
    model->state = NULL;
    model->is_init = model->is_loaded = 0;
    return 0;
}

int starpu_perfmodel_unload_model(struct starpu_perfmodel *model)
{
    return starpu_perfmodel_deinit(model);
}

void starpu_perfmodel_free_sampling(void)
{
    /* The estimates belong to the runtime and end with it. */
}

/* -- the runtime's models -- */

void starpu_save_history_based_model(struct starpu_perfmodel *model)
{
    struct orr_model *found = orr_cost_model(ORR_API_RUNTIME(), model);
    struct orr_error err = {""};

    if (found && orr_model_save(found, &err) < 0)
        orr_log_error("%s: %s", __func__, err.text);
}

double
starpu_perfmodel_history_based_expected_perf(struct starpu_perfmodel *model,
                                             struct starpu_perfmodel_arch *arch,
                                             uint32_t footprint)
{
    ORR_QUESTION();
    struct orr_model *found = orr_cost_model(ORR_API_RUNTIME(), model);
    int comb = starpu_perfmodel_arch_comb_get(arch->ndevices, arch->devices);

    if (!found || comb < 0)
        return (double)NAN;
    return orr_model_expected(found, (unsigned)comb, 0, footprint);
}

void starpu_perfmodel_update_history_n(struct starpu_perfmodel *model,
                                       struct starpu_task *task,
                                       struct starpu_perfmodel_arch *arch,
                                       unsigned cpuid, unsigned nimpl,
                                       double average_measured, unsigned number)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();
    struct orr_model *found = orr_cost_model(rt, model);
    int comb = starpu_perfmodel_arch_comb_add(arch->ndevices, arch->devices);
    struct orr_worker_class room;
    struct orr_measure measure;
    double *parameters;

    (void)cpuid;
    if (!found || comb < 0)
        return;
    parameters = orr_model_parameters(model, task);
    measure = (struct orr_measure){
        .comb = (unsigned)comb,
        .impl = nimpl,
        .footprint = starpu_task_footprint(model, task, arch, nimpl),
        .size = orr_model_size(rt, model, task, orr_api_class(rt, arch, &room),
                               nimpl),
        .flops = task->flops,
        .duration = average_measured,
        .weight = number,
        .given = true,
        .parameters = parameters,
    };
    if (orr_model_measure(found, &measure) < 0)
        orr_log_warning("%s: the measure %g of model `%s' was not taken",
                        __func__, average_measured, model->symbol);
    free(parameters);
}

void starpu_perfmodel_update_history(struct starpu_perfmodel *model,
                                     struct starpu_task *task,
                                     struct starpu_perfmodel_arch *arch,
                                     unsigned cpuid, unsigned nimpl,
                                     double measured)
{
    starpu_perfmodel_update_history_n(model, task, arch, cpuid, nimpl, measured,
                                      1);
}

/* -- functions per device -- */

static bool same_devices(const struct orr_per_devices *entry,
                         const struct starpu_perfmodel_arch *arch)
{
    return entry->ndevices == arch->ndevices &&
           memcmp(entry->devices, arch->devices,
                  (size_t)arch->ndevices * sizeof(*arch->devices)) == 0;
}

/* -- what a loaded file says of one architecture -- */

/* An element of the list, with its entry. */
struct listed {
    struct starpu_perfmodel_history_list link; /* first */
    struct starpu_perfmodel_history_entry entry;
};

static void list_rows(struct starpu_perfmodel_per_arch *pub,
                      const struct orr_model_impl *impl)
{
    struct listed *list = calloc(impl->nrows + 1, sizeof(*list));

    for (unsigned i = 0; list && i < impl->nrows; i++) {
        const struct orr_model_row *row = &impl->rows[i];

        list[i].link.entry = &list[i].entry;
        list[i].link.next = i + 1 < impl->nrows ? &list[i + 1].link : NULL;
        list[i].entry = (struct starpu_perfmodel_history_entry){
            .mean = row->mean,
            .deviation = row->dev,
            .sum = row->sum,
            .sum2 = row->sum2,
            .nsample = row->n,
            .footprint = row->hash,
            .size = row->size,
            .flops = row->flops,
        };
    }
    if (impl->nrows > 0)
        pub->list = &list->link;
    else
        free(list);
}

static void take_fit(struct starpu_perfmodel_regression_model *regression,
                     const struct orr_model_fit *fit)
{
    *regression = (struct starpu_perfmodel_regression_model){
        .sumlny = fit->sumlny,
        .sumlnx = fit->sumlnx,
        .sumlnx2 = fit->sumlnx2,
        .sumlnxlny = fit->sumlnxlny,
        .minx = fit->minx,
        .maxx = fit->maxx,
        .nsample = fit->n,
        .alpha = fit->alpha,
        .beta = fit->beta,
        .valid = !isnan(fit->alpha) && !isnan(fit->beta),
        .a = fit->a,
        .b = fit->b,
        .c = fit->c,
        .nl_valid = !isnan(fit->a) && !isnan(fit->b) && !isnan(fit->c),
        .coeff = fit->coeff,
        .ncoeff = fit->ncoeff,
        .multi_valid = fit->ncoeff > 0,
    };
}

/* Of a model that is used in a run instead nothing is said here. */
static void read_loaded(const struct _starpu_perfmodel_state *state,
                        struct orr_per_devices *entry)
{
    const struct orr_model_file *file = state->file;
    const struct orr_runtime *rt = orr_runtime_current(__func__);
    unsigned homogeneous = rt ? rt->estimates->homogeneous : 0;
    struct orr_device devices[ORR_API_MAXDEVICES];
    unsigned n = orr_api_devices(entry->devices, entry->ndevices, devices,
                                 ORR_API_MAXDEVICES);

    free(entry->pub.list);
    entry->pub.list = NULL;
    for (unsigned i = 0; file && i < file->ncombs; i++) {
        const struct orr_model_comb *comb = &file->combs[i];

        if (entry->impl >= comb->nimpls ||
            !orr_devices_equal(comb->devices, comb->ndevices, devices, n,
                               homogeneous))
            continue;
        take_fit(&entry->pub.regression, &comb->impls[entry->impl].fit);
        list_rows(&entry->pub, &comb->impls[entry->impl]);
        return;
    }
}

void orr_api_model_read(struct _starpu_perfmodel_state *state)
{
    for (struct orr_per_devices *entry = state->per_devices; entry;
         entry = entry->next)
        read_loaded(state, entry);
}

struct starpu_perfmodel_per_arch *
starpu_perfmodel_get_model_per_arch(struct starpu_perfmodel *model,
                                    struct starpu_perfmodel_arch *arch,
                                    unsigned impl)
{
    struct _starpu_perfmodel_state *state = orr_api_model_state(model);
    size_t bytes = (size_t)arch->ndevices * sizeof(*arch->devices);
    struct orr_per_devices *entry = state ? state->per_devices : NULL;

    for (; entry; entry = entry->next)
        if (entry->impl == impl && same_devices(entry, arch))
            return &entry->pub; /* as it was read, so that the list stays */
    entry = state ? calloc(1, sizeof(*entry) + bytes) : NULL;
    if (!entry) {
        orr_log_error("%s: out of memory", __func__);
        abort();
    }
    entry->impl = impl;
    entry->ndevices = arch->ndevices;
    memcpy(entry->devices, arch->devices, bytes);
    entry->next = state->per_devices;
    state->per_devices = entry;
    read_loaded(state, entry);
    return &entry->pub;
}

/* Reads (type, device, cores)… until -1, and finds the entry. */
static struct starpu_perfmodel_per_arch *
per_devices(const char *call, struct starpu_perfmodel *model, int impl,
            va_list args)
{
    struct starpu_perfmodel_device devices[ORR_API_MAXDEVICES];
    struct starpu_perfmodel_arch arch = {0, devices};

    memset(devices, 0, sizeof(devices)); /* they are compared as bytes */
    for (int type = va_arg(args, int); type != -1; type = va_arg(args, int)) {
        struct starpu_perfmodel_device *device = &devices[arch.ndevices];

        if (arch.ndevices == ORR_API_MAXDEVICES) {
            orr_log_error("%s: more than %d devices; is the -1 at the end "
                          "missing?",
                          call, ORR_API_MAXDEVICES);
            abort();
        }
        device->type = (enum starpu_worker_archtype)type;
        device->devid = va_arg(args, int);
        device->ncores = va_arg(args, int);
        arch.ndevices++;
    }
    return starpu_perfmodel_get_model_per_arch(model, &arch, (unsigned)impl);
}

struct starpu_perfmodel_per_arch *
starpu_perfmodel_get_model_per_devices(struct starpu_perfmodel *model, int impl,
                                       ...)
{
    struct starpu_perfmodel_per_arch *found;
    va_list args;

    va_start(args, impl);
    found = per_devices(__func__, model, impl, args);
    va_end(args);
    return found;
}

int starpu_perfmodel_set_per_devices_cost_function(
    struct starpu_perfmodel *model, int impl,
    starpu_perfmodel_per_arch_cost_function func, ...)
{
    va_list args;

    va_start(args, func);
    per_devices(__func__, model, impl, args)->cost_function = func;
    va_end(args);
    return 0;
}

int starpu_perfmodel_set_per_devices_size_base(
    struct starpu_perfmodel *model, int impl,
    starpu_perfmodel_per_arch_size_base func, ...)
{
    va_list args;

    va_start(args, func);
    per_devices(__func__, model, impl, args)->size_base = func;
    va_end(args);
    return 0;
}

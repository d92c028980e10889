/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/default_model.c - codelets without model, whose times are under their name,
 * and what is said of new rows: times that are unknown, names that are shared, kernels
 * that cannot be called.
 */
#include "core/cost/cost_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/cost/estimates.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/worker/workers.h"
#include "perfmodel/model.h"
#include "perfmodel/sampling.h"

struct orr_model *orr_row_default_model(struct orr_costs_table *table,
                                        const struct row *row)
{
    const struct starpu_codelet *cl = row->key.cl;
    const char *name = cl->name ? cl->name : row->pub.called;
    struct orr_error err = {""};
    struct orr_model *model = NULL;
    char *symbol;

    if (!table->defaults || !*name || !strcmp(name, ORR_UNNAMED_CODELET) ||
        cl->flags & (STARPU_CODELET_SIMGRID_EXECUTE |
                     STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT) ||
        orr_model_default_symbol(name, &symbol) < 0)
        return NULL;
    model = orr_models_get(table->runtime->estimates->models, symbol,
                           ORR_MODEL_HISTORY, &err);
    if (!model && orr_costs_is_news(table, symbol))
        orr_log_error("%s", err.text);
    free(symbol);
    return model && (table->calibrates || !orr_model_is_empty(model)) ? model
                                                                      : NULL;
}

static bool knows_length(const struct row *row, unsigned class_id)
{
    for (unsigned i = 0; row->pub.able[class_id] >> i; i++)
        if (orr_cost_length(&row->pub, class_id, i) > 0)
            return true;
    return false;
}

void orr_row_tell_unknown(struct orr_costs_table *table, const struct row *row)
{
    const struct orr_runtime *rt = table->runtime;
    const struct orr_worker_class *unknown = NULL;
    bool known = false;

    if (!row->model || !rt->machine->kernels_take_their_length)
        return;
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (knows_length(row, k))
            known = true;
        else if (row->pub.able[k])
            unknown = &rt->workers->classes[k];
    if (known && unknown && orr_costs_is_news(table, orr_cost_symbol(&row->pub)))
        orr_log_warning(
            "model `%s': no time is known on %s %d (footprint %08x), where the "
            "kernel could run: this simulation avoids it there, but the machine "
            "itself would measure it first: orrery calibrate kernels, or "
            "ORRERY_ASSUME",
            orr_cost_symbol(&row->pub), orr_device_kind(unknown->type)->name,
            unknown->devid, row->key.footprint);
}

void orr_row_drop_unknown(const struct orr_runtime *rt, struct row *row)
{
    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        unsigned known = 0;

        for (unsigned i = 0; row->pub.able[k] >> i; i++)
            if (orr_cost_is_known(&row->pub, k, i,
                                  orr_cost_length(&row->pub, k, i)))
                known |= 1U << i;
        if (row->pub.able[k] & known)
            row->pub.able[k] &= (uint8_t)known;
    }
}

void orr_row_tell_shared_name(struct orr_costs_table *table,
                              const struct row *row)
{
    struct starpu_codelet before = {0}; /* which may be gone: as far as it is kept */
    const struct row *other;
    char said[160];

    if (!row->pub.defaulted || !table->calibrates)
        return;
    orr_lock(&table->lock);
    other = table->first;
    while (other && other->model != row->model)
        other = other->next;
    orr_unlock(&table->lock);
    if (!other)
        return;
    memcpy(&before, other->shape->bytes, SHAPE_SIZE);
    if (orr_codelet_host_function(&before, 0) ==
        orr_codelet_host_function(row->key.cl, 0))
        return;
    snprintf(said, sizeof(said), "%.100s, shared", orr_cost_symbol(&row->pub));
    if (orr_costs_is_news(table, said))
        orr_log_warning("codelets with different kernels have the name `%s': "
                        "their times are kept in one default model, as if they "
                        "were one: give them different names",
                        orr_cost_symbol(&row->pub));
}

void orr_row_check_kernels(const struct orr_costs_table *table,
                           const struct row *row)
{
    struct orr_runtime *rt = table->runtime;
    const struct starpu_codelet *cl = row->key.cl;
    bool calls = !rt->machine->kernels_take_their_length ||
                 rt->machine->runs_kernels ||
                 cl->flags & (STARPU_CODELET_SIMGRID_EXECUTE |
                              STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT);

    for (unsigned k = 0; calls && k < rt->workers->nclasses; k++)
        for (unsigned i = 0; row->pub.able[k] >> i; i++) {
            enum starpu_worker_archtype type = rt->workers->classes[k].type;
            orr_kernel_func_t function =
                row->pub.able[k] >> i & 1 ? orr_codelet_function(cl, type, i)
                                          : NULL;

            if ((uintptr_t)function != 1)
                continue;
            orr_log_error("the kernel of `%s' on %s is `(void *)1', no function: "
                          "it was built for simulation alone. Simulate a machine "
                          "(orrery run -m MACHINE, ORRERY_MACHINE) without "
                          "running kernels, or build it with pkg-config "
                          "starpu-1.4, without STARPU_SIMGRID",
                          orr_cost_symbol(&row->pub),
                          orr_device_kind(type)->name);
            orr_runtime_fail(rt);
        }
}

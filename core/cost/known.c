/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/known.c - whether there are times for a kernel at all, see cost.h. */
#include "core/cost/ask.h"
#include "core/cost/cost_private.h"
#include "core/cost/estimates.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"
#include "perfmodel/model.h"

/* On all workers; what is given for some of them adds to what others know. */
static bool is_assumed(const struct orr_runtime *rt, const char *name,
                       const char *symbol)
{
    bool some = false; /* that is no ratio of another */

    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        const struct orr_assumption *a = orr_assumptions_find(
            &rt->estimates->costs->assumptions, name, symbol,
            (int)rt->workers->classes[k].type, rt->workers->classes[k].devid);

        if (!a)
            return false;
        some |= a->law != ORR_ASSUMED_RATIO;
    }
    return some;
}

struct search {
    const struct orr_costs_table *table;
    const struct orr_assumption *one;
    bool device; /* there is one that the assumption is about */
    bool chosen; /* and it is the assumption for a kernel there */
};

static void look_for_choice(const struct orr_cost_row *row, void *arg)
{
    struct search *search = arg;
    const struct orr_runtime *rt = search->table->runtime;

    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        const struct orr_worker_class *class = &rt->workers->classes[k];

        search->chosen |=
            orr_assumptions_find(&search->table->assumptions, row->cl->name,
                                 row->cl->model ? row->cl->model->symbol : NULL,
                                 (int)class->type, class->devid) == search->one;
    }
}

const char *orr_costs_assumption_unused(struct orr_costs_table *table, unsigned i)
{
    const struct orr_assumption *one = &table->assumptions.all[i];
    const struct orr_runtime *rt = table->runtime;
    struct search search = {.table = table, .one = one};

    if (one->used)
        return NULL;
    if (one->elsewhere)
        return "it is for another machine";
    if (!rt->machine->kernels_take_their_length)
        return "in a real run kernels take the time they take";
    if (!orr_costs_assumes_kernel(table, i))
        return "no task had such a kernel";
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        search.device |=
            one->arch.type < 0 ||
            (one->arch.type == (int)rt->workers->classes[k].type &&
             (one->arch.devid < 0 ||
              one->arch.devid == rt->workers->classes[k].devid));
    if (!search.device)
        return "no such device worked";
    if (one->behind.n)
        return "the kernel has a time of its own there";
    orr_costs_each(table, look_for_choice, &search);
    return search.chosen ? "the kernel cannot run there, or its size is not known"
                         : "another assumption is more exact";
}

enum orr_known orr_cost_knows(const struct orr_runtime *rt, const char *name,
                              const char *symbol)
{
    struct orr_error err = {""};
    struct orr_model *model =
        symbol ? orr_models_get(rt->estimates->models, symbol,
                                orr_model_kind_of(STARPU_HISTORY_BASED), &err)
               : NULL;

    if (model && orr_model_path(model))
        return ORR_KNOWN_MODEL;
    if (rt->machine->kernels_take_their_length && is_assumed(rt, name, symbol))
        return ORR_KNOWN_ASSUMED;
    return ORR_KNOWN_NOT;
}

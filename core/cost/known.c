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

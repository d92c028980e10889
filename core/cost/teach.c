/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/teach.c - times of kernels that a replay brings with it, see cost.h. They
 * join the models in memory, of which a simulation saves nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/cost/cost_private.h"
#include "core/cost/estimates.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"
#include "perfmodel/model.h"
#include "perfmodel/sampling.h"

bool orr_cost_takes_times_of(const struct orr_runtime *rt, const char *host)
{
    const char *rule = orr_config_string(&rt->config, ORR_CFG_REPLAY_TIMES);

    if (!rt->machine->kernels_take_their_length)
        return false;
    if (rule && *rule)
        return !strcmp(rule, "record");
    return !strcmp(rt->machine->host, host);
}

/* The model in files of that symbol, or the default one of codelets of that name; NULL
 * after a message. */
static struct orr_model *model_to_teach(const struct orr_runtime *rt,
                                        const char *symbol, const char *name)
{
    struct orr_error err = {""};
    struct orr_model *model;
    char *owned = NULL;

    if (!symbol && orr_model_default_symbol(name, &owned) < 0)
        return NULL;
    model = orr_models_get(rt->estimates->models, symbol ? symbol : owned,
                           ORR_MODEL_HISTORY, &err);
    free(owned);
    if (!model)
        orr_log_error("%s", err.text);
    return model;
}

int orr_cost_teach(const struct orr_runtime *rt, const char *symbol,
                   const char *name, enum starpu_worker_archtype type,
                   const struct orr_worker *worker, unsigned impl,
                   const struct orr_model_row *row)
{
    struct orr_model *model;
    int rc = -ENODEV;

    if (!rt->machine->kernels_take_their_length)
        return rc;
    if ((!symbol && (!name || !*name)) || impl >= NIMPL)
        return -EINVAL;
    model = model_to_teach(rt, symbol, name);
    if (!model)
        return -EINVAL;
    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        int taught;

        if (rt->workers->classes[k].type != type ||
            (worker && worker->class_id != k))
            continue;
        taught = orr_model_teach(model, rt->workers->classes[k].comb, impl, row);
        rc = rc == -ENODEV || taught < 0 ? taught : rc;
    }
    return rc;
}

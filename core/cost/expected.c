/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/expected.c - what a model says of a task that was not submitted, or of
 * its energy, past the table of rows. Any thread, no lock.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/cost/ask.h"
#include "core/cost/estimates.h"
#include "core/cost/speed.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"
#include "perfmodel/model.h"

struct orr_model *orr_cost_model(struct orr_runtime *rt,
                                 const struct starpu_perfmodel *model)
{
    struct orr_error err = {""};
    struct orr_model *found;

    if (!model || !model->symbol || model->type < STARPU_HISTORY_BASED)
        return NULL;
    found = orr_models_get(rt->estimates->models, model->symbol,
                           orr_model_kind_of(model->type), &err);
    if (!found)
        orr_log_error("%s", err.text);
    else if (orr_model_declare(found, model))
        orr_log_warning("out of memory: model `%s' is not fitted",
                        model->symbol);
    return found;
}

/* From the model in files, for a task that was not submitted. */
static double model_expect_stored(struct orr_runtime *rt,
                                  struct starpu_perfmodel *perfmodel,
                                  struct starpu_task *task,
                                  const struct orr_worker_class *class,
                                  unsigned nimpl)
{
    struct orr_model *model = orr_cost_model(rt, perfmodel);
    struct orr_question question = {.comb = class->comb, .impl = nimpl};
    struct orr_answer answer;
    double *parameters;

    if (!model)
        return (double)NAN;
    parameters = orr_model_parameters(perfmodel, task);
    question.footprint = orr_model_footprint(rt, perfmodel, task, class, nimpl);
    question.parameters = parameters;
    if (perfmodel->type != STARPU_HISTORY_BASED)
        question.size = orr_model_size(rt, perfmodel, task, class, nimpl);
    orr_model_answer(model, &question, &answer);
    free(parameters);
    return answer.value / orr_class_speed(class, task->cl, perfmodel);
}

double orr_model_expect(struct orr_runtime *rt, struct starpu_perfmodel *model,
                        struct starpu_task *task,
                        const struct orr_worker_class *class, unsigned nimpl)
{
    if (orr_model_asks(model))
        return orr_model_ask(rt, model, task, class, nimpl) /
               orr_class_speed(class, task->cl, model);
    return model_expect_stored(rt, model, task, class, nimpl);
}

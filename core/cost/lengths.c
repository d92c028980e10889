/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/lengths.c - how long the tasks of a cost row take on each class: by
 * the model in files, by functions of the application, or as the user assumes; and
 * which classes can run them. Lengths are replaced in place, any thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"
#include "core/cost/ask.h"
#include "core/cost/cost_private.h"
#include "core/cost/estimates.h"
#include "core/cost/speed.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"
#include "perfmodel/model.h"
#include "perfmodel/origin.h"
#include "perfmodel/sampling.h"

static bool codelet_where_allows(const struct starpu_codelet *cl,
                                 enum starpu_worker_archtype type)
{
    return !cl->where || cl->where & orr_device_where(type);
}

static void set_length(struct row *row, unsigned class_id, unsigned impl,
                       const struct orr_length *length)
{
    size_t at = class_id * NIMPL + impl;
    double us = length->us, error = length->error;
    enum orr_origin origin = isnan(us) ? ORR_ORIGIN_UNKNOWN : length->origin;

    __atomic_store(&row->lengths[at], &us, __ATOMIC_RELAXED);
    __atomic_store(&row->pub.error[at], &error, __ATOMIC_RELAXED);
    __atomic_store_n(&row->pub.origin[at], (uint8_t)origin, __ATOMIC_RELAXED);
}

/* --- models --- */

/* A history model by the row of the footprint alone. */
static struct orr_length ask_history(const struct row *row,
                                 const struct orr_worker_class *class,
                                 unsigned impl)
{
    struct orr_length length = {
        orr_model_expected(row->model, class->comb, impl, row->key.footprint),
        NAN, ORR_ORIGIN_MEASURED};

    if (length.us > 0)
        length.origin = orr_model_origin(row->model, class->comb, impl,
                                         row->key.footprint, &length.error);
    return length;
}

/* Between sizes: no better than what these are. Of computed ones without a range
 * the error of the curve says nothing about the truth. */
static struct orr_length length_between_sizes(struct orr_model *model,
                                              unsigned comb, unsigned impl,
                                              const struct orr_answer *answer)
{
    bool ranged;
    enum orr_origin rows = orr_model_least_origin(model, comb, impl, &ranged);
    bool known = ranged || rows == ORR_ORIGIN_UNKNOWN;

    return (struct orr_length){
        answer->value, known ? ORR_ANSWER_OFF_BY(answer->error) : (double)NAN,
        rows > ORR_ORIGIN_INTERPOLATED ? rows : ORR_ORIGIN_INTERPOLATED};
}

/* By whatever the model knows. */
static struct orr_length ask_answer(const struct orr_runtime *rt,
                                const struct row *row, struct starpu_task *task,
                                const struct orr_worker_class *class,
                                unsigned impl)
{
    struct orr_question question = {
        .comb = class->comb,
        .impl = impl,
        .footprint = row->key.footprint,
        .size = orr_model_size(rt, row->key.perfmodel, task, class, impl),
        .flops = task->flops,
        .parameters = row->parameters,
    };
    struct orr_answer answer = {NAN, NAN, ORR_ANSWER_NONE};

    orr_model_answer(row->model, &question, &answer);
    if (answer.source == ORR_ANSWER_EXACT) {
        struct orr_length length = {answer.value, NAN, ORR_ORIGIN_UNKNOWN};

        length.origin = orr_model_origin(row->model, class->comb, impl,
                                         row->key.footprint, &length.error);
        return length;
    }
    return length_between_sizes(row->model, class->comb, impl, &answer);
}

/* --- what the user assumes --- */

/* The one for the row on the class, NULL without; real machines measure. */
static struct orr_assumption *
row_find_assumption(const struct orr_runtime *rt, const struct row *row,
                    const struct orr_worker_class *class)
{
    const struct starpu_perfmodel *perfmodel = row->key.perfmodel;

    if (!row->pub.assumed)
        return NULL;
    return orr_assumptions_find(
        &rt->estimates->costs->assumptions, orr_row_name(row),
        perfmodel ? perfmodel->symbol : NULL, (int)class->type, class->devid);
}

/* µs that the task takes on a device of this host by its own models; NaN: they
 * do not know. */
static double measured_at_home(const struct orr_runtime *rt,
                               const struct row *row, struct starpu_task *task,
                               const struct orr_assumed_arch *arch)
{
    const struct starpu_perfmodel *perfmodel = row->key.perfmodel;
    struct orr_models *home = rt->estimates->costs->home;
    char *symbol = NULL;
    struct orr_device device = {arch->type, arch->devid < 0 ? 0 : arch->devid,
                                1};
    struct orr_question question = {.footprint = row->key.footprint,
                                    .parameters = row->parameters};
    struct orr_answer answer = {NAN, NAN, ORR_ANSWER_NONE};
    struct orr_error err = {""};
    struct orr_model *model;

    if (!home || (perfmodel && orr_model_asks(perfmodel)))
        return NAN;
    if (orr_perfmodel_is_none(perfmodel) &&
        orr_model_default_symbol(orr_row_name(row), &symbol) < 0)
        return NAN;
    model = orr_models_get(home, symbol ? symbol : perfmodel->symbol,
                           symbol ? ORR_MODEL_HISTORY
                                  : orr_model_kind_of(perfmodel->type),
                           &err);
    free(symbol);
    if (!model ||
        orr_combs_get(orr_models_combs(home), &device, 1, &question.comb) != 0)
        return NAN;
    question.size = orr_model_size(rt, perfmodel, task, NULL, 0);
    question.flops = task->flops;
    orr_model_answer(model, &question, &answer);
    return answer.value;
}

static struct orr_length ask_model(const struct orr_runtime *rt,
                               const struct row *row, struct starpu_task *task,
                               const struct orr_worker_class *class,
                               unsigned impl);

/* µs by a model that is a function of the application. */
static double ask_function(const struct orr_runtime *rt, const struct row *row,
                           struct starpu_task *task,
                           const struct orr_worker_class *class, unsigned impl)
{
    double us;

    orr_self->frozen++;
    us = orr_model_ask(rt, row->key.perfmodel, task, class, impl);
    orr_self->frozen--;
    return us;
}

/* µs of the task on the architecture that a ratio is of: on this machine, else on
 * this host. */
static double other_us(const struct orr_runtime *rt, const struct row *row,
                       struct starpu_task *task,
                       const struct orr_assumed_arch *of)
{
    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        const struct orr_worker_class *class = &rt->workers->classes[k];
        const struct orr_assumption *a;
        struct orr_length length;
        double us;

        if ((int)class->type != of->type ||
            (of->devid >= 0 && class->devid != of->devid))
            continue;
        length = (struct orr_length){NAN, NAN, ORR_ORIGIN_UNKNOWN};
        if (row->model)
            length = ask_model(rt, row, task, class, 0);
        else if (row->pub.per_task)
            length.us = ask_function(rt, row, task, class, 0);
        us = length.us;
        a = row_find_assumption(rt, row, class);
        /* No ratio of a ratio: two could be of each other. */
        if ((!(us > 0) || orr_assumption_wins(length.origin)) && a &&
            a->law != ORR_ASSUMED_RATIO)
            us = orr_assumption_us(
                a,
                (double)orr_model_size(rt, row->key.perfmodel, task, class, 0),
                NAN);
        if (us > 0)
            return us;
    }
    return measured_at_home(rt, row, task, of);
}

/* NaN: nothing is assumed, or it needs what is not known. */
static double assumed_us(const struct orr_runtime *rt, const struct row *row,
                         struct starpu_task *task,
                         const struct orr_worker_class *class, unsigned impl,
                         bool use)
{
    struct orr_assumption *a = row_find_assumption(rt, row, class);
    double size, us;

    if (!a)
        return NAN;
    size = (double)orr_model_size(rt, row->key.perfmodel, task, class, impl);
    us = orr_assumption_us(a, size,
                           a->law == ORR_ASSUMED_RATIO
                               ? other_us(rt, row, task, &a->of)
                               : (double)NAN);
    if (use && !isnan(us))
        __atomic_store_n(&a->used, true, __ATOMIC_RELAXED);
    return us;
}

/* --- all together --- */

/* µs by the model in files: what was measured, and in simulations what lies
 * between measured sizes. */
static struct orr_length ask_model(const struct orr_runtime *rt,
                               const struct row *row, struct starpu_task *task,
                               const struct orr_worker_class *class,
                               unsigned impl)
{
    struct orr_length length;

    if (orr_row_regresses(row->key.perfmodel))
        return ask_answer(rt, row, task, class, impl);
    length = ask_history(row, class, impl);
    if (length.us > 0 || !rt->machine->kernels_take_their_length)
        return length;
    return ask_answer(rt, row, task, class, impl);
}

/* Another time than the assumed one, which may be NaN, counts on the class: what the
 * user has said is without effect there, and that is told. Only the simulation's thread
 * takes assumed times. */
static void note_behind(const struct orr_runtime *rt, const struct row *row,
                        const struct orr_worker_class *k,
                        const struct orr_length *length)
{
    struct orr_assumption *a = row->counted ? NULL : row_find_assumption(rt, row, k);

    if (a)
        orr_overruled_add(&a->behind, row, length->origin, length->us, length->us);
}

static void note_replaced(const struct orr_runtime *rt, const struct row *row,
                          const struct orr_worker_class *k,
                          const struct orr_length *length, double us)
{
    struct orr_assumption *a = row->counted ? NULL : row_find_assumption(rt, row, k);

    if (a && length->us > 0)
        orr_overruled_add(&a->replaced, row, length->origin, length->us, us);
}

/* The part's name, "A100 PCIe 40GB"; processors have that of their machine. */
static const char *class_device_name(const struct orr_runtime *rt,
                                     const struct orr_worker_class *k)
{
    const char *name = rt->workers->at[k->members[0]].desc->name;
    const char *part = strchr(name, '(');

    return part ? part : rt->machine->host;
}

/* Of a codelet whose model, if any, lies in files. */
static struct orr_length stored_length(const struct orr_runtime *rt,
                                         const struct row *row,
                                         struct starpu_task *task,
                                         const struct orr_worker_class *k,
                                         unsigned impl)
{
    struct orr_length length = {NAN, NAN, ORR_ORIGIN_UNKNOWN};
    double speed = orr_class_speed(k, row->key.cl, row->key.perfmodel), us;

    if (row->model) {
        length = ask_model(rt, row, task, k, impl);
        length.us /= speed;
    } else if (!row->key.perfmodel) {
        length.us = 0;
    }
    if (length.us > 0 && !orr_assumption_wins(length.origin)) {
        note_behind(rt, row, k, &length);
        return length;
    }
    us = assumed_us(rt, row, task, k, impl, true) / speed;
    if (!isnan(us)) {
        note_replaced(rt, row, k, &length, us);
        return (struct orr_length){us, NAN, ORR_ORIGIN_ASSUMED};
    }
    if (rt->estimates->noise.draw && rt->machine->kernels_take_their_length)
        length.us *= orr_noise_draw(&rt->estimates->noise, orr_row_name(row),
                                    class_device_name(rt, k), row->key.footprint,
                                    length.origin, length.error);
    return length;
}

/* "CUDA 1, implementation 0" */
void orr_row_name_pair(const struct orr_runtime *rt, unsigned class_id,
                       unsigned impl, char *text, size_t size)
{
    const struct orr_worker_class *k = &rt->workers->classes[class_id];
    const struct orr_device_kind *kind = orr_device_kind(k->type);

    snprintf(text, size, "%s %d, implementation %u",
             kind ? kind->name : "device", k->devid, impl);
}

/* Lengths of few measures that differ much from those of sibling devices are
 * measured, whatever STARPU_CALIBRATE is. */
static void refresh_recal(const struct orr_runtime *rt, struct row *row)
{
    bool measured = orr_model_benchmarking(row->model);
    char pair[64], why[256];
    unsigned class_id, impl;

    if (!orr_recal_refresh(row->pub.recal, &row->pub, measured, &class_id,
                           &impl) ||
        measured)
        return;
    orr_row_name_pair(rt, class_id, impl, pair, sizeof(pair));
    orr_snprintf(why, sizeof(why),
                 "for footprint %08x it has %g us on %s, more than %g times that "
                 "of another device of that type, and few measures",
                 row->key.footprint, orr_cost_length(&row->pub, class_id, impl),
                 pair, ORR_RECAL_SUSPICIOUS);
    orr_model_begin_benchmarking(row->model, why);
}

void orr_row_refresh(const struct orr_runtime *rt, struct row *row,
                     struct starpu_task *task)
{
    __atomic_store_n(&row->pub.version,
                     atomic_load_explicit(row->pub.news, memory_order_acquire),
                     __ATOMIC_RELAXED);
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        for (unsigned i = 0; i < NIMPL; i++)
            if (row->pub.able[k] >> i & 1) {
                struct orr_length length =
                    stored_length(rt, row, task, &rt->workers->classes[k], i);

                set_length(row, k, i, &length);
            }
    row->counted = true;
    if (row->pub.recal)
        refresh_recal(rt, row);
}

/* The duration of a task whose model is a function of the application; if that
 * does not know, the one that the user assumes. */
static struct orr_length asked_length(const struct orr_runtime *rt,
                                        const struct row *row,
                                        struct starpu_task *task,
                                        const struct orr_worker_class *class,
                                        unsigned impl)
{
    const struct starpu_perfmodel *model = row->key.perfmodel;
    double speed = orr_class_speed(class, row->key.cl, model);
    double us = ask_function(rt, row, task, class, impl);

    struct orr_length length = {us / speed, NAN, ORR_ORIGIN_FUNCTION};

    if (isnan(us) && row->pub.assumed)
        return (struct orr_length){
            assumed_us(rt, row, task, class, impl, true) / speed, NAN,
            ORR_ORIGIN_ASSUMED};
    note_behind(rt, row, class, &length);
    return length;
}

void orr_row_ask(const struct orr_runtime *rt, struct row *row,
                 struct starpu_task *task)
{
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        for (unsigned i = 0; i < NIMPL; i++)
            if (row->pub.able[k] >> i & 1) {
                struct orr_length length =
                    asked_length(rt, row, task, &rt->workers->classes[k], i);

                set_length(row, k, i, &length);
            }
    row->counted = true;
}

struct orr_length orr_row_length(const struct orr_runtime *rt,
                                     const struct row *row,
                                     struct starpu_task *task,
                                     const struct orr_worker_class *class,
                                     unsigned impl)
{
    return row->pub.per_task ? asked_length(rt, row, task, class, impl)
                             : stored_length(rt, row, task, class, impl);
}

/* Whether the model says that there is such a kernel: by a time for the task,
 * or for others. Without the latter a machine whose models have few sizes on
 * its devices would execute all other sizes on processors without a message. */
static bool model_knows(const struct orr_runtime *rt, const struct row *row,
                        struct starpu_task *task,
                        const struct orr_worker_class *class, unsigned impl)
{
    bool ranged;

    return ask_model(rt, row, task, class, impl).us > 0 ||
           orr_model_least_origin(row->model, class->comb, impl, &ranged) !=
               ORR_ORIGIN_UNKNOWN;
}

/* Where the machine lifts what a program says about devices, a time is all it takes, also
 * one that is assumed for all of them. */
unsigned orr_row_able(const struct orr_runtime *rt, const struct row *row,
                      struct starpu_task *task, unsigned class_id)
{
    const struct orr_worker_class *k = &rt->workers->classes[class_id];
    bool all = rt->machine->all_devices;
    bool allowed = codelet_where_allows(row->key.cl, k->type);
    unsigned bits;

    if (!allowed && !all)
        return 0;
    bits = allowed ? orr_codelet_functions(row->key.cl, k->type) : 0;
    for (unsigned i = 0;
         rt->machine->kernels_take_their_length && row->model && i < NIMPL; i++)
        if (model_knows(rt, row, task, k, i))
            bits |= 1U << i;
    /* A time for an architecture says that there is a kernel for it. */
    if (!bits && row->pub.assumed) {
        const struct orr_assumption *a = row_find_assumption(rt, row, k);

        bits = a && (a->arch.type >= 0 || all) &&
               !isnan(assumed_us(rt, row, task, k, 0, false));
    }
    if (!bits && all && row->pub.per_task)
        bits = !isnan(ask_function(rt, row, task, k, 0));
    return bits;
}

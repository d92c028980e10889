/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/cost.c - the cost rows of all (codelet, footprint) seen so far, in
 * a hash that is read without a lock. Rows never move and live as long as the
 * table; a hash that became too small is kept until then too, since another
 * thread may still be reading it. Rows are added under the table's lock, but
 * made before: models are read from files then. Lengths are replaced in place.
 */
#include "core/base/number.h"
#include "core/cost/cost_private.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/crc.h"
#include "core/base/log.h"
#include "core/cost/ask.h"
#include "core/cost/estimates.h"
#include "core/cost/speed.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/worker/workers.h"
#include "perfmodel/distributions.h"
#include "perfmodel/model.h"
#include "perfmodel/origin.h"
#include "perfmodel/sampling.h"

#define FIRST_SIZE 256

_Static_assert(NIMPL <= ORR_MODEL_MAXIMPL && NIMPL <= 8,
               "implementations are bits of a byte, and the models know them");

struct slots {
    struct slots *smaller; /* the one it replaced */
    size_t size;           /* a power of two */
    _Atomic(struct row *) at[];
};

struct complaint {
    struct complaint *next;
    char symbol[];
};

/* --- the hash --- */

/* From the 64-bit finaliser of MurmurHash3, which is in the public domain. */
static size_t cost_key_hash(const struct key *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key->cl ^ (uint64_t)key->footprint << 32 ^
                 key->detail * 31;

    h ^= h >> 33;
    h *= UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    return (size_t)h;
}

static bool are_same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Whether the codelet, which is where the row's was, has the same names. */
static bool has_names(const struct row *row, const struct starpu_codelet *cl)
{
    return are_same(row->pub.name, cl->name) &&
           are_same(row->pub.symbol, cl->model ? cl->model->symbol : NULL);
}

/* All but the signature. */
static inline bool cost_keys_are_alike(const struct key *a, const struct key *b)
{
    return a->cl == b->cl && a->footprint == b->footprint &&
           a->perfmodel == b->perfmodel && a->detail == b->detail &&
           a->misfits == b->misfits;
}

/* The i-th place where a row with that key may be; NULL: there are no more. */
static inline struct row *row_at(const struct slots *slots, size_t i)
{
    return atomic_load_explicit(&slots->at[i & (slots->size - 1)],
                                memory_order_acquire);
}

static struct row *find_row(const struct slots *slots, const struct key *key)
{
    struct row *row;

    for (size_t i = cost_key_hash(key); (row = row_at(slots, i)); i++)
        if (row->key.signature == key->signature &&
            cost_keys_are_alike(&row->key, key) && has_names(row, key->cl))
            return row;
    return NULL;
}

/* The row of a codelet that still looks as when it was made, which is quicker to see
 * than its signature is to make: every task looks its row up. The signature of the
 * key is not looked at. */
static struct row *find_unchanged(const struct slots *slots,
                                  const struct key *key)
{
    struct row *row;

    for (size_t i = cost_key_hash(key); (row = row_at(slots, i)); i++)
        if (cost_keys_are_alike(&row->key, key) && has_names(row, key->cl) &&
            memcmp(row->shape->bytes, key->cl, SHAPE_SIZE) == 0)
            return row;
    return NULL;
}

static void place_row(struct slots *slots, struct row *row)
{
    size_t i = cost_key_hash(&row->key);

    while (atomic_load_explicit(&slots->at[i & (slots->size - 1)],
                                memory_order_relaxed))
        i++;
    atomic_store_explicit(&slots->at[i & (slots->size - 1)], row,
                          memory_order_release);
}

static struct slots *slots_new(size_t size, struct slots *smaller)
{
    struct slots *slots =
        calloc(1, sizeof(*slots) + size * sizeof(slots->at[0]));

    if (!slots)
        return NULL;
    slots->size = size;
    slots->smaller = smaller;
    return slots;
}

/* Grows the hash if it is half full. While memory is out it fills further. */
static int make_room_locked(struct orr_costs_table *table)
    ORR_REQUIRES(table->lock)
{
    struct slots *old =
        atomic_load_explicit(&table->slots, memory_order_relaxed);
    struct slots *slots;

    if (table->nrows < old->size / 2)
        return 0;
    slots = slots_new(2 * old->size, old);
    if (!slots)
        return table->nrows + 1 < old->size ? 0 : -ENOMEM;
    for (struct row *row = table->first; row; row = row->next)
        place_row(slots, row);
    atomic_store_explicit(&table->slots, slots, memory_order_release);
    return 0;
}

/* Adds the row, which the table then owns, unless another thread was faster;
 * returns the one that is there, NULL without memory. */
static struct row *insert_row(struct orr_costs_table *table, struct row *row)
{
    struct row *there;

    orr_lock(&table->lock);
    there = find_row(atomic_load_explicit(&table->slots, memory_order_relaxed),
                     &row->key);
    if (!there && make_room_locked(table) == 0) {
        place_row(atomic_load_explicit(&table->slots, memory_order_relaxed),
                  row);
        if (table->last)
            table->last->next = row;
        else
            table->first = row;
        table->last = row;
        table->nrows++;
        there = row;
    }
    orr_unlock(&table->lock);
    return there;
}

/* --- codelets --- */

/* Changes with whatever decides which workers can run the codelet's tasks. */
static uint64_t signature_of(const struct starpu_codelet *cl)
{
    return orr_codelet_all_functions(cl) | (uint64_t)cl->where << 20 |
           (cl->can_execute ? UINT64_C(1) << 63 : 0);
}

static bool asks_functions(const struct starpu_perfmodel *perfmodel)
{
    return perfmodel && orr_model_asks(perfmodel);
}

bool orr_costs_is_news(struct orr_costs_table *table, const char *symbol)
{
    struct complaint *complaint =
        malloc(sizeof(*complaint) + strlen(symbol) + 1);
    bool known = false;

    if (complaint)
        strcpy(complaint->symbol, symbol);
    orr_lock(&table->lock);
    for (struct complaint *c = table->complaints; c; c = c->next)
        known = known || !strcmp(c->symbol, symbol);
    if (complaint && !known) {
        complaint->next = table->complaints;
        table->complaints = complaint;
    }
    orr_unlock(&table->lock);
    if (known)
        free(complaint);
    return !known;
}

/* The model in files that the codelet's refers to; NULL if it has none. */
static struct orr_model *
costs_find_model(struct orr_costs_table *table,
                 const struct starpu_perfmodel *perfmodel)
{
    struct orr_error err = {""};
    struct orr_model *model;

    if (!perfmodel || asks_functions(perfmodel) || !perfmodel->symbol)
        return NULL;
    model = orr_models_get(table->runtime->estimates->models, perfmodel->symbol,
                           orr_model_kind_of(perfmodel->type), &err);
    if (!model && orr_costs_is_news(table, perfmodel->symbol))
        orr_log_error("%s", err.text);
    else if (model && orr_model_declare(model, perfmodel))
        orr_log_warning("out of memory: model `%s' is not fitted",
                        perfmodel->symbol);
    return model;
}

const char *orr_cost_model_symbol(const struct orr_cost_row *pub)
{
    const struct row *row = (const struct row *)(const void *)pub;

    if (pub->defaulted)
        return orr_model_symbol(row->model);
    return pub->per_task ? NULL : pub->symbol;
}

static void row_free(const struct orr_runtime *rt, struct row *row)
{
    orr_row_free_noise(rt, row);
    free(row->pub.recal);
    free(row->parameters);
    free(row->called);
    free(row->pub.name);
    free(row->pub.symbol);
    free(row);
}

/* -ENOMEM. */
static int copy_names(struct row *row, const struct starpu_codelet *cl)
{
    const char *symbol = cl->model ? cl->model->symbol : NULL;

    row->pub.name = cl->name ? strdup(cl->name) : NULL;
    row->pub.symbol = symbol ? strdup(symbol) : NULL;
    return (cl->name && !row->pub.name) || (symbol && !row->pub.symbol) ? -ENOMEM : 0;
}

/* --- rows --- */

/* The version of no model. */
static const _Atomic uint32_t no_news;

static struct row *row_new(struct orr_costs_table *table, const struct key *key,
                           struct starpu_codelet *cl)
{
    const struct orr_runtime *rt = table->runtime;
    const struct shape *shape = orr_shape_of(table, cl);
    size_t nlengths = (size_t)rt->workers->nclasses * NIMPL;
    struct row *row =
        shape ? malloc(sizeof(*row) + 2 * nlengths * sizeof(double) +
                       rt->workers->nclasses +
                       nlengths * sizeof(*row->pub.origin))
              : NULL;

    if (!row)
        return NULL;
    *row = (struct row){
        .pub = {.cl = cl,
                .called = ORR_UNNAMED_CODELET,
                .footprint = key->footprint,
                .per_task = asks_functions(key->perfmodel),
                .per_worker = cl->can_execute != NULL,
                .able = (uint8_t *)&row->lengths[2 * nlengths],
                .length = row->lengths,
                .error = &row->lengths[nlengths],
                .news = &no_news},
        .key = *key,
        .shape = shape,
    };
    if (copy_names(row, cl) < 0) {
        row_free(rt, row);
        return NULL;
    }
    if (!row->pub.name && !row->pub.symbol)
        row->called = orr_codelet_called(cl);
    if (row->called)
        row->pub.called = row->called;
    row->pub.origin = row->pub.able + rt->workers->nclasses;
    memset(row->pub.origin, ORR_ORIGIN_UNKNOWN, nlengths);
    for (size_t i = 0; i < 2 * nlengths; i++)
        row->lengths[i] = NAN;
    return row;
}

static void assume(const struct orr_costs_table *table, struct row *row)
{
    const struct starpu_perfmodel *perfmodel = row->key.perfmodel;

    row->pub.assumed =
        table->runtime->machine->kernels_take_their_length &&
        orr_assumptions_any(&table->assumptions, orr_row_name(row),
                            perfmodel ? perfmodel->symbol : NULL);
}

static void set_able(const struct orr_costs_table *table, struct row *row,
                     struct starpu_task *task)
{
    const struct orr_runtime *rt = table->runtime;

    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        unsigned bits = orr_row_able(rt, row, task, k);

        if (bits && row->key.misfits >> k & 1) {
            row->pub.too_small |= UINT64_C(1) << k;
            bits = 0;
        }
        row->pub.able[k] = (uint8_t)bits;
        if (bits)
            row->pub.able_classes |= UINT64_C(1) << k;
    }
    if (!(row->pub.able_classes & table->calibrated))
        return;
    row->pub.able_classes &= table->calibrated;
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (!(row->pub.able_classes >> k & 1))
            row->pub.able[k] = 0;
}

/* On a machine that measures. Errors: -ENOMEM. */
static int make_recal(struct orr_costs_table *table, struct row *row)
{
    const struct orr_runtime *rt = table->runtime;
    int err;

    if (!row->model || rt->machine->kernels_take_their_length)
        return 0;
    err = orr_recal_new(rt, &table->recal, &row->pub.recal);
    for (unsigned k = 0; !err && k < rt->workers->nclasses; k++)
        for (unsigned i = 0; row->pub.able[k] >> i; i++) {
            const struct orr_entry *entry =
                orr_model_find(row->model, rt->workers->classes[k].comb, i,
                               row->key.footprint);
            struct orr_model_row stats;

            if (!entry)
                continue;
            orr_entry_read(entry, &stats);
            orr_recal_begin_with(row->pub.recal, k, i, stats.n);
        }
    return err;
}

/* Takes `parameters`. */
static struct row *make_row(struct orr_costs_table *table,
                            const struct key *key, struct starpu_task *task,
                            double *parameters)
{
    const struct orr_runtime *rt = table->runtime;
    struct row *row = row_new(table, key, task->cl), *there;

    if (!row) {
        free(parameters);
        return NULL;
    }
    row->model = costs_find_model(table, key->perfmodel);
    if (orr_perfmodel_is_none(key->perfmodel)) {
        row->model = orr_row_default_model(table, row);
        row->pub.defaulted = row->model != NULL;
    }
    if (row->model)
        row->pub.news = orr_model_version_at(row->model);
    row->parameters = parameters;
    assume(table, row);
    set_able(table, row, task);
    orr_row_check_kernels(table, row);
    if (make_recal(table, row)) {
        row_free(rt, row);
        return NULL;
    }
    if (row->pub.per_task) {
        orr_row_ask(rt, row, task);
    } else {
        orr_row_refresh(rt, row, task);
        orr_row_tell_unknown(table, row);
        if (row->pub.defaulted && rt->machine->kernels_take_their_length)
            orr_row_drop_unknown(rt, row);
        orr_row_tell_shared_name(table, row);
    }
    there = insert_row(table, row);
    if (there != row)
        row_free(rt, row);
    return there;
}

/* The values that distinguish tasks of one footprint for a regression. */
static uint64_t detail_of(const struct orr_runtime *rt,
                          const struct starpu_perfmodel *perfmodel,
                          struct starpu_task *task, const double *parameters)
{
    uint64_t h = 1469598103934665603U; /* FNV-1a, 64 bits */

    if (perfmodel->type != STARPU_MULTIPLE_REGRESSION_BASED)
        return orr_model_size(rt, perfmodel, task, NULL, 0);
    for (unsigned i = 0; parameters && i < perfmodel->nparameters; i++) {
        uint64_t bits;

        memcpy(&bits, &parameters[i], sizeof(bits));
        h = (h ^ bits) * 1099511628211U;
    }
    return h;
}

/* Finds or makes it; NULL without memory. */
static struct row *get_row(struct orr_runtime *rt, struct starpu_task *task,
                           uint32_t footprint)
{
    struct orr_costs_table *table = rt->estimates->costs;
    struct starpu_codelet *cl = task->cl;
    struct key key = {.cl = cl,
                      .perfmodel = cl->model,
                      .footprint = footprint,
                      .misfits = table->least < SIZE_MAX
                                     ? orr_task_misfits(rt, task, table->least)
                                     : 0};
    const struct slots *slots =
        atomic_load_explicit(&table->slots, memory_order_acquire);
    double *parameters = NULL;
    struct row *row;

    if (orr_row_regresses(cl->model)) {
        parameters = orr_model_parameters(cl->model, task);
        key.detail = detail_of(rt, cl->model, task, parameters);
    }
    row = find_unchanged(slots, &key);
    if (!row) {
        key.signature = signature_of(cl);
        row = find_row(slots, &key);
    }
    if (!row)
        row = make_row(table, &key, task, parameters);
    else if (parameters)
        free(parameters);
    return row;
}

/* That of the data, and of the flops where a codelet without model gives them: its tasks
 * may have no data that tell them apart. */
static uint32_t data_footprint(const struct starpu_perfmodel *model,
                               struct starpu_task *task)
{
    uint32_t footprint = orr_data_footprint(task);

    if (orr_perfmodel_is_none(model) && task->flops > 0)
        footprint = orr_crc_double(task->flops, footprint);
    return footprint;
}

uint32_t orr_job_footprint(struct orr_runtime *rt, struct orr_job *job)
{
    struct starpu_task *task = job->task;
    const struct starpu_perfmodel *model;

    if (job->has_footprint)
        return job->footprint;
    model = task->cl ? task->cl->model : NULL;
    /* Functions for some devices are part of the state. */
    if (!model || (!model->footprint && !model->size_base && !model->state))
        job->footprint = data_footprint(model, task);
    else
        job->footprint =
            orr_model_footprint(rt, model, task, NULL, job->implementation);
    job->has_footprint = 1;
    return job->footprint;
}

/* What the task itself says about workers; of simulated runs, which have one thread. */
static void note_restrictions(const struct orr_runtime *rt, struct row *row,
                              const struct starpu_task *task)
{
    uint32_t named = 0;

    if (task->where > 0)
        row->pub.narrowed |= ~(uint32_t)task->where;
    if (!task->execute_on_a_specific_worker && task->workerids_len == 0)
        return;
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (task->execute_on_a_specific_worker
                ? w == task->workerid
                : w / 32 < task->workerids_len &&
                      task->workerids[w / 32] & 1u << w % 32)
            named |= orr_device_where(rt->workers->at[w].desc->type);
    row->pub.unnamed |= ~named;
}

int orr_job_make_costs(struct orr_runtime *rt, struct orr_job *job)
{
    struct row *row;

    if (job->costs) /* others may be looking at it: it is not written again */
        return 0;
    row = get_row(rt, job->task, orr_job_footprint(rt, job));
    if (!row)
        return -ENOMEM;
    job->costs = &row->pub;
    if (rt->machine->kernels_take_their_length)
        note_restrictions(rt, row, job->task);
    return 0;
}

static void row_renew(struct orr_runtime *rt, struct row *row,
                      struct starpu_task *task)
{
    if (orr_cost_is_old(&row->pub))
        orr_row_refresh(rt, row, task);
    else if (row->pub.per_task)
        orr_row_ask(rt, row, task);
}

const struct orr_cost_row *orr_job_renew_costs(struct orr_runtime *rt,
                                               struct orr_job *job)
{
    if (orr_job_make_costs(rt, job) != 0) {
        orr_log_error("out of memory for the costs of task `%s': the program "
                      "ends",
                      orr_job_name(job));
        abort();
    }
    row_renew(rt, (struct row *)job->costs, job->task);
    return job->costs;
}

const struct orr_cost_row *orr_task_costs(struct orr_runtime *rt,
                                          struct starpu_task *task)
{
    const struct starpu_perfmodel *model = task->cl->model;
    struct row *row =
        get_row(rt, task,
                model ? orr_model_footprint(rt, model, task, NULL, 0)
                      : data_footprint(model, task));

    if (!row)
        return NULL;
    row_renew(rt, row, task);
    return &row->pub;
}

/* µs of implementation 0, which may be one that has no function. */
static double unmeasured(const struct orr_runtime *rt, const struct row *row,
                         unsigned class_id)
{
    const struct orr_worker_class *k = &rt->workers->classes[class_id];
    double us = orr_cost_length(&row->pub, class_id, 0);
    const struct orr_assumption *a = NULL;

    if (row->pub.assumed && !(us > 0))
        a = orr_assumptions_find(
            &rt->estimates->costs->assumptions, orr_row_name(row),
            row->key.perfmodel ? row->key.perfmodel->symbol : NULL,
            (int)k->type, k->devid);
    return a && a->law == ORR_ASSUMED_SUM ? orr_assumption_us(a, 0, NAN) : us;
}

double orr_cost_at_best(const struct orr_runtime *rt,
                        const struct orr_cost_row *pub, unsigned class_id)
{
    const struct row *row = (const struct row *)pub;
    const struct orr_worker_class *k = &rt->workers->classes[class_id];
    const struct orr_entry *entry = NULL;
    struct orr_model_row stats = {.n = 0};

    if (!pub->able[class_id])
        return NAN;
    if (row->model)
        entry = orr_model_find(row->model, k->comb, 0, pub->footprint);
    if (entry)
        orr_entry_read(entry, &stats);
    if (stats.n == 0)
        return unmeasured(rt, row, class_id);
    return fmax(stats.mean - stats.dev, 0) /
           orr_class_speed(k, row->key.cl, row->key.perfmodel);
}

double orr_cost_deviation(const struct orr_runtime *rt,
                          const struct orr_cost_row *pub, unsigned class_id,
                          unsigned impl)
{
    const struct row *row = (const struct row *)pub;
    const struct orr_worker_class *k = &rt->workers->classes[class_id];
    const struct orr_entry *entry = NULL;
    struct orr_model_row stats = {.n = 0};

    if (row->model)
        entry = orr_model_find(row->model, k->comb, impl, pub->footprint);
    if (entry)
        orr_entry_read(entry, &stats);
    if (stats.n == 0 && orr_cost_error(pub, class_id, impl) > 0)
        return orr_cost_length(pub, class_id, impl) *
               orr_cost_error(pub, class_id, impl) / 2;
    if (stats.n == 0 || !(stats.dev > 0) || !isfinite(stats.dev))
        return 0;
    return stats.dev / orr_class_speed(k, row->key.cl, row->key.perfmodel);
}

double orr_cost_quantile(const struct orr_runtime *rt,
                         const struct orr_cost_row *row, unsigned class_id,
                         unsigned impl, double q)
{
    double length = orr_cost_length(row, class_id, impl), us;

    if (!(length > 0))
        return length;
    us = length + orr_normal_quantile(q) *
                      orr_cost_deviation(rt, row, class_id, impl);
    return us > 0 ? us : length;
}

/* --- measures --- */

bool orr_cost_is_wanted(const struct orr_worker *worker,
                        const struct orr_job *job)
{
    const struct row *row = (const struct row *)(const void *)job->costs;

    if (!row || !row->model)
        return false;
    if (row->pub.recal && !orr_recal_settled(row->pub.recal, worker->class_id,
                                             job->implementation))
        return true;
    return orr_model_benchmarking(row->model);
}

static void row_feed_measure(struct orr_runtime *rt,
                             const struct orr_worker *worker,
                             const struct row *row, struct starpu_task *task,
                             unsigned impl, double us, bool preempted)
{
    struct orr_measure measure;

    if (!row->model || !orr_model_benchmarking(row->model))
        return;
    measure = (struct orr_measure){
        .comb = rt->workers->classes[worker->class_id].comb,
        .impl = impl,
        .footprint = row->key.footprint,
        .size = orr_model_size(rt, row->key.perfmodel, task,
                               &rt->workers->classes[worker->class_id], impl),
        .flops = task->flops,
        .duration = us,
        .preempted = preempted,
        .parameters = row->parameters,
    };
    /* A lost measure does not matter; the next task brings another. */
    (void)orr_model_measure(row->model, &measure);
}

void orr_cost_measure(struct orr_runtime *rt, const struct orr_worker *worker,
                      struct orr_job *job, double us, bool preempted)
{
    row_feed_measure(rt, worker,
                     (const struct row *)(const void *)orr_job_costs(rt, job),
                     job->task, job->implementation, us, preempted);
}

void orr_cost_measure_task(struct orr_runtime *rt,
                           const struct orr_worker *worker,
                           struct starpu_task *task, double us)
{
    const struct orr_cost_row *row =
        task->cl->model ? orr_task_costs(rt, task) : NULL;

    if (row)
        row_feed_measure(rt, worker, (const struct row *)(const void *)row,
                         task, 0, us, false);
}

/* A run was faster than the length of the row. */
static void contradicted(const struct orr_runtime *rt, const struct row *row,
                         unsigned class_id, unsigned impl, double us)
{
    char pair[64], why[256];

    orr_row_name_pair(rt, class_id, impl, pair, sizeof(pair));
    orr_snprintf(why, sizeof(why),
                 "for footprint %08x it has %g us on %s, but a task has just taken "
                 "%g us there, and other devices of that type are as fast",
                 row->key.footprint, orr_cost_length(&row->pub, class_id, impl),
                 pair, us);
    orr_model_begin_benchmarking(row->model, why);
}

void orr_cost_ran(struct orr_runtime *rt, const struct orr_worker *worker,
                  struct orr_job *job, double us)
{
    struct row *row = (struct row *)job->costs;

    if (!row || !row->pub.recal ||
        !orr_recal_measured(row->pub.recal, &row->pub, worker->class_id,
                            job->implementation, us, job->kernel->end))
        return;
    if (!orr_model_benchmarking(row->model))
        contradicted(rt, row, worker->class_id, job->implementation, us);
}

/* --- beginning and end --- */

/* Ratios are of what is measured on this host where the simulated machine knows
 * nothing. Reads nothing yet. */
static int open_home(struct orr_costs_table *table, struct orr_error *err)
{
    const struct orr_runtime *rt = table->runtime;
    struct orr_models_options options = {.sampling = rt->estimates->sampling,
                                         .homogeneous =
                                             rt->estimates->homogeneous,
                                         .simulated = true};
    struct orr_host_options none = {0};
    char *host = NULL;
    int rc = 0;

    for (unsigned i = 0; !rc && !table->home && i < table->assumptions.n; i++) {
        if (table->assumptions.all[i].law != ORR_ASSUMED_RATIO)
            continue;
        rc = orr_host_name(&none, &host, err);
        options.host = host;
        if (!rc)
            rc = orr_models_new(&options, &table->home);
        free(host);
    }
    return rc;
}

static int check_replay_times(const struct orr_runtime *rt,
                              struct orr_error *err)
{
    const char *rule = orr_config_string(&rt->config, ORR_CFG_REPLAY_TIMES);

    if (!rule || !*rule || !strcmp(rule, "record") || !strcmp(rule, "models"))
        return 0;
    return orr_fail(err, -EINVAL,
                    "ORRERY_REPLAY_TIMES=%.60s: write `record', for the times "
                    "that a replayed record has, or `models'",
                    rule);
}

/* Classes of the kind that ORRERY_CALIBRATE_ON names; none of them may be there. */
static int read_calibrated(const struct orr_runtime *rt, uint64_t *ret,
                           struct orr_error *err)
{
    const char *name = orr_config_string(&rt->config, ORR_CFG_CALIBRATE_ON);
    const struct orr_device_kind *kind;
    char names[ORR_KIND_NAMES_SIZE];

    *ret = 0;
    if (!name || !*name)
        return 0;
    kind = orr_device_kind_named(name);
    orr_device_kind_names(names);
    if (!kind)
        return orr_fail(err, -EINVAL,
                        "ORRERY_CALIBRATE_ON=%.60s: there are no such workers; "
                        "write %s",
                        name, names);
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (rt->workers->classes[k].type == kind->type)
            *ret |= UINT64_C(1) << k;
    return 0;
}

int orr_costs_table_new(struct orr_runtime *rt, struct orr_costs_table **ret,
                        struct orr_error *err)
{
    struct orr_costs_table *table = calloc(1, sizeof(*table));
    struct slots *slots = slots_new(FIRST_SIZE, NULL);
    int rc;

    if (!table || !slots) {
        rc = orr_fail(err, -ENOMEM, "out of memory");
        goto free_table;
    }
    if (rt->workers->nclasses > 64) {
        rc = orr_fail(err, -EINVAL,
                      "this machine has %u worker classes; at most 64 are "
                      "supported: use fewer devices",
                      rt->workers->nclasses);
        goto free_table;
    }
    table->runtime = rt;
    rc = orr_assumptions_read(orr_config_string(&rt->config, ORR_CFG_ASSUME),
                              &table->assumptions, err);
    orr_assumptions_set_machine(&table->assumptions, rt->machine->name);
    if (!rc)
        rc = read_calibrated(rt, &table->calibrated, err);
    if (!rc)
        rc = check_replay_times(rt, err);
    if (!rc)
        rc = open_home(table, err);
    if (rc)
        goto done_assumptions;
    table->defaults = orr_config_bool(&rt->config, ORR_CFG_DEFAULT_MODELS);
    table->calibrates = !rt->machine->kernels_take_their_length &&
                        orr_models_calibrate(rt->estimates->models) > 0;
    table->least = orr_memory_least(rt);
    orr_lock_init(&table->lock, ORR_RANK_RUNTIME);
    orr_recal_budget_init(&table->recal, orr_exec_now(rt->exec));
    atomic_init(&table->slots, slots);
    *ret = table;
    return 0;

done_assumptions:
    orr_assumptions_done(&table->assumptions);
free_table:
    free(slots);
    free(table);
    return rc;
}

const struct orr_assumptions *
orr_costs_assumptions(const struct orr_costs_table *table)
{
    return &table->assumptions;
}

static void free_rows(struct orr_costs_table *table)
{
    struct slots *slots = atomic_load(&table->slots);

    for (struct row *row = table->first, *next; row; row = next) {
        next = row->next;
        row_free(table->runtime, row);
    }
    for (struct slots *smaller; slots; slots = smaller) {
        smaller = slots->smaller;
        free(slots);
    }
}

void orr_costs_table_free(struct orr_costs_table *table)
{
    if (!table)
        return;
    free_rows(table);
    orr_shapes_free(table);
    for (struct complaint *c = table->complaints, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    orr_assumptions_done(&table->assumptions);
    orr_models_free(table->home);
    free(table);
}

void orr_costs_each(struct orr_costs_table *table,
                    void (*visit)(const struct orr_cost_row *, void *),
                    void *arg)
{
    const struct row *row;

    orr_lock(&table->lock);
    row = table->first;
    orr_unlock(&table->lock);
    for (; row; row = row->next)
        visit(&row->pub, arg);
}

struct assumed_kernel {
    struct orr_assumptions one;
    bool found;
};

static void look_for_assumed(const struct orr_cost_row *row, void *arg)
{
    struct assumed_kernel *kernel = arg;

    kernel->found |= orr_assumptions_any(
        &kernel->one, orr_cost_symbol(row),
        row->symbol);
}

bool orr_costs_assumes_kernel(struct orr_costs_table *table, unsigned i)
{
    struct assumed_kernel kernel = {.one = {&table->assumptions.all[i], 1}};

    orr_costs_each(table, look_for_assumed, &kernel);
    return kernel.found;
}

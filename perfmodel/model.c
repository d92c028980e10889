/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/model.c - the models of a runtime: found by symbol, loaded, queried
 * and fed. Any thread. The lock of a set guards its list; the lock of a model
 * is held to add entries; neither is ever held while the other is waited for,
 * save that a model is loaded under the lock of its set.
 */
#include "perfmodel/model_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"

int orr_models_new(const struct orr_models_options *options,
                   struct orr_models **ret)
{
    struct orr_models *models = calloc(1, sizeof(*models));
    int rc = -ENOMEM;

    if (!models)
        return rc;
    pthread_mutex_init(&models->lock, NULL);
    models->sampling = options->sampling;
    models->homogeneous = options->homogeneous;
    models->simulated = options->simulated;
    models->fixed = options->fixed || options->simulated;
    atomic_init(&models->calibrate, options->fixed ? 0 : options->calibrate);
    models->rules.minimum = options->minimum ? options->minimum : 10;
    models->rules.max_error = options->max_error > 0 ? options->max_error : 50;
    models->host = strdup(options->host);
    if (models->host)
        rc = orr_combs_new(options->homogeneous, &models->combs);
    if (rc) {
        orr_models_free(models);
        return rc;
    }
    *ret = models;
    return 0;
}

/* The first was told when it happened, see warn_wiped(). */
static void sum_up_wiped(const struct orr_model *model)
{
    unsigned n = atomic_load_explicit(&model->wiped, memory_order_relaxed);

    if (n > 1)
        orr_log_warning("Performance model %s: rows were dropped and measured "
                        "anew %u times in this run. Times of its kernel "
                        "disperse; orrery perfmodel check says what remained.",
                        model->symbol, n);
}

static void model_free(struct orr_model *model)
{
    if (!model)
        return;
    sum_up_wiped(model);
    orr_history_done(&model->history);
    orr_model_regressions_done(model);
    orr_model_file_free(model->dropped);
    orr_side_free(model->samples);
    pthread_mutex_destroy(&model->lock);
    free(model->path);
    free(model->symbol);
    free(model);
}

void orr_models_free(struct orr_models *models)
{
    if (!models)
        return;
    while (models->first) {
        struct orr_model *model = models->first;

        models->first = model->next;
        model_free(model);
    }
    orr_combs_free(models->combs);
    free(models->host);
    pthread_mutex_destroy(&models->lock);
    free(models);
}

struct orr_combs *orr_models_combs(struct orr_models *models)
{
    return models->combs;
}

int orr_models_calibrate(const struct orr_models *models)
{
    return atomic_load_explicit(&models->calibrate, memory_order_relaxed);
}

void orr_models_set_calibrate(struct orr_models *models, int level)
{
    atomic_store_explicit(&models->calibrate, level, memory_order_relaxed);
}

const _Atomic uint32_t *orr_model_version_at(const struct orr_model *model)
{
    return &model->version;
}

const char *orr_model_path(const struct orr_model *model)
{
    return model->path;
}

const char *orr_model_symbol(const struct orr_model *model)
{
    return model->symbol;
}

bool orr_model_is_empty(const struct orr_model *model)
{
    return !model->path && model->history.count == 0;
}

bool orr_model_benchmarking(const struct orr_model *model)
{
    return atomic_load_explicit(&model->benchmarking, memory_order_relaxed);
}

void orr_model_news(struct orr_model *model)
{
    /* Release pairs with the acquire of readers: a thread that sees
     * the number sees the values. */
    atomic_fetch_add_explicit(&model->version, 1, memory_order_release);
}

static int model_new(struct orr_models *models, const char *symbol,
                     enum orr_model_kind kind, struct orr_model **ret)
{
    struct orr_model *model = calloc(1, sizeof(*model));

    if (!model)
        return -ENOMEM;
    pthread_mutex_init(&model->lock, NULL);
    model->models = models;
    model->kind = kind;
    atomic_init(&model->benchmarking,
                !models->fixed && orr_models_calibrate(models) > 0);
    model->is_default = orr_model_is_default(symbol);
    model->symbol = strdup(symbol);
    if (!model->symbol) {
        model_free(model);
        return -ENOMEM;
    }
    *ret = model;
    return 0;
}

static struct orr_model *models_find_locked(struct orr_models *models,
                                            const char *symbol)
{
    struct orr_model *model = models->first;

    while (model && strcmp(model->symbol, symbol) != 0)
        model = model->next;
    return model;
}

/* Makes and loads a model and adds it to the list. A broken one is added as
 * well, so that it is read and reported the same way each time. */
static struct orr_model *models_add_locked(struct orr_models *models,
                                           const char *symbol,
                                           enum orr_model_kind kind,
                                           struct orr_error *err)
{
    struct orr_model *model;

    if (model_new(models, symbol, kind, &model)) {
        orr_fail(err, -ENOMEM, "Performance model %s: out of memory.", symbol);
        return NULL;
    }
    model->status = orr_model_load(model, &model->message);
    if (model->status == -ENOMEM) {
        orr_fail(err, -ENOMEM, "Performance model %s: out of memory.", symbol);
        model_free(model);
        return NULL;
    }
    model->next = models->first;
    models->first = model;
    return model;
}

struct orr_model *orr_models_get(struct orr_models *models, const char *symbol,
                                 enum orr_model_kind kind,
                                 struct orr_error *err)
{
    struct orr_model *model;

    pthread_mutex_lock(&models->lock);
    model = models_find_locked(models, symbol);
    if (!model)
        model = models_add_locked(models, symbol, kind, err);
    pthread_mutex_unlock(&models->lock);
    if (model && model->status) {
        orr_fail(err, model->status, "%s", model->message.text);
        return NULL;
    }
    return model;
}

const struct orr_entry *orr_model_find(const struct orr_model *model,
                                       unsigned comb, unsigned impl,
                                       uint32_t footprint)
{
    return orr_history_find(&model->history,
                            (struct orr_entry_key){comb, impl, footprint});
}

/* True when it was off, and may be on. */
static bool switch_benchmarking_on(struct orr_model *model)
{
    int off = 0;

    if (model->models->fixed)
        return false;
    if (atomic_exchange_explicit(&model->benchmarking, true,
                                 memory_order_relaxed))
        return false;
    atomic_compare_exchange_strong(&model->models->calibrate, &off, 1);
    return true;
}

void orr_model_begin_benchmarking(struct orr_model *model, const char *why)
{
    if (!switch_benchmarking_on(model))
        return;
    orr_model_news(model);
    orr_log_warning("Performance model %s: %s. It is measured during this "
                    "run.",
                    model->symbol, why);
}

void orr_model_start_benchmarking(struct orr_model *model)
{
    if (!switch_benchmarking_on(model))
        return;
    orr_log_warning("Performance model %s is not calibrated enough: it is "
                    "measured during this run. STARPU_CALIBRATE=1 would have "
                    "run it on all worker types in turn.",
                    model->symbol);
}

bool orr_model_has_range(const struct orr_model *model,
                         const struct orr_entry *entry,
                         const struct orr_model_row *row)
{
    bool sampled = orr_entry_is_sampled(entry);

    return (row->origin == ORR_ORIGIN_UNKNOWN ? model->ranged : row->ranged) &&
           orr_model_row_origin(row, model->origin, sampled) ==
               orr_model_row_origin(row, model->origin, false);
}

enum orr_origin orr_model_origin(const struct orr_model *model, unsigned comb,
                                 unsigned impl, uint32_t footprint,
                                 double *ret_off_by)
{
    const struct orr_entry *entry =
        orr_model_find(model, comb, impl, footprint);
    struct orr_model_row row;

    *ret_off_by = NAN;
    if (!entry)
        return ORR_ORIGIN_UNKNOWN;
    orr_entry_read(entry, &row);
    if (orr_model_has_range(model, entry, &row) && row.mean > 0)
        *ret_off_by = 2 * row.dev / row.mean;
    return orr_model_row_origin(&row, model->origin,
                                orr_entry_is_sampled(entry));
}

enum orr_origin orr_model_least_origin(struct orr_model *model, unsigned comb,
                                       unsigned impl, bool *ret_ranged)
{
    enum orr_origin least = ORR_ORIGIN_UNKNOWN;
    struct orr_entry *entry = NULL;

    *ret_ranged = true;
    pthread_mutex_lock(&model->lock);
    while ((entry = orr_history_next(&model->history, entry))) {
        struct orr_entry_key key = orr_entry_key(entry);
        struct orr_model_row row;
        enum orr_origin origin;

        if (key.comb != comb || key.impl != impl)
            continue;
        orr_entry_read(entry, &row);
        origin = orr_model_row_origin(&row, model->origin,
                                      orr_entry_is_sampled(entry));
        least = origin > least ? origin : least;
        *ret_ranged =
            *ret_ranged && (orr_origin_is_measured(origin) ||
                            orr_model_has_range(model, entry, &row));
    }
    pthread_mutex_unlock(&model->lock);
    return least;
}

static void warn_few_samples(struct orr_model *model, uint32_t n)
{
    if (atomic_exchange_explicit(&model->few_reported, true,
                                 memory_order_relaxed))
        return;
    orr_log_warning("Performance model %s has entries with few samples (%u, "
                    "%u are wanted): the simulation uses them all the same, where "
                    "the machine itself would go on measuring: orrery calibrate "
                    "kernels.",
                    model->symbol, n, model->models->rules.minimum);
}

uint32_t orr_model_least(const struct orr_model *model)
{
    return model->models->simulated ? 1 : model->models->rules.minimum;
}

double orr_model_expected(struct orr_model *model, unsigned comb, unsigned impl,
                          uint32_t footprint)
{
    const struct orr_models *models = model->models;
    const struct orr_entry *entry =
        orr_model_find(model, comb, impl, footprint);
    uint32_t n = 0;
    double mean = NAN;

    if (entry)
        mean = orr_entry_expected(entry, &n);
    if (n >= orr_model_least(model)) {
        if (n < models->rules.minimum)
            warn_few_samples(model, n);
        return mean;
    }
    if (!models->simulated && !orr_model_benchmarking(model))
        orr_model_start_benchmarking(model);
    return NAN;
}

/* Once for each model: in a first run they are many. */
static void warn_wiped(struct orr_model *model, const struct orr_measure *m,
                       const char *arch)
{
    if (atomic_fetch_add_explicit(&model->wiped, 1, memory_order_relaxed))
        return;
    orr_log_warning("Performance model %s, %s, footprint %08x: too many "
                    "measures lie more than %g %% from the mean (the last took "
                    "%g us). What was known is dropped and measured anew; "
                    "further such cases are only counted.",
                    model->symbol, arch, m->footprint,
                    model->models->rules.max_error, m->duration);
}

/* Reports the effect of a measure, if there is a message for it, and counts
 * changes. */
static void model_report_measure(struct orr_model *model,
                                 const struct orr_measure *m, unsigned done)
{
    const struct orr_comb *comb = orr_combs_at(model->models->combs, m->comb);
    char arch[ORR_ARCH_NAME_SIZE] = "?";

    if (comb)
        orr_arch_name(comb->devices, comb->ndevices, m->comb, m->impl, arch);
    if (done & ORR_MEASURED_WIPED)
        warn_wiped(model, m, arch);
    if (done & ORR_MEASURED_FLOPS)
        orr_log_warning("Performance model %s, %s, footprint %08x: tasks of "
                        "this footprint give different flops (%g now). The "
                        "footprint should distinguish them.",
                        model->symbol, arch, m->footprint, m->flops);
    if (done & ORR_MEASURED_NEWS)
        orr_model_news(model);
}

/* The entry to measure, made when it is missing; *ret_new: whether it was. */
static int entry_get(struct orr_model *model, const struct orr_measure *m,
                     struct orr_entry **ret, bool *ret_new)
{
    struct orr_entry_key key = {m->comb, m->impl, m->footprint};
    struct orr_model_row row = {
        .hash = m->footprint, .size = m->size, .flops = 0};
    struct orr_entry *entry = orr_history_find(&model->history, key);
    int rc = 0;

    *ret_new = false;
    if (!entry) {
        if (m->flops > 0)
            row.flops = m->flops;
        pthread_mutex_lock(&model->lock);
        entry = orr_history_find(&model->history, key);
        *ret_new = !entry;
        if (!entry)
            rc = orr_history_add(&model->history, key, &row, false, &entry);
        pthread_mutex_unlock(&model->lock);
    }
    *ret = entry;
    return rc;
}

int orr_model_measure(struct orr_model *model, const struct orr_measure *m)
{
    struct orr_entry *entry;
    unsigned done;
    bool is_new;
    int off = 0, rc;

    if (!orr_model_benchmarking(model) && !m->given)
        return 0;
    if (m->given && !model->models->fixed) /* models are to be saved */
        atomic_compare_exchange_strong(&model->models->calibrate, &off, 1);
    if (!isfinite(m->duration) || m->duration < 0 ||
        m->impl >= ORR_MODEL_MAXIMPL)
        return -EINVAL;
    rc = entry_get(model, m, &entry, &is_new);
    if (rc)
        return rc;
    /* The first run of a kernel pays for loading libraries and the like. */
    done = orr_entry_measure(
        entry, m->duration, m->weight ? m->weight : 1, m->flops,
        is_new && model->kind == ORR_MODEL_HISTORY &&
            (!m->given || m->weight <= 1),
        &model->models->rules);
    if (m->preempted)
        orr_entry_note_preempted(entry);
    if (model->kind != ORR_MODEL_HISTORY && done & ORR_MEASURED_KEPT)
        orr_model_regress(model, m, done & ORR_MEASURED_NEWS);
    if (model->kind == ORR_MODEL_MULTIPLE_REGRESSION && m->parameters) {
        orr_model_observe(model, m);
        done &= ~(unsigned)ORR_MEASURED_WIPED; /* of other parameters */
    }
    if (done & ~(unsigned)ORR_MEASURED_KEPT)
        model_report_measure(model, m, done);
    return 0;
}

int orr_model_teach(struct orr_model *model, unsigned comb, unsigned impl,
                    const struct orr_model_row *row)
{
    struct orr_entry_key key = {comb, impl, row->hash};
    struct orr_entry *entry;
    int rc = 0;

    pthread_mutex_lock(&model->lock);
    if (!orr_history_find(&model->history, key))
        rc = orr_history_add(&model->history, key, row, true, &entry);
    pthread_mutex_unlock(&model->lock);
    orr_model_news(model);
    return rc;
}

int orr_model_each(struct orr_model *model,
                   int (*visit)(unsigned comb, unsigned impl,
                                const struct orr_model_row *row, void *arg),
                   void *arg)
{
    struct orr_entry *entry = NULL;
    int rc = 0;

    while (!rc) {
        struct orr_entry_key key;
        struct orr_model_row row;

        pthread_mutex_lock(&model->lock);
        entry = orr_history_next(&model->history, entry);
        pthread_mutex_unlock(&model->lock);
        if (!entry)
            break;
        key = orr_entry_key(entry);
        orr_entry_read(entry, &row);
        rc = visit(key.comb, key.impl, &row, arg);
    }
    return rc;
}

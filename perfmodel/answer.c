/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/answer.c - estimates of models: from a row of this footprint, and of
 * regression types between the sizes that were measured, or from a regression;
 * between.c has what a simulation adds for history models. Any thread; the records
 * are guarded by the model's lock.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/model_private.h"

static const struct orr_answer no_answer = {(double)NAN, (double)NAN,
                                            ORR_ANSWER_NONE};

/* --- records --- */

struct orr_regression *orr_model_regression(struct orr_model *model,
                                            unsigned comb, unsigned impl)
{
    struct orr_regression *r = model->regressions;

    while (r && (r->comb != comb || r->impl != impl))
        r = r->next;
    if (r)
        return r;
    r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->comb = comb;
    r->impl = impl;
    orr_model_fit_clear(&r->file);
    r->next = model->regressions;
    model->regressions = r;
    return r;
}

void orr_model_regressions_done(struct orr_model *model)
{
    for (struct orr_regression *r = model->regressions, *next; r; r = next) {
        next = r->next;
        orr_regression_done(r);
        free(r);
    }
    for (unsigned i = 0; model->names && i < model->terms.nparameters; i++)
        free(model->names[i]);
    free(model->names);
    free((void *)(uintptr_t)model->terms.exponents);
}

void orr_model_regress(struct orr_model *model, const struct orr_measure *m,
                       bool news)
{
    uint32_t weight = m->weight ? m->weight : 1;
    struct orr_regression *r;

    pthread_mutex_lock(&model->lock);
    r = orr_model_regression(model, m->comb, m->impl);
    if (r) {
        r->pending += weight;
        r->news = r->news || news;
        orr_regression_add(r, (double)m->size, m->duration, weight);
    }
    pthread_mutex_unlock(&model->lock);
}

void orr_model_observe(struct orr_model *model, const struct orr_measure *m)
{
    struct orr_regression *r;

    pthread_mutex_lock(&model->lock);
    r = orr_model_regression(model, m->comb, m->impl);
    /* Without memory the polynomial has one observation less. */
    if (r && model->terms.nparameters > 0)
        (void)orr_observations_add(&r->observations, m->parameters,
                                   model->terms.nparameters, m->duration);
    pthread_mutex_unlock(&model->lock);
}

static char **copy_names(const char *const *names, unsigned n)
{
    char **copy = calloc(n ? n : 1, sizeof(*copy));

    for (unsigned i = 0; copy && i < n; i++)
        copy[i] = strdup(names[i] ? names[i] : "");
    return copy;
}

int orr_model_set_terms(struct orr_model *model, const struct orr_terms *terms,
                        const char *const *names)
{
    size_t n = (size_t)terms->nterms * terms->nparameters;
    unsigned *exponents = malloc((n ? n : 1) * sizeof(*exponents));

    if (!exponents)
        return -ENOMEM;
    memcpy(exponents, terms->exponents, n * sizeof(*exponents));
    pthread_mutex_lock(&model->lock);
    if (model->terms.nparameters == 0) {
        model->terms = *terms;
        model->terms.exponents = exponents;
        exponents = NULL;
        model->names = names ? copy_names(names, terms->nparameters) : NULL;
    }
    pthread_mutex_unlock(&model->lock);
    free(exponents);
    return 0;
}

/* --- fits --- */

/* The point of an entry; false when it has none. */
static bool point_of(const struct orr_model *model,
                     const struct orr_regression *r,
                     const struct orr_entry *entry, struct orr_point *ret)
{
    struct orr_entry_key key = orr_entry_key(entry);
    struct orr_model_row row;
    uint32_t n;
    double expected, x;

    if (key.comb != r->comb || key.impl != r->impl)
        return false;
    expected = orr_entry_expected(entry, &n);
    orr_entry_read(entry, &row);
    x = r->by_flops ? row.flops : (double)row.size;
    if (n < orr_model_least(model) || !(expected > 0) || !(x > 0))
        return false;
    /* The error of a mean does not shrink with the number of samples behind it. */
    *ret = (struct orr_point){x, expected,
                              orr_model_has_range(model, entry, &row)
                                  ? row.dev / row.mean
                                  : orr_model_row_error(&row),
                              n};
    return true;
}

/* Whether rows of a default model say the flops of their tasks: what codelets without
 * model do grows with these rather than with the bytes of their data, which they may
 * not have. Rows without flops are then no points. Under the model's lock. */
static bool goes_by_flops(const struct orr_model *model,
                          const struct orr_regression *r)
{
    struct orr_entry *entry = NULL;

    if (!model->is_default)
        return false;
    while ((entry = orr_history_next(&model->history, entry))) {
        struct orr_entry_key key = orr_entry_key(entry);
        struct orr_model_row row;

        if (key.comb != r->comb || key.impl != r->impl)
            continue;
        orr_entry_read(entry, &row);
        if (row.flops > 0)
            return true;
    }
    return false;
}

/* The usable entries as points, for the caller to free(); NULL without memory.
 */
static struct orr_point *points_of(struct orr_model *model,
                                   const struct orr_regression *r,
                                   unsigned *ret_n, uint64_t *ret_nsamples)
{
    unsigned room = model->history.count, n = 0;
    struct orr_point *points = malloc((room ? room : 1) * sizeof(*points));
    struct orr_entry *entry = NULL;

    *ret_nsamples = 0;
    for (unsigned i = 0; points && i < room; i++) {
        entry = orr_history_next(&model->history, entry);
        if (!point_of(model, r, entry, &points[n]))
            continue;
        *ret_nsamples += (uint64_t)points[n].n;
        n++;
    }
    if (points && model->kind == ORR_MODEL_HISTORY)
        orr_points_widen(points, n);
    *ret_n = n;
    return points;
}

/* Whether there is so much more to fit that it is worth the time: a fit takes
 * some microseconds per point, so that those below come to half a microsecond
 * per measure. Queries without new measures fit nothing anew. */
static bool is_due(const struct orr_model *model,
                   const struct orr_regression *r)
{
    uint64_t quarter = r->nsamples / 4, minimum = model->models->rules.minimum;

    if (!r->fitted)
        return true;
    if (r->pending >= (quarter > minimum ? quarter : minimum))
        return true;
    return r->news && r->npoints > 0 && r->pending >= 8 * (uint64_t)r->npoints;
}

/* The same of a polynomial, which takes some microseconds per observation. */
static bool has_grown(const struct orr_regression *r)
{
    return !r->fitted || r->observations.n > r->nsamples + r->nsamples / 2;
}

void orr_model_fit(struct orr_model *model, struct orr_regression *r)
{
    struct orr_point *points;
    uint64_t nsamples;
    unsigned n;

    if (model->kind == ORR_MODEL_MULTIPLE_REGRESSION) {
        if (model->terms.nterms > 0)
            orr_model_read_observations(model, r);
        if (model->terms.nterms > 0 && r->observations.n > 0 && has_grown(r))
            orr_regression_fit_terms(r, &model->terms);
        return;
    }
    if (!is_due(model, r))
        return;
    r->by_flops = goes_by_flops(model, r);
    points = points_of(model, r, &n, &nsamples);
    if (points && (!r->fitted || n != r->npoints || nsamples != r->nsamples))
        orr_regression_fit_points(r, points, n, nsamples);
    else if (points)
        r->pending = 0;
    free(points);
}

/* --- answers --- */

/* *ret_sampled: there are samples behind it, not only a row. */
static struct orr_answer answer_from_row(const struct orr_model *model,
                                         const struct orr_question *q,
                                         bool *ret_sampled)
{
    const struct orr_entry *entry =
        orr_model_find(model, q->comb, q->impl, q->footprint);
    struct orr_model_row row;
    struct orr_answer answer;
    uint32_t n;

    if (!entry)
        return no_answer;
    answer.value = orr_entry_expected(entry, &n);
    orr_entry_read(entry, &row);
    if (n < orr_model_least(model) || !(answer.value > 0) ||
        (model->kind != ORR_MODEL_HISTORY && q->size != 0 &&
         row.size != q->size))
        return no_answer;
    answer.error = orr_model_row_error(&row);
    answer.source = ORR_ANSWER_EXACT;
    *ret_sampled = orr_entry_is_sampled(entry);
    return answer;
}

/* Whether the regression with an offset is the one to use. */
static bool wants_offset(const struct orr_model *model,
                         const struct orr_regression *r)
{
    return model->kind == ORR_MODEL_NL_REGRESSION ||
           (model->kind == ORR_MODEL_HISTORY && r->has_offset);
}

static bool size_is_near_range(double x, double minx, double maxx)
{
    return 0.9 * minx <= x && x <= 1.1 * maxx;
}

/* The regression through our own points, else the one in the file. */
static struct orr_answer power_answer(const struct orr_model *model,
                                      const struct orr_regression *r, double x)
{
    bool offset = wants_offset(model, r);
    const struct orr_power_regression *regression =
        offset ? &r->offset : &r->power;
    const struct orr_model_fit *fit = &r->file;
    struct orr_answer answer = {(double)NAN, (double)NAN,
                                ORR_ANSWER_REGRESSION};

    if (offset ? r->has_offset : r->has_power) {
        if (size_is_near_range(x, regression->minx, regression->maxx)) {
            answer.value = orr_power_regression_value(regression, x);
            answer.error = regression->error;
        }
    } else if (orr_fit_believed(fit, model->models->rules.minimum) &&
               size_is_near_range(x, (double)fit->minx, (double)fit->maxx)) {
        answer.value =
            offset ? orr_model_fit_offset(fit, x) : orr_model_fit_power(fit, x);
    }
    return answer.value > 0 ? answer : no_answer;
}

/* The mean square of the misfit of the regression itself, without the noise of
 * the points. The cross-validated error contains both; that of the noise alone
 * is a mean of squares, whose two standard deviations are sqrt(8 / n) of it,
 * greater by n / (n - parameters) since the regression is fitted without the
 * point (Allen, Technometrics 16, 1974). The difference is the misfit. */
static double regression_misfit(const struct orr_regression *r,
                                const struct orr_power_regression *regression,
                                unsigned nparameters)
{
    double n = r->npoints;

    return fmax(0, regression->error * regression->error -
                       r->noise * (1 + sqrt(8 / n)) * n /
                           fmax(n - nparameters, 1));
}

/* The mean square of the error of the regression's parameters due to the
 * noise. */
static double regression_noise(const struct orr_regression *r,
                               unsigned nparameters)
{
    return nparameters * r->noise / r->npoints;
}

/* The total error of the regression. */
static double regression_error(const struct orr_regression *r,
                               const struct orr_power_regression *regression,
                               unsigned nparameters)
{
    return sqrt(regression_misfit(r, regression, nparameters) +
                regression_noise(r, nparameters));
}

/* No better than one of the two sides of a step, where there is one. */
static struct orr_answer across_steps(const struct orr_regression *r, double x,
                                      struct orr_answer answer)
{
    if (r->curve && answer.value > 0 && isfinite(answer.error))
        answer.error =
            fmax(answer.error, orr_curve_step(r->curve, x, answer.value));
    return answer;
}

struct orr_answer orr_model_curve(const struct orr_model *model,
                                  const struct orr_regression *r, double x)
{
    struct orr_estimate estimate = {(double)NAN, (double)NAN};
    struct orr_answer regression = power_answer(model, r, x);
    bool offset = wants_offset(model, r);

    if (r->curve)
        estimate = orr_curve_value(r->curve, x);
    if (!(estimate.value > 0) ||
        (regression.value > 0 &&
         regression_error(r, offset ? &r->offset : &r->power, offset ? 3 : 2) <
             estimate.error))
        return across_steps(r, x, regression);
    return across_steps(r, x,
                        (struct orr_answer){estimate.value, estimate.error,
                                            ORR_ANSWER_INTERPOLATED});
}

static struct orr_answer terms_answer(const struct orr_model *model,
                                      const struct orr_regression *r,
                                      const double *parameters)
{
    const struct orr_terms *terms = &model->terms;
    struct orr_answer answer = {(double)NAN, (double)NAN,
                                ORR_ANSWER_REGRESSION};

    if (!parameters || terms->nterms == 0)
        return no_answer;
    if (r->polynomial.coeff) {
        answer.value =
            orr_polynomial_value(terms, r->polynomial.coeff, parameters);
        answer.error = r->polynomial.error;
    } else if (r->file.ncoeff == terms->nterms + 1) {
        answer.value = orr_polynomial_value(terms, r->file.coeff, parameters);
    }
    return answer.value > 0 ? answer : no_answer;
}

static double question_x(const struct orr_regression *r,
                         const struct orr_question *q)
{
    return r->by_flops ? q->flops : (double)q->size;
}

static struct orr_answer regression_answer(struct orr_model *model,
                                           const struct orr_question *q)
{
    struct orr_answer answer = no_answer;
    struct orr_regression *r;

    pthread_mutex_lock(&model->lock);
    r = orr_model_regression(model, q->comb, q->impl);
    if (r)
        orr_model_fit(model, r);
    if (r && model->kind == ORR_MODEL_MULTIPLE_REGRESSION)
        answer = terms_answer(model, r, q->parameters);
    else if (r && question_x(r, q) > 0 && model->kind == ORR_MODEL_HISTORY)
        answer = orr_model_between(model, r, question_x(r, q));
    else if (r && q->size > 0)
        answer = orr_model_curve(model, r, (double)q->size);
    pthread_mutex_unlock(&model->lock);
    return answer;
}

static bool has_regression(const struct orr_model *model)
{
    return model->kind == ORR_MODEL_REGRESSION ||
           model->kind == ORR_MODEL_NL_REGRESSION;
}

/* A mean of few samples has its standard error; a regression through many sizes
 * that agrees with it has more information about the same kernel. So the mean
 * is shrunk towards the regression, the more, the larger its error is compared
 * to the regression's misfit (an empirical Bayes estimate: Efron & Morris, JASA
 * 70, 1975); the regression includes the mean already, so that a regression
 * without misfit replaces it. A regression more than three standard errors away
 * does not hold here. Rows that only a file has are used as they are. */
static void shrink_to_regression(struct orr_model *model,
                                 const struct orr_question *q,
                                 struct orr_answer *answer)
{
    bool offset = model->kind == ORR_MODEL_NL_REGRESSION;
    struct orr_regression *r;
    const struct orr_power_regression *regression;
    double value = NAN, noise = 0, share = 0,
           e2 = answer->error * answer->error;
    unsigned nparameters = offset ? 3 : 2;

    if (!(answer->error > 0) || q->size == 0)
        return;
    pthread_mutex_lock(&model->lock);
    r = orr_model_regression(model, q->comb, q->impl);
    if (r)
        orr_model_fit(model, r);
    regression = r && offset ? &r->offset : r ? &r->power : NULL;
    if (r && (offset ? r->has_offset : r->has_power) && r->npoints > 3) {
        value = orr_power_regression_value(regression, (double)q->size);
        noise = regression_noise(r, nparameters);
        share = e2 / (e2 + regression_misfit(r, regression, nparameters));
    }
    pthread_mutex_unlock(&model->lock);
    if (!(fabs(value / answer->value - 1) <= 3 * answer->error))
        return;
    answer->value += share * (value - answer->value);
    answer->error = sqrt((1 - share) * e2 + share * noise);
}

void orr_model_answer(struct orr_model *model, const struct orr_question *q,
                      struct orr_answer *ret)
{
    struct orr_answer answer = no_answer;
    bool sampled = false;

    if (model->kind == ORR_MODEL_MULTIPLE_REGRESSION)
        answer = regression_answer(model, q);
    if (answer.source == ORR_ANSWER_NONE)
        answer = answer_from_row(model, q, &sampled);
    if (answer.source == ORR_ANSWER_EXACT && sampled && has_regression(model))
        shrink_to_regression(model, q, &answer);
    if (answer.source == ORR_ANSWER_NONE &&
        (has_regression(model) || (model->kind == ORR_MODEL_HISTORY &&
                                   model->models->simulated &&
          (q->size > 0 || q->flops > 0))))
        answer = regression_answer(model, q);
    if (answer.source == ORR_ANSWER_NONE && !model->models->simulated &&
        !orr_model_benchmarking(model))
        orr_model_start_benchmarking(model);
    *ret = answer;
}

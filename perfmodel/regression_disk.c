/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/regression_disk.c - regressions, from and to the model's file, and
 * the observations of multiple regressions from and to theirs. Steps of
 * model_disk.c's saving; the records are guarded by the model's lock.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "perfmodel/model_private.h"

#define FOLDER "codelets/tmp"

/* --- observations --- */

/* Where the observations of a record lie, for the caller to free(). */
static int observations_path(const struct orr_model *model,
                             const struct orr_regression *r, char **ret)
{
    const struct orr_comb *comb = orr_combs_at(model->models->combs, r->comb);
    char arch[ORR_ARCH_NAME_SIZE], *name;
    int rc;

    if (!comb)
        return -EINVAL;
    orr_arch_name(comb->devices, comb->ndevices, r->comb, r->impl, arch);
    arch[strcspn(arch, " ")] = '\0'; /* the comb's number is this process's */
    if (asprintf(&name, "%s.%s.%s.out", model->symbol, model->models->host,
                 arch) < 0)
        return -ENOMEM;
    rc = orr_sampling_place(model->models->sampling, FOLDER, name, ret);
    free(name);
    return rc;
}

/* Puts what the file has in front of `o`. A file that cannot be used is
 * reported and skipped. */
static int observations_join(const struct orr_model *model,
                             const struct orr_regression *r,
                             struct orr_observations *o)
{
    struct orr_error err = {""};
    char *path;
    int rc = observations_path(model, r, &path);

    if (rc)
        return rc;
    rc = orr_observations_read(path, model->terms.nparameters, o, &err);
    if (rc && rc != -ENOENT && rc != -ENOMEM)
        orr_log_warning("%s", err.text);
    free(path);
    return rc;
}

void orr_model_read_observations(struct orr_model *model,
                                 struct orr_regression *r)
{
    if (r->observations_read || model->models->simulated)
        return;
    r->observations_read = true;
    if (orr_models_calibrate(model->models) < 2)
        (void)observations_join(model, r, &r->observations);
}

/* The fresh ones of a record alone, owned by the caller. */
static int fresh_observations(const struct orr_regression *r,
                              struct orr_observations *ret)
{
    const struct orr_observations *o = &r->observations;
    size_t width = 1 + (size_t)o->nparameters;
    int rc = 0;

    *ret = (struct orr_observations){0};
    for (unsigned i = o->n - o->nfresh; !rc && i < o->n; i++)
        rc = orr_observations_add(ret, &o->values[i * width + 1],
                                  o->nparameters, o->values[i * width]);
    if (rc)
        orr_observations_done(ret);
    return rc;
}

/* Joins the fresh observations to what their file holds now, and goes on from
 * there. */
static int observations_save(struct orr_model *model, struct orr_regression *r)
{
    struct orr_observations all;
    struct orr_error err = {""};
    char *path = NULL;
    int rc;

    if (r->observations.nfresh == 0)
        return 0;
    rc = fresh_observations(r, &all);
    if (!rc)
        rc = observations_path(model, r, &path);
    if (!rc && !model->dropped)
        rc = observations_join(model, r, &all);
    if (rc == -ENOENT)
        rc = 0;
    if (!rc) {
        if (orr_observations_write(path, (const char *const *)model->names,
                                   &all, &err))
            orr_log_warning("%s The measures count in this run only.",
                            err.text);
    }
    free(path);
    if (rc) {
        /* A file that cannot be read is not overwritten; the measures count in
         * this run only. */
        orr_observations_done(&all);
        return rc == -ENOMEM ? rc : 0;
    }
    orr_observations_done(&r->observations);
    r->observations = all;
    r->observations.nfresh = 0;
    r->observations_read = true;
    r->fitted = false;
    return 0;
}

/* --- the model's file --- */

/* Where the record's fit is in the file; NULL when it has no such comb. */
static struct orr_model_fit *fit_in(const struct orr_model *model,
                                    const struct orr_regression *r,
                                    const struct orr_model_file *file)
{
    const struct orr_comb *devices =
        orr_combs_at(model->models->combs, r->comb);
    const struct orr_model_comb *comb =
        devices ? orr_model_file_find_comb(file, devices->devices,
                                           devices->ndevices,
                                           model->models->homogeneous)
                : NULL;

    return comb && r->impl < comb->nimpls ? &comb->impls[r->impl].fit : NULL;
}

/* The same; one whose polynomial alone is known, since no row has been measured often
 * enough, gets its place. */
static int place_in(const struct orr_model *model,
                    const struct orr_regression *r, struct orr_model_file *file,
                    struct orr_model_fit **ret)
{
    const struct orr_comb *devices =
        orr_combs_at(model->models->combs, r->comb);
    struct orr_model_comb *comb;
    struct orr_model_impl *impl;
    int rc = 0;

    *ret = fit_in(model, r, file);
    if (*ret || !devices || model->kind != ORR_MODEL_MULTIPLE_REGRESSION)
        return 0;
    comb = orr_model_file_find_comb(file, devices->devices, devices->ndevices,
                                    model->models->homogeneous);
    if (!comb) {
        rc = orr_model_file_add_comb(file, devices->devices, devices->ndevices,
                                     &comb);
        if (!rc)
            comb->number = devices->id;
    }
    if (!rc)
        rc = orr_model_comb_get_impl(comb, r->impl, &impl);
    if (!rc)
        *ret = &impl->fit;
    return rc;
}

static void save_regressions(const struct orr_model *model,
                             const struct orr_regression *r,
                             struct orr_model_fit *fit)
{
    bool offset = model->kind == ORR_MODEL_NL_REGRESSION;

    if (r->has_power) {
        fit->alpha = r->power.a;
        fit->beta = r->power.b;
    } else if (!orr_sums_regression(fit, &fit->alpha, &fit->beta)) {
        fit->alpha = fit->beta = NAN;
    }
    if (!offset || !r->has_offset)
        return;
    fit->a = r->offset.a;
    fit->b = r->offset.b;
    fit->c = r->offset.c;
}

static int save_polynomial(const struct orr_regression *r,
                           struct orr_model_fit *fit)
{
    double *coeff;

    if (!r->polynomial.coeff)
        return 0;
    coeff = malloc(r->polynomial.ncoeff * sizeof(*coeff));
    if (!coeff)
        return -ENOMEM;
    memcpy(coeff, r->polynomial.coeff, r->polynomial.ncoeff * sizeof(*coeff));
    free(fit->coeff);
    fit->coeff = coeff;
    fit->ncoeff = r->polynomial.ncoeff;
    return 0;
}

static int save_record(struct orr_model *model, struct orr_regression *r,
                       struct orr_model_file *file)
{
    struct orr_model_fit *fit;
    int rc = place_in(model, r, file, &fit);

    if (rc || !fit)
        return rc;
    orr_sums_join(fit, &r->taken);
    if (model->kind == ORR_MODEL_MULTIPLE_REGRESSION)
        rc = observations_save(model, r);
    orr_model_fit(model, r);
    if (model->kind == ORR_MODEL_MULTIPLE_REGRESSION)
        return rc ? rc : save_polynomial(r, fit);
    save_regressions(model, r, fit);
    return 0;
}

void orr_regressions_take(struct orr_model *model)
{
    pthread_mutex_lock(&model->lock);
    for (struct orr_regression *r = model->regressions; r; r = r->next) {
        r->taken = r->mine;
        r->mine = (struct orr_model_fit){.n = 0};
    }
    pthread_mutex_unlock(&model->lock);
}

bool orr_regressions_have_news(struct orr_model *model)
{
    bool news = false;

    pthread_mutex_lock(&model->lock);
    for (struct orr_regression *r = model->regressions; r; r = r->next)
        news |= r->observations.nfresh > 0;
    pthread_mutex_unlock(&model->lock);
    return news;
}

/* Tasks without data have no size, and nothing in the sums. */
static bool is_saved(const struct orr_regression *r)
{
    return r->taken.n > 0 || r->observations.n > 0;
}

int orr_regressions_save(struct orr_model *model, struct orr_model_file *file)
{
    int rc = 0;

    pthread_mutex_lock(&model->lock);
    for (struct orr_regression *r = model->regressions; !rc && r; r = r->next)
        if (is_saved(r))
            rc = save_record(model, r, file);
    pthread_mutex_unlock(&model->lock);
    return rc;
}

void orr_regressions_saved(struct orr_model *model,
                           const struct orr_model_file *file)
{
    pthread_mutex_lock(&model->lock);
    for (struct orr_regression *r = model->regressions; r; r = r->next) {
        const struct orr_model_fit *fit = fit_in(model, r, file);

        /* Without memory the old regression is kept. */
        if (fit && is_saved(r))
            (void)orr_model_fit_copy(&r->file, fit);
        if (model->kind != ORR_MODEL_MULTIPLE_REGRESSION)
            r->fitted = false; /* rows have what others measured as well */
        r->taken = (struct orr_model_fit){.n = 0};
    }
    pthread_mutex_unlock(&model->lock);
}

void orr_regressions_untake(struct orr_model *model)
{
    pthread_mutex_lock(&model->lock);
    for (struct orr_regression *r = model->regressions; r; r = r->next) {
        orr_sums_join(&r->mine, &r->taken);
        r->taken = (struct orr_model_fit){.n = 0};
    }
    pthread_mutex_unlock(&model->lock);
}

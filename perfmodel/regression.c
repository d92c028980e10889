/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmodel/regression.c - see regression.h. The caller locks. */
#include "perfmodel/regression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void orr_regression_done(struct orr_regression *r)
{
    free(r->file.coeff);
    orr_curve_free(r->curve);
    free(r->polynomial.coeff);
    orr_observations_done(&r->observations);
}

/* --- StarPU's sums --- */

void orr_regression_add(struct orr_regression *r, double size, double duration,
                        uint32_t weight)
{
    struct orr_model_fit *fit = &r->mine;
    double x, y;

    if (!(size > 0) || !(duration > 0) || fit->n > UINT32_MAX - weight)
        return;
    x = log(size);
    y = log(duration);
    fit->sumlnx += weight * x;
    fit->sumlnx2 += weight * x * x;
    fit->sumlny += weight * y;
    fit->sumlnxlny += weight * x * y;
    if (fit->n == 0 || size < (double)fit->minx)
        fit->minx = (uint64_t)size;
    if (fit->n == 0 || size > (double)fit->maxx)
        fit->maxx = (uint64_t)size;
    fit->n += weight;
}

void orr_sums_join(struct orr_model_fit *fit, const struct orr_model_fit *since)
{
    if (since->n == 0)
        return;
    if (fit->n == 0 || since->minx < fit->minx)
        fit->minx = since->minx;
    if (fit->n == 0 || since->maxx > fit->maxx)
        fit->maxx = since->maxx;
    fit->n = fit->n > UINT32_MAX - since->n ? UINT32_MAX : fit->n + since->n;
    fit->sumlnx += since->sumlnx;
    fit->sumlnx2 += since->sumlnx2;
    fit->sumlny += since->sumlny;
    fit->sumlnxlny += since->sumlnxlny;
}

bool orr_sums_regression(const struct orr_model_fit *fit, double *ret_alpha,
                         double *ret_beta)
{
    double n = fit->n;
    double under = n * fit->sumlnx2 - fit->sumlnx * fit->sumlnx;
    double beta = (n * fit->sumlnxlny - fit->sumlnx * fit->sumlny) / under;

    if (fit->n < 2 || !(under > 1e-9 * n * fit->sumlnx2) || !isfinite(beta))
        return false;
    *ret_beta = beta;
    *ret_alpha = exp((fit->sumlny - beta * fit->sumlnx) / n);
    return isfinite(*ret_alpha);
}

bool orr_fit_believed(const struct orr_model_fit *fit, unsigned minimum)
{
    return fit->minx < 9 * fit->maxx / 10 && fit->n >= minimum;
}

/* --- regressions --- */

void orr_regression_fit_points(struct orr_regression *r,
                               const struct orr_point *points, unsigned npoints,
                               uint64_t nsamples)
{
    r->npoints = npoints;
    r->nsamples = nsamples;
    r->pending = 0;
    r->news = false;
    r->fitted = true;
    r->has_power = orr_fit_power(points, npoints, &r->power) == 0;
    r->has_offset = orr_fit_offset(points, npoints, &r->offset) == 0;
    orr_curve_free(r->curve);
    if (orr_curve_new(points, npoints, r->has_offset ? &r->offset : NULL,
                      &r->curve))
        r->curve = NULL;
    r->noise = 0;
    for (unsigned i = 0; i < npoints; i++)
        r->noise += points[i].error * points[i].error / npoints;
}

/* --- multiple regression --- */

void orr_regression_fit_terms(struct orr_regression *r,
                              const struct orr_terms *terms)
{
    const struct orr_observations *o = &r->observations;
    size_t width = 1 + (size_t)o->nparameters;
    struct orr_observation *rows = malloc((o->n ? o->n : 1) * sizeof(*rows));
    struct orr_polynomial polynomial;

    r->nsamples = o->n;
    r->fitted = true;
    if (!rows || o->nparameters != terms->nparameters)
        goto free_rows;
    for (unsigned i = 0; i < o->n; i++)
        rows[i] = (struct orr_observation){&o->values[i * width + 1],
                                           o->values[i * width]};
    if (orr_fit_polynomial(terms, rows, o->n, &polynomial) == 0) {
        free(r->polynomial.coeff);
        r->polynomial = polynomial;
    }

free_rows:
    free(rows);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/polynomial.c - multiple linear regression over declared terms.
 * Pure functions.
 *
 * Errors count relative to the value: the spread of a kernel's time is about
 * proportional to it, and short times need the same relative accuracy as long
 * ones. So rows are divided by the fitted values, and fitted again until these
 * converge (quasi-likelihood with a constant coefficient of variation:
 * Wedderburn, Biometrika 61, 1974). Dividing by the measures instead, as is
 * often done, gives a fit that is 1.5 σ² too low. Robust like the regressions
 * of one size: first least absolute deviations, then Tukey's bisquare at the
 * scale found there, both by reweighting (Holland & Welsch, Comm. Statist. A6,
 * 1977).
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* qsort_r */
#endif
#include "perfmodel/curve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/curve_private.h"
#include "perfmodel/least_squares.h"

#define BISQUARE    4.685  /* 95 % efficiency for normal errors */
#define MAD_TO_DEV  1.4826 /* of normal errors */
#define LEAST_SCALE 0.002  /* relative: clocks are no better */
#define LEAST_VALUE 1e-5   /* µs: what a negative time counts as */
#define MOST_FOLDS  10

enum { ABSOLUTE_ROUNDS = 10, BISQUARE_ROUNDS = 30 };

/* One regression; arrays are owned. */
struct regression {
    const struct orr_terms *terms;
    const struct orr_observation *observations;
    unsigned n, k;    /* observations, coefficients */
    double *matrix;   /* n × k, column after column */
    double *weighted; /* the input of the solver: as above */
    double *right;    /* n: likewise */
    double *fitted;   /* n: what the coefficients give */
    double *weight;   /* n: of the relative residual; 0: set aside */
    double *scratch;  /* n */
    double *coeff;    /* k */
    unsigned *group;  /* n: observations of equal parameters share one */
    unsigned *order;  /* n: observations by parameters */
    unsigned ngroups;
    unsigned rank;
};

static double power_of(double x, unsigned exponent)
{
    double ret = 1;

    for (; exponent; exponent >>= 1, x *= x)
        if (exponent & 1)
            ret *= x;
    return ret;
}

static double term_value(const struct orr_terms *terms, unsigned term,
                         const double *parameters)
{
    const unsigned *exponents =
        terms->exponents + (size_t)term * terms->nparameters;
    double product = 1;

    for (unsigned j = 0; j < terms->nparameters; j++)
        product *= power_of(parameters[j], exponents[j]);
    return product;
}

double orr_polynomial_value(const struct orr_terms *terms, const double *coeff,
                            const double *parameters)
{
    double sum = coeff[0];

    for (unsigned i = 0; i < terms->nterms; i++)
        sum += coeff[i + 1] * term_value(terms, i, parameters);
    return sum < 0 ? LEAST_VALUE : sum;
}

/* -- the parts of a regression -- */

static void regression_done(struct regression *r)
{
    free(r->matrix);
    free(r->weighted);
    free(r->right);
    free(r->coeff);
    free(r->group);
}

static int regression_init(struct regression *r)
{
    size_t n = r->n, cells = n * r->k;

    r->matrix = malloc(cells * sizeof(double));
    r->weighted = malloc(cells * sizeof(double));
    r->right = malloc(4 * n * sizeof(double));
    r->coeff = malloc(r->k * sizeof(double));
    r->group = malloc(2 * n * sizeof(unsigned));
    if (!r->matrix || !r->weighted || !r->right || !r->coeff || !r->group)
        return -ENOMEM;
    r->fitted = r->right + n;
    r->weight = r->right + 2 * n;
    r->scratch = r->right + 3 * n;
    r->order = r->group + n;
    return 0;
}

static int regression_fill(struct regression *r)
{
    for (unsigned i = 0; i < r->n; i++) {
        const struct orr_observation *o = &r->observations[i];

        if (!(o->y > 0) || !isfinite(o->y))
            return -EINVAL;
        r->matrix[i] = 1;
        for (unsigned t = 0; t + 1 < r->k; t++) {
            double value = term_value(r->terms, t, o->parameters);

            if (!isfinite(value))
                return -EINVAL;
            r->matrix[(size_t)(t + 1) * r->n + i] = value;
        }
    }
    return 0;
}

static int compare_parameters(const struct regression *r, unsigned i,
                              unsigned j)
{
    const double *a = r->observations[i].parameters;
    const double *b = r->observations[j].parameters;

    for (unsigned k = 0; k < r->terms->nparameters; k++)
        if (a[k] != b[k])
            return a[k] < b[k] ? -1 : 1;
    return 0;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
    unsigned i = *(const unsigned *)a, j = *(const unsigned *)b;
    int rc = compare_parameters(arg, i, j);

    return rc ? rc : (i > j) - (i < j);
}

static void regression_group(struct regression *r)
{
    for (unsigned i = 0; i < r->n; i++)
        r->order[i] = i;
    qsort_r(r->order, r->n, sizeof(*r->order), compare_rows, r);
    r->ngroups = 0;
    for (unsigned i = 0; i < r->n; i++) {
        if (i > 0 && compare_parameters(r, r->order[i - 1], r->order[i]) != 0)
            r->ngroups++;
        r->group[r->order[i]] = r->ngroups;
    }
    r->ngroups++;
}

/* The value to which the residual of row i is relative. A fit that is far too
 * low there must not give the row a weight without limit. */
static double residual_scale(const struct regression *r, unsigned i)
{
    return fmax(r->fitted[i], 0.1 * r->observations[i].y);
}

/* Solves with the present weights and sizes, leaving out the groups of one fold
 * (`fold` of `nfolds`; 0 of 0: none). Errors: -EDOM: no full rank; -ENOMEM. */
static int regression_solve(struct regression *r, unsigned fold,
                            unsigned nfolds, double *coeff)
{
    unsigned rows = 0;
    int rc;

    for (unsigned i = 0; i < r->n; i++)
        if (r->weight[i] > 0 && !(nfolds && r->group[i] % nfolds == fold))
            rows++;
    if (rows < r->k)
        return -EDOM;
    for (unsigned i = 0, to = 0; i < r->n; i++) {
        double w;

        if (!(r->weight[i] > 0) || (nfolds && r->group[i] % nfolds == fold))
            continue;
        w = sqrt(r->weight[i]) / residual_scale(r, i);
        for (unsigned k = 0; k < r->k; k++)
            r->weighted[(size_t)k * rows + to] =
                w * r->matrix[(size_t)k * r->n + i];
        r->right[to++] = w * r->observations[i].y;
    }
    rc = orr_least_squares(r->weighted, rows, r->k, r->right, &r->rank);
    if (rc)
        return rc;
    if (r->rank < r->k)
        return -EDOM;
    memcpy(coeff, r->right, r->k * sizeof(*coeff));
    return 0;
}

static double regression_predict(const struct regression *r,
                                 const double *coeff, unsigned i)
{
    double sum = 0;

    for (unsigned k = 0; k < r->k; k++)
        sum += coeff[k] * r->matrix[(size_t)k * r->n + i];
    return sum;
}

/* Takes the fitted values anew and returns the largest relative change. */
static double regression_refit(struct regression *r)
{
    double most = 0;

    for (unsigned i = 0; i < r->n; i++) {
        double now = regression_predict(r, r->coeff, i);

        most = fmax(most, fabs(now - r->fitted[i]) /
                              fmax(fabs(r->fitted[i]), LEAST_VALUE));
        r->fitted[i] = now;
    }
    return most;
}

static double relative_residual(const struct regression *r, unsigned i)
{
    return (r->observations[i].y - r->fitted[i]) / residual_scale(r, i);
}

/* Robust scale of the relative residuals. As many of the smallest as there are
 * coefficients are zero by the fit, not by luck, and do not count. */
static double scale_of(const struct regression *r)
{
    unsigned skip = r->k - 1;

    for (unsigned i = 0; i < r->n; i++)
        r->scratch[i] = fabs(relative_residual(r, i));
    orr_median_of(r->scratch, r->n); /* sorts */
    return fmax(LEAST_SCALE,
                MAD_TO_DEV * orr_median_sorted(r->scratch + skip, r->n - skip));
}

/* -- the rounds -- */

/* Least absolute relative deviations, from weights of the measures. */
static int fit_absolute(struct regression *r)
{
    int rc;

    for (unsigned i = 0; i < r->n; i++) {
        r->weight[i] = 1;
        r->fitted[i] = r->observations[i].y;
    }
    for (unsigned round = 0; round < ABSOLUTE_ROUNDS; round++) {
        rc = regression_solve(r, 0, 0, r->coeff);
        if (rc)
            return rc;
        regression_refit(r);
        for (unsigned i = 0; i < r->n; i++)
            r->weight[i] = 1 / fmax(fabs(relative_residual(r, i)), LEAST_SCALE);
    }
    return 0;
}

static int fit_bisquare(struct regression *r)
{
    /* With few observations outliers cannot be identified. */
    bool reject = r->n >= r->k + 3;
    double change = 1, scale;
    int rc;

    for (unsigned round = 0; round < BISQUARE_ROUNDS && change > 1e-7;
         round++) {
        scale = scale_of(r);
        for (unsigned i = 0; i < r->n; i++) {
            double z = relative_residual(r, i) / (BISQUARE * scale);
            double q = reject ? 1 - fmin(1, z * z) : 1;

            r->weight[i] = q * q;
        }
        rc = regression_solve(r, 0, 0, r->coeff);
        if (rc)
            return rc;
        change = regression_refit(r);
    }
    return 0;
}

/* Relative error of the mean at parameters that were left out, a tenth of the
 * different ones at a time; NaN where the rest does not determine the
 * coefficients. Predictions go to `scratch`. */
static int cross_validate(struct regression *r, double *coeff, double *ret)
{
    unsigned nfolds = r->ngroups < MOST_FOLDS ? r->ngroups : MOST_FOLDS;
    unsigned count = 0;
    double square = 0;

    *ret = (double)NAN;
    for (unsigned fold = 0; fold < nfolds; fold++) {
        int rc = regression_solve(r, fold, nfolds, coeff);

        if (rc)
            return rc == -EDOM ? 0 : rc;
        for (unsigned i = 0; i < r->n; i++)
            if (r->group[i] % nfolds == fold)
                r->scratch[i] = regression_predict(r, coeff, i);
    }
    for (unsigned i = 0; i < r->n;) {
        unsigned group = r->group[r->order[i]];
        double sum = 0, weights = 0;

        for (; i < r->n && r->group[r->order[i]] == group; i++) {
            unsigned row = r->order[i];

            weights += r->weight[row];
            sum += r->weight[row] * (r->observations[row].y - r->scratch[row]) /
                   fmax(r->scratch[row], 0.1 * r->observations[row].y);
        }
        if (weights > 0) {
            square += (sum / weights) * (sum / weights);
            count++;
        }
    }
    if (count)
        *ret = sqrt(square / count);
    return 0;
}

static int regression_run(struct regression *r, struct orr_polynomial *ret)
{
    double *spare;
    double error;
    int rc = regression_fill(r);

    if (rc)
        return rc;
    rc = fit_absolute(r);
    if (!rc)
        rc = fit_bisquare(r);
    if (rc)
        return rc;
    regression_group(r);
    spare = malloc(r->k * sizeof(*spare));
    if (!spare)
        return -ENOMEM;
    rc = cross_validate(r, spare, &error);
    free(spare);
    if (rc)
        return rc;
    *ret = (struct orr_polynomial){.ncoeff = r->k,
                                   .coeff = r->coeff,
                                   .error = error,
                                   .n = r->n,
                                   .rank = r->k};
    r->coeff = NULL;
    for (unsigned i = 0; i < r->n; i++)
        ret->noutliers += !(r->weight[i] > 0);
    return 0;
}

int orr_fit_polynomial(const struct orr_terms *terms,
                       const struct orr_observation *observations, unsigned n,
                       struct orr_polynomial *ret)
{
    struct regression r = {.terms = terms,
                           .observations = observations,
                           .n = n,
                           .k = terms->nterms + 1};
    int rc;

    if (n <= r.k) {
        *ret = (struct orr_polynomial){.n = n};
        return -EDOM;
    }
    rc = regression_init(&r);
    if (!rc)
        rc = regression_run(&r, ret);
    if (rc == -EDOM)
        *ret = (struct orr_polynomial){.n = n, .rank = r.rank};
    regression_done(&r);
    return rc;
}

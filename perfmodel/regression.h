/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/regression.h - the state of a model of a regression type beyond its
 * rows, for one comb and implementation: running sums as StarPU keeps them,
 * regressions through the rows, and for multiple regression the single
 * measures. The caller locks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "perfmodel/curve.h"
#include "perfmodel/observations.h"
#include "perfmodel/store.h"

struct orr_regression {
    struct orr_regression *next;
    unsigned comb, impl;
    struct orr_model_fit file;  /* as the file had it when it was read; coeff
                                * owned */
    struct orr_model_fit mine;  /* sums, n, minx, maxx of what was measured
                                * since; nothing else of it is used */
    struct orr_model_fit taken; /* the part of these that is being saved */

    /* The regressions through the rows, made at the first query, and anew when
     * answer.c decides. */
    unsigned npoints;
    struct orr_curve *curve; /* owned; between the points, or NULL */
    double noise;            /* mean square of the points' errors */
    uint64_t nsamples;       /* of the points, or of the observations */
    uint64_t pending;        /* samples since */
    bool news;               /* a row has changed since */
    bool fitted;
    bool has_power, has_offset;
    bool by_flops; /* x of the points are flops, not sizes */
    struct orr_power_regression power, offset;
    struct orr_polynomial polynomial; /* coeff owned; NULL: none */
    struct orr_observations observations;
    bool observations_read; /* their file was looked at */
};

void orr_regression_done(struct orr_regression *regression);

/* A sample that the rows keep joins the sums (y = alpha·x^beta). */
void orr_regression_add(struct orr_regression *regression, double size,
                        double duration, uint32_t weight);

/* Makes the regressions through `points`. */
void orr_regression_fit_points(struct orr_regression *regression,
                               const struct orr_point *points, unsigned npoints,
                               uint64_t nsamples);

/* Fits the polynomial through the observations. */
void orr_regression_fit_terms(struct orr_regression *regression,
                              const struct orr_terms *terms);

/* y = alpha·x^beta by the sums of `fit`; false when they do not determine
 * it. */
bool orr_sums_regression(const struct orr_model_fit *fit, double *ret_alpha,
                         double *ret_beta);

/* `fit` joined with what was measured since. */
void orr_sums_join(struct orr_model_fit *fit,
                   const struct orr_model_fit *since);

/* Whether StarPU uses a fit over sizes minx … maxx of n samples. */
bool orr_fit_believed(const struct orr_model_fit *fit, unsigned minimum);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/dependence.h - how much the samples of a series depend on those
 * before them, and the effect on the variance of averages. Used by intervals.c.
 * Pure functions.
 */
#pragma once

/* A series sorted, and as normal scores: each sample is replaced by the
 * standard normal score of its rank, so that neither outliers nor the shape of
 * the distribution matter. */
struct orr_ranked {
    unsigned n;
    double *sorted; /* n values, ascending */
    double *scores; /* n normal scores, in the order of the series */
    double energy;  /* mean square of the scores; 0 for a constant series */
    double untied;  /* the same if no two samples were equal */
    void *memory;   /* owned */
};

/* Ranks n >= 1 samples. End it with orr_ranked_done(). Errors: -ENOMEM. */
int orr_ranked_init(struct orr_ranked *ranked, const double *samples,
                    unsigned n);
void orr_ranked_done(struct orr_ranked *ranked);

/* The estimated dependence. */
struct orr_dependence {
    double phi;     /* lag-1 autocorrelation, free of bias, -0.5 … 0.995 */
    double excess;  /* long-run variance over that of phi, >= 1; above 1 only if
                     * no series of that phi explains the slow changes */
    double freedom; /* degrees of freedom of the long-run variance */
    double n;       /* number of independent samples with as much information */
};

struct orr_dependence orr_dependence_of(const struct orr_ranked *ranked);

/* Variance of the mean of n successive samples of variance 1 with
 * autocorrelations phi^k. */
double orr_variance_of_mean(double phi, unsigned n);

/* Variance of the share, among n successive samples, of those below the
 * median, for normal variables with autocorrelations phi^k under any
 * increasing map. */
double orr_variance_of_share(double phi, unsigned n);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/robust.h - robust statistics of a series of measures: quantiles,
 * outliers, regimes, and intervals valid for measures that depend on each
 * other. Pure functions of arrays; samples are in the order in which they were
 * taken, positive, in any one unit.
 */
#pragma once

#include <stdbool.h>

struct orr_interval {
    double lo, hi; /* NaN: too few samples */
};

/* Series with two separate levels, as with changing clocks. */
struct orr_regime {
    double median;
    double share; /* of the samples, 0 … 1 */
};

/* --- mixtures: mixture.c --- */

/* So many measures are needed, and so many visits to each population. */
#define ORR_MIXTURE_LEAST  96
#define ORR_MIXTURE_VISITS 5

/* Two populations. */
struct orr_mixture {
    double level[2];    /* their medians, the faster first */
    double share;       /* of the slower one, among both */
    double low, high;   /* the 5 % and the 95 % quantile of both together */
    double least, most; /* what is beyond these is in neither */
};

/* Whether the measures of a series are of two populations that come in the same shares
 * throughout, as a kernel has them whose work differs from call to call. Then their mean is
 * what it takes. Levels that follow each other, as when a clock changed, and a few outliers
 * are none. The rule and its errors are in METHODS.md. False: *ret is as it was. scratch has
 * room for n values. The order of the samples may be the reverse. */
bool orr_mixture_find(const double *samples, unsigned n, double *scratch,
                      struct orr_mixture *ret);

/* --- the summary --- */

/* Which of struct orr_summary's quantiles is which. */
enum orr_quantile {
    ORR_Q05,
    ORR_Q25,
    ORR_Q50,
    ORR_Q75,
    ORR_Q95,
    ORR_NQUANTILES
};

struct orr_summary {
    unsigned n;           /* samples, with the outliers */
    unsigned nlow, nhigh; /* outliers set aside, on either side */
    double mean, dev;     /* of what was kept; dev over n, as in model files */
    double min, max;      /* of all */
    double quantiles[ORR_NQUANTILES]; /* of what was kept */
    double autocorrelation; /* lag 1, of what was kept; NaN: too few samples */
    unsigned nregimes;      /* 1 or 2; 0 without samples */
    struct orr_regime regimes[2];  /* the faster first */
    /* Whether the samples, with the outliers, are of two populations that come in the same
     * shares throughout, and these. */
    bool mixed;
    struct orr_mixture mixture;
    struct orr_interval mean_ci;   /* 95 %, of the long-run mean of the kept */
    struct orr_interval median_ci; /* 95 %, of the long-run median */
    struct orr_interval next; /* 95 %, of the median of as many samples more */
};

/* Looks at n samples. Without any, all values are NaN and the counts 0. Outliers are ten
 * times from the median (unless the samples are of two populations), or five deviations
 * beyond the level or levels of the series and more than 2 % and two steps of the clock, and
 * then at most a tenth of the samples (METHODS.md has the rule in full). Errors: -ENOMEM; -EINVAL for a sample that is not
 * finite and positive. */
int orr_summarise(const double *samples, unsigned n, struct orr_summary *ret);

/* Confidence intervals of the given level (0.95) for the median, and the mean,
 * of the stationary process that a series comes from, as its clock shows it;
 * the samples may depend on those before them. Outliers are not set aside: the
 * median is insensitive to them, but they hide how much the samples depend on
 * each other. With 1 % of spikes and phi of 0.9 or more, 87 to 93 % are
 * covered; orr_summarise, which sets them aside, covers 92 to 97 %. Of
 * first-order series of which five samples or more are independent, n (1 - phi)
 * / (1 + phi), 93 to 97 % are covered by 95 % intervals, more if the clock is
 * coarse; below that the interval may end at the extremes of the samples and be
 * too short. NaN for less than 6 samples, or out of memory. */
struct orr_interval orr_median_interval(const double *samples, unsigned n,
                                        double level);
struct orr_interval orr_mean_interval(const double *samples, unsigned n,
                                      double level);

/* Ascending. */
void orr_sort(double *values, unsigned n);

/* Quantile q (0 … 1) of n sorted values, linear between order statistics
 * (Hyndman & Fan 1996, type 7). NaN without values. */
double orr_quantile(const double *sorted, unsigned n, double q);

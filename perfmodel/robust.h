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
    struct orr_interval mean_ci;   /* 95 %, of the long-run mean of the kept */
    struct orr_interval median_ci; /* 95 %, of the long-run median */
    struct orr_interval next; /* 95 %, of the median of as many samples more */
};

/* Looks at n samples. Without any, all values are NaN and the counts 0. Outliers are ten
 * times from the median, or five deviations beyond the level or levels of the series and
 * more than 2 % and two steps of the clock, and then at most a tenth of the samples
 * (METHODS.md has the rule in full). Errors: -ENOMEM; -EINVAL for a sample that is not
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

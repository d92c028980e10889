/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/robust.c - quantiles, outliers and the summary of a series. The
 * rules and reasons are in METHODS.md. Pure functions; each uses memory of its
 * own.
 */
#include "perfmodel/robust.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/robust_private.h"

static int sample_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void orr_sort(double *values, unsigned n)
{
    qsort(values, n, sizeof(*values), sample_compare);
}

double orr_quantile(const double *sorted, unsigned n, double q)
{
    double at = fmax(0, fmin(1, q)) * (n - 1.0);
    unsigned below;

    if (n == 0)
        return NAN;
    below = (unsigned)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

double orr_resolution(const double *sorted, unsigned n)
{
    unsigned often = n / 50 > 2 ? n / 50 : 2, repeated = 0;
    double last = NAN, step = INFINITY;

    for (unsigned i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sorted[end] == sorted[i];)
            end++;
        if (end - i < often)
            continue;
        if (repeated > 0)
            step = fmin(step, sorted[i] - last);
        last = sorted[i];
        repeated += end - i;
    }
    return repeated > n / 2 && isfinite(step) ? step : 0;
}

/* --- outliers --- */

/* Ten times longer or shorter than most is far away: no change of clock does
 * that. Less than 2 %, or than two readings of the clock, is near, however
 * small the spread. In between, five standard deviations are the limit. */
static const double far = 10, far_deviations = 5, near_deviations = 5,
                    near_floor = 0.02, near_ticks = 2.5;

/* So few samples give no spread for the nearer fences. */
enum { FEWEST_FAR = 3, FEWEST_NEAR = 10 };

/* More than one in ten on one side are no outliers but part of the
 * distribution, unless they are far away. */
enum { MOST_NEAR = 10 };

/* Standard deviation of the logarithms of n normal samples whose median
 * distance from `centre` is that of these. Clobbers scratch[0 … n - 1]. */
static double spread_about(const double *sorted, unsigned n, double centre,
                           double *scratch)
{
    for (unsigned i = 0; i < n; i++)
        scratch[i] = fabs(log(sorted[i] / centre));
    orr_sort(scratch, n);
    return 1.4826 * orr_quantile(scratch, n, 0.5);
}

/* What is left of n sorted samples between two fences: first … end - 1. */
struct body {
    unsigned first, end;
};

static struct body body_within(const double *sorted, struct body of, double lo,
                               double hi)
{
    while (of.first < of.end && sorted[of.first] < lo)
        of.first++;
    while (of.end > of.first && sorted[of.end - 1] > hi)
        of.end--;
    return of;
}

/* Between the far fences, which the median and the median distance from it
 * hold: whatever less than half of the samples do (Hampel 1974). */
static struct body far_body(const double *sorted, unsigned n, double *scratch)
{
    double median = orr_quantile(sorted, n, 0.5);
    double spread = spread_about(sorted, n, median, scratch);
    double factor = fmax(far, exp(far_deviations * spread));

    return body_within(sorted, (struct body){0, n}, median / factor,
                       median * factor);
}

/* How far from a level's centre its fence is, as a factor, on the side of the n
 * samples given, by their spread alone. */
static double fence_reach(const double *sorted, unsigned n, double centre,
                          double *scratch)
{
    double spread = spread_about(sorted, n, centre, scratch);

    /* The spread of few samples is itself uncertain. */
    return exp(near_deviations * (1 + 5.0 / n) * spread);
}

/* Between the near fences: below the lower level and above the upper one, which
 * may be the same, each by the spread on that side, for durations are skewed.
 * The lower level has the first `nlower` samples, the upper the last `nupper`.
 */
static struct body near_body(const double *sorted, struct body body,
                             unsigned nlower, unsigned nupper, double *scratch)
{
    const double *first = sorted + body.first;
    unsigned n = body.end - body.first;
    unsigned low = (nlower + 1) / 2, high = (nupper + 1) / 2;
    double lower = orr_quantile(first, nlower, 0.5);
    double upper = orr_quantile(first + n - nupper, nupper, 0.5);
    double ticks = near_ticks * orr_resolution(first, n);
    double lo = lower / fence_reach(first, low, lower, scratch);
    double hi = upper * fence_reach(first + n - high, high, upper, scratch);
    struct body ret;

    lo = fmin(lo, lower - fmax(near_floor * lower, ticks));
    hi = fmax(hi, upper + fmax(near_floor * upper, ticks));
    ret = body_within(sorted, body, lo, hi);
    if ((ret.first - body.first) * MOST_NEAR > n)
        ret.first = body.first;
    if ((body.end - ret.end) * MOST_NEAR > n)
        ret.end = body.end;
    return ret;
}

/* Finds the body of n samples, in order and sorted. Clobbers
 * scratch[0 … n - 1]. */
static int find_body(const double *samples, const double *sorted, unsigned n,
                     const struct orr_summary *summary, double *scratch,
                     struct body *ret)
{
    struct orr_regime regimes[2];
    struct body body = {0, n};
    unsigned count = 0, nregimes, nlower, nupper;
    int rc;

    *ret = body;
    if (n < FEWEST_FAR)
        return 0;
    body = summary->mixed ? body_within(sorted, body, summary->mixture.least,
                                        summary->mixture.most)
                          : far_body(sorted, n, scratch);
    *ret = body;
    if (body.end - body.first < FEWEST_NEAR)
        return 0;
    for (unsigned i = 0; i < n; i++)
        if (samples[i] >= sorted[body.first] &&
            samples[i] <= sorted[body.end - 1])
            scratch[count++] = samples[i];
    rc = orr_regimes(scratch, sorted + body.first, count, regimes, &nregimes);
    if (rc)
        return rc;
    nlower = nregimes == 2 ? (unsigned)lround(regimes[0].share * count) : count;
    nupper = nregimes == 2 ? count - nlower : count;
    *ret = near_body(sorted, body, nlower, nupper, scratch);
    return 0;
}

static double *sorted_copy(const double *samples, unsigned n)
{
    double *ret = malloc((n ? n : 1) * sizeof(*ret));

    if (ret && n) {
        memcpy(ret, samples, n * sizeof(*ret));
        orr_sort(ret, n);
    }
    return ret;
}

/* Sets keep[], and counts those below and above the body. */
static int samples_set_aside(const double *samples, const double *sorted,
                             unsigned n, bool *keep, struct orr_summary *ret)
{
    double *scratch = malloc((n ? n : 1) * sizeof(*scratch));
    struct body body;
    int rc;

    if (!scratch)
        return -ENOMEM;
    ret->mixed = orr_mixture_find(samples, n, scratch, &ret->mixture);
    rc = find_body(samples, sorted, n, ret, scratch, &body);
    free(scratch);
    if (rc)
        return rc;
    for (unsigned i = 0; i < n; i++)
        keep[i] = samples[i] >= sorted[body.first] &&
                  samples[i] <= sorted[body.end - 1];
    ret->nlow = body.first;
    ret->nhigh = n - body.end;
    return 0;
}

/* --- the summary --- */

static const struct orr_summary empty = {
    .mean = NAN,
    .dev = NAN,
    .min = NAN,
    .max = NAN,
    .quantiles = {NAN, NAN, NAN, NAN, NAN},
    .autocorrelation = NAN,
    .regimes = {{NAN, 0}, {NAN, 0}},
    .mean_ci = {NAN, NAN},
    .median_ci = {NAN, NAN},
    .next = {NAN, NAN},
};

/* Mean, deviation and lag-1 autocorrelation; of a constant series that is 0. */
static void take_moments(const double *values, unsigned n,
                         struct orr_summary *ret)
{
    double mean = 0, square = 0, cross = 0;

    for (unsigned i = 0; i < n; i++)
        mean += (values[i] - mean) / (i + 1);
    for (unsigned i = 0; i < n; i++) {
        square += (values[i] - mean) * (values[i] - mean);
        if (i > 0)
            cross += (values[i] - mean) * (values[i - 1] - mean);
    }
    ret->mean = mean;
    ret->dev = sqrt(square / n);
    if (n >= 3)
        ret->autocorrelation = square > 0 ? cross / square : 0;
}

static int summarise_kept(const double *kept, unsigned n,
                          struct orr_summary *ret)
{
    static const double quantiles[ORR_NQUANTILES] = {0.05, 0.25, 0.5, 0.75,
                                                     0.95};
    double *sorted = sorted_copy(kept, n);
    int rc;

    if (!sorted)
        return -ENOMEM;
    for (int i = 0; i < ORR_NQUANTILES; i++)
        ret->quantiles[i] = orr_quantile(sorted, n, quantiles[i]);
    take_moments(kept, n, ret);
    rc = orr_regimes(kept, sorted, n, ret->regimes, &ret->nregimes);
    free(sorted);
    if (rc)
        return rc;
    return orr_intervals(kept, n, n, 0.95, ret);
}

/* The same, of a series that is not empty, with memory for what is kept. */
static int series_summarise(const double *samples, const double *sorted,
                            unsigned n, double *kept, bool *keep,
                            struct orr_summary *ret)
{
    unsigned count = 0;
    int rc = samples_set_aside(samples, sorted, n, keep, ret);

    if (rc)
        return rc;
    for (unsigned i = 0; i < n; i++)
        if (keep[i])
            kept[count++] = samples[i];
    ret->n = n;
    ret->min = sorted[0];
    ret->max = sorted[n - 1];
    return summarise_kept(kept, count, ret);
}

int orr_summarise(const double *samples, unsigned n, struct orr_summary *ret)
{
    struct orr_summary summary = empty;
    double *sorted, *kept;
    bool *keep;
    int rc = -ENOMEM;

    for (unsigned i = 0; i < n; i++)
        if (!isfinite(samples[i]) || samples[i] <= 0)
            return -EINVAL;
    if (n == 0) {
        *ret = summary;
        return 0;
    }
    sorted = sorted_copy(samples, n);
    kept = malloc(n * sizeof(*kept));
    keep = malloc(n * sizeof(*keep));
    if (sorted && kept && keep)
        rc = series_summarise(samples, sorted, n, kept, keep, &summary);
    free(sorted);
    free(kept);
    free(keep);
    if (!rc)
        *ret = summary;
    return rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/intervals.c - intervals for the median and the mean of a series
 * whose samples depend on each other, and for the median of its continuation.
 * The reasons are in METHODS.md. One thread, own memory.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/dependence.h"
#include "perfmodel/distributions.h"
#include "perfmodel/robust.h"
#include "perfmodel/robust_private.h"

static const struct orr_interval unknown = {NAN, NAN};

/* The median is outside n independent samples with probability 2^(1-n): 3 % of
 * 6. What comes next needs some idea of the tails too. */
enum { FEWEST = 6, FEWEST_NEXT = 8 };

static struct orr_interval median_interval(const struct orr_ranked *ranked,
                                           const struct orr_dependence *is,
                                           double level)
{
    unsigned n = ranked->n;
    double share = sqrt(orr_variance_of_share(is->phi, n) * is->excess);
    double below =
        n / 2.0 - n * share * orr_student_within(level, is->freedom) + 0.5;
    unsigned low = below < 1 ? 1 : (unsigned)below;

    return (struct orr_interval){ranked->sorted[low - 1],
                                 ranked->sorted[n - low]};
}

static struct orr_interval mean_interval(const double *samples, unsigned n,
                                         const struct orr_dependence *is,
                                         double level)
{
    double mean = 0, square = 0, share, half;

    for (unsigned i = 0; i < n; i++)
        mean += (samples[i] - mean) / (i + 1); /* exact if constant */
    for (unsigned i = 0; i < n; i++)
        square += (samples[i] - mean) * (samples[i] - mean) / n;
    /* The samples' variance about their own mean lacks that of the mean. */
    share = fmin(0.9, orr_variance_of_mean(is->phi, n) * is->excess);
    /* A third fewer degrees than for ranks, for a mean feels the tails. */
    half = orr_student_within(level, fmax(2, is->freedom * 2 / 3)) *
           sqrt(square * share / (1 - share));
    return (struct orr_interval){fmax(0, mean - half), mean + half};
}

/* --- the median of the continuation --- */

/* Variance of the median of n samples, in units of the distribution's, if that
 * is normal: exact for one sample, and in the long run. */
static double variance_of_median(double phi, unsigned n)
{
    double independent = 0.25 / orr_variance_of_share(phi, n);

    return M_PI_2 / (independent + M_PI_2 - 1);
}

/* Variance of the difference between the medians of n samples and of the m
 * after them, in the same units: those near the border go together. */
static double variance_of_change(double phi, unsigned n, unsigned m)
{
    double a = n, b = m;
    double both = orr_variance_of_share(phi, n + m) * (a + b) * (a + b) -
                  orr_variance_of_share(phi, n) * a * a -
                  orr_variance_of_share(phi, m) * b * b;

    return variance_of_median(phi, n) + variance_of_median(phi, m) -
           2 * M_PI * both / (a * b);
}

/* The value whose normal score is z; beyond the extremes on the line, in
 * logarithms, from the median through the extreme. */
static double value_at(const struct orr_ranked *ranked, double z)
{
    unsigned n = ranked->n;
    double last = orr_normal_quantile((n - 0.375) / (n + 0.25));
    double median = orr_quantile(ranked->sorted, n, 0.5);
    double extreme = ranked->sorted[z < 0 ? 0 : n - 1];

    if (fabs(z) > last)
        return median * pow(extreme / median, fabs(z) / last);
    return orr_quantile(ranked->sorted, n,
                        (orr_normal_below(z) * (n + 0.25) - 0.625) / (n - 1));
}

/* In a sorted stretch of b values one is replaced. */
static void sorted_replace(double *stretch, unsigned b, double old,
                           double value)
{
    unsigned i = 0;

    while (i + 1 < b && stretch[i] != old)
        i++;
    for (; i + 1 < b && stretch[i + 1] < value; i++)
        stretch[i] = stretch[i + 1];
    for (; i > 0 && stretch[i - 1] > value; i--)
        stretch[i] = stretch[i - 1];
    stretch[i] = value;
}

/* Widens *ret to the medians of all stretches of b successive samples. */
static int cover_levels(const double *samples, unsigned n, unsigned b,
                        struct orr_interval *ret)
{
    double *stretch = malloc(b * sizeof(*stretch));

    if (!stretch)
        return -ENOMEM;
    memcpy(stretch, samples, b * sizeof(*stretch));
    orr_sort(stretch, b);
    for (unsigned i = b;; i++) {
        double median = orr_quantile(stretch, b, 0.5);

        ret->lo = fmin(ret->lo, median);
        ret->hi = fmax(ret->hi, median);
        if (i >= n)
            break;
        sorted_replace(stretch, b, samples[i - b], samples[i]);
    }
    free(stretch);
    return 0;
}

static int next_interval(const struct orr_ranked *ranked,
                         const struct orr_dependence *is, const double *samples,
                         unsigned m, double level, struct orr_interval *ret)
{
    unsigned n = ranked->n;
    double change = is->excess * variance_of_change(is->phi, n, m) /
                    (1 - orr_variance_of_mean(is->phi, n));
    double z = orr_student_within(level, is->freedom) * sqrt(change);
    double median = orr_quantile(ranked->sorted, n, 0.5);
    double tick = orr_resolution(ranked->sorted, n);
    struct orr_interval near = {value_at(ranked, -z), value_at(ranked, z)};
    struct orr_interval levels = {median, median};
    int rc;

    if (is->excess > 1) {
        /* Of K exchangeable stretches and one more, that one lies within the
         * others with probability (K - 1) / (K + 1) (Wilks 1941). */
        double b = n * (1 - level) / (1 + level);

        rc = cover_levels(samples, n, (unsigned)fmax(1, fmin(b, m)), &levels);
        if (rc)
            return rc;
    }
    ret->lo = fmax(levels.lo - (median - near.lo) - tick, 0);
    ret->hi = levels.hi + (near.hi - median) + tick;
    return 0;
}

/* --- all of them --- */

int orr_intervals(const double *samples, unsigned n, unsigned m, double level,
                  struct orr_summary *ret)
{
    struct orr_ranked ranked;
    struct orr_dependence is;
    int rc = 0;

    ret->median_ci = ret->mean_ci = ret->next = unknown;
    if (n < FEWEST || exp2(1 - (double)n) > 1 - level)
        return 0;
    rc = orr_ranked_init(&ranked, samples, n);
    if (rc)
        return rc;
    is = orr_dependence_of(&ranked);
    ret->median_ci = median_interval(&ranked, &is, level);
    ret->mean_ci = mean_interval(samples, n, &is, level);
    if (m > 0 && n >= FEWEST_NEXT)
        rc = next_interval(&ranked, &is, samples,
                           m < UINT_MAX - n ? m : UINT_MAX - n, level,
                           &ret->next);
    orr_ranked_done(&ranked);
    return rc;
}

struct orr_interval orr_median_interval(const double *samples, unsigned n,
                                        double level)
{
    struct orr_summary summary;

    return orr_intervals(samples, n, 0, level, &summary) ? unknown
                                                         : summary.median_ci;
}

struct orr_interval orr_mean_interval(const double *samples, unsigned n,
                                      double level)
{
    struct orr_summary summary;

    return orr_intervals(samples, n, 0, level, &summary) ? unknown
                                                         : summary.mean_ci;
}

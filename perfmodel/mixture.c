/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmodel/mixture.c - whether a series is of two populations: see robust.h. */
#include "perfmodel/robust.h"

#include <math.h>
#include <string.h>

/* The smaller population has such a share. With less, and on one side of the others, are
 * outliers, of which there are no more than a tenth. */
static const double least_share = 0.05, most_outliers = 0.1;

/* Populations that are less apart both count anyway. Where they are further apart other
 * programs had the processor, for a time slice or more. */
static const double least_apart = 1.5, most_apart = 24;

/* Distance of the means of the logarithms over their spread (Ashman, Bird & Zepf 1994):
 * the halves of a normal distribution have 2.65. */
static const double least_distance = 3;

/* So far above the median of all is no mean that is taken. */
static const double most_mean = 10;

/* In so many measures there is a visit to each population: a cycle that takes longer is a
 * change of levels in all but the longest series. */
enum { LONGEST_CYCLE = 32 };

/* Homogeneity: parts of the series, and the 99 % quantile of chi squared with one degree
 * less (11.34 for 3). */
enum { PARTS = 4 };
static const double chi_limit = 11.34;

/* Sorted values first … end - 1 of which those from `split` on are the slower ones. */
struct cut {
    unsigned first, split, end;
};

/* The two-means split of the logarithms: the most variance between the classes (Fisher
 * 1958, Otsu 1979). */
static void cut_in_two(const double *sorted, struct cut *cut)
{
    unsigned n = cut->end - cut->first;
    double total = 0, below = 0, best = -1;

    for (unsigned i = cut->first; i < cut->end; i++)
        total += log(sorted[i] / sorted[cut->first]);
    for (unsigned i = 1; i < n; i++) {
        double apart;

        below += log(sorted[cut->first + i - 1] / sorted[cut->first]);
        apart = below / i - (total - below) / (n - i);
        apart *= apart * i * (n - i);
        if (apart > best) {
            best = apart;
            cut->split = cut->first + i;
        }
    }
}

/* Cuts n sorted values, less the outliers, which are cut off first; false: one side is too
 * small to be a population, and too large to be outliers. */
static bool cut_populations(const double *sorted, unsigned n, struct cut *ret)
{
    *ret = (struct cut){.end = n};
    while (n - (ret->end - ret->first) <= most_outliers * n &&
           ret->end - ret->first > 1) {
        cut_in_two(sorted, ret);
        if (ret->end - ret->split < least_share * n)
            ret->end = ret->split;
        else if (ret->split - ret->first < least_share * n)
            ret->first = ret->split;
        else
            return true;
    }
    return false;
}

static double mean_of(const double *values, unsigned n)
{
    double sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += values[i] / n;
    return sum;
}

static void log_moments(const double *values, unsigned n, double *ret_mean,
                        double *ret_variance)
{
    double mean = 0, square = 0;

    for (unsigned i = 0; i < n; i++)
        mean += log(values[i]) / n;
    for (unsigned i = 0; i < n; i++)
        square += (log(values[i]) - mean) * (log(values[i]) - mean);
    *ret_mean = mean;
    *ret_variance = square / n;
}

/* Whether the populations are two, rather than halves of one. */
static bool are_separate(const double *sorted, const struct cut *cut)
{
    double mean[2], variance[2];

    log_moments(sorted + cut->first, cut->split - cut->first, &mean[0],
                &variance[0]);
    log_moments(sorted + cut->split, cut->end - cut->split, &mean[1],
                &variance[1]);
    return mean[1] - mean[0] >=
           least_distance * sqrt((variance[0] + variance[1]) / 2);
}

/* What the order of the samples says of a cut. */
struct order {
    unsigned n, slow;   /* in both, in the slower one */
    unsigned visits[2]; /* rows of samples of one population */
    struct part {
        unsigned n, slow,
            changes; /* changes: neighbours that are in different ones */
    } part[PARTS];
};

static struct order order_of(const double *samples, unsigned n,
                             const struct orr_mixture *m, double border)
{
    struct order ret = {0};
    int before = -1, part_before = -1;

    for (unsigned i = 0; i < n; i++) {
        int at = (int)((unsigned long)i * PARTS / n),
            slow = samples[i] >= border;
        struct part *part = &ret.part[at];

        if (samples[i] < m->least || samples[i] > m->most)
            continue;
        ret.n++;
        ret.slow += (unsigned)slow;
        ret.visits[slow] += slow != before;
        part->n++;
        part->slow += (unsigned)slow;
        part->changes += at == part_before && slow != before;
        before = slow;
        part_before = at;
    }
    return ret;
}

/* Pearson's chi squared of the shares in the parts. Neighbours resemble each other: of a
 * Markov chain of two states so many are independent as the autocorrelation phi of its
 * indicator leaves, n (1 - phi) / (1 + phi). phi is that within the parts, which a share
 * that differs between them does not change. */
static double inhomogeneity(const struct order *o)
{
    double share = (double)o->slow / o->n, sum = 0, changes = 0, expected = 0,
           phi;

    for (unsigned i = 0; i < PARTS; i++) {
        const struct part *part = &o->part[i];
        double off = part->slow - share * part->n;

        if (part->n == 0)
            return (double)INFINITY;
        sum += off * off / (part->n * share * (1 - share));
        changes += part->changes;
        expected += 2.0 * part->slow * (part->n - part->slow) / part->n;
    }
    phi = expected > 0 ? fmin(0.9, fmax(0, 1 - changes / expected)) : 0;
    return sum * (1 - phi) / (1 + phi);
}

bool orr_mixture_find(const double *samples, unsigned n, double *scratch,
                      struct orr_mixture *ret)
{
    struct orr_mixture found;
    struct order order;
    struct cut cut;
    unsigned visits;

    if (n < ORR_MIXTURE_LEAST)
        return false;
    memcpy(scratch, samples, n * sizeof(*scratch));
    orr_sort(scratch, n);
    if (!cut_populations(scratch, n, &cut))
        return false;
    found = (struct orr_mixture){
        .level = {orr_quantile(scratch + cut.first, cut.split - cut.first, 0.5),
                  orr_quantile(scratch + cut.split, cut.end - cut.split, 0.5)},
        .low = orr_quantile(scratch + cut.first, cut.end - cut.first, 0.05),
        .high = orr_quantile(scratch + cut.first, cut.end - cut.first, 0.95),
        .least = scratch[cut.first],
        .most = scratch[cut.end - 1],
    };
    if (!(found.level[1] >= found.level[0] * least_apart) ||
        found.level[1] > found.level[0] * most_apart ||
        !are_separate(scratch, &cut))
        return false;
    if (mean_of(scratch + cut.first, cut.end - cut.first) >
        most_mean * orr_quantile(scratch, n, 0.5))
        return false;
    order = order_of(samples, n, &found, scratch[cut.split]);
    visits = n / LONGEST_CYCLE > ORR_MIXTURE_VISITS ? n / LONGEST_CYCLE
                                                    : ORR_MIXTURE_VISITS;
    if (order.visits[0] < visits || order.visits[1] < visits ||
        inhomogeneity(&order) > chi_limit)
        return false;
    found.share = (double)order.slow / order.n;
    *ret = found;
    return true;
}

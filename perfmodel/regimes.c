/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/regimes.c - whether a series has one level or two, as with changing
 * clocks. The reasons are in METHODS.md. One thread, own memory.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "perfmodel/robust_private.h"

/* The smaller level has so many samples, and such a share of all. */
enum { FEWEST = 5 };
static const double least_share = 0.1;

/* sqrt(n) times the dip of n uniform samples, the least favourable with a
 * single mode, exceeds this in 0.5 % of all cases (0.58 for n = 30, 0.65 for
 * n = 500, 0.67 for n = 1000, by simulation). */
static const double dip_limit = 0.65;

/* Distance of the levels over their spread (Ashman, Bird & Zepf 1994): below 2
 * they are no levels, and with the spread of the halves around them a uniform
 * distribution has sqrt(12) = 3.46, all others with a single mode less. Of n
 * uniform samples 0.5 % have more than sqrt(12) (1 + 4 / sqrt(n)), by
 * simulation for n = 30 … 1000. */
static const double least_distance = 3, uniform_distance = 3.464,
                    distance_margin = 4;

/* Logarithms of sorted samples; what the clock rounded to one reading is spread
 * evenly over its step, for else each reading were a mode. */
static void take_logs(const double *sorted, unsigned n, double *ret)
{
    double tick = orr_resolution(sorted, n);

    for (unsigned i = 0, end; i < n; i = end) {
        double step = fmin(tick, sorted[i]);

        for (end = i + 1; end < n && sorted[end] == sorted[i];)
            end++;
        for (unsigned k = i; k < end; k++)
            ret[k] = log(sorted[i] + step * ((k - i + 0.5) / (end - i) - 0.5));
    }
}

struct halves {
    unsigned split; /* samples of the lower */
    double level[2], spread[2];
};

/* The two-means split: the most variance between the classes (Fisher 1958, Otsu
 * 1979). */
static unsigned best_split(const double *logs, unsigned n)
{
    double total = 0, below = 0, best = -1;
    unsigned ret = 1;

    for (unsigned i = 0; i < n; i++)
        total += logs[i] - logs[0];
    for (unsigned i = 1; i < n; i++) {
        double apart;

        below += logs[i - 1] - logs[0];
        apart = below / i - (total - below) / (n - i);
        apart *= apart * i * (n - i);
        if (apart > best) {
            best = apart;
            ret = i;
        }
    }
    return ret;
}

static double deviation(const double *values, unsigned n)
{
    double mean = 0, square = 0;

    for (unsigned i = 0; i < n; i++)
        mean += values[i] / n;
    for (unsigned i = 0; i < n; i++)
        square += (values[i] - mean) * (values[i] - mean);
    return sqrt(square / n);
}

static struct halves split_in_halves(const double *logs, unsigned n)
{
    struct halves ret = {.split = best_split(logs, n)};
    unsigned k = ret.split;

    ret.level[0] = orr_quantile(logs, k, 0.5);
    ret.level[1] = orr_quantile(logs + k, n - k, 0.5);
    ret.spread[0] = deviation(logs, k);
    ret.spread[1] = deviation(logs + k, n - k);
    return ret;
}

/* Lag-1 autocorrelation that is left once each sample has lost the level of its
 * class, at least 0. */
static double residual_autocorrelation(const double *samples, unsigned n,
                                       double border,
                                       const struct halves *halves)
{
    double last = 0, square = 0, cross = 0;

    for (unsigned i = 0; i < n; i++) {
        double value = log(samples[i]);

        value -= halves->level[value >= border];
        square += value * value;
        cross += i > 0 ? value * last : 0;
        last = value;
    }
    if (square <= 0)
        return 0;
    return fmin(0.995, fmax(0, (n * cross / square + 1) / (n - 3.0)));
}

/* Whether n independent samples with that dip and those halves come from two
 * levels. The dip finds those of like size that overlap, the distance those of
 * which one is rare. */
static bool is_two(const struct halves *h, double dip, double n)
{
    double spread =
        sqrt((h->spread[0] * h->spread[0] + h->spread[1] * h->spread[1]) / 2);
    double apart = h->level[1] - h->level[0];

    if (apart > uniform_distance * (1 + distance_margin / sqrt(n)) * spread)
        return true;
    return apart > least_distance * spread && dip * sqrt(n) > dip_limit;
}

/* The halves of n sorted samples of which the smaller is large enough for a
 * level and further from the other than two readings of the clock. */
static bool may_be_two(const double *sorted, unsigned n, const struct halves *h)
{
    unsigned smaller = h->split < n - h->split ? h->split : n - h->split;

    return smaller >= FEWEST && smaller >= least_share * n &&
           exp(h->level[1]) - exp(h->level[0]) >
               1.5 * orr_resolution(sorted, n);
}

int orr_regimes(const double *samples, const double *sorted, unsigned n,
                struct orr_regime *ret, unsigned *ret_n)
{
    double *logs, dip, phi, border;
    struct halves h;
    int rc;

    ret[0] = (struct orr_regime){orr_quantile(sorted, n, 0.5), 1};
    ret[1] = (struct orr_regime){NAN, 0};
    *ret_n = 1;
    if (n < 2 * FEWEST || sorted[0] == sorted[n - 1])
        return 0;
    logs = malloc(n * sizeof(*logs));
    if (!logs)
        return -ENOMEM;
    take_logs(sorted, n, logs);
    h = split_in_halves(logs, n);
    rc = orr_dip(logs, n, &dip);
    border = (logs[h.split - 1] + logs[h.split]) / 2;
    free(logs);
    if (rc)
        return rc;
    phi = residual_autocorrelation(samples, n, border, &h);
    if (!may_be_two(sorted, n, &h) ||
        !is_two(&h, dip, n * (1 - phi) / (1 + phi)))
        return 0;
    ret[0].median = orr_quantile(sorted, h.split, 0.5);
    ret[0].share = (double)h.split / n;
    ret[1].median = orr_quantile(sorted + h.split, n - h.split, 0.5);
    ret[1].share = 1 - ret[0].share;
    *ret_n = 2;
    return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-robust.c - what looking at a series costs: µs per
 * orr_summarise() of independent samples, of ones that depend on each other,
 * and of two levels that alternate, beside sorting them once. One line per
 * measurement: name, parameters, value, unit, spread, ratio. One thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/robust.h"
#include "perfmodel/robust_private.h"
#include "tests/bench/bench.h"
#include "tests/unit/random_series.h"

enum { REPEATS = 25, LONGEST = 1000 };

enum { INDEPENDENT, DEPENDENT, TWO_LEVELS, NKINDS };
static const char *const kinds[] = {"independent", "dependent", "two-levels"};

static double now_us(void)
{
    return bench_now_ns(CLOCK_MONOTONIC) / 1e3;
}

static void draw(int kind, unsigned n, double *ret)
{
    uint64_t rng = rng_of(1 + (unsigned)kind);

    rng_ar1(&rng, kind == DEPENDENT ? 0.98 : 0, ret, n);
    for (unsigned i = 0; i < n; i++)
        ret[i] =
            (kind == TWO_LEVELS && i / 50 % 2 ? 110 : 100) * exp(0.01 * ret[i]);
}

static double summarise(const double *samples, unsigned n)
{
    struct orr_summary summary;
    double begin = now_us();

    if (orr_summarise(samples, n, &summary))
        exit(1);
    return now_us() - begin;
}

static double sort(const double *samples, unsigned n)
{
    double copy[LONGEST], begin;

    memcpy(copy, samples, n * sizeof(*copy));
    begin = now_us();
    orr_sort(copy, n);
    return now_us() - begin;
}

int main(void)
{
    static const unsigned lengths[] = {128, 1000};
    double samples[LONGEST], ours[REPEATS], sorting[REPEATS];

    for (int l = 0; l < 2; l++)
        for (int kind = 0; kind < NKINDS; kind++) {
            unsigned n = lengths[l];
            double median;

            draw(kind, n, samples);
            for (int k = 0; k < REPEATS; k++) {
                ours[k] = summarise(samples, n);
                sorting[k] = sort(samples, n);
            }
            orr_sort(ours, REPEATS);
            orr_sort(sorting, REPEATS);
            median = orr_quantile(ours, REPEATS, 0.5);
            printf("bench summarise %s n=%u %.1f us spread %.1f ratio-to-sort "
                   "%.1f\n",
                   kinds[kind], n, median,
                   orr_quantile(ours, REPEATS, 0.75) -
                       orr_quantile(ours, REPEATS, 0.25),
                   median / orr_quantile(sorting, REPEATS, 0.5));
        }
    return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/bench/bench.h - what benchmarks share: a clock, values in order. */
#pragma once

#include <stdlib.h>
#include <time.h>

/* CLOCK_MONOTONIC, or CLOCK_THREAD_CPUTIME_ID, which other programs do not
 * move; ns. */
static inline double bench_now_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts n > 0 values and returns the median. */
static inline double bench_median(double *values, unsigned n)
{
    qsort(values, n, sizeof(*values), bench_compare);
    return values[n / 2];
}

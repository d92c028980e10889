/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-coverage.c - how often 95 % intervals cover what
 * they are for: seeded first-order series of known median and mean. Prints a
 * table. usage: test-perfmodel-coverage [all]
 * `all` looks at every combination; without, at some, within seconds.
 */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/robust_private.h"
#include "tests/unit/perfmodel_util.h"
#include "tests/unit/random_series.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { REPEATS = 2000, LONGEST = 2000 };

static const double phis[] = {0, 0.3, 0.5, 0.8, 0.9, 0.95, 0.98};
static const unsigned lengths[] = {100, 250, 500, 1000, 2000};

/* Of these combinations only, unless all are requested. */
static const struct {
    double phi;
    unsigned n;
} quick[] = {{0, 100},   {0.5, 250},  {0.8, 100},  {0.9, 250},
             {0.9, 500}, {0.95, 500}, {0.98, 1000}};

/* How samples come from standard normal variables. */
static const struct marginal {
    const char *name;
    double sigma;
    bool logarithmic;
    double step; /* of the clock; 0: none */
    bool quick;
} marginals[] = {
    {"normal, sigma 5 %", 0.05, false, 0, true},
    {"log-normal, sigma 0.1", 0.1, true, 0, false},
    {"log-normal, sigma 0.5", 0.5, true, 0, false},
    {"normal, sigma 5 %, in steps of 2 %", 0.05, false, 2, true},
    {"normal, sigma 5 %, in steps of 5 %", 0.05, false, 5, false},
    {"normal, sigma 1 %, in steps of 2 %", 0.01, false, 2, false},
};

enum { MEDIAN, MEAN, NEXT, NKINDS };
static const char *const kinds[] = {"median", "mean", "next median"};

static bool all;

static double effective(double phi, unsigned n)
{
    return n * (1 - phi) / (1 + phi);
}

static bool is_wanted(double phi, unsigned n)
{
    if (all)
        return effective(phi, n) > 5;
    for (int i = 0; i < COUNT(quick); i++)
        if (quick[i].phi == phi && quick[i].n == n)
            return true;
    return false;
}

static void draw(uint64_t *rng, const struct marginal *marginal, double phi,
                 double *ret, unsigned n)
{
    rng_ar1(rng, phi, ret, n);
    for (unsigned i = 0; i < n; i++) {
        double z = marginal->sigma * ret[i];

        ret[i] = 100 * (marginal->logarithmic ? exp(z) : 1 + z);
        if (marginal->step > 0)
            ret[i] = marginal->step * round(ret[i] / marginal->step);
    }
}

static double median_of(double *values, unsigned n)
{
    orr_sort(values, n);
    return orr_quantile(values, n, 0.5);
}

/* The shares of REPEATS series whose intervals cover. */
static void measure(const struct marginal *marginal, double phi, unsigned n,
                    double covered[NKINDS])
{
    double sigma = marginal->sigma;
    double series[2 * LONGEST], truth[NKINDS] = {100, 100};

    if (marginal->logarithmic)
        truth[MEAN] = 100 * exp(sigma * sigma / 2);
    for (int k = 0; k < NKINDS; k++)
        covered[k] = 0;
    for (unsigned seed = 0; seed < REPEATS; seed++) {
        uint64_t rng = rng_of(seed + 100003 * (uint64_t)n);
        struct orr_summary s;
        const struct orr_interval *intervals[NKINDS] = {&s.median_ci,
                                                        &s.mean_ci, &s.next};

        draw(&rng, marginal, phi, series, 2 * n);
        ck_assert_int_eq(orr_intervals(series, n, n, 0.95, &s), 0);
        truth[NEXT] = median_of(series + n, n);
        for (int k = 0; k < NKINDS; k++)
            covered[k] +=
                (intervals[k]->lo <= truth[k] && truth[k] <= intervals[k]->hi) /
                (double)REPEATS;
    }
}

/* What must hold. Medians of a coarse clock's readings are covered more often
 * than requested: a reading stands for many samples. A mean feels the skew of a
 * wide log-normal distribution, where few samples are independent. */
static bool is_in_bounds(const struct marginal *marginal, int kind,
                         double covered)
{
    double least = 0.93;

    if (kind == MEAN && marginal->logarithmic && marginal->sigma > 0.3)
        least = 0.92;
    if (marginal->step > 0)
        return covered >= least;
    return covered >= least && covered <= 0.97;
}

START_TEST(intervals_cover_93_to_97_percent)
{
    const struct marginal *marginal = &marginals[_i];
    unsigned outside = 0;

    printf("# %s\n#   phi     n  independent  median    mean  next median\n",
           marginal->name);
    for (int p = 0; p < COUNT(phis); p++)
        for (int l = 0; l < COUNT(lengths); l++) {
            double n = effective(phis[p], lengths[l]), covered[NKINDS];

            if (!is_wanted(phis[p], lengths[l]))
                continue;
            measure(marginal, phis[p], lengths[l], covered);
            printf("# %5.2f %5u  %11.1f   %.3f   %.3f   %.3f\n", phis[p],
                   lengths[l], n, covered[MEDIAN], covered[MEAN],
                   covered[NEXT]);
            for (int k = 0; k < NKINDS; k++)
                if (!is_in_bounds(marginal, k, covered[k])) {
                    printf("#     outside: %s\n", kinds[k]);
                    outside++;
                }
        }
    fflush(stdout);
    ck_assert_uint_eq(outside, 0);
}
END_TEST

START_TEST(few_independent_samples_are_covered_at_least_as_often)
{
    static const unsigned few[] = {8, 10, 15, 20, 30, 50};
    double covered[NKINDS];

    for (int i = 0; i < COUNT(few); i++) {
        measure(&marginals[0], 0, few[i], covered);
        printf("# n = %u: %.3f %.3f %.3f\n", few[i], covered[MEDIAN],
               covered[MEAN], covered[NEXT]);
        fflush(stdout);
        for (int k = 0; k < NKINDS; k++)
            ck_assert_double_ge(covered[k], 0.93);
    }
}
END_TEST

/* {level, by how much coverage may differ} */
static const double levels[][2] = {{0.5, 0.04}, {0.8, 0.03}, {0.99, 0.008}};

START_TEST(other_levels_are_covered_as_often_as_requested)
{
    double level = levels[_i][0], series[500], covered[NKINDS] = {0};

    for (unsigned seed = 0; seed < REPEATS; seed++) {
        uint64_t rng = rng_of(seed);
        struct orr_summary s;
        double next;

        draw(&rng, &marginals[0], 0.5, series, 500);
        ck_assert_int_eq(orr_intervals(series, 250, 250, level, &s), 0);
        next = median_of(series + 250, 250);
        covered[MEDIAN] += s.median_ci.lo <= 100 && 100 <= s.median_ci.hi;
        covered[MEAN] += s.mean_ci.lo <= 100 && 100 <= s.mean_ci.hi;
        covered[NEXT] += s.next.lo <= next && next <= s.next.hi;
    }
    printf("# level %g: %.3f %.3f %.3f\n", level, covered[MEDIAN] / REPEATS,
           covered[MEAN] / REPEATS, covered[NEXT] / REPEATS);
    fflush(stdout);
    for (int k = 0; k < NKINDS; k++)
        ck_assert_double_eq_tol(covered[k] / REPEATS, level, levels[_i][1]);
}
END_TEST

SUITE_MAIN(perfmodel_coverage)
{
    Suite *suite = suite_create("perfmodel-coverage");
    TCase *tc = tcase_create("all");

    all = argc > 1 && strcmp(argv[1], "all") == 0;
    tcase_set_timeout(tc, all ? 3600 : 100);
    for (int i = 0; i < COUNT(marginals); i++)
        if (all || marginals[i].quick)
            tcase_add_loop_test(tc, intervals_cover_93_to_97_percent, i, i + 1);
    tcase_add_test(tc, few_independent_samples_are_covered_at_least_as_often);
    tcase_add_loop_test(tc, other_levels_are_covered_as_often_as_requested, 0,
                        COUNT(levels));
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

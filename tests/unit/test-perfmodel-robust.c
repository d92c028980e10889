/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-robust.c - quantiles, outliers, regimes and the
 * summary of series that are made here, seeded. Whether intervals cover what
 * they predict is test-perfmodel-coverage.c. One thread.
 */
#include "perfmodel/robust.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/distributions.h"
#include "perfmodel/robust_private.h"
#include "tests/unit/perfmodel_util.h"
#include "tests/unit/random_series.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { MOST = 1000 };

/* --- quantiles --- */

/* As R's quantile(type = 7) defines it. */
static const struct {
    unsigned n;
    double values[5], q, expected;
} quantiles[] = {
    {1, {7}, 0.3, 7},
    {2, {1, 2}, 0.25, 1.25},
    {4, {1, 2, 3, 10}, 0.5, 2.5},
    {5, {1, 2, 4, 8, 16}, 0.9, 12.8},
    {5, {1, 2, 4, 8, 16}, 0, 1},
    {5, {1, 2, 4, 8, 16}, 1, 16},
    {5, {1, 2, 4, 8, 16}, 0.05, 1.2},
};

START_TEST(quantiles_are_those_of_type_seven)
{
    ck_assert_double_eq_tol(
        orr_quantile(quantiles[_i].values, quantiles[_i].n, quantiles[_i].q),
        quantiles[_i].expected, 1e-12);
}
END_TEST

START_TEST(no_values_have_no_quantile)
{
    ck_assert_double_nan(orr_quantile(NULL, 0, 0.5));
}
END_TEST

/* As tables have them. */
START_TEST(quantiles_of_distributions_are_those_of_tables)
{
    ck_assert_double_eq_tol(orr_normal_quantile(0.975), 1.959964, 1e-6);
    ck_assert_double_eq_tol(orr_normal_quantile(0.5), 0, 1e-12);
    ck_assert_double_eq_tol(orr_normal_quantile(1e-9), -5.997807, 1e-6);
    ck_assert_double_eq_tol(orr_normal_below(1.644854), 0.95, 1e-6);
    ck_assert_double_eq_tol(orr_student_within(0.95, 1), 12.7062, 1e-3);
    ck_assert_double_eq_tol(orr_student_within(0.95, 2), 4.3027, 3e-3);
    ck_assert_double_eq_tol(orr_student_within(0.95, 2.5), 3.574655, 1e-3);
    ck_assert_double_eq_tol(orr_student_within(0.95, 10), 2.228139, 1e-5);
    ck_assert_double_eq_tol(orr_student_within(0.99, 4), 4.604095, 1e-4);
    ck_assert_double_eq_tol(orr_student_within(0.999, 3), 12.924, 1e-3);
    ck_assert_double_eq_tol(orr_student_within(0.999, 10), 4.587, 1e-3);
    ck_assert_double_eq_tol(orr_student_within(0.5, 30), 0.682756, 1e-5);
    ck_assert_double_eq_tol(orr_student_within(0.95, 1e9), 1.959964, 1e-5);
}
END_TEST

/* By a linear program over all distributions with one mode. */
static const struct {
    unsigned n;
    double sorted[10], dip;
} dips[] = {
    {6, {1, 2, 4, 8, 16, 32}, 1.0 / 12}, /* 1 / 2n, the least */
    {6, {1, 2, 3, 10, 11, 12.5}, 0.1842105263},
    {8, {0.1, 0.2, 0.4, 0.5, 2, 2.1, 2.3, 3}, 0.15625},
    {10, {1, 5, 6, 7, 8, 20, 21, 22.5, 24, 40}, 0.15},
    {10, {1, 1.5, 2, 9, 9.25, 10, 17, 18, 18.5, 30}, 0.13125},
};

START_TEST(dip_is_the_distance_to_the_nearest_single_mode)
{
    double dip;

    ck_assert_int_eq(orr_dip(dips[_i].sorted, dips[_i].n, &dip), 0);
    ck_assert_double_eq_tol(dip, dips[_i].dip, 1e-9);
}
END_TEST

/* --- few samples, odd ones --- */

START_TEST(no_samples_have_no_summary)
{
    struct orr_summary s;

    ck_assert_int_eq(orr_summarise(NULL, 0, &s), 0);
    ck_assert_uint_eq(s.n + s.nlow + s.nhigh + s.nregimes, 0);
    ck_assert_double_nan(s.mean);
    ck_assert_double_nan(s.quantiles[ORR_Q50]);
    ck_assert_double_nan(s.min);
    ck_assert_double_nan(s.median_ci.lo);
    ck_assert_double_nan(s.next.hi);
}
END_TEST

START_TEST(few_samples_have_estimates_but_no_intervals)
{
    static const double samples[] = {4, 5, 3};
    static const double medians[] = {4, 4.5, 4};
    struct orr_summary s;
    unsigned n = (unsigned)_i;

    ck_assert_int_eq(orr_summarise(samples, n, &s), 0);
    ck_assert_uint_eq(s.n, n);
    ck_assert_uint_eq(s.nlow + s.nhigh, 0);
    ck_assert_double_eq(s.quantiles[ORR_Q50], medians[n - 1]);
    ck_assert_uint_eq(s.nregimes, 1);
    ck_assert_double_eq(s.regimes[0].share, 1);
    ck_assert_double_eq_tol(s.dev, n == 1 ? 0 : n == 2 ? 0.5 : 0.81650, 1e-5);
    ck_assert_double_nan(s.median_ci.lo);
    ck_assert_double_nan(s.mean_ci.hi);
    ck_assert_double_nan(s.next.lo);
    if (n < 3)
        ck_assert_double_nan(s.autocorrelation);
}
END_TEST

START_TEST(a_constant_series_has_intervals_of_no_width)
{
    double samples[100];
    struct orr_summary s;

    for (int i = 0; i < 100; i++)
        samples[i] = 12.5;
    for (unsigned n = 8; n <= 100; n += 46) {
        ck_assert_int_eq(orr_summarise(samples, n, &s), 0);
        ck_assert_uint_eq(s.nlow + s.nhigh, 0);
        ck_assert_uint_eq(s.nregimes, 1);
        ck_assert_double_eq(s.dev, 0);
        ck_assert_double_eq(s.median_ci.lo, 12.5);
        ck_assert_double_eq(s.median_ci.hi, 12.5);
        ck_assert_double_eq(s.mean_ci.lo, 12.5);
        ck_assert_double_eq(s.mean_ci.hi, 12.5);
        ck_assert_double_eq(s.next.lo, 12.5);
        ck_assert_double_eq(s.next.hi, 12.5);
    }
}
END_TEST

START_TEST(what_is_no_duration_is_refused)
{
    static const double bad[] = {0, -1, NAN, INFINITY};
    double samples[3] = {1, 1, bad[_i]};
    struct orr_summary s = {.n = 77};

    ck_assert_int_eq(orr_summarise(samples, 3, &s), -EINVAL);
    ck_assert_uint_eq(s.n, 77);
}
END_TEST

/* --- outliers --- */

static const double sigmas[] = {0.003, 0.01, 0.03, 0.1};

START_TEST(every_spike_of_a_hundred_is_set_aside_and_little_else)
{
    double samples[MOST];
    struct orr_summary s;

    for (unsigned seed = 0; seed < 200; seed++) {
        uint64_t rng = rng_of(100 * seed + (unsigned)_i);
        unsigned n = 50 + seed * 950 / 199, nspikes = 0;

        for (unsigned i = 0; i < n; i++) {
            bool spike = rng_uniform(&rng) < 0.01;

            nspikes += spike;
            samples[i] =
                190 * exp(sigmas[_i] * rng_normal(&rng)) * (spike ? 100 : 1);
        }
        ck_assert_int_eq(orr_summarise(samples, n, &s), 0);
        ck_assert_uint_ge(s.nhigh, nspikes);
        ck_assert_uint_le(s.nlow + s.nhigh, nspikes + 1 + n / 500);
        /* Half a percent, and the error of n samples. */
        ck_assert_double_eq_tol(s.mean /
                                    (190 * exp(sigmas[_i] * sigmas[_i] / 2)),
                                1, 0.005 + 3.5 * sigmas[_i] / sqrt(n));
    }
}
END_TEST

START_TEST(log_normal_means_are_not_biased_by_the_rule)
{
    double samples[MOST], total = 0;
    struct orr_summary s;
    enum { REPEATS = 300 };

    for (unsigned seed = 0; seed < REPEATS; seed++) {
        uint64_t rng = rng_of(seed);

        for (unsigned i = 0; i < MOST; i++)
            samples[i] = exp(sigmas[_i] * rng_normal(&rng));
        ck_assert_int_eq(orr_summarise(samples, MOST, &s), 0);
        total += s.mean / REPEATS;
    }
    ck_assert_double_eq_tol(total / exp(sigmas[_i] * sigmas[_i] / 2), 1, 5e-4);
}
END_TEST

/* {samples, how many are spikes, whether these come first} */
static const struct {
    unsigned n, nspikes;
    bool first;
} dozens[] = {{30, 12, true},  {30, 12, false},  {41, 20, true},
              {100, 12, true}, {1000, 12, true}, {1000, 12, false},
              {12, 5, true},   {3, 1, true}};

START_TEST(a_dozen_spikes_move_neither_mean_nor_median)
{
    unsigned n = dozens[_i].n, nspikes = dozens[_i].nspikes;
    double samples[MOST];
    struct orr_summary s;

    for (unsigned seed = 0; seed < 300; seed++) {
        uint64_t rng = rng_of(seed);
        double error = 3.7 * 0.03 / sqrt(n - nspikes);

        for (unsigned i = 0; i < n; i++)
            samples[i] = 190 * (1 + 0.03 * rng_normal(&rng));
        for (unsigned k = 0; k < nspikes; k++)
            samples[dozens[_i].first ? k : k * n / nspikes] =
                70000 * (1 + 0.1 * rng_normal(&rng));
        ck_assert_int_eq(orr_summarise(samples, n, &s), 0);
        ck_assert_uint_ge(s.nhigh, nspikes);
        ck_assert_uint_le(s.nlow + s.nhigh, nspikes + 2);
        ck_assert_double_eq_tol(s.mean, 190, 190 * error);
        ck_assert_double_eq_tol(s.quantiles[ORR_Q50], 190, 190 * error * 1.25);
        ck_assert_uint_eq(s.nregimes, 1);
    }
}
END_TEST

/* A kernel of `centre` ± `sigma` seen by a clock of step 1. */
static const struct {
    double centre, sigma;
} coarse[] = {{1.2, 0.3}, {5, 0.1}, {5, 0.5}, {5.5, 0.2}, {20, 1},
              {20, 0.3},  {87, 1},  {400, 2}, {9000, 3}};

START_TEST(a_coarse_clock_makes_no_outliers_and_no_regimes)
{
    double samples[MOST];
    struct orr_summary s;

    for (unsigned seed = 0; seed < 100; seed++) {
        uint64_t rng = rng_of(seed);
        unsigned n = 30 + seed * 970 / 99;

        for (unsigned i = 0; i < n; i++)
            samples[i] = fmax(1, round(coarse[_i].centre +
                                       coarse[_i].sigma * rng_normal(&rng)));
        ck_assert_int_eq(orr_summarise(samples, n, &s), 0);
        ck_assert_uint_le(s.nlow + s.nhigh, 1 + n / 50);
        ck_assert_uint_eq(s.nregimes, 1);
    }
}
END_TEST

START_TEST(nearly_constant_series_lose_nothing)
{
    double samples[MOST];
    struct orr_summary s;

    /* Three in five the same, the others up to 1 % away. */
    for (unsigned i = 0; i < MOST; i++)
        samples[i] = 100 + (i % 5 < 3 ? 0 : 1e-3 * i);
    ck_assert_int_eq(orr_summarise(samples, MOST, &s), 0);
    ck_assert_uint_eq(s.nlow + s.nhigh, 0);
}
END_TEST

/* --- regimes --- */

/* The samples of a series by its number in the table. */
static double draw_single(uint64_t *rng, int shape)
{
    switch (shape) {
    case 0:
        return 100 * (1 + 0.03 * rng_normal(rng));
    case 1:
        return 100 * exp(0.1 * rng_normal(rng));
    case 2:
        return 100 * exp(0.5 * rng_normal(rng));
    case 3:
        return 50 + 100 * rng_uniform(rng);
    case 4:
        return -100 * log(rng_uniform(rng));
    case 5:
        return 100 - 5 * log(rng_uniform(rng)); /* a least time and delays */
    case 6:
        return 100 + 3 * log(rng_uniform(rng) / rng_uniform(rng));
    default:
        return 98 + 4 * rng_uniform(rng);
    }
}

enum { NSHAPES = 8 };

START_TEST(series_of_one_mode_have_one_regime)
{
    static const unsigned lengths[] = {30, 50, 100, 300, 1000};
    double samples[MOST];
    struct orr_summary s;

    for (int k = 0; k < COUNT(lengths); k++) {
        unsigned two = 0, aside = 0;

        for (unsigned seed = 0; seed < 200; seed++) {
            uint64_t rng = rng_of(1000 * seed + (unsigned)_i);

            for (unsigned i = 0; i < lengths[k]; i++)
                samples[i] = draw_single(&rng, _i);
            ck_assert_int_eq(orr_summarise(samples, lengths[k], &s), 0);
            two += s.nregimes == 2;
            aside += s.nlow + s.nhigh;
        }
        ck_assert_msg(two <= 4, "%u of 200 at n = %u", two, lengths[k]);
        ck_assert_msg(aside <= 200 * lengths[k] / 50, "%u outliers at n = %u",
                      aside, lengths[k]);
    }
}
END_TEST

START_TEST(a_wandering_series_has_one_regime)
{
    static const double phis[] = {0.5, 0.8, 0.9, 0.95, 0.98};
    double samples[MOST];
    struct orr_summary s;
    unsigned two = 0;

    for (unsigned seed = 0; seed < 300; seed++) {
        uint64_t rng = rng_of(1000 * seed + (unsigned)_i);
        unsigned n = seed % 3 == 0 ? 100 : seed % 3 == 1 ? 300 : 1000;

        rng_ar1(&rng, phis[_i], samples, n);
        for (unsigned i = 0; i < n; i++)
            samples[i] = 100 * exp(0.05 * samples[i]);
        ck_assert_int_eq(orr_summarise(samples, n, &s), 0);
        two += s.nregimes == 2;
    }
    ck_assert_msg(two <= 6, "%u of 300", two);
}
END_TEST

/* Two levels of `n` samples each `noise` wide; the slower one, `ratio` times
 * the faster, has `share` of them, in stretches or (0) anywhere. `found` of 100
 * are seen. */
static const struct {
    unsigned n;
    double ratio, noise, share;
    unsigned stretch, found;
} levels[] = {
    {1000, 1.05, 0.01, 0.5, 200, 100},  {1000, 1.05, 0.01, 0.5, 300, 100},
    {1000, 1.05, 0.01, 0.5, 0, 100},    {1000, 1.05, 0.01, 0.2, 0, 98},
    {1000, 1.05, 0.01, 0.8, 0, 98},     {500, 1.05, 0.01, 0.5, 120, 98},
    {500, 1.10, 0.01, 0.15, 0, 98},     {300, 1.10, 0.01, 0.5, 100, 98},
    {1000, 1.17, 0.005, 0.15, 150, 98}, {100, 1.10, 0.01, 0.5, 25, 98},
    {100, 2, 0.05, 0.3, 0, 98},         {1000, 4, 0.05, 0.4, 0, 98},
};

static void draw_levels(uint64_t *rng, int which, double *samples)
{
    unsigned n = levels[which].n, stretch = levels[which].stretch;

    for (unsigned i = 0; i < n; i++) {
        bool slow;

        if (stretch == 0)
            slow = rng_uniform(rng) < levels[which].share;
        else if (levels[which].share < 0.5)
            slow = i >= stretch && i < 2 * stretch;
        else
            slow = i / stretch % 2;
        samples[i] = 100 * (slow ? levels[which].ratio : 1) *
                     (1 + levels[which].noise * rng_normal(rng));
    }
}

START_TEST(two_levels_are_two_regimes_and_no_outliers)
{
    double samples[MOST], ratio = levels[_i].ratio;
    struct orr_summary s;
    unsigned found = 0;

    for (unsigned seed = 0; seed < 100; seed++) {
        uint64_t rng = rng_of(1000 * seed + (unsigned)_i);

        draw_levels(&rng, _i, samples);
        ck_assert_int_eq(orr_summarise(samples, levels[_i].n, &s), 0);
        ck_assert_uint_le(s.nlow + s.nhigh, 3);
        if (s.nregimes != 2)
            continue;
        found++;
        ck_assert_double_eq_tol(s.regimes[0].median, 100,
                                150 * levels[_i].noise);
        ck_assert_double_eq_tol(s.regimes[1].median, 100 * ratio,
                                150 * levels[_i].noise * ratio);
        ck_assert_double_eq_tol(s.regimes[0].share + s.regimes[1].share, 1,
                                1e-12);
    }
    ck_assert_uint_ge(found, levels[_i].found);
}
END_TEST

START_TEST(spikes_do_not_hide_regimes)
{
    double samples[MOST];
    struct orr_summary s;
    uint64_t rng = rng_of(8);

    draw_levels(&rng, 0, samples);
    for (unsigned i = 0; i < 12; i++)
        samples[i] = 50000;
    ck_assert_int_eq(orr_summarise(samples, MOST, &s), 0);
    ck_assert_uint_eq(s.nhigh, 12);
    ck_assert_uint_eq(s.nregimes, 2);
    ck_assert_double_eq(s.max, 50000);
    ck_assert_double_gt(s.autocorrelation, 0.7);
}
END_TEST

SUITE_MAIN(perfmodel_robust)
{
    Suite *suite = suite_create("perfmodel-robust");
    TCase *tc = tcase_create("all");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, quantiles_are_those_of_type_seven, 0,
                        COUNT(quantiles));
    tcase_add_test(tc, no_values_have_no_quantile);
    tcase_add_test(tc, quantiles_of_distributions_are_those_of_tables);
    tcase_add_loop_test(tc, dip_is_the_distance_to_the_nearest_single_mode, 0,
                        COUNT(dips));
    tcase_add_test(tc, no_samples_have_no_summary);
    tcase_add_loop_test(tc, few_samples_have_estimates_but_no_intervals, 1, 4);
    tcase_add_test(tc, a_constant_series_has_intervals_of_no_width);
    tcase_add_loop_test(tc, what_is_no_duration_is_refused, 0, 4);
    tcase_add_loop_test(tc,
                        every_spike_of_a_hundred_is_set_aside_and_little_else,
                        0, COUNT(sigmas));
    tcase_add_loop_test(tc, log_normal_means_are_not_biased_by_the_rule, 0,
                        COUNT(sigmas));
    tcase_add_loop_test(tc, a_dozen_spikes_move_neither_mean_nor_median, 0,
                        COUNT(dozens));
    tcase_add_loop_test(tc, a_coarse_clock_makes_no_outliers_and_no_regimes, 0,
                        COUNT(coarse));
    tcase_add_test(tc, nearly_constant_series_lose_nothing);
    tcase_add_loop_test(tc, series_of_one_mode_have_one_regime, 0, NSHAPES);
    tcase_add_loop_test(tc, a_wandering_series_has_one_regime, 0, 5);
    tcase_add_loop_test(tc, two_levels_are_two_regimes_and_no_outliers, 0,
                        COUNT(levels));
    tcase_add_test(tc, spikes_do_not_hide_regimes);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

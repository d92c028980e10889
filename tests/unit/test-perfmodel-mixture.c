/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-mixture.c - which series are taken for two populations, how often
 * wrongly, and that the window, the summary and the variation of such a series have both.
 * Seeded series, one thread.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "perfmodel/robust.h"
#include "perfmodel/variation.h"
#include "perfmodel/window.h"
#include "tests/rng.h"
#include "tests/suite.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { N = 128, TRIALS = 400 };

static uint64_t state;
static double series[4000], scratch[4000];

static void set_up(void)
{
    state = 11;
}

/* A measure of the population whose level is `factor` times the other's, with 5 % of noise. */
static double measure(bool slow, double factor)
{
    return 100 * (slow ? factor : 1) * exp(0.05 * rng_normal(&state));
}

static bool is_mixture(unsigned n)
{
    struct orr_mixture mixture;

    return orr_mixture_find(series, n, scratch, &mixture);
}

/* -- populations that are found -- */

static const double factors[] = {1.7, 2, 5, 10, 20};
static const struct {
    double share,
        least; /* of the slower one; of such series are found so many */
} shares[] = {{0.5, 0.97}, {0.2, 0.97}, {0.8, 0.97}, {0.1, 0.93}, {0.9, 0.93}};

START_TEST(populations_in_the_same_shares_are_found)
{
    for (int f = 0; f < COUNT(factors); f++) {
        int found = 0;

        for (int trial = 0; trial < TRIALS; trial++) {
            for (int i = 0; i < N; i++)
                series[i] =
                    measure(rng_uniform(&state) < shares[_i].share, factors[f]);
            found += is_mixture(N);
        }
        ck_assert_int_ge(found, (int)(shares[_i].least * TRIALS));
    }
}
END_TEST

/* As the levels of a search: 11 short kernels, then 8 long ones, again and again. */
START_TEST(populations_that_take_turns_are_found)
{
    struct orr_mixture mixture;

    for (int i = 0; i < N; i++)
        series[i] = measure(i % 19 >= 11, 6);
    ck_assert(orr_mixture_find(series, N, scratch, &mixture));
    ck_assert_double_eq_tol(mixture.level[0], 100, 3);
    ck_assert_double_eq_tol(mixture.level[1], 600, 20);
    ck_assert_double_eq_tol(mixture.share, 8 / 19., 0.05);
    ck_assert(mixture.low < 105 && mixture.high > 570);
}
END_TEST

START_TEST(outliers_are_in_no_population)
{
    struct orr_mixture mixture;

    for (int i = 0; i < N; i++)
        series[i] = measure(i % 5 == 0, 4) * (i % 60 == 7 ? 200 : 1);
    ck_assert(orr_mixture_find(series, N, scratch, &mixture));
    ck_assert_double_lt(mixture.most, 600);
}
END_TEST

/* -- series that are none -- */

static bool one_change(int i, double at, double at2)
{
    (void)at2;
    return i < at;
}

static bool two_changes(int i, double at, double at2)
{
    return (i < at) != (i < at2);
}

static bool outliers(int i, double at, double at2)
{
    (void)i;
    (void)at2;
    return rng_uniform(&state) < 0.01 + 0.02 * at / N;
}

/* Rows of 50 on average. */
static bool rows(int i, double at, double at2)
{
    static bool slow; /* of the series that is made */

    (void)at;
    (void)at2;
    if (i == 0 || rng_uniform(&state) < 0.02)
        slow = !slow;
    return slow;
}

/* A disturbance of 40 % of the measures, in the last third of the series. */
static bool late(int i, double at, double at2)
{
    (void)at;
    (void)at2;
    return i > 2 * N / 3 && rng_uniform(&state) < 0.4;
}

static const struct {
    bool (*is_slow)(int i, double at, double at2);
    double most; /* of such series no more are found */
} wrong[] = {{one_change, 0},
             {two_changes, 0},
             {outliers, 0.06},
             {rows, 0.02},
             {late, 0.08}};

START_TEST(levels_one_after_the_other_and_outliers_are_no_populations)
{
    for (int f = 0; f < COUNT(factors); f++) {
        int found = 0;

        for (int trial = 0; trial < TRIALS; trial++) {
            double at = N * rng_uniform(&state), at2 = N * rng_uniform(&state);

            for (int i = 0; i < N; i++)
                series[i] = measure(wrong[_i].is_slow(i, at, at2), factors[f]);
            found += is_mixture(N);
        }
        ck_assert_int_le(found, (int)(wrong[_i].most * TRIALS));
    }
}
END_TEST

START_TEST(a_drift_is_no_mixture)
{
    int found = 0;

    for (int trial = 0; trial < TRIALS; trial++) {
        for (int i = 0; i < N; i++)
            series[i] = measure(false, 1) * (1 + 8. * i / N) *
                        exp(0.2 * rng_normal(&state));
        found += is_mixture(N);
    }
    ck_assert_int_eq(found, 0);
}
END_TEST

START_TEST(one_population_is_no_mixture)
{
    int found = 0;

    for (int trial = 0; trial < TRIALS; trial++) {
        for (int i = 0; i < N; i++)
            series[i] = 100 * exp(0.3 * rng_normal(&state));
        found += is_mixture(N);
    }
    ck_assert_int_le(found, TRIALS / 10);
}
END_TEST

START_TEST(few_samples_and_far_levels_are_no_mixture)
{
    for (int i = 0; i < N; i++)
        series[i] = measure(i % 3 == 0, 3);
    ck_assert(is_mixture(ORR_MIXTURE_LEAST));
    ck_assert(!is_mixture(ORR_MIXTURE_LEAST - 1));
    for (int i = 0; i < N; i++)
        series[i] =
            measure(i % 3 == 0, 40); /* other programs had the processor */
    ck_assert(!is_mixture(N));
    for (int i = 0; i < N; i++)
        series[i] = 100;
    ck_assert(!is_mixture(N));
}
END_TEST

/* -- what is made of them -- */

static const double search[] = {1,  1, 1, 1, 1.5, 3, 6, 12,
                                18, 9, 4, 2, 1,   1, 1, 1};

static double mean_of_search(void)
{
    double sum = 0;

    for (int i = 0; i < COUNT(search); i++)
        sum += search[i] / COUNT(search);
    return sum;
}

static double measure_search(unsigned i)
{
    return measure(true, search[i % COUNT(search)]);
}

/* Each run is a search or three. */
START_TEST(the_estimate_of_runs_is_the_mean_of_both)
{
    struct orr_side_entry entry = {0};
    double mean = 100 * mean_of_search();

    for (unsigned run = 0; run < 40; run++) {
        struct orr_window w;

        orr_window_init(&w, 50);
        if (entry.estimate > 0)
            orr_window_begin_levels(&w, entry.estimate, run * 20, entry.low,
                                    entry.high);
        for (unsigned i = 0; i < (1 + run % 3) * COUNT(search); i++)
            orr_window_add(&w, measure_search(i), 1);
        ck_assert_int_eq(orr_window_save(&w, &entry), 0);
        if (run >= 10)
            ck_assert_double_eq_tol(entry.estimate / mean, 1, 0.12);
    }
    ck_assert_double_eq_tol(entry.estimate / mean, 1, 0.03);
    ck_assert(entry.low < entry.estimate && entry.estimate < entry.high);
    /* The kernel is another one, and of one level. */
    for (unsigned run = 0; run < 6; run++) {
        struct orr_window w;

        orr_window_init(&w, 50);
        orr_window_begin_levels(&w, entry.estimate, 200, entry.low, entry.high);
        for (unsigned i = 0; i < 64; i++)
            orr_window_add(&w, measure(true, 0.3), 1);
        ck_assert_int_eq(orr_window_save(&w, &entry), 0);
    }
    ck_assert_double_eq_tol(entry.estimate, 30, 1);
    ck_assert_double_eq(entry.low, 0);
    free(entry.recent);
    free(entry.set_aside);
    free(entry.blocks);
}
END_TEST

START_TEST(so_is_that_of_a_long_run)
{
    struct orr_window w;

    orr_window_init(&w, 50);
    for (unsigned i = 0; i < 400; i++) {
        orr_window_add(&w, measure_search(i), 1);
        if (i >= 200)
            ck_assert_double_eq_tol(
                orr_window_estimate(&w) / (100 * mean_of_search()), 1, 0.1);
    }
}
END_TEST

START_TEST(so_is_that_of_a_summary)
{
    struct orr_summary summary;

    for (int i = 0; i < 1000; i++)
        series[i] = measure(i % 10 == 3, 20);
    ck_assert_int_eq(orr_summarise(series, 1000, &summary), 0);
    ck_assert(summary.mixed);
    ck_assert_double_eq_tol(summary.mean / 290, 1, 0.02);
    ck_assert_double_eq_tol(summary.mixture.share, 0.1, 1e-9);
    for (int i = 0; i < 1000; i++)
        series[i] = measure(i > 900, 20);
    ck_assert_int_eq(orr_summarise(series, 1000, &summary), 0);
    ck_assert(!summary.mixed);
}
END_TEST

/* Simulations with noise draw from both. */
START_TEST(the_variation_has_both)
{
    struct orr_variation variation = {0};
    double mean = 0;
    int nslow = 0;

    for (int i = 0; i < N; i++)
        series[i] = measure(i % 4 == 1, 9);
    ck_assert_int_eq(orr_variation_of(series, N, &variation), 0);
    for (int i = 0; i < 4000; i++) {
        double factor = orr_variation_factor(&variation, rng_normal(&state));

        mean += factor / 4000;
        nslow += factor > 2;
    }
    ck_assert_double_eq_tol(mean, 1, 0.05);
    ck_assert_double_eq_tol(nslow / 4000., 0.25, 0.03);
    orr_variation_done(&variation);
}
END_TEST

SUITE_MAIN(perfmodel_mixture)
{
    Suite *suite = suite_create("perfmodel-mixture");
    TCase *tc = tcase_create("all");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_loop_test(tc, populations_in_the_same_shares_are_found, 0,
                        COUNT(shares));
    tcase_add_test(tc, populations_that_take_turns_are_found);
    tcase_add_test(tc, outliers_are_in_no_population);
    tcase_add_loop_test(
        tc, levels_one_after_the_other_and_outliers_are_no_populations, 0,
        COUNT(wrong));
    tcase_add_test(tc, a_drift_is_no_mixture);
    tcase_add_test(tc, one_population_is_no_mixture);
    tcase_add_test(tc, few_samples_and_far_levels_are_no_mixture);
    tcase_add_test(tc, the_estimate_of_runs_is_the_mean_of_both);
    tcase_add_test(tc, so_is_that_of_a_long_run);
    tcase_add_test(tc, so_is_that_of_a_summary);
    tcase_add_test(tc, the_variation_has_both);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

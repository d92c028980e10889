/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-statistics.c - medians, their intervals and rank tests, held
 * against enumeration and against what they promise in seeded draws.
 */
#include "tests/rng.h"
#include "tests/suite.h"
#include "tools/common/statistics.h"

#include <check.h>
#include <math.h>
#include <stdint.h>

static uint64_t state;

static void draw(double *x, size_t n, double shift)
{
    for (size_t i = 0; i < n; i++)
        x[i] = 100 + shift + rng_normal(&state);
}

/* Of all ways to choose which nx of the n ranks are x's, the share whose number of
 * pairs x < y is as far from the middle as `u` or farther. */
static double enumerate(unsigned nx, unsigned ny, double u)
{
    unsigned n = nx + ny, total = 0, extreme = 0;
    double middle = nx * ny / 2.0;

    for (unsigned set = 0; set < 1u << n; set++) {
        unsigned pairs = 0, below = 0;

        if (__builtin_popcount(set) != (int)nx)
            continue;
        for (unsigned rank = 0; rank < n; rank++) {
            if (set >> rank & 1)
                below++;
            else
                pairs += below;
        }
        total++;
        extreme += fabs(pairs - middle) > fabs(u - middle) - 1e-6;
    }
    return (double)extreme / total;
}

START_TEST(the_rank_test_is_the_enumeration_of_all_orders)
{
    for (int trial = 0; trial < 40; trial++) {
        unsigned nx = 4 + rng_next(&state) % 5;
        unsigned ny = 4 + rng_next(&state) % 5;
        double x[8], y[8], u;

        draw(x, nx, 0);
        draw(y, ny, trial % 4 * 0.7);
        u = share_less(x, nx, y, ny) * nx * ny;
        ck_assert_double_eq_tol(rank_test(x, nx, y, ny), enumerate(nx, ny, u),
                                1e-12);
        ck_assert_double_eq_tol(rank_test(y, ny, x, nx),
                                rank_test(x, nx, y, ny), 1e-12);
    }
}
END_TEST

START_TEST(ties_are_no_difference)
{
    double x[] = {3, 3, 3, 3, 3}, y[] = {3, 3, 3, 3, 4}, z[] = {1, 1, 2, 2, 2};

    ck_assert_double_eq(rank_test(x, 5, x, 5), 1);
    ck_assert_double_eq(share_less(x, 5, x, 5), 0.5);
    ck_assert_double_gt(rank_test(x, 5, y, 5), 0.05);
    ck_assert_double_lt(rank_test(x, 5, z, 5), 0.05);
}
END_TEST

START_TEST(too_few_values_tell_nothing)
{
    double x[] = {1, 2, 3}, y[] = {10, 11, 12, 13};

    ck_assert_double_eq(rank_test(x, 3, y, 4), 1);
    ck_assert(isnan(share_less(x, 0, y, 4)));
}
END_TEST

/* The normal approximation, beyond what is computed exactly. */
START_TEST(large_samples_of_one_distribution_rarely_differ)
{
    enum { N = 40, TRIALS = 400 };
    double x[N], y[N];
    unsigned wrong = 0, found = 0;

    for (int trial = 0; trial < TRIALS; trial++) {
        draw(x, N, 0);
        draw(y, N, 0);
        wrong += rank_test(x, N, y, N) < STATISTICS_LEVEL;
        draw(y, N, 1);
        found += rank_test(x, N, y, N) < STATISTICS_LEVEL;
    }
    ck_assert_uint_le(wrong, TRIALS / 10);
    ck_assert_uint_ge(found, TRIALS * 9 / 10);
}
END_TEST

START_TEST(the_median_lies_in_its_interval_as_often_as_promised)
{
    enum { TRIALS = 1000 };

    for (size_t n = 6; n <= 21; n += 5) {
        unsigned inside = 0;

        for (int trial = 0; trial < TRIALS; trial++) {
            double x[21];
            struct spread spread;

            draw(x, n, 0);
            spread = spread_of(x, n);
            ck_assert(spread.low <= spread.median);
            ck_assert(spread.median <= spread.high);
            inside += spread.low <= 100 && 100 <= spread.high;
        }
        ck_assert_uint_ge(inside, TRIALS * 93 / 100);
        ck_assert_uint_le(inside, TRIALS * 995 / 1000);
    }
}
END_TEST

START_TEST(few_values_are_between_the_least_and_the_greatest)
{
    double x[] = {5, 1, 4, 2}, one[] = {7};
    struct spread spread = spread_of(x, 4);

    ck_assert_double_eq(spread.median, 3);
    ck_assert_double_eq(spread.low, 1);
    ck_assert_double_eq(spread.high, 5);
    spread = spread_of(one, 1);
    ck_assert_double_eq(spread.low, 7);
    ck_assert_double_eq(spread.median, 7);
    ck_assert(isnan(spread_of(NULL, 0).median));
}
END_TEST

static void seed(void)
{
    state = 20;
}

SUITE_MAIN(statistics)
{
    Suite *suite = suite_create("statistics");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, seed, NULL);
    tcase_add_test(all, the_rank_test_is_the_enumeration_of_all_orders);
    tcase_add_test(all, ties_are_no_difference);
    tcase_add_test(all, too_few_values_tell_nothing);
    tcase_add_test(all, large_samples_of_one_distribution_rarely_differ);
    tcase_add_test(all, the_median_lies_in_its_interval_as_often_as_promised);
    tcase_add_test(all, few_values_are_between_the_least_and_the_greatest);
    suite_add_tcase(suite, all);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-polynomial.c - multiple linear regression, and its linear
 * least squares. One thread.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curve_noise.h"
#include "perfmodel/least_squares.h"
#include "tests/suite.h"

enum { MOST = 20000, MOST_PARAMETERS = 3 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct polynomial {
    struct orr_terms terms;
    double coeff[5];
    double lo[MOST_PARAMETERS], hi[MOST_PARAMETERS]; /* of the parameters */
    unsigned steps;                                  /* sizes per parameter */
};

#define EXPONENTS(...)                                                         \
    (const unsigned[])                                                         \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

static const struct polynomial polynomials[] = {
    /* the product of two parameters */
    {{2, 1, EXPONENTS(1, 2)}, {12, 3e-6}, {16, 32}, {512, 1024}, 4},
    {{2, 1, EXPONENTS(1, 1)}, {5, 2e-3}, {10, 10}, {1000, 3000}, 4},
    {{2, 2, EXPONENTS(1, 2, 2, 0)}, {8, 2e-5, 4e-4}, {16, 16}, {512, 512}, 5},
    {{3, 2, EXPONENTS(1, 1, 1, 1, 1, 0)},
     {20, 2e-6, 1e-3},
     {32, 32, 32},
     {512, 512, 512},
     3},
    {{1, 3, EXPONENTS(1, 2, 3)}, {10, 0.1, 1e-3, 1e-5}, {32}, {2048}, 14},
};

static double values[MOST * MOST_PARAMETERS];
static struct orr_observation observations[MOST];

static unsigned power_of(unsigned base, unsigned exponent)
{
    return exponent ? base * power_of(base, exponent - 1) : 1;
}

/* The parameters of size number `size`: steps^nparameters of them, evenly
 * spaced in their logarithms. */
static void parameters_of(const struct polynomial *polynomial, unsigned size,
                          double *ret)
{
    for (unsigned j = 0; j < polynomial->terms.nparameters; j++) {
        double t = size % polynomial->steps / (polynomial->steps - 1.0);

        ret[j] = round(polynomial->lo[j] *
                       pow(polynomial->hi[j] / polynomial->lo[j], t));
        size /= polynomial->steps;
    }
}

static unsigned nsizes(const struct polynomial *polynomial)
{
    return power_of(polynomial->steps, polynomial->terms.nparameters);
}

/* `samples` observations of each size. Returns how many that are. */
static unsigned observe(const struct polynomial *polynomial,
                        struct noise *noise, unsigned samples)
{
    unsigned n = 0;

    for (unsigned size = 0; size < nsizes(polynomial); size++)
        for (unsigned i = 0; i < samples; i++, n++) {
            double *at = &values[n * MOST_PARAMETERS];

            ck_assert_uint_lt(n, MOST);
            parameters_of(polynomial, size, at);
            observations[n].parameters = at;
            observations[n].y = noise_sample(
                noise, orr_polynomial_value(&polynomial->terms,
                                            polynomial->coeff, at));
        }
    return n;
}

static unsigned nspikes(const struct polynomial *polynomial, unsigned n)
{
    unsigned ret = 0;

    for (unsigned i = 0; i < n; i++)
        ret += observations[i].y >
               10 * orr_polynomial_value(&polynomial->terms, polynomial->coeff,
                                         observations[i].parameters);
    return ret;
}

static double polynomial_error(const struct polynomial *polynomial,
                               const double *coeff)
{
    double worst = 0, at[MOST_PARAMETERS];

    for (unsigned size = 0; size < nsizes(polynomial); size++) {
        double y;

        parameters_of(polynomial, size, at);
        y = orr_polynomial_value(&polynomial->terms, polynomial->coeff, at);
        worst = fmax(
            worst,
            fabs(orr_polynomial_value(&polynomial->terms, coeff, at) / y - 1));
    }
    return worst;
}

START_TEST(a_polynomial_of_several_parameters_is_found_within_two_percent)
{
    static const struct {
        double sigma;
        unsigned samples;
    } efforts[] = {{0.02, 50}, {0.05, 50}, {0.1, 200}};
    const struct polynomial *polynomial = &polynomials[_i];
    struct orr_polynomial p;

    for (unsigned e = 0; e < COUNT(efforts); e++)
        for (unsigned seed = 0; seed < 8; seed++) {
            struct noise noise = {seed, efforts[e].sigma, 0.01};
            unsigned n = observe(polynomial, &noise, efforts[e].samples);
            double error;

            ck_assert_int_eq(
                orr_fit_polynomial(&polynomial->terms, observations, n, &p), 0);
            ck_assert_uint_eq(p.ncoeff, polynomial->terms.nterms + 1);
            ck_assert_uint_eq(p.rank, p.ncoeff);
            ck_assert_uint_eq(p.n, n);
            ck_assert_uint_ge(p.noutliers, nspikes(polynomial, n));
            ck_assert_uint_le(p.noutliers, nspikes(polynomial, n) + n / 100);
            error = polynomial_error(polynomial, p.coeff);
            ck_assert_msg(error <= 0.02, "sigma %g, seed %u: %g",
                          efforts[e].sigma, seed, error);
            ck_assert_double_gt(p.error, 0);
            ck_assert_double_lt(p.error, 0.05);
            free(p.coeff);
        }
}
END_TEST

START_TEST(times_that_are_far_too_short_do_no_harm_either)
{
    const struct polynomial *polynomial = &polynomials[_i];
    struct noise noise = {77, 0.05, 0};
    unsigned n = observe(polynomial, &noise, 50);
    struct orr_polynomial p;

    for (unsigned i = 7; i < n; i += 50)
        observations[i].y *= 0.01;
    ck_assert_int_eq(
        orr_fit_polynomial(&polynomial->terms, observations, n, &p), 0);
    ck_assert_double_le(polynomial_error(polynomial, p.coeff), 0.02);
    ck_assert_uint_ge(p.noutliers, n / 50);
    free(p.coeff);
}
END_TEST

/* One observation a size: no replicates to detect the spikes with. */
START_TEST(sizes_need_no_repetition)
{
    const struct polynomial polynomial = {
        {2, 1, EXPONENTS(1, 2)}, {12, 3e-6}, {16, 32}, {512, 1024}, 40};
    struct orr_polynomial p;

    for (unsigned seed = 0; seed < 5; seed++) {
        struct noise noise = {seed, 0.05, 0.01};
        unsigned n = observe(&polynomial, &noise, 1);

        ck_assert_int_eq(
            orr_fit_polynomial(&polynomial.terms, observations, n, &p), 0);
        ck_assert_double_le(polynomial_error(&polynomial, p.coeff), 0.02);
        ck_assert_double_gt(p.error, 0.04); /* that of one observation */
        ck_assert_double_lt(p.error, 0.06);
        free(p.coeff);
    }
}
END_TEST

START_TEST(a_polynomial_that_cannot_express_the_times_is_refused)
{
    const struct orr_terms line = {1, 1, EXPONENTS(1)};
    struct noise noise = {1, 0.02, 0};
    unsigned n = observe(&polynomials[4], &noise, 20); /* cubic */
    struct orr_polynomial right, wrong;

    ck_assert_int_eq(
        orr_fit_polynomial(&polynomials[4].terms, observations, n, &right), 0);
    ck_assert_int_eq(orr_fit_polynomial(&line, observations, n, &wrong), 0);
    ck_assert_double_lt(right.error, 0.02);
    ck_assert_double_gt(wrong.error, 0.1);
    free(right.coeff);
    free(wrong.coeff);
}
END_TEST

START_TEST(terms_that_depend_on_each_other_are_refused)
{
    const struct orr_terms twice = {2, 2, EXPONENTS(1, 0, 1, 0)};
    struct noise noise = {1, 0.02, 0};
    unsigned n = observe(&polynomials[0], &noise, 10);
    struct orr_polynomial p = {.coeff = NULL};

    ck_assert_int_eq(orr_fit_polynomial(&twice, observations, n, &p), -EDOM);
    ck_assert_uint_eq(p.rank, 2);
    ck_assert_ptr_null(p.coeff);
    for (unsigned i = 0; i < n; i++)
        values[i * MOST_PARAMETERS + 1] = 7; /* looks like the constant */
    ck_assert_int_eq(
        orr_fit_polynomial(&(struct orr_terms){2, 1, EXPONENTS(0, 1)},
                           observations, n, &p),
        -EDOM);
    ck_assert_uint_eq(p.rank, 1);
}
END_TEST

START_TEST(too_few_and_bad_observations_are_refused)
{
    const struct polynomial *polynomial = &polynomials[0];
    struct noise noise = {1, 0.02, 0};
    unsigned n = observe(polynomial, &noise, 1);
    struct orr_polynomial p;

    ck_assert_int_eq(
        orr_fit_polynomial(&polynomial->terms, observations, 2, &p), -EDOM);
    ck_assert_int_eq(
        orr_fit_polynomial(&polynomial->terms, observations, 5, &p), 0);
    free(p.coeff);
    observations[3].y = 0;
    ck_assert_int_eq(
        orr_fit_polynomial(&polynomial->terms, observations, n, &p), -EINVAL);
    observations[3].y = 1;
    values[4 * MOST_PARAMETERS] = (double)NAN;
    ck_assert_int_eq(
        orr_fit_polynomial(&polynomial->terms, observations, n, &p), -EINVAL);
}
END_TEST

START_TEST(without_parameters_the_constant_is_the_mean)
{
    const struct orr_terms none = {0, 0, NULL};
    struct orr_polynomial p;

    for (unsigned i = 0; i < 99; i++)
        observations[i] = (struct orr_observation){values, 10 + i % 3};
    observations[98].y = 1000;
    ck_assert_int_eq(orr_fit_polynomial(&none, observations, 99, &p), 0);
    ck_assert_double_eq_tol(p.coeff[0], 11, 0.02);
    ck_assert_uint_eq(p.noutliers, 1);
    ck_assert_double_nan(p.error); /* nothing to leave out */
    free(p.coeff);
}
END_TEST

START_TEST(a_value_is_the_sum_of_its_terms)
{
    const struct orr_terms terms = {2, 2, EXPONENTS(2, 1, 0, 3)};
    const double at[] = {3, 2}, low[] = {-1, 0, 0};

    ck_assert_double_eq(
        orr_polynomial_value(&terms, (const double[]){1, 10, 100}, at),
        1 + 10 * 18 + 100 * 8);
    ck_assert_double_eq(orr_polynomial_value(&terms, low, at), 1e-5);
}
END_TEST

/* -- linear least squares -- */

START_TEST(exact_solutions_are_found)
{
    /* 1 x and x² at -2 … 2, of 3 - x + 2x²; then with 1 -4 6 -4 1 added, which no
     * square of x can follow. */
    static const double at[] = {-2, -1, 0, 1, 2}, odd[] = {1, -4, 6, -4, 1};

    for (unsigned more = 0; more < 2; more++) {
        double a[15], b[5];
        unsigned rank = 0;

        for (unsigned i = 0; i < 5; i++) {
            a[i] = 1;
            a[5 + i] = at[i];
            a[10 + i] = at[i] * at[i];
            b[i] = 3 - at[i] + 2 * a[10 + i] + more * odd[i];
        }
        ck_assert_int_eq(orr_least_squares(a, 5, 3, b, &rank), 0);
        ck_assert_uint_eq(rank, 3);
        ck_assert_double_eq_tol(b[0], 3, 1e-13);
        ck_assert_double_eq_tol(b[1], -1, 1e-13);
        ck_assert_double_eq_tol(b[2], 2, 1e-13);
    }
}
END_TEST

/* Longley's regression, whose columns nearly depend on each other: data and
 * coefficients as in NIST's Statistical Reference Datasets. LAPACK's dgelsy on scaled
 * columns, which was used before, is off by 3e-12 in the worst of them. */
START_TEST(certified_coefficients_are_found_to_ten_digits)
{
    static const double rows[][7] = {
        {60323, 83.0, 234289, 2356, 1590, 107608, 1947},
        {61122, 88.5, 259426, 2325, 1456, 108632, 1948},
        {60171, 88.2, 258054, 3682, 1616, 109773, 1949},
        {61187, 89.5, 284599, 3351, 1650, 110929, 1950},
        {63221, 96.2, 328975, 2099, 3099, 112075, 1951},
        {63639, 98.1, 346999, 1932, 3594, 113270, 1952},
        {64989, 99.0, 365385, 1870, 3547, 115094, 1953},
        {63761, 100.0, 363112, 3578, 3350, 116219, 1954},
        {66019, 101.2, 397469, 2904, 3048, 117388, 1955},
        {67857, 104.6, 419180, 2822, 2857, 118734, 1956},
        {68169, 108.4, 442769, 2936, 2798, 120445, 1957},
        {66513, 110.8, 444546, 4681, 2637, 121950, 1958},
        {68655, 112.6, 482704, 3813, 2552, 123366, 1959},
        {69564, 114.2, 502601, 3931, 2514, 125368, 1960},
        {69331, 115.7, 518173, 4806, 2572, 127852, 1961},
        {70551, 116.9, 554894, 4007, 2827, 130081, 1962},
    };
    static const double certified[] = {
        -3482258.63459582,     15.0618722713733,  -0.358191792925910E-01,
        -2.02022980381683,     -1.03322686717359, -0.511041056535807E-01,
        1829.15146461355};
    double a[7 * COUNT(rows)], b[COUNT(rows)];
    unsigned rank = 0;

    for (unsigned i = 0; i < COUNT(rows); i++) {
        b[i] = rows[i][0];
        a[i] = 1;
        for (unsigned k = 1; k < 7; k++)
            a[k * COUNT(rows) + i] = rows[i][k];
    }
    ck_assert_int_eq(orr_least_squares(a, COUNT(rows), 7, b, &rank), 0);
    ck_assert_uint_eq(rank, 7);
    for (unsigned k = 0; k < 7; k++)
        ck_assert_double_eq_tol(b[k] / certified[k], 1, 1e-10);
}
END_TEST

START_TEST(columns_may_be_of_any_size)
{
    double a[] = {1e200, 2e200, -1e200, 3e-250, 1e-250, 4e-250};
    double b[] = {1 + 3, 2 + 1, -1 + 4};
    unsigned rank = 0;

    ck_assert_int_eq(orr_least_squares(a, 3, 2, b, &rank), 0);
    ck_assert_uint_eq(rank, 2);
    ck_assert_double_eq_tol(b[0] * 1e200, 1, 1e-13);
    ck_assert_double_eq_tol(b[1] * 1e-250, 1, 1e-13);
}
END_TEST

/* Of five columns, those from number _i on are sums of others, or zero. */
START_TEST(the_rank_counts_columns_that_depend_on_no_others)
{
    double a[5 * 8], b[8];
    unsigned rank = 99, last = (unsigned)_i - 1;

    for (unsigned i = 0; i < 8; i++) {
        for (unsigned k = 0; k < 5; k++)
            a[k * 8 + i] = k < last + 1 ? 1.0 / (i + 1 + k)
                           : k == 4     ? 0
                                        : (k + 2) * a[i] + a[last * 8 + i];
        b[i] = i;
    }
    ck_assert_int_eq(orr_least_squares(a, 8, 5, b, &rank), 0);
    ck_assert_uint_eq(rank, (unsigned)_i);
}
END_TEST

START_TEST(numbers_that_are_not_finite_are_refused)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    unsigned rank = 0;

    for (unsigned i = 0; i < COUNT(bad); i++) {
        double a[] = {1, 2, bad[i]}, b[] = {1, 2, 3}, c[] = {1, 2, 3};

        ck_assert_int_eq(orr_least_squares(a, 3, 1, b, &rank), -EDOM);
        b[1] = bad[i];
        ck_assert_int_eq(orr_least_squares(c, 3, 1, b, &rank), -EDOM);
        ck_assert_int_eq(orr_least_squares(c, 1, 2, b, &rank), -EDOM);
    }
}
END_TEST

SUITE_MAIN(perfmodel_polynomial)
{
    Suite *suite = suite_create("perfmodel-polynomial");
    TCase *tc = tcase_create("regression");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(
        tc, a_polynomial_of_several_parameters_is_found_within_two_percent, 0,
        COUNT(polynomials));
    tcase_add_loop_test(tc, times_that_are_far_too_short_do_no_harm_either, 0,
                        COUNT(polynomials));
    tcase_add_test(tc, sizes_need_no_repetition);
    tcase_add_test(tc, a_polynomial_that_cannot_express_the_times_is_refused);
    tcase_add_test(tc, terms_that_depend_on_each_other_are_refused);
    tcase_add_test(tc, too_few_and_bad_observations_are_refused);
    tcase_add_test(tc, without_parameters_the_constant_is_the_mean);
    tcase_add_test(tc, a_value_is_the_sum_of_its_terms);
    suite_add_tcase(suite, tc);
    tc = tcase_create("least squares");
    tcase_add_test(tc, exact_solutions_are_found);
    tcase_add_test(tc, certified_coefficients_are_found_to_ten_digits);
    tcase_add_test(tc, columns_may_be_of_any_size);
    tcase_add_loop_test(tc, the_rank_counts_columns_that_depend_on_no_others, 1,
                        5);
    tcase_add_test(tc, numbers_that_are_not_finite_are_refused);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-curve.c - fits of one size, and interpolation:
 * regressions that are known, families of curves as kernels have them. One
 * thread.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "curve_noise.h"
#include "tests/suite.h"

enum { MOST = 256 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef int (*fit_fn)(const struct orr_point *points, unsigned n,
                      struct orr_power_regression *ret);

static double regression_error(const struct orr_power_regression *regression,
                               const struct orr_power_regression *truth)
{
    double worst = 0;

    for (unsigned i = 0; i <= 200; i++) {
        double x =
            truth->minx * pow(truth->maxx / truth->minx, (double)i / 200);
        double e = orr_power_regression_value(regression, x) /
                       orr_power_regression_value(truth, x) -
                   1;

        worst = fmax(worst, fabs(e));
    }
    return worst;
}

/* `sizes` points of a regression, evenly spaced in ln x. */
static void regression_points(const struct orr_power_regression *truth,
                              struct noise *noise, unsigned sizes,
                              unsigned samples, struct orr_point *points)
{
    for (unsigned i = 0; i < sizes; i++) {
        double x =
            truth->minx * pow(truth->maxx / truth->minx, i / (sizes - 1.0));

        points[i] = noise_point(noise, x, orr_power_regression_value(truth, x),
                                samples);
    }
}

/* -- regressions -- */

static const struct orr_power_regression powers[] = {
    {.a = 3, .b = 1, .minx = 1e3, .maxx = 1e6},
    {.a = 1e-5, .b = 3, .minx = 32, .maxx = 2048},
    {.a = 0.02, .b = 0.5, .minx = 1, .maxx = 1e9},
    {.a = 1e-7, .b = 1.5, .minx = 4096, .maxx = 4194304},
    {.a = 1e4, .b = -0.7, .minx = 1, .maxx = 64},
};

static const struct orr_power_regression offsets[] = {
    {.a = 3e-5, .b = 3, .c = 9, .minx = 32, .maxx = 1024},
    {.a = 0.01, .b = 1, .c = 50, .minx = 1e3, .maxx = 1e6},
    {.a = 1e-4, .b = 1.5, .c = 12, .minx = 1024, .maxx = 1048576},
    {.a = 0.2, .b = 0.8, .c = 1000, .minx = 100, .maxx = 1e6},
    {.a = 2e-3, .b = 2, .c = 0.5, .minx = 16, .maxx = 4096},
    {.a = 1, .b = 2, .c = 0, .minx = 16, .maxx = 4096},
};

/* The best that can be had is limited by the samples: at σ = 0.1 and 50 samples
 * a size, six sizes leave 1.5 % of standard error at the ends. */
static const struct {
    double sigma;
    unsigned sizes, samples;
} efforts[] = {
    {0.02, 6, 50},
    {0.05, 6, 100},
    {0.05, 12, 50},
    {0.1, 16, 250},
};

static void regressions_are_found(
    fit_fn fit, const struct orr_power_regression *regressions, unsigned nlaws)
{
    struct orr_point points[MOST];
    struct orr_power_regression regression;

    for (unsigned k = 0; k < nlaws; k++)
        for (unsigned e = 0; e < COUNT(efforts); e++)
            for (unsigned seed = 0; seed < 20; seed++) {
                struct noise noise = {seed, efforts[e].sigma, 0.01};

                regression_points(&regressions[k], &noise, efforts[e].sizes,
                                  efforts[e].samples, points);
                ck_assert_int_eq(fit(points, efforts[e].sizes, &regression), 0);
                ck_assert(regression.converged);
                ck_assert_uint_eq(regression.npoints, efforts[e].sizes);
                ck_assert_double_eq(regression.maxx,
                                    points[regression.npoints - 1].x);
                ck_assert_msg(
                    regression_error(&regression, &regressions[k]) <= 0.02,
                    "law %u, sigma %g, seed %u: %g", k, efforts[e].sigma, seed,
                    regression_error(&regression, &regressions[k]));
            }
}

START_TEST(a_power_law_is_found_within_two_percent)
{
    regressions_are_found(orr_fit_power, powers, COUNT(powers));
}
END_TEST

START_TEST(a_power_law_with_an_offset_is_found_within_two_percent)
{
    regressions_are_found(orr_fit_offset, offsets, COUNT(offsets));
}
END_TEST

/* Fits with and without point i replaced by nonsense. */
static void survives(fit_fn fit, const struct orr_power_regression *truth,
                     unsigned sizes, unsigned bad, double factor,
                     double tolerance)
{
    struct noise noise = {bad + 100, 0.05, 0};
    struct orr_point points[MOST];
    struct orr_power_regression regression;

    regression_points(truth, &noise, sizes, 400, points);
    points[bad].y *= factor;
    ck_assert_int_eq(fit(points, sizes, &regression), 0);
    ck_assert_uint_eq(regression.noutliers, 1);
    ck_assert(regression.converged);
    ck_assert_msg(regression_error(&regression, truth) <= tolerance,
                  "%u of %u points wrong by %g: %g", bad, sizes, factor,
                  regression_error(&regression, truth));
}

START_TEST(one_wholly_wrong_point_of_eight_moves_nothing)
{
    static const double factors[] = {100, 0.01, 3, 0.3};

    for (unsigned f = 0; f < COUNT(factors); f++)
        for (unsigned bad = 0; bad < 8; bad++) {
            bool end = bad == 0 || bad == 7;

            for (unsigned k = 0; k < COUNT(powers); k++)
                survives(orr_fit_power, &powers[k], 8, bad, factors[f], 0.02);
            /* Without an end the offset regression has to be continued to
             * there, and three times as much at an end may as well be the
             * regression's bend. */
            if (f < 2 || !end)
                survives(orr_fit_offset, &offsets[_i], 8, bad, factors[f],
                         end ? 0.05 : 0.02);
        }
}
END_TEST

START_TEST(a_fifth_of_wrong_points_moves_nothing_when_there_are_many)
{
    struct noise noise = {7, 0.02, 0};
    struct orr_point points[MOST];
    struct orr_power_regression regression;

    for (unsigned k = 0; k < COUNT(offsets); k++) {
        regression_points(&offsets[k], &noise, 200, 50, points);
        for (unsigned i = 3; i < 200; i += 5)
            points[i].y *= 1 + 40 * rng_uniform(&noise.state);
        ck_assert_int_eq(orr_fit_offset(points, 200, &regression), 0);
        ck_assert_uint_ge(regression.noutliers, 35);
        ck_assert_double_le(regression_error(&regression, &offsets[k]), 0.02);
    }
}
END_TEST

START_TEST(exact_points_give_the_exact_regression)
{
    struct noise none = {0, 0, 0};
    struct orr_point points[MOST];
    struct orr_power_regression regression;

    for (unsigned k = 0; k < COUNT(offsets); k++) {
        regression_points(&offsets[k], &none, 7, 100, points);
        ck_assert_int_eq(orr_fit_offset(points, 7, &regression), 0);
        ck_assert(regression.converged);
        ck_assert_double_le(regression_error(&regression, &offsets[k]), 1e-6);
        ck_assert_double_le(regression.error, 1e-4);
        ck_assert_double_eq_tol(regression.b, offsets[k].b, 1e-4);
    }
}
END_TEST

START_TEST(a_constant_is_an_offset)
{
    struct orr_power_regression flat = {.c = 8, .minx = 32, .maxx = 1024},
                                regression;
    struct orr_point points[MOST];

    for (unsigned seed = 0; seed < 20; seed++) {
        struct noise noise = {seed, seed == 0 ? 0 : 0.02, 0};

        regression_points(&flat, &noise, 3 + seed % 6, 50, points);
        ck_assert_int_eq(orr_fit_offset(points, 3 + seed % 6, &regression), 0);
        ck_assert(regression.converged);
        ck_assert_double_ge(regression.c, 0);
        ck_assert_double_le(regression_error(&regression, &flat), 0.02);
    }
}
END_TEST

START_TEST(times_that_fall_give_a_flat_regression_with_an_offset)
{
    struct orr_point points[] = {
        {1, 10, 0, 1}, {2, 9, 0, 1}, {4, 8, 0, 1}, {8, 6, 0, 1}, {16, 5, 0, 1}};
    struct orr_power_regression regression;

    ck_assert_int_eq(orr_fit_offset(points, 5, &regression), 0);
    ck_assert(regression.a > 0 && regression.b > 0 && regression.c >= 0);
    ck_assert_double_gt(orr_power_regression_value(&regression, 4), 4);
    ck_assert_double_lt(orr_power_regression_value(&regression, 4), 11);
}
END_TEST

START_TEST(an_unknown_error_does_not_rule)
{
    struct noise noise = {3, 0.02, 0};
    struct orr_power_regression regression;

    for (unsigned i = 0; i < 6; i++) {
        struct orr_point points[6];

        regression_points(&powers[0], &noise, 6, 50, points);
        points[i].error = 0;
        points[i].y *= 1.1; /* not so wrong that it is set aside */
        ck_assert_int_eq(orr_fit_power(points, 6, &regression), 0);
        ck_assert_double_le(regression_error(&regression, &powers[0]), 0.085);
    }
}
END_TEST

START_TEST(precise_points_count_more)
{
    struct orr_point points[] = {
        {1, 1, 0.001, 9}, {2, 2, 0.001, 9}, {4, 4.4, 0.1, 9}, {8, 8, 0.001, 9}};
    struct orr_power_regression regression;

    ck_assert_int_eq(orr_fit_power(points, 4, &regression), 0);
    ck_assert_double_eq_tol(orr_power_regression_value(&regression, 4), 4,
                            0.01);
}
END_TEST

START_TEST(points_of_equal_size_are_joined)
{
    struct orr_point apart[] = {
        {4, 5, 0.1, 3}, {1, 1, 0, 4}, {4, 3, 0.1, 1}, {2, 2, 0, 4}};
    struct orr_point joined[] = {{1, 1, 0, 4}, {2, 2, 0, 4}, {4, 4.5, 0, 4}};
    struct orr_power_regression a, b;

    joined[2].error = 0.1 * sqrt(10) / 4;
    ck_assert_int_eq(orr_fit_power(apart, 4, &a), 0);
    ck_assert_int_eq(orr_fit_power(joined, 3, &b), 0);
    ck_assert_uint_eq(a.npoints, 3);
    ck_assert_double_eq_tol(a.b, b.b, 1e-9);
    ck_assert_double_eq_tol(a.a, b.a, 1e-9);
}
END_TEST

/* The error is what points left out are off: right within a factor. */
START_TEST(a_regression_knows_its_error)
{
    struct noise noise = {11, 0.05, 0.01};
    unsigned honest = 0, all = 0;

    for (unsigned k = 0; k < COUNT(offsets); k++)
        for (unsigned i = 0; i < 30; i++) {
            unsigned sizes = i % 2 ? 8 : 40;
            struct orr_point points[MOST];
            struct orr_power_regression regression;

            regression_points(&offsets[k], &noise, sizes, 50, points);
            ck_assert_int_eq(orr_fit_offset(points, sizes, &regression), 0);
            ck_assert_double_gt(regression.error, 0.001);
            ck_assert_double_lt(regression.error, 0.06);
            honest += regression_error(&regression, &offsets[k]) <=
                      2 * regression.error;
            all++;
        }
    ck_assert_double_ge((double)honest / all, 0.9);
}
END_TEST

START_TEST(a_regression_that_cannot_express_the_points_has_a_large_error)
{
    struct orr_point points[6];
    struct orr_power_regression power, offset;

    for (unsigned i = 0; i < 6; i++) {
        double x = 32 << i;

        points[i] = (struct orr_point){x, 9 + 3e-5 * x * x * x, 0.005, 100};
    }
    ck_assert_int_eq(orr_fit_power(points, 6, &power), 0);
    ck_assert_int_eq(orr_fit_offset(points, 6, &offset), 0);
    ck_assert_double_gt(power.error, 0.3);
    ck_assert_double_lt(offset.error, 0.01);
}
END_TEST

START_TEST(too_few_sizes_and_bad_points_are_refused)
{
    struct orr_point points[] = {{1, 1, 0, 1}, {1, 2, 0, 1}, {2, 3, 0, 1}};
    struct orr_power_regression regression = {.a = 42};

    ck_assert_int_eq(orr_fit_power(NULL, 0, &regression), -EDOM);
    ck_assert_int_eq(orr_fit_power(points, 2, &regression), -EDOM);
    ck_assert_int_eq(orr_fit_offset(points, 3, &regression), -EDOM);
    points[0].y = 0;
    ck_assert_int_eq(orr_fit_power(points, 3, &regression), -EINVAL);
    points[0].y = INFINITY;
    ck_assert_int_eq(orr_fit_offset(points, 3, &regression), -EINVAL);
    ck_assert_double_eq(regression.a, 42);
    points[0].y = 2;
    ck_assert_int_eq(orr_fit_power(points, 3, &regression), 0);
    ck_assert_double_nan(regression.error); /* nothing to leave out */
}
END_TEST

START_TEST(the_order_of_points_does_not_matter)
{
    struct noise noise = {5, 0.1, 0};
    struct orr_point points[12], other[12];
    struct orr_power_regression a, b;

    regression_points(&offsets[0], &noise, 12, 10, points);
    for (unsigned i = 0; i < 12; i++)
        other[i] = points[(i * 5 + 3) % 12];
    ck_assert_int_eq(orr_fit_offset(points, 12, &a), 0);
    ck_assert_int_eq(orr_fit_offset(other, 12, &b), 0);
    ck_assert_mem_eq(&a, &b, offsetof(struct orr_power_regression, converged));
    ck_assert_double_eq(orr_interpolate(points, 12, 100).value,
                        orr_interpolate(other, 12, 100).value);
}
END_TEST

/* -- interpolation -- */

/* Kernels on a device: a launch of `overhead`, then work. */
struct kernel {
    double overhead, rate, bandwidth, half, step;
    int family;
};

enum { OVERHEAD, SATURATION, ROOFLINE, CACHE, PANELS, BUMP, NFAMILIES };

/* Where in a gap a curve steps or bumps, the points on either side do not show:
 * those two are allowed more. */
static const double most_errors[NFAMILIES] = {0.11, 0.11, 0.11,
                                              0.14, 0.11, 0.14};

static const char *const family_names[NFAMILIES] = {
    "overhead + work", "saturation",    "roofline",
    "cache step",      "panels + work", "bump"};

static double kernel_time(const struct kernel *k, double n)
{
    double work = 2 * n * n * n / k->rate, away = log(n / k->half) / 0.5;

    switch (k->family) {
    case SATURATION:
        return k->overhead + work * (1 + k->half / n);
    case ROOFLINE:
        return k->overhead + fmax(work, 24 * n * n / k->bandwidth);
    case CACHE:
        return k->overhead + work * (n > k->half ? k->step : 1);
    case PANELS:
        return k->overhead * (1 + 0.1 * n / 32) + work;
    case BUMP:
        return k->overhead + work * (1 + (k->step - 1) * exp(-away * away));
    default:
        return k->overhead + work;
    }
}

static double between(struct noise *noise, double lo, double hi)
{
    return lo * pow(hi / lo, rng_uniform(&noise->state));
}

static struct kernel kernel_random(struct noise *noise, int family)
{
    return (struct kernel){.overhead = between(noise, 2, 20),
                           .rate = between(noise, 1e4, 1e7),
                           .bandwidth = between(noise, 1e3, 1e6),
                           .half = between(noise, 50, 500),
                           .step = between(noise, 1.2, 2),
                           .family = family};
}

/* Points of a kernel at powers of two from 32, 2 % of noise. */
static void kernel_points(const struct kernel *kernel, struct noise *noise,
                          unsigned n, struct orr_point *points)
{
    for (unsigned i = 0; i < n; i++) {
        double x = 32 << i;

        points[i] = (struct orr_point){
            x, noise_sample(noise, kernel_time(kernel, x)), 0.02, 100};
    }
}

/* The estimate for point i from the others. */
static struct orr_estimate without(const struct orr_point *points, unsigned n,
                                   unsigned i)
{
    struct orr_point others[MOST];

    memcpy(others, points, i * sizeof(*points));
    memcpy(others + i, points + i + 1, (n - 1 - i) * sizeof(*points));
    return orr_interpolate(others, n - 1, points[i].x);
}

/* What a straight line in (ln x, ln y) predicts for point i. */
static double line_value(const struct orr_point *points, unsigned i)
{
    double t = log(points[i].x / points[i - 1].x) /
               log(points[i + 1].x / points[i - 1].x);

    return points[i - 1].y * pow(points[i + 1].y / points[i - 1].y, t);
}

START_TEST(points_left_out_are_estimated_better_than_by_lines)
{
    struct noise noise = {(unsigned)_i, 0.02, 0};
    double ours = 0, lines = 0;
    unsigned honest = 0, count = 0;

    for (unsigned k = 0; k < 200; k++) {
        struct kernel kernel = kernel_random(&noise, _i);
        struct orr_point points[6];

        kernel_points(&kernel, &noise, 6, points);
        for (unsigned i = 1; i < 5; i++) {
            struct orr_estimate estimate = without(points, 6, i);
            double error = fabs(estimate.value / points[i].y - 1);

            ours += error;
            lines += fabs(line_value(points, i) / points[i].y - 1);
            honest += error <= 2 * estimate.error;
            count++;
        }
    }
    printf("# %s: %.1f %% of error on average, lines %.1f %%; %.0f %% within "
           "twice what is expected\n",
           family_names[_i], 100 * ours / count, 100 * lines / count,
           100.0 * honest / count);
    ck_assert_double_le(ours / count, most_errors[_i]);
    ck_assert_double_le(ours, 0.8 * lines);
    ck_assert_double_ge((double)honest / count, 0.8);
}
END_TEST

START_TEST(more_points_make_estimates_better)
{
    struct noise noise = {1, 0, 0};
    double before = INFINITY;

    for (unsigned per = 1; per <= 8; per *= 2) {
        double sum = 0;

        for (unsigned k = 0; k < 60; k++) {
            struct noise same = {k, 0, 0};
            struct kernel kernel = kernel_random(&same, SATURATION);
            struct orr_point points[64];
            double x;
            unsigned n = 5 * per + 1;

            for (unsigned i = 0; i < n; i++) {
                x = 32 * pow(2, (double)i / per);
                points[i] =
                    (struct orr_point){x, kernel_time(&kernel, x), 0, 1};
            }
            x = 32 * pow(2, 5 * rng_uniform(&noise.state));
            sum += fabs(orr_interpolate(points, n, x).value /
                            kernel_time(&kernel, x) -
                        1);
        }
        ck_assert_double_lt(sum, 0.5 * before);
        before = sum;
    }
    ck_assert_double_lt(before / 60, 0.001);
}
END_TEST

START_TEST(it_passes_through_the_points)
{
    struct noise noise = {2, 0.3, 0};

    for (unsigned k = 0; k < 50; k++) {
        struct kernel kernel = kernel_random(&noise, (int)k % NFAMILIES);
        struct orr_point points[6];

        kernel_points(&kernel, &noise, 6, points);
        points[k % 6].error = 0;
        for (unsigned i = 0; i < 6; i++) {
            struct orr_estimate at = orr_interpolate(points, 6, points[i].x);

            ck_assert_double_eq(at.value, points[i].y);
            ck_assert_double_eq(at.error, points[i].error);
        }
        for (unsigned i = 1; i < 5; i++) { /* and has no jump there */
            double x = points[i].x, y = points[i].y;

            ck_assert_double_eq_tol(
                orr_interpolate(points, 6, x * (1 - 1e-9)).value, y, 1e-6 * y);
            ck_assert_double_eq_tol(
                orr_interpolate(points, 6, x * (1 + 1e-9)).value, y, 1e-6 * y);
        }
    }
}
END_TEST

START_TEST(it_is_monotone_between_points)
{
    struct noise noise = {3, 0.3, 0};

    for (unsigned k = 0; k < 100; k++) {
        struct kernel kernel = kernel_random(&noise, (int)k % NFAMILIES);
        struct orr_point points[6];

        kernel_points(&kernel, &noise, 6, points);
        if (k % 7 == 0)
            points[1].y = points[2].y; /* a level */
        for (unsigned i = 0; i < 5; i++) {
            double sign = points[i + 1].y >= points[i].y ? 1 : -1;
            double last = points[i].y;

            for (unsigned s = 1; s <= 50; s++) {
                double y =
                    orr_interpolate(points, 6, points[i].x * pow(2, s / 50.0))
                        .value;

                ck_assert_double_ge(sign * (y - last), -1e-12 * last);
                last = y;
            }
        }
    }
}
END_TEST

START_TEST(a_power_law_is_followed_exactly)
{
    struct orr_point points[5];

    for (unsigned i = 0; i < 5; i++)
        points[i] = (struct orr_point){10 << i, pow(10 << i, 2.5), 0, 1};
    for (double x = 10; x <= 160; x *= 1.1) {
        struct orr_estimate estimate = orr_interpolate(points, 5, x);

        ck_assert_double_eq_tol(estimate.value / pow(x, 2.5), 1, 1e-6);
        ck_assert_double_le(estimate.error, 1e-6);
    }
}
END_TEST

START_TEST(beyond_the_points_there_is_no_answer)
{
    struct orr_point points[] = {
        {8, 1, 0, 1}, {16, 2, 0, 1}, {32, 5, 0, 1}, {32, 6, 0, 1}};

    ck_assert_double_nan(orr_interpolate(points, 4, 7.99).value);
    ck_assert_double_nan(orr_interpolate(points, 4, 32.1).value);
    ck_assert_double_nan(orr_interpolate(points, 4, (double)NAN).value);
    ck_assert_double_nan(orr_interpolate(points + 1, 3, 20).value);
    ck_assert_double_nan(orr_interpolate(points + 1, 3, 16).value);
    ck_assert_double_nan(orr_interpolate(NULL, 0, 16).value);
    ck_assert(orr_interpolate(points, 4, 20).value > 2);
    ck_assert_double_eq(orr_interpolate(points, 4, 32).value, 5.5);
    points[0].y = -1;
    ck_assert_double_nan(orr_interpolate(points, 4, 20).value);
}
END_TEST

START_TEST(errors_of_the_points_are_part_of_the_expected_error)
{
    struct orr_point points[5];

    for (unsigned i = 0; i < 5; i++)
        points[i] = (struct orr_point){10 << i, 10 << i, 0.05, 10};
    ck_assert_double_ge(orr_interpolate(points, 5, 25).error, 0.03);
    ck_assert_double_le(orr_interpolate(points, 5, 25).error, 0.06);
}
END_TEST

SUITE_MAIN(perfmodel_curve)
{
    Suite *suite = suite_create("perfmodel-curve");
    TCase *regressions = tcase_create("laws"),
          *shape = tcase_create("interpolation");

    tcase_set_timeout(regressions, 60);
    tcase_add_test(regressions, a_power_law_is_found_within_two_percent);
    tcase_add_test(regressions,
                   a_power_law_with_an_offset_is_found_within_two_percent);
    tcase_add_loop_test(regressions,
                        one_wholly_wrong_point_of_eight_moves_nothing, 0,
                        COUNT(offsets));
    tcase_add_test(regressions,
                   a_fifth_of_wrong_points_moves_nothing_when_there_are_many);
    tcase_add_test(regressions, exact_points_give_the_exact_regression);
    tcase_add_test(regressions, a_constant_is_an_offset);
    tcase_add_test(regressions,
                   times_that_fall_give_a_flat_regression_with_an_offset);
    tcase_add_test(regressions, an_unknown_error_does_not_rule);
    tcase_add_test(regressions, precise_points_count_more);
    tcase_add_test(regressions, points_of_equal_size_are_joined);
    tcase_add_test(regressions, a_regression_knows_its_error);
    tcase_add_test(
        regressions,
        a_regression_that_cannot_express_the_points_has_a_large_error);
    tcase_add_test(regressions, too_few_sizes_and_bad_points_are_refused);
    tcase_add_test(regressions, the_order_of_points_does_not_matter);
    tcase_set_timeout(shape, 60);
    tcase_add_loop_test(shape,
                        points_left_out_are_estimated_better_than_by_lines, 0,
                        NFAMILIES);
    tcase_add_test(shape, more_points_make_estimates_better);
    tcase_add_test(shape, it_passes_through_the_points);
    tcase_add_test(shape, it_is_monotone_between_points);
    tcase_add_test(shape, a_power_law_is_followed_exactly);
    tcase_add_test(shape, beyond_the_points_there_is_no_answer);
    tcase_add_test(shape, errors_of_the_points_are_part_of_the_expected_error);
    suite_add_tcase(suite, regressions);
    suite_add_tcase(suite, shape);
    return suite_main(suite);
}

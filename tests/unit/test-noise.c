/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-noise.c - the lengths of simulated kernels that vary: their mean
 * and deviation, and what they depend on.
 */
#include "tests/rng.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/cost/noise.h"

enum { MANY = 50000 };

static struct orr_noise noise_of(double relative, uint64_t seed)
{
    return (struct orr_noise){.on = true, .relative = relative, .seed = seed};
}

static void moments(const struct orr_noise *noise,
                    struct orr_noise_source *source, double *ret_mean,
                    double *ret_deviation)
{
    double sum = 0, squares = 0;

    for (uint64_t id = 1; id <= MANY; id++) {
        double us = orr_noise_length(noise, source, id, 100);

        ck_assert_double_gt(us, 0);
        sum += us;
        squares += us * us;
    }
    *ret_mean = sum / MANY;
    *ret_deviation = sqrt(squares / MANY - *ret_mean * *ret_mean);
}

START_TEST(the_mean_is_what_is_expected)
{
    static const double relative[] = {0.002, 0.05, 0.5};

    for (unsigned i = 0; i < 3; i++) {
        struct orr_noise noise = noise_of(relative[i], 3);
        double mean, deviation;

        moments(&noise, NULL, &mean, &deviation);
        ck_assert_double_eq_tol(mean, 100, 100 * 5 * relative[i] / sqrt(MANY));
        ck_assert_double_eq_tol(deviation, 100 * relative[i],
                                100 * relative[i] * 0.05);
    }
}
END_TEST

START_TEST(measured_noise_is_as_large_as_that_of_the_measures)
{
    struct orr_noise noise = noise_of(NAN, 3);
    struct orr_noise_source source = {{.deviation = 0.1}, NAN};
    double mean, deviation;

    moments(&noise, &source, &mean, &deviation);
    ck_assert_double_eq_tol(deviation, 10, 0.2);
    ck_assert_double_eq(orr_noise_length(&noise, &source, 7, 0), 0);
    source.variation.deviation = 0;
    ck_assert_double_eq(orr_noise_length(&noise, &source, 7, 42), 42);
}
END_TEST

START_TEST(a_task_has_the_same_luck_with_the_same_seed)
{
    struct orr_noise one = noise_of(0.1, 1), two = noise_of(0.1, 2);
    unsigned alike = 0;

    for (uint64_t id = 1; id <= 1000; id++) {
        double us = orr_noise_length(&one, NULL, id, 100);

        ck_assert_double_eq(us, orr_noise_length(&one, NULL, id, 100));
        ck_assert_double_eq_tol(orr_noise_length(&one, NULL, id, 300), 3 * us,
                                1e-9);
        alike += us == orr_noise_length(&two, NULL, id, 100);
    }
    ck_assert_uint_eq(alike, 0);
}
END_TEST

/* Tasks one after the other, and seeds one after the other, have nothing to do with
 * each other. */
START_TEST(neighbours_are_independent)
{
    double of_tasks = 0, of_seeds = 0, squares = 0;

    for (uint64_t id = 1; id <= MANY; id++) {
        struct orr_noise one = noise_of(0.1, id), two = noise_of(0.1, id + 1);
        double x = orr_noise_length(&one, NULL, id, 1) - 1;

        squares += x * x;
        of_tasks += x * (orr_noise_length(&one, NULL, id + 1, 1) - 1);
        of_seeds += x * (orr_noise_length(&two, NULL, id, 1) - 1);
    }
    ck_assert_double_lt(fabs(of_tasks / squares), 5 / sqrt(MANY));
    ck_assert_double_lt(fabs(of_seeds / squares), 5 / sqrt(MANY));
}
END_TEST

enum { SAMPLES = 100 };

/* What a machine of two clocks measures: 100 and 140 us, for a while each. */
static void two_levels(double *samples)
{
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (i / 20 % 2 ? 140 : 100) + i % 7 * 0.1;
}

START_TEST(lengths_have_the_distribution_of_the_samples)
{
    struct orr_noise noise = noise_of(NAN, 3);
    struct orr_noise_source source = {.last = NAN};
    double samples[SAMPLES], mean, deviation;
    unsigned between = 0;

    two_levels(samples);
    ck_assert_int_eq(orr_variation_of(samples, SAMPLES, &source.variation), 0);
    source.variation.phi = 0;
    moments(&noise, &source, &mean, &deviation);
    ck_assert_double_eq_tol(mean, 100, 0.3);
    for (uint64_t id = 1; id <= 1000; id++) {
        double us = orr_noise_length(&noise, &source, id, 116.3);

        ck_assert(99.9 < us && us < 141);
        between += 101 < us && us < 139;
    }
    ck_assert_uint_lt(between, 30);
    orr_variation_done(&source.variation);
}
END_TEST

START_TEST(lengths_follow_each_other_as_the_samples_did)
{
    struct orr_noise noise = noise_of(NAN, 3);
    struct orr_noise_source source = {.last = NAN};
    double samples[SAMPLES], before = 0;
    unsigned switches = 0;

    two_levels(samples);
    ck_assert_int_eq(orr_variation_of(samples, SAMPLES, &source.variation), 0);
    ck_assert_double_gt(source.variation.phi, 0.5);
    for (uint64_t id = 1; id <= 1000; id++) {
        double us = orr_noise_length(&noise, &source, id, 100);

        switches += id > 1 && (us > 103) != (before > 103);
        before = us;
    }
    /* 500 if they were independent. */
    ck_assert_uint_lt(switches, 300);
    orr_variation_done(&source.variation);
}
END_TEST

START_TEST(independent_samples_are_no_series)
{
    double samples[SAMPLES];
    struct orr_variation variation = {0};
    uint64_t state = 5;

    for (int i = 0; i < SAMPLES; i++)
        samples[i] = 100 + rng_normal(&state);
    ck_assert_int_eq(orr_variation_of(samples, SAMPLES, &variation), 0);
    ck_assert_double_eq(variation.phi, 0);
    ck_assert_uint_eq(variation.n, SAMPLES);
    orr_variation_done(&variation);
    ck_assert_int_eq(
        orr_variation_of(samples, ORR_VARIATION_LEAST - 1, &variation), 0);
    ck_assert_uint_eq(variation.n, 0);
}
END_TEST

static int read(const char *text, struct orr_noise *noise,
                struct orr_error *err)
{
    struct orr_config config;
    int rc;

    setenv("ORRERY_SIM_NOISE", text, 1);
    ck_assert_int_eq(orr_config_read(&config, err), 0);
    rc = orr_noise_init(noise, &config, err);
    orr_config_done(&config);
    return rc;
}

START_TEST(the_variable_is_measured_or_a_share)
{
    static const char *const wrong[] = {"much", "2%%", "-0.1",
                                        "11",   "2 k", "nan"};
    struct orr_noise noise;
    struct orr_error err = {""};

    ck_assert_int_eq(read("", &noise, &err), 0);
    ck_assert(!noise.on);
    ck_assert_int_eq(read("0", &noise, &err), 0);
    ck_assert(!noise.on);
    ck_assert_int_eq(read("measured", &noise, &err), 0);
    ck_assert(noise.on && isnan(noise.relative));
    ck_assert_int_eq(read("2 %", &noise, &err), 0);
    ck_assert_double_eq(noise.relative, 0.02);
    setenv("ORRERY_SIM_SEED", "12", 1);
    ck_assert_int_eq(read("0.5", &noise, &err), 0);
    ck_assert_double_eq(noise.relative, 0.5);
    ck_assert_uint_eq(noise.seed, 12);
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        ck_assert_int_eq(read(wrong[i], &noise, &err), -EINVAL);
        ck_assert_ptr_nonnull(strstr(err.text, wrong[i]));
    }
}
END_TEST

START_TEST(draws_of_models_lie_within_their_error_nine_times_out_of_ten)
{
    struct orr_noise noise = {.draw = 0};
    unsigned within = 0, below = 0;
    double factor;

    ck_assert_double_eq(orr_noise_draw(&noise, "gemm", "(A100)", 1,
                                       ORR_ORIGIN_DERIVED, 0.5),
                        1);
    for (noise.draw = 1; noise.draw <= 10000; noise.draw++) {
        factor = orr_noise_draw(&noise, "gemm", "(A100)", 1, ORR_ORIGIN_DERIVED,
                                0.5);
        within += factor < 1.5 && factor > 1 / 1.5;
        below += factor < 1;
        /* Of any size, on any machine; not of another kernel or part. */
        ck_assert_double_eq(factor,
                            orr_noise_draw(&noise, "gemm", "(A100)", 2,
                                           ORR_ORIGIN_DERIVED, 0.5));
        ck_assert_double_ne(factor,
                            orr_noise_draw(&noise, "gemm", "(V100)", 1,
                                           ORR_ORIGIN_DERIVED, 0.5));
        ck_assert_double_ne(factor,
                            orr_noise_draw(&noise, "syrk", "(A100)", 1,
                                           ORR_ORIGIN_DERIVED, 0.5));
        ck_assert_double_ne(orr_noise_draw(&noise, "gemm", "(A100)", 1,
                                           ORR_ORIGIN_INTERPOLATED, 0.5),
                            orr_noise_draw(&noise, "gemm", "(A100)", 2,
                                           ORR_ORIGIN_INTERPOLATED, 0.5));
        ck_assert_double_eq(orr_noise_draw(&noise, "gemm", "(A100)", 1,
                                           ORR_ORIGIN_MEASURED, 0.5),
                            1);
        ck_assert_double_eq(orr_noise_draw(&noise, "gemm", "(A100)", 1,
                                           ORR_ORIGIN_ASSUMED, (double)NAN),
                            1);
    }
    ck_assert_uint_ge(within, 8900);
    ck_assert_uint_le(within, 9100);
    ck_assert_uint_ge(below, 4850);
    ck_assert_uint_le(below, 5150);
}
END_TEST

SUITE_MAIN(noise)
{
    Suite *suite = suite_create("noise");
    TCase *all = tcase_create("all");

    tcase_add_test(all, the_mean_is_what_is_expected);
    tcase_add_test(all, measured_noise_is_as_large_as_that_of_the_measures);
    tcase_add_test(all, a_task_has_the_same_luck_with_the_same_seed);
    tcase_add_test(all, neighbours_are_independent);
    tcase_add_test(all, lengths_have_the_distribution_of_the_samples);
    tcase_add_test(all, lengths_follow_each_other_as_the_samples_did);
    tcase_add_test(all, independent_samples_are_no_series);
    tcase_add_test(all, the_variable_is_measured_or_a_share);
    tcase_add_test(all,
                   draws_of_models_lie_within_their_error_nine_times_out_of_ten);
    suite_add_tcase(suite, all);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-noise.c - the lengths of simulated kernels that vary: their mean
 * and deviation, and what they depend on.
 */
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/cost/noise.h"

enum { MANY = 200000 };

static struct orr_noise noise_of(double relative, uint64_t seed)
{
    return (struct orr_noise){.on = true, .relative = relative, .seed = seed};
}

static void moments(const struct orr_noise *noise, double measured,
                    double *ret_mean, double *ret_deviation)
{
    double sum = 0, squares = 0;

    for (uint64_t id = 1; id <= MANY; id++) {
        double us = orr_noise_length(noise, measured, id, 100);

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

        moments(&noise, NAN, &mean, &deviation);
        ck_assert_double_eq_tol(mean, 100, 100 * 5 * relative[i] / sqrt(MANY));
        ck_assert_double_eq_tol(deviation, 100 * relative[i],
                                100 * relative[i] * 0.03);
    }
}
END_TEST

START_TEST(measured_noise_is_as_large_as_that_of_the_measures)
{
    struct orr_noise noise = noise_of(NAN, 3);
    double mean, deviation;

    moments(&noise, 0.1, &mean, &deviation);
    ck_assert_double_eq_tol(deviation, 10, 0.2);
    ck_assert_double_eq(orr_noise_length(&noise, 0, 7, 42), 42);
    ck_assert_double_eq(orr_noise_length(&noise, 0.1, 7, 0), 0);
}
END_TEST

START_TEST(a_task_has_the_same_luck_with_the_same_seed)
{
    struct orr_noise one = noise_of(0.1, 1), two = noise_of(0.1, 2);
    unsigned alike = 0;

    for (uint64_t id = 1; id <= 1000; id++) {
        double us = orr_noise_length(&one, NAN, id, 100);

        ck_assert_double_eq(us, orr_noise_length(&one, NAN, id, 100));
        ck_assert_double_eq_tol(orr_noise_length(&one, NAN, id, 300), 3 * us,
                                1e-9);
        alike += us == orr_noise_length(&two, NAN, id, 100);
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
        double x = orr_noise_length(&one, NAN, id, 1) - 1;

        squares += x * x;
        of_tasks += x * (orr_noise_length(&one, NAN, id + 1, 1) - 1);
        of_seeds += x * (orr_noise_length(&two, NAN, id, 1) - 1);
    }
    ck_assert_double_lt(fabs(of_tasks / squares), 5 / sqrt(MANY));
    ck_assert_double_lt(fabs(of_seeds / squares), 5 / sqrt(MANY));
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

int main(void)
{
    Suite *suite = suite_create("noise");
    TCase *all = tcase_create("all");

    tcase_add_test(all, the_mean_is_what_is_expected);
    tcase_add_test(all, measured_noise_is_as_large_as_that_of_the_measures);
    tcase_add_test(all, a_task_has_the_same_luck_with_the_same_seed);
    tcase_add_test(all, neighbours_are_independent);
    tcase_add_test(all, the_variable_is_measured_or_a_share);
    suite_add_tcase(suite, all);
    return suite_main(suite);
}

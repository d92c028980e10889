/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-drift.c - when a model counts as drifted, on synthetic
 * repetitions of a noisy machine. Seeded, so that it repeats exactly.
 */
#include "tests/rng.h"
#include "tests/suite.h"
#include "tools/validate/drift.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { KERNELS = 4, SIZES = 4, ITEMS = KERNELS * SIZES, MOST = 20 };

static const char *const names[KERNELS] = {"potrf", "trsm", "syrk", "gemm"};

static uint64_t state;

/* What the machine does to kernels; standard deviations of logarithms. */
struct condition {
    const char *name;
    double machine;      /* per repetition, all kernels alike */
    double walk;         /* the same, but it stays */
    double own[KERNELS]; /* per repetition and item */
    double disturbed;    /* chance that an item is hit: 10 to 100 % slower */
    double shift;        /* of the whole machine since the calibration */
};

static const struct condition conditions[] = {
    {"quiet", 0.003, 0, {0.003, 0.003, 0.003, 0.003}, 0, 0},
    {"shared", 0.05, 0, {0.015, 0.01, 0.01, 0.005}, 0.03, 0},
    {"clocks that wander", 0.01, 0.04, {0.015, 0.01, 0.01, 0.01}, 0.01, 0},
    {"slower by 15 %", 0.03, 0, {0.015, 0.01, 0.01, 0.01}, 0.02, 0.14},
    {"faster by 15 %", 0.03, 0, {0.015, 0.01, 0.01, 0.01}, 0.02, -0.16},
    {"one noisy kernel", 0.03, 0, {0.06, 0.01, 0.01, 0.01}, 0.02, 0},
    {"all noisy", 0.03, 0, {0.05, 0.05, 0.05, 0.05}, 0.05, 0},
};

struct trial {
    struct drift_item items[ITEMS];
    double times[ITEMS][MOST];
    struct drift drift;
};

/* Repetitions of kernels whose models are as good as 2 % confidence makes
 * them; `slow` (-1: none) takes `factor` times as long as when calibrated. */
static void make(struct trial *trial, const struct condition *condition,
                 unsigned nreps, int slow, double factor)
{
    double walk = 0;

    for (unsigned i = 0; i < ITEMS; i++)
        trial->items[i] = (struct drift_item){
            .kernel = names[i / SIZES],
            .type = "cpu",
            .estimate = 100 * (i % SIZES + 1) * exp(0.01 * rng_normal(&state)),
            .error = 0.01,
            .times = trial->times[i],
        };
    for (unsigned r = 0; r < nreps; r++) {
        double machine = condition->machine * rng_normal(&state);

        walk += condition->walk * rng_normal(&state);
        for (unsigned i = 0; i < ITEMS; i++) {
            double log_us = condition->shift + machine + walk +
                            condition->own[i / SIZES] * rng_normal(&state);

            if (rng_uniform(&state) < condition->disturbed)
                log_us += log(1.1 + 0.9 * rng_uniform(&state));
            if (slow == (int)(i / SIZES))
                log_us += log(factor);
            trial->times[i][r] = 100 * (i % SIZES + 1) * exp(log_us);
        }
    }
    ck_assert_int_eq(drift_check(trial->items, ITEMS, nreps, &trial->drift), 0);
}

/* Repetitions in which kernels other than `slow` were reported to drift, and,
 * of `slow`, those in which it was. */
static void count(const struct condition *condition, unsigned nreps, int slow,
                  double factor, unsigned ntrials, unsigned *ret_false,
                  unsigned *ret_true)
{
    struct trial trial;

    *ret_false = *ret_true = 0;
    for (unsigned t = 0; t < ntrials; t++) {
        bool found = false, wrong = false;

        make(&trial, condition, nreps, slow, factor);
        for (unsigned i = 0; i < ITEMS; i++) {
            if (!trial.items[i].drifted)
                continue;
            if ((int)(i / SIZES) == slow)
                found = true;
            else
                wrong = true;
        }
        *ret_false += wrong;
        *ret_true += found;
    }
    printf("# %s, %u repetitions, kernel %d times %.2f: %u true and %u false "
           "alarms in %u trials\n",
           condition->name, nreps, slow, factor, *ret_true, *ret_false,
           ntrials);
}

#define NCONDITIONS (int)(sizeof(conditions) / sizeof(*conditions))

START_TEST(unchanged_models_raise_no_alarm)
{
    static const unsigned nreps[] = {4, 5, 7, 20};
    unsigned wrong, right;

    state = 1;
    for (unsigned i = 0; i < 4; i++) {
        count(&conditions[_i], nreps[i], -1, 1, 1000, &wrong, &right);
        ck_assert_uint_le(wrong, 10);
    }
}
END_TEST

/* Not in the last weather: with as much noise as drift in all kernels, no test
 * could tell. */
START_TEST(a_kernel_that_is_10_percent_slower_raises_the_alarm)
{
    unsigned wrong, right;

    state = 2;
    for (int slow = 1; slow < KERNELS; slow++) {
        count(&conditions[_i], 5, slow, 1.1, 400, &wrong, &right);
        ck_assert_uint_ge(right, conditions[_i].own[0] > 0.02 ? 360 : 396);
        ck_assert_uint_le(wrong, 4);
    }
}
END_TEST

START_TEST(a_kernel_that_is_10_percent_faster_raises_the_alarm)
{
    unsigned wrong, right;

    state = 3;
    count(&conditions[1], 5, 3, 0.9, 400, &wrong, &right);
    ck_assert_uint_ge(right, 396);
    ck_assert_uint_le(wrong, 4);
}
END_TEST

START_TEST(a_kernel_that_is_2_percent_slower_raises_none)
{
    unsigned wrong, right;

    state = 4;
    count(&conditions[0], 5, 3, 1.02, 400, &wrong, &right);
    ck_assert_uint_le(right + wrong, 4);
}
END_TEST

START_TEST(a_slower_machine_is_reported_as_slower)
{
    struct trial trial;

    state = 5;
    make(&trial, &conditions[3], 5, -1, 1);
    ck_assert_uint_eq(trial.drift.ntypes, 1);
    ck_assert_uint_eq(trial.drift.types[0].nkernels, KERNELS);
    ck_assert(trial.drift.types[0].shifted);
    ck_assert_double_eq_tol(trial.drift.types[0].shift, 0.14, 0.05);
    make(&trial, &conditions[0], 5, -1, 1);
    ck_assert(!trial.drift.types[0].shifted);
}
END_TEST

/* The other machine's part: GPUs that are slower do not make CPUs fast. */
START_TEST(device_types_are_checked_apart)
{
    struct trial trial;

    state = 6;
    make(&trial, &conditions[0], 5, -1, 1);
    for (unsigned i = 0; i < ITEMS; i++)
        if (i % SIZES < 2) {
            trial.items[i].type = "cuda";
            for (unsigned r = 0; r < 5; r++)
                trial.times[i][r] *= 1.3;
        }
    ck_assert_int_eq(drift_check(trial.items, ITEMS, 5, &trial.drift), 0);
    ck_assert_uint_eq(trial.drift.ndrifted, 0);
    ck_assert_uint_eq(trial.drift.ntypes, 2);
    ck_assert(trial.drift.types[0].shifted != trial.drift.types[1].shifted);
}
END_TEST

/* nkernels of one size each, the first 12 % slower than its model. */
static void check_few(unsigned nkernels, struct drift_item *items,
                      double times[][5], struct drift *drift)
{
    for (unsigned k = 0; k < nkernels; k++) {
        for (unsigned r = 0; r < 5; r++)
            times[k][r] = (k == 0 ? 112 : 100) + 0.2 * r * (k % 2 ? 1 : -1);
        items[k] = (struct drift_item){.kernel = names[k],
                                       .type = "cpu",
                                       .estimate = 100,
                                       .times = times[k]};
    }
    ck_assert_int_eq(drift_check(items, nkernels, 5, drift), 0);
}

START_TEST(of_few_kernels_the_slow_one_is_found)
{
    struct drift_item items[KERNELS];
    double times[KERNELS][5];
    struct drift drift;

    check_few((unsigned)_i, items, times, &drift);
    ck_assert_uint_eq(drift.ndrifted, 1);
    ck_assert(items[0].drifted);
    ck_assert_double_eq_tol(items[0].excess, log(1.12), 0.01);
}
END_TEST

/* Other programs slow a kernel's slow runs; drift slows all. */
START_TEST(what_fast_runs_do_not_show_is_no_drift)
{
    struct trial trial;
    double fast[5];

    state = 9;
    make(&trial, &conditions[1], 5, 3, 1.12);
    ck_assert(trial.items[ITEMS - 1].drifted);
    trial.items[ITEMS - 1].fast_times = fast;
    for (unsigned r = 0; r < 5; r++)
        fast[r] = trial.times[ITEMS - 1][r] / 1.12;
    ck_assert_int_eq(drift_check(trial.items, ITEMS, 5, &trial.drift), 0);
    ck_assert(!trial.items[ITEMS - 1].drifted);
    for (unsigned r = 0; r < 5; r++)
        fast[r] = trial.times[ITEMS - 1][r] * 0.99;
    ck_assert_int_eq(drift_check(trial.items, ITEMS, 5, &trial.drift), 0);
    ck_assert(trial.items[ITEMS - 1].drifted);
}
END_TEST

START_TEST(too_few_repetitions_are_not_checked)
{
    struct trial trial;

    state = 7;
    make(&trial, &conditions[0], DRIFT_REPEATS - 1, 1, 2);
    ck_assert_uint_eq(trial.drift.nchecked, 0);
    ck_assert_uint_eq(trial.drift.ndrifted, 0);
    ck_assert_double_eq_tol(trial.items[SIZES].shift, log(2), 0.1);
}
END_TEST

START_TEST(kernels_without_model_or_measures_are_left_out)
{
    struct trial trial;

    state = 8;
    make(&trial, &conditions[0], 5, -1, 1);
    trial.items[0].estimate = NAN;
    for (unsigned r = 0; r < 5; r++)
        trial.times[1][r] = NAN;
    ck_assert_int_eq(drift_check(trial.items, ITEMS, 5, &trial.drift), 0);
    ck_assert_uint_eq(trial.drift.nchecked, ITEMS - 2);
    ck_assert_uint_eq(trial.drift.ndrifted, 0);
    ck_assert(isnan(trial.items[0].excess));
    ck_assert(isnan(trial.items[1].excess));
}
END_TEST

START_TEST(medians_skip_what_is_not_known)
{
    double values[] = {NAN, 5, 1, NAN, 3, 9}, none[] = {NAN};

    ck_assert_double_eq(drift_median(values, 6), 4);
    ck_assert(isnan(drift_median(none, 1)));
    ck_assert(isnan(drift_median(none, 0)));
}
END_TEST

SUITE_MAIN(drift)
{
    Suite *suite = suite_create("drift");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, unchanged_models_raise_no_alarm, 0, NCONDITIONS);
    tcase_add_loop_test(tcase,
                        a_kernel_that_is_10_percent_slower_raises_the_alarm, 0,
                        NCONDITIONS - 1);
    tcase_add_test(tcase, a_kernel_that_is_10_percent_faster_raises_the_alarm);
    tcase_add_test(tcase, a_kernel_that_is_2_percent_slower_raises_none);
    tcase_add_test(tcase, a_slower_machine_is_reported_as_slower);
    tcase_add_test(tcase, device_types_are_checked_apart);
    tcase_add_loop_test(tcase, of_few_kernels_the_slow_one_is_found, 1,
                        KERNELS + 1);
    tcase_add_test(tcase, what_fast_runs_do_not_show_is_no_drift);
    tcase_add_test(tcase, too_few_repetitions_are_not_checked);
    tcase_add_test(tcase, kernels_without_model_or_measures_are_left_out);
    tcase_add_test(tcase, medians_skip_what_is_not_known);
    suite_add_tcase(suite, tcase);
    return suite_main(suite);
}

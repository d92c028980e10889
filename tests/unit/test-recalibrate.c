/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-recalibrate.c - which lengths are uncalibrated, suspicious or
 * stale, and what recalibration may cost. Class 0 is a CPU, classes 1 to 3 are
 * CUDA devices.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "core/cost/recalibrate.h"
#include "fake_sched.h"
#include "core/worker/workers.h"
#include "tests/suite.h"

static const unsigned classes[] = {0, 1, 2, 3};
static const uint8_t all[] = {1, 1, 1, 1};

static struct orr_cost_row *row;
static struct orr_recal *recal;

/* Lengths that are based on n measures each. */
static void start(double cpu, double a, double b, double c, uint32_t n)
{
    fake_start(classes, 4);
    row = fake_row((double[]){cpu, a, b, c});
    recal = fake_recal(row);
    for (unsigned k = 0; k < 4; k++)
        orr_recal_begin_with(recal, k, 0, n);
    fake_refresh(row);
}

static void set_length(unsigned class_id, double us)
{
    row->length[class_id * STARPU_MAXIMPLEMENTATIONS] = us;
    fake_refresh(row);
}

static bool measured(unsigned class_id, double us)
{
    return orr_recal_measured(recal, row, class_id, 0, us, fake.now);
}

/* The class whose recalibration is due, -1 for none. */
static int take(void)
{
    unsigned class_id, impl;

    if (!orr_recal_maybe_due(recal, fake.now) ||
        !orr_recal_take(recal, row, all, fake.now, &class_id, &impl))
        return -1;
    return (int)class_id;
}

START_TEST(only_siblings_make_a_length_suspicious)
{
    /* Classes 0 and 1 differ by type, 1 and 2 by less than 3. */
    start(1e6, 10, 29, 31, 0);
    ck_assert_uint_eq(orr_recal_uncalibrated(recal, 0), 0);
    ck_assert_uint_eq(orr_recal_uncalibrated(recal, 1), 0);
    ck_assert_uint_eq(orr_recal_uncalibrated(recal, 2), 0);
    ck_assert_uint_eq(orr_recal_uncalibrated(recal, 3), 1);
    set_length(1, NAN);
    ck_assert_uint_eq(orr_recal_uncalibrated(recal, 1), 1);
    ck_assert_uint_eq(orr_recal_uncalibrated(recal, 3), 0);
    fake_stop();
}
END_TEST

START_TEST(devices_that_share_a_model_are_no_siblings)
{
    start(1, 10, 100, 0, 0);
    fake.rt.workers->classes[2].comb = fake.rt.workers->classes[1].comb;
    fake_refresh(row);
    ck_assert_uint_eq(orr_recal_uncalibrated(recal, 2), 0);
    fake_stop();
}
END_TEST

START_TEST(so_many_runs_confirm_a_length)
{
    start(1, 10, 100, 0, 0);
    for (unsigned i = 0; i < ORR_RECAL_RUNS; i++) {
        ck_assert_uint_eq(orr_recal_uncalibrated(recal, 2), 1);
        ck_assert(!measured(2, 100));
    }
    ck_assert_uint_eq(orr_recal_uncalibrated(recal, 2), 0);
    fake_stop();
}
END_TEST

START_TEST(a_contradiction_makes_a_confirmed_length_uncalibrated)
{
    start(1, 10, 100, 0, ORR_RECAL_RUNS);
    ck_assert_uint_eq(orr_recal_uncalibrated(recal, 2), 0);
    ck_assert_int_eq(take(), 2);
    ck_assert(measured(2, 10));
    for (unsigned i = 0; i < ORR_RECAL_RERUNS; i++) {
        ck_assert_uint_eq(orr_recal_uncalibrated(recal, 2), 1);
        ck_assert(!measured(2, 100));
    }
    ck_assert_uint_eq(orr_recal_uncalibrated(recal, 2), 0);
    fake_stop();
}
END_TEST

START_TEST(one_recalibration_is_under_way_and_a_failed_one_is_repeated)
{
    start(1, 10, 100, 0, ORR_RECAL_RUNS);
    ck_assert_int_eq(take(), 2);
    fake.now = 1e9;
    measured(0, 1); /* not stale */
    measured(1, 10);
    ck_assert_int_eq(take(), -1);
    measured(2, NAN);
    ck_assert_int_eq(take(), 2);
    fake_stop();
}
END_TEST

START_TEST(a_recalibration_given_back_is_due_again_and_costs_nothing)
{
    start(1, 10, 100, 0, ORR_RECAL_RUNS);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(take(), 2);
        orr_recal_give_back(recal, 2, 0);
    }
    ck_assert_double_eq(recal->budget->spent, 0);
    fake_stop();
}
END_TEST

START_TEST(recalibrations_of_a_slow_device_cost_no_more_than_their_share)
{
    double spent = 0;
    unsigned n = 0;

    start(0, 10, 1000, 0, ORR_RECAL_RUNS);
    for (fake.now = 0; fake.now < 5e6; fake.now += 10) {
        measured(1, 10);
        if (take() != 2)
            continue;
        n++;
        spent += 990;
        /* The first one is free. */
        ck_assert_double_le(spent - 990, ORR_RECAL_SHARE * fake.now + 1e-6);
        measured(2, 1000);
    }
    ck_assert_uint_ge(n, 90); /* nor do they end */
    fake_stop();
}
END_TEST

START_TEST(a_length_not_measured_for_long_is_stale_where_models_are_fed)
{
    unsigned class_id, impl;

    start(100, 10, 0, 0, 100);
    fake.now = 0.9e6;
    measured(1, 10);
    ck_assert_int_eq(take(), -1);
    fake.now = 1.1e6;
    ck_assert_int_eq(take(), 0);
    ck_assert_int_eq(take(), -1);
    ck_assert(!measured(0, 100));
    ck_assert_int_eq(take(), -1);
    fake.now = 2.2e6;
    measured(1, 10);
    orr_recal_refresh(recal, row, false, &class_id, &impl);
    ck_assert_int_eq(take(), -1);
    fake_stop();
}
END_TEST

START_TEST(long_kernels_are_stale_after_a_multiple_of_their_length)
{
    start(1e5, 10, 0, 0, 100);
    fake.now = 19e6;
    measured(1, 10);
    ck_assert_int_eq(take(), -1);
    fake.now = 21e6;
    measured(1, 10);
    ck_assert_int_eq(take(), 0);
    fake_stop();
}
END_TEST

START_TEST(a_stale_length_that_was_contradicted_is_measured_again)
{
    start(100, 10, 0, 0, 100);
    fake.now = 1.1e6;
    measured(1, 10);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_int_eq(take(), 0);
        measured(0, 10);
    }
    ck_assert_int_eq(take(), 0);
    measured(0, 100);
    ck_assert_int_eq(take(), -1);
    fake_stop();
}
END_TEST

START_TEST(settled_lengths_are_not_recalibrated_before_they_could_be_stale)
{
    start(20, 10, 11, 12, 100);
    ck_assert(orr_recal_maybe_due(recal, 0));
    ck_assert_int_eq(take(), -1);
    ck_assert(!orr_recal_maybe_due(recal, 0.9e6));
    ck_assert(orr_recal_maybe_due(recal, 1.1e6));
    fake_stop();
}
END_TEST

START_TEST(implementations_are_picked_by_runs_then_speed)
{
    const unsigned two = 1 | 4;
    unsigned class_id, impl;

    start(NAN, 0, 0, 0, 0);
    row->able[0] = 7;
    row->length[1] = 20;
    row->length[2] = NAN;
    fake_refresh(row);
    ck_assert_uint_eq(orr_recal_pick(recal, row, 0, two), 0);
    ck_assert_uint_eq(orr_recal_pick(recal, row, 0, two), 2);
    ck_assert_uint_eq(orr_recal_pick(recal, row, 0, 7), 0);
    row->length[0] = 30;
    row->length[2] = 10;
    fake_refresh(row);
    ck_assert_uint_eq(orr_recal_pick(recal, row, 0, 7), 2);
    ck_assert_uint_eq(orr_recal_pick(recal, row, 0, 3), 1);
    orr_recal_refresh(recal, row, false, &class_id, &impl);
    ck_assert_uint_eq(orr_recal_pick(recal, row, 0, 7), 0);
    ck_assert_uint_eq(orr_recal_pick(NULL, row, 0, 6), 1);
    fake_stop();
}
END_TEST

SUITE_MAIN(recalibrate)
{
    Suite *suite = suite_create("recalibrate");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, only_siblings_make_a_length_suspicious);
    tcase_add_test(tc, devices_that_share_a_model_are_no_siblings);
    tcase_add_test(tc, so_many_runs_confirm_a_length);
    tcase_add_test(tc, a_contradiction_makes_a_confirmed_length_uncalibrated);
    tcase_add_test(tc,
                   one_recalibration_is_under_way_and_a_failed_one_is_repeated);
    tcase_add_test(tc,
                   a_recalibration_given_back_is_due_again_and_costs_nothing);
    tcase_add_test(
        tc, recalibrations_of_a_slow_device_cost_no_more_than_their_share);
    tcase_add_test(
        tc, a_length_not_measured_for_long_is_stale_where_models_are_fed);
    tcase_add_test(tc, long_kernels_are_stale_after_a_multiple_of_their_length);
    tcase_add_test(tc, a_stale_length_that_was_contradicted_is_measured_again);
    tcase_add_test(
        tc, settled_lengths_are_not_recalibrated_before_they_could_be_stale);
    tcase_add_test(tc, implementations_are_picked_by_runs_then_speed);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

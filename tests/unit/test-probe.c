/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-probe.c - which figures are on trial, doubted or stale, and
 * what probes may cost. Class 0 is a CPU, classes 1 to 3 are CUDA devices.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "core/cost/probe.h"
#include "fake_sched.h"
#include "tests/suite.h"

static const unsigned classes[] = {0, 1, 2, 3};
static const uint8_t all[] = {1, 1, 1, 1};

static struct orr_cost_row *row;
static struct orr_probes *probes;

/* Figures that stand on n measures each. */
static void start(double cpu, double a, double b, double c, uint32_t n)
{
    fake_start(classes, 4);
    row = fake_row((double[]){cpu, a, b, c});
    probes = fake_probes(row);
    for (unsigned k = 0; k < 4; k++)
        orr_probes_begin_with(probes, k, 0, n);
    fake_refresh(row);
}

static void set_length(unsigned class_id, double us)
{
    row->length[class_id * STARPU_MAXIMPLEMENTATIONS] = us;
    fake_refresh(row);
}

static bool measured(unsigned class_id, double us)
{
    return orr_probes_measured(probes, row, class_id, 0, us, fake.now);
}

/* The class whose probe is due, -1 for none. */
static int take(void)
{
    unsigned class_id, impl;

    if (!orr_probes_look(probes, fake.now) ||
        !orr_probes_take(probes, row, all, fake.now, &class_id, &impl))
        return -1;
    return (int)class_id;
}

START_TEST(only_siblings_make_a_figure_suspicious)
{
    /* Classes 0 and 1 differ by type, 1 and 2 by less than 3. */
    start(1e6, 10, 29, 31, 0);
    ck_assert_uint_eq(orr_probes_trials(probes, 0), 0);
    ck_assert_uint_eq(orr_probes_trials(probes, 1), 0);
    ck_assert_uint_eq(orr_probes_trials(probes, 2), 0);
    ck_assert_uint_eq(orr_probes_trials(probes, 3), 1);
    set_length(1, NAN);
    ck_assert_uint_eq(orr_probes_trials(probes, 1), 1);
    ck_assert_uint_eq(orr_probes_trials(probes, 3), 0);
    fake_stop();
}
END_TEST

START_TEST(devices_that_share_a_model_are_no_siblings)
{
    start(1, 10, 100, 0, 0);
    fake.rt.classes[2].comb = fake.rt.classes[1].comb;
    fake_refresh(row);
    ck_assert_uint_eq(orr_probes_trials(probes, 2), 0);
    fake_stop();
}
END_TEST

START_TEST(so_many_runs_confirm_a_figure)
{
    start(1, 10, 100, 0, 0);
    for (unsigned i = 0; i < ORR_PROBE_TRIALS; i++) {
        ck_assert_uint_eq(orr_probes_trials(probes, 2), 1);
        ck_assert(!measured(2, 100));
    }
    ck_assert_uint_eq(orr_probes_trials(probes, 2), 0);
    fake_stop();
}
END_TEST

START_TEST(a_contradiction_puts_a_confirmed_figure_on_trial_again)
{
    start(1, 10, 100, 0, ORR_PROBE_TRIALS);
    ck_assert_uint_eq(orr_probes_trials(probes, 2), 0);
    ck_assert_int_eq(take(), 2);
    ck_assert(measured(2, 10));
    for (unsigned i = 0; i < ORR_PROBE_RETRIALS; i++) {
        ck_assert_uint_eq(orr_probes_trials(probes, 2), 1);
        ck_assert(!measured(2, 100));
    }
    ck_assert_uint_eq(orr_probes_trials(probes, 2), 0);
    fake_stop();
}
END_TEST

START_TEST(one_probe_is_under_way_and_a_failed_one_makes_room)
{
    start(1, 10, 100, 0, ORR_PROBE_TRIALS);
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

START_TEST(a_probe_given_back_is_due_again_and_costs_nothing)
{
    start(1, 10, 100, 0, ORR_PROBE_TRIALS);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(take(), 2);
        orr_probes_give_back(probes, 2, 0);
    }
    ck_assert_double_eq(probes->budget->spent, 0);
    fake_stop();
}
END_TEST

START_TEST(probes_of_a_slow_device_cost_no_more_than_their_share)
{
    double spent = 0;
    unsigned n = 0;

    start(0, 10, 1000, 0, ORR_PROBE_TRIALS);
    for (fake.now = 0; fake.now < 5e6; fake.now += 10) {
        measured(1, 10);
        if (take() != 2)
            continue;
        n++;
        spent += 990;
        /* The first one is free. */
        ck_assert_double_le(spent - 990, ORR_PROBE_SHARE * fake.now + 1e-6);
        measured(2, 1000);
    }
    ck_assert_uint_ge(n, 90); /* nor do they fall silent */
    fake_stop();
}
END_TEST

START_TEST(a_figure_nobody_measured_for_long_is_stale_where_models_are_fed)
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
    orr_probes_refresh(probes, row, false, &class_id, &impl);
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

START_TEST(a_stale_figure_that_was_contradicted_is_probed_on)
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

START_TEST(settled_figures_ask_for_no_look_before_they_could_be_stale)
{
    start(20, 10, 11, 12, 100);
    ck_assert(orr_probes_look(probes, 0));
    ck_assert_int_eq(take(), -1);
    ck_assert(!orr_probes_look(probes, 0.9e6));
    ck_assert(orr_probes_look(probes, 1.1e6));
    fake_stop();
}
END_TEST

START_TEST(implementations_are_picked_by_trials_then_speed)
{
    const unsigned two = 1 | 4;
    unsigned class_id, impl;

    start(NAN, 0, 0, 0, 0);
    row->able[0] = 7;
    row->length[1] = 20;
    row->length[2] = NAN;
    fake_refresh(row);
    ck_assert_uint_eq(orr_probes_pick(probes, row, 0, two), 0);
    ck_assert_uint_eq(orr_probes_pick(probes, row, 0, two), 2);
    ck_assert_uint_eq(orr_probes_pick(probes, row, 0, 7), 0);
    row->length[0] = 30;
    row->length[2] = 10;
    fake_refresh(row);
    ck_assert_uint_eq(orr_probes_pick(probes, row, 0, 7), 2);
    ck_assert_uint_eq(orr_probes_pick(probes, row, 0, 3), 1);
    orr_probes_refresh(probes, row, false, &class_id, &impl);
    ck_assert_uint_eq(orr_probes_pick(probes, row, 0, 7), 0);
    ck_assert_uint_eq(orr_probes_pick(NULL, row, 0, 6), 1);
    fake_stop();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("probe");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, only_siblings_make_a_figure_suspicious);
    tcase_add_test(tc, devices_that_share_a_model_are_no_siblings);
    tcase_add_test(tc, so_many_runs_confirm_a_figure);
    tcase_add_test(tc, a_contradiction_puts_a_confirmed_figure_on_trial_again);
    tcase_add_test(tc, one_probe_is_under_way_and_a_failed_one_makes_room);
    tcase_add_test(tc, a_probe_given_back_is_due_again_and_costs_nothing);
    tcase_add_test(tc, probes_of_a_slow_device_cost_no_more_than_their_share);
    tcase_add_test(
        tc, a_figure_nobody_measured_for_long_is_stale_where_models_are_fed);
    tcase_add_test(tc, long_kernels_are_stale_after_a_multiple_of_their_length);
    tcase_add_test(tc, a_stale_figure_that_was_contradicted_is_probed_on);
    tcase_add_test(tc,
                   settled_figures_ask_for_no_look_before_they_could_be_stale);
    tcase_add_test(tc, implementations_are_picked_by_trials_then_speed);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-clock.c - how much of a time others had the processor of the thread.
 * What the system has counted is changed before it is compared, so that nothing depends
 * on what else runs.
 */
#include <check.h>

#include "core/device/clock.h"
#include "tests/suite.h"

enum { LONG_US = 1000000000 };

static volatile unsigned sum;

static void compute(void)
{
    for (unsigned i = 0; i < 100000; i++)
        sum += i;
}

START_TEST(what_a_preempted_thread_has_not_computed_is_lost)
{
    struct orr_thread_usage before;

    orr_thread_usage(&before);
    compute();
    before.preempted--; /* as if another one had come between */
    ck_assert_double_gt(orr_thread_lost_us(&before, LONG_US), 0);
    ck_assert_double_lt(orr_thread_lost_us(&before, LONG_US), LONG_US);
    /* It has computed for longer than that. */
    ck_assert_double_eq(orr_thread_lost_us(&before, 1e-9), 0);
}
END_TEST

START_TEST(a_thread_that_waited_as_well_has_lost_what_nobody_knows)
{
    struct orr_thread_usage before;

    orr_thread_usage(&before);
    compute();
    before.preempted--;
    before.gave_it_up--;
    ck_assert_double_eq(orr_thread_lost_us(&before, LONG_US), 0);
}
END_TEST

SUITE_MAIN(clock)
{
    Suite *suite = suite_create("clock");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, what_a_preempted_thread_has_not_computed_is_lost);
    tcase_add_test(tc, a_thread_that_waited_as_well_has_lost_what_nobody_knows);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

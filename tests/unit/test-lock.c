/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-lock.c - the order of locks: what a debug build stops, and
 * that it counts what is held. Release builds do not look.
 */
#include <signal.h>
#include <stdlib.h>

#include "core/base/lock.h"
#include "core/device/threads.h"
#include "tests/suite.h"

static struct orr_exec *exec;

static void open_exec(void)
{
    ck_assert_int_eq(orr_threads_new(NULL, &exec), 0);
}

static struct orr_lock handle = ORR_LOCK_INIT(ORR_RANK_HANDLE);
static struct orr_lock other = ORR_LOCK_INIT(ORR_RANK_HANDLE);
static struct orr_lock node = ORR_LOCK_INIT(ORR_RANK_NODE);

START_TEST(locks_of_rising_rank_are_taken)
{
    orr_lock(&handle);
    orr_lock(&node);
    orr_unlock(&handle); /* in any order */
    orr_unlock(&node);
    orr_lock(&handle);
    orr_unlock(&handle);
    ck_assert_uint_eq(orr_self->ranks, 0);
}
END_TEST

START_TEST(a_further_lock_of_a_rank_is_taken_in_the_callers_order)
{
    orr_lock(&handle);
    orr_lock_next(&other);
    orr_lock(&node);
    orr_unlock(&node);
    orr_unlock(&other);
    orr_unlock(&handle);
    ck_assert_uint_eq(orr_self->ranks, 0);
}
END_TEST

START_TEST(a_try_may_come_in_any_order)
{
    orr_lock(&node);
    ck_assert(orr_trylock(&handle));
    ck_assert(!orr_trylock(&handle));
    orr_unlock(&handle);
    orr_unlock(&node);
    ck_assert_uint_eq(orr_self->ranks, 0);
}
END_TEST

#ifndef NDEBUG
START_TEST(a_falling_rank_is_stopped)
{
    orr_lock(&node);
    orr_lock(&handle);
}
END_TEST

START_TEST(the_same_rank_is_stopped)
{
    orr_lock(&handle);
    orr_lock(&other);
}
END_TEST

START_TEST(a_further_lock_without_a_first_is_stopped)
{
    orr_lock_next(&other);
}
END_TEST

/* As when it was freed while it was held. */
START_TEST(a_lock_that_has_become_another_is_stopped)
{
    orr_lock(&handle);
    orr_lock_init(&handle, ORR_RANK_PLANS);
    orr_unlock(&handle);
}
END_TEST

START_TEST(a_further_lock_below_another_is_stopped)
{
    orr_lock(&handle);
    orr_lock(&node);
    orr_lock_next(&other);
}
END_TEST
#endif

SUITE_MAIN(lock)
{
    Suite *suite = suite_create("lock");
    TCase *tc = tcase_create("order");

    tcase_add_checked_fixture(tc, open_exec, NULL);
    tcase_add_test(tc, locks_of_rising_rank_are_taken);
    tcase_add_test(tc, a_further_lock_of_a_rank_is_taken_in_the_callers_order);
    tcase_add_test(tc, a_try_may_come_in_any_order);
#ifndef NDEBUG
    tcase_add_test_raise_signal(tc, a_falling_rank_is_stopped, SIGABRT);
    tcase_add_test_raise_signal(tc, the_same_rank_is_stopped, SIGABRT);
    tcase_add_test_raise_signal(tc, a_further_lock_without_a_first_is_stopped,
                                SIGABRT);
    tcase_add_test_raise_signal(tc, a_lock_that_has_become_another_is_stopped, SIGABRT);
    tcase_add_test_raise_signal(tc, a_further_lock_below_another_is_stopped,
                                SIGABRT);
#endif
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/skipping.c - a suite of which some tests are skipped and some fail,
 * for test-suite.sh. One thread.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>

#include "tests/suite.h"

START_TEST(passes)
{
    ck_assert_int_eq(1, 1);
}
END_TEST

START_TEST(lacks_something)
{
    printf("half a line");
    SKIP_TEST("no %s here, #%d", "gold", _i);
    ck_abort_msg("skipped tests do not go on");
}
END_TEST

static void look_for_gold(void)
{
    suite_skip("a helper found none");
}

START_TEST(has_a_helper_that_lacks_something)
{
    look_for_gold();
    ck_assert_int_eq(1, 1);
}
END_TEST

START_TEST(fails_after_all)
{
    look_for_gold();
    ck_assert_int_eq(1, 2);
}
END_TEST

START_TEST(crashes_after_all)
{
    look_for_gold();
    raise(SIGSEGV);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("skipping");
    TCase *tc = tcase_create("all");

    (void)argv;
    tcase_add_test(tc, passes);
    tcase_add_loop_test(tc, lacks_something, 0, 2);
    tcase_add_test(tc, passes);
    tcase_add_test(tc, has_a_helper_that_lacks_something);
    if (argc > 1) {
        tcase_add_test(tc, fails_after_all);
        tcase_add_test(tc, crashes_after_all);
    }
    tcase_add_test(tc, passes);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

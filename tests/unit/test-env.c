/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-env.c - reading the environment through starpu_helper.h.
 * One thread; each test runs in a process of its own.
 */
#include <check.h>
#include <stdlib.h>

#include <starpu_helper.h>

#include "tests/suite.h"

START_TEST(unset_and_empty_variables_give_the_default)
{
    unsetenv("T");
    ck_assert_int_eq(starpu_getenv_number("T"), -1);
    ck_assert_int_eq(starpu_getenv_number_default("T", 5), 5);
    setenv("T", "", 1);
    ck_assert_int_eq(starpu_getenv_number_default("T", 5), 5);
    ck_assert_int_eq(starpu_getenv_size_default("T", 6), 6);
    ck_assert_double_eq((double)starpu_getenv_float_default("T", 1.5f), 1.5);
}
END_TEST

START_TEST(numbers_and_sizes_are_read)
{
    setenv("T", "-12", 1);
    ck_assert_int_eq(starpu_getenv_number_default("T", 0), -12);
    setenv("T", "12", 1);
    ck_assert_int_eq(starpu_getenv_number("T"), 12);
    setenv("T", "0.25", 1);
    ck_assert_double_eq((double)starpu_getenv_float_default("T", 0), 0.25);
    setenv("T", "3k", 1);
    ck_assert_int_eq(starpu_getenv_size_default("T", 0), 3072);
    setenv("T", "2M", 1);
    ck_assert_int_eq(starpu_getenv_size_default("T", 0), 2 << 20);
    setenv("T", "77B", 1);
    ck_assert_int_eq(starpu_getenv_size_default("T", 0), 77);
}
END_TEST

START_TEST(words_give_their_index_whatever_their_case)
{
    const char *words[] = {"local", "Remote", NULL};

    setenv("T", "REMOTE", 1);
    ck_assert_int_eq(starpu_getenv_string_var_default("T", words, 0), 1);
    unsetenv("T");
    ck_assert_int_eq(starpu_getenv_string_var_default("T", words, 7), 7);
}
END_TEST

START_TEST(what_is_no_number_ends_the_program)
{
    setenv("T", "12x", 1);
    starpu_getenv_number("T");
}
END_TEST

/* -1 is said for a variable that is not set. */
START_TEST(a_negative_number_without_a_default_ends_the_program)
{
    setenv("T", "-12", 1);
    (void)starpu_getenv_number("T");
}
END_TEST

START_TEST(what_is_no_size_ends_the_program)
{
    setenv("T", "12kk", 1);
    starpu_getenv_size_default("T", 0);
}
END_TEST

START_TEST(a_size_beyond_int_ends_the_program)
{
    setenv("T", "9g", 1);
    starpu_getenv_size_default("T", 0);
}
END_TEST

START_TEST(an_unknown_value_ends_the_program)
{
    const char *words[] = {"local", NULL};

    setenv("T", "lokal", 1);
    starpu_getenv_string_var_default("T", words, 0);
}
END_TEST

SUITE_MAIN(env)
{
    Suite *suite = suite_create("env");
    TCase *tc = tcase_create("env");

    tcase_add_test(tc, unset_and_empty_variables_give_the_default);
    tcase_add_test(tc, numbers_and_sizes_are_read);
    tcase_add_test(tc, words_give_their_index_whatever_their_case);
    tcase_add_test_raise_signal(tc, what_is_no_number_ends_the_program, 6);
    tcase_add_test_raise_signal(
        tc, a_negative_number_without_a_default_ends_the_program, 6);
    tcase_add_test_raise_signal(tc, what_is_no_size_ends_the_program, 6);
    tcase_add_test_raise_signal(tc, a_size_beyond_int_ends_the_program, 6);
    tcase_add_test_raise_signal(tc, an_unknown_value_ends_the_program, 6);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

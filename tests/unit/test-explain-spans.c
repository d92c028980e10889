/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-explain-spans.c - tools/explain/spans.h. One thread.
 */
#include <check.h>
#include <stdlib.h>

#include "tests/rng.h"
#include "tests/suite.h"
#include "tools/explain/spans.h"

static struct span_steps steps;
static struct explain_spans spans;

static void begin(void)
{
    span_steps_init(&steps, 100);
    ck_assert_ptr_nonnull(steps.items);
}

static double within(double a, double b)
{
    if (steps.items)
        ck_assert(span_steps_make(&steps, &spans));
    return explain_spans_within(&spans, a, b);
}

static void end(void)
{
    explain_spans_done(&spans);
}

START_TEST(what_is_hidden_does_not_count)
{
    span_steps_add(&steps, 10, 30, false);
    span_steps_add(&steps, 20, 40, false);
    span_steps_add(&steps, 15, 25, true);
    ck_assert_double_eq(within(0, 50), 20);
    ck_assert_double_eq(within(12, 16), 3);
    ck_assert_double_eq(within(16, 26), 1);
    ck_assert_double_eq(within(26, 12), 0);
}
END_TEST

START_TEST(any_number_of_them_is_hidden_by_one)
{
    long many = 3000000000L;

    span_steps_change(&steps, 0, many, false);
    span_steps_change(&steps, 8, -many, false);
    span_steps_add(&steps, 2, 5, true);
    ck_assert_double_eq(within(0, 10), 5);
    ck_assert_double_eq(within(2, 5), 0);
}
END_TEST

START_TEST(any_number_of_them_hides_one)
{
    span_steps_add(&steps, 0, 8, false);
    span_steps_change(&steps, 2, 3000000000L, true);
    span_steps_change(&steps, 5, -3000000000L, true);
    ck_assert_double_eq(within(0, 10), 5);
}
END_TEST

START_TEST(what_ends_as_the_next_one_begins_goes_on)
{
    span_steps_add(&steps, 0, 4, false);
    span_steps_add(&steps, 4, 6, false);
    span_steps_add(&steps, 3, 3, true); /* takes no time */
    ck_assert_double_eq(within(0, 10), 6);
    ck_assert_uint_eq(spans.n, 2);
}
END_TEST

START_TEST(nothing_is_never_the_case)
{
    ck_assert_double_eq(within(0, 10), 0);
}
END_TEST

/* Against a count of each whole moment. */
START_TEST(spans_by_chance_are_as_counted)
{
    uint64_t state = (uint64_t)_i + 1;
    int found[20] = {0}, hidden[20] = {0};
    unsigned sum = 0, a = (unsigned)(rng_next(&state) % 20);

    for (int i = 0; i < 10; i++) {
        unsigned from = (unsigned)(rng_next(&state) % 20);
        unsigned to = from + (unsigned)(rng_next(&state) % (20 - from));
        bool hides = rng_next(&state) % 3 == 0;

        span_steps_add(&steps, from, to, hides);
        for (unsigned t = from; t < to; t++)
            (hides ? hidden : found)[t]++;
    }
    for (unsigned t = a; t < 20; t++)
        sum += found[t] && !hidden[t];
    ck_assert_double_eq(within(a, 20), sum);
}
END_TEST

SUITE_MAIN(explain_spans)
{
    Suite *suite = suite_create("explain-spans");
    TCase *tests = tcase_create("explain-spans");

    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, what_is_hidden_does_not_count);
    tcase_add_test(tests, any_number_of_them_is_hidden_by_one);
    tcase_add_test(tests, any_number_of_them_hides_one);
    tcase_add_test(tests, what_ends_as_the_next_one_begins_goes_on);
    tcase_add_test(tests, nothing_is_never_the_case);
    tcase_add_loop_test(tests, spans_by_chance_are_as_counted, 0, 50);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-omp-codelets.c - which codelets' tasks are short: deferring one costs
 * more than executing it.
 */
#include "core/omp/omp.h"
#include "tests/suite.h"

#define SHORT_US 0.1
#define LONG_US  20.0

static struct orr_omp_codelet codelet;

static void note(unsigned n, double us)
{
    for (unsigned i = 0; i < n; i++)
        orr_omp_codelet_note_length(&codelet, us, 1);
}

/* How many short tasks it takes until the codelet's are known to be. */
static unsigned short_ones_needed(void)
{
    unsigned n = 0;

    while (!orr_omp_codelet_is_short(&codelet)) {
        note(1, SHORT_US);
        ck_assert_uint_lt(++n, 10000);
    }
    return n;
}

static void begin(void)
{
    codelet = (struct orr_omp_codelet){.function = NULL};
}

START_TEST(an_unknown_one_has_to_show_it)
{
    begin();
    ck_assert(!orr_omp_codelet_is_short(&codelet));
    ck_assert_uint_eq(short_ones_needed(), ORR_OMP_SHORT);
}
END_TEST

START_TEST(a_row_counts_as_its_tasks)
{
    begin();
    orr_omp_codelet_note_length(&codelet, 16 * SHORT_US, 16);
    orr_omp_codelet_note_length(&codelet, 16 * SHORT_US, 16);
    ck_assert(orr_omp_codelet_is_short(&codelet));
    begin();
    orr_omp_codelet_note_length(&codelet, LONG_US, 16);
    orr_omp_codelet_note_length(&codelet, 16 * SHORT_US, 16);
    orr_omp_codelet_note_length(&codelet, 16 * SHORT_US, 16);
    ck_assert(!orr_omp_codelet_is_short(&codelet));
}
END_TEST

/* An interrupt is no task's length. */
START_TEST(one_that_took_long_among_many_changes_nothing)
{
    begin();
    note(1000, SHORT_US);
    for (int i = 0; i < 100; i++) {
        note(1, LONG_US);
        ck_assert(orr_omp_codelet_is_short(&codelet));
        note(1000, SHORT_US);
    }
}
END_TEST

START_TEST(with_one_in_fifty_deferring_is_worth_while)
{
    begin();
    note(1000, SHORT_US);
    for (int i = 0; i < 10; i++) {
        note(1, LONG_US);
        note(49, SHORT_US);
    }
    ck_assert(!orr_omp_codelet_is_short(&codelet));
}
END_TEST

START_TEST(long_ones_are_remembered_for_a_thousand)
{
    begin();
    note(100000, LONG_US);
    ck_assert_uint_gt(short_ones_needed(), 1000);
}
END_TEST

SUITE_MAIN(omp_codelets)
{
    Suite *suite = suite_create("omp-codelets");
    TCase *tc = tcase_create("short");

    suite_add_tcase(suite, tc);
    tcase_add_test(tc, an_unknown_one_has_to_show_it);
    tcase_add_test(tc, a_row_counts_as_its_tasks);
    tcase_add_test(tc, one_that_took_long_among_many_changes_nothing);
    tcase_add_test(tc, with_one_in_fifty_deferring_is_worth_while);
    tcase_add_test(tc, long_ones_are_remembered_for_a_thousand);
    return suite_main(suite);
}

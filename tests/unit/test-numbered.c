/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/test-numbered.c - the data of a record by their numbers: replay/numbered.h. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

#include "replay/numbered.h"
#include "tests/rng.h"
#include "tests/suite.h"

START_TEST(nothing_is_found_before_it_was_made)
{
    struct numbered numbered = {0};

    ck_assert_ptr_null(numbered_find(&numbered, 0));
    ck_assert_ptr_nonnull(numbered_make(&numbered, 1));
    ck_assert_ptr_null(numbered_find(&numbered, 0));
    ck_assert_ptr_null(numbered_find(&numbered, UINT64_MAX));
    numbered_done(&numbered);
    ck_assert_uint_eq(numbered.room, 0);
}
END_TEST

START_TEST(a_datum_is_made_once)
{
    struct numbered numbered = {0};
    struct datum *datum = numbered_make(&numbered, 0);

    datum->shares = 3;
    ck_assert_ptr_eq(numbered_make(&numbered, 0), datum);
    ck_assert_uint_eq(numbered_find(&numbered, 0)->shares, 3);
    ck_assert_uint_eq(numbered.n, 1);
    numbered_done(&numbered);
}
END_TEST

/* In the strides in which tiles of a grid of ranks are numbered, and at random. */
START_TEST(all_that_were_made_are_found_whatever_their_numbers)
{
    enum { N = 3000, LARGEST = 1 << 20 };
    static unsigned shares[LARGEST];
    struct numbered numbered = {0};
    uint64_t random = rng_of(1);
    bool found = true;

    for (unsigned i = 1; i <= N; i++) {
        uint64_t number = i % 3 == 0   ? rng_next(&random) % LARGEST
                          : i % 3 == 1 ? UINT64_C(32) * i
                                       : UINT64_C(182) * i;

        shares[number] = i;
        numbered_make(&numbered, number)->shares = i;
    }
    for (uint64_t number = 0; number < LARGEST; number++) {
        const struct datum *datum = numbered_find(&numbered, number);

        found &= (datum ? datum->shares : 0) == shares[number];
    }
    ck_assert(found);
    ck_assert_uint_le(numbered.room, 4 * N);
    numbered_done(&numbered);
}
END_TEST

START_TEST(memory_of_data_goes_with_them)
{
    struct numbered numbered = {0};

    for (uint64_t number = 0; number < 100; number++)
        numbered_make(&numbered, number)->memory =
            malloc(8); /* leaks are errors */
    numbered_done(&numbered);
    ck_assert_ptr_null(numbered.at);
}
END_TEST

SUITE_MAIN(numbered)
{
    Suite *suite = suite_create("numbered");
    TCase *tcase = tcase_create("numbered");

    tcase_add_test(tcase, nothing_is_found_before_it_was_made);
    tcase_add_test(tcase, a_datum_is_made_once);
    tcase_add_test(tcase, all_that_were_made_are_found_whatever_their_numbers);
    tcase_add_test(tcase, memory_of_data_goes_with_them);
    suite_add_tcase(suite, tcase);
    return suite_main(suite);
}

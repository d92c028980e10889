/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/test-number.c - core/base/number.h: numbers are those of the C library, to the
 * last bit. One thread. */
#include <check.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"
#include "tests/rng.h"
#include "tests/suite.h"

static void compare(const char *text)
{
    char *end = NULL, *expected_end = NULL;
    double value = orr_strtod(text, &end),
           expected = strtod(text, &expected_end);

    ck_assert_msg(memcmp(&value, &expected, sizeof(value)) == 0,
                  "\"%s\": %a, not %a", text, value, expected);
    ck_assert_msg(end == expected_end, "\"%s\" ends at %td, not %td", text,
                  end - text, expected_end - text);
}

static const char *const texts[] = {
    "",
    "0",
    "-0",
    "-0.0",
    "+1",
    " 1",
    "1 ",
    "1,5",
    ".",
    ".5",
    "5.",
    "5.x",
    "1.2.3",
    "..1",
    "0x10",
    "0X1p3",
    "1e3",
    "1.5E-2",
    "1.e5",
    "1e",
    "5e+",
    "inf",
    "nan",
    "x",
    "0.1",
    "0.3",
    "0.7GBps",
    "25us",
    "100MBps",
    "1-2",
    "00000.100",
    "123456789012345",
    "1234567890123456",
    "9007199254740993",
    "0.123456789012345",
    "0.1234567890123456",
    "999999999999.999",
    "000000000000000001",
    "0.000000000000001",
    "1.000000000000000",
};

START_TEST(texts_are_read_as_the_library_reads_them)
{
    compare(texts[_i]);
}
END_TEST

START_TEST(numbers_are_rounded_as_the_library_rounds_them)
{
    uint64_t seed = 1;

    for (unsigned i = 0; i < 200000; i++) {
        uint64_t digits = rng_next(&seed) >> rng_next(&seed) % 60;
        char text[64];
        int n = snprintf(text, sizeof(text), "%" PRIu64, digits);
        int point = (int)(rng_next(&seed) % (uint64_t)(n + 1));

        memmove(text + point + 1, text + point, (size_t)(n - point) + 1);
        text[point] = '.';
        compare(text);
    }
}
END_TEST

START_TEST(nobody_needs_the_end)
{
    ck_assert_double_eq(orr_strtod("2.5", NULL), 2.5);
    ck_assert_double_eq(orr_strtod("2.5e1", NULL), 25);
}
END_TEST

SUITE_MAIN(number)
{
    Suite *suite = suite_create("number");
    TCase *tc = tcase_create("number");

    tcase_add_loop_test(tc, texts_are_read_as_the_library_reads_them, 0,
                        (int)(sizeof(texts) / sizeof(*texts)));
    tcase_add_test(tc, numbers_are_rounded_as_the_library_rounds_them);
    tcase_add_test(tc, nobody_needs_the_end);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-decimal.c - core/observe/decimal.h beside printf. One thread.
 */
#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/observe/decimal.h"
#include "tests/rng.h"
#include "tests/suite.h"

static void compare(double value)
{
    char ours[ORR_DECIMAL_SIZE], theirs[ORR_DECIMAL_SIZE];

    for (unsigned digits = 0; digits <= 9; digits++) {
        snprintf(theirs, sizeof(theirs), "%.*f", (int)digits, value);
        ck_assert_str_eq(orr_decimal(value, digits, ours), theirs);
    }
}

START_TEST(odd_values_are_as_printf_has_them)
{
    static const double values[] = {0.0,
                                    -0.0,
                                    1.0,
                                    -1.0,
                                    0.5,
                                    1.5,
                                    2.5,
                                    0.125,
                                    1e-9,
                                    5e-10,
                                    1.5e-9,
                                    2.5e-9,
                                    1e-300,
                                    4e-324,
                                    1e15,
                                    1e15 - 0.5,
                                    1e22,
                                    1e300,
                                    999.9999999995,
                                    0.9999999995,
                                    0.99999999949,
                                    INFINITY,
                                    -INFINITY,
                                    123456789.987654321,
                                    1.0 / 3,
                                    -2.0 / 3};

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        compare(values[i]);
}
END_TEST

/* k/2^n ends in a 5 where it is cut off: half to even. */
START_TEST(ties_go_to_the_even_digit)
{
    for (int n = 1; n <= 12; n++)
        for (int k = 1; k < 1 << n; k += 2)
            compare(ldexp(k, -n) + 7);
}
END_TEST

START_TEST(values_by_chance_are_as_printf_has_them)
{
    uint64_t state = 1;

    for (int i = 0; i < 2000; i++) {
        double value = (double)(rng_next(&state) >> 11) * 0x1p-53;

        compare(value * pow(10, (int)(rng_next(&state) % 24) - 12));
        compare(floor(value * 1e12) / 1000);
    }
}
END_TEST

/* What orr_print writes into a file is what fprintf does. */
#define PRINTS(...)                                                            \
    do {                                                                       \
        char *ours_ = NULL, *theirs_ = NULL;                                   \
        size_t n_;                                                             \
        FILE *one_ = open_memstream(&ours_, &n_);                              \
        FILE *two_ = open_memstream(&theirs_, &n_);                            \
        orr_print(one_, __VA_ARGS__);                                          \
        fprintf(two_, __VA_ARGS__);                                            \
        fclose(one_);                                                          \
        fclose(two_);                                                          \
        ck_assert_str_eq(ours_, theirs_);                                      \
        free(ours_);                                                           \
        free(theirs_);                                                         \
    } while (0)

START_TEST(lines_are_as_printf_has_them)
{
    char longer[2000];
    uint64_t state = 1;

    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    PRINTS("no conversion\n");
    PRINTS("%s", "");
    PRINTS("a %s b %s%s c", "", longer, "d");
    PRINTS("%s%s%s%s%s", longer + 1500, longer + 1600, "mid", longer, longer);
    PRINTS("%d %d %d %d %d", 0, -1, 9, INT_MAX, INT_MIN);
    PRINTS("%u %u %u", 0u, 10u, UINT_MAX);
    PRINTS("%lld %lld", LLONG_MIN, LLONG_MAX);
    PRINTS("%llu %zu %x %llx", ULLONG_MAX, (size_t)100, 0u, ULLONG_MAX);
    PRINTS("%08x|%08x|%016llx|%04u", 0xbeefu, UINT_MAX, 0xabcULL, 7u);
    for (int i = 0; i < 2000; i++) {
        unsigned long long value = rng_next(&state) >> (i % 64);

        PRINTS("%llu %llx %016llx %u %d", value, value, value, (unsigned)value,
               (int)value);
    }
}
END_TEST

START_TEST(a_value_is_kept_as_text)
{
    struct orr_general general = {0};
    char theirs[32];
    static const double values[] = {0,     0,     -0.0,     1e-9, 1.23456789012,
                                    1e300, 1e300, INFINITY, 0};

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        snprintf(theirs, sizeof(theirs), "%.9g", values[i]);
        ck_assert_str_eq(orr_general(&general, values[i]), theirs);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("decimal");
    TCase *tests = tcase_create("decimal");

    tcase_add_test(tests, odd_values_are_as_printf_has_them);
    tcase_add_test(tests, ties_go_to_the_even_digit);
    tcase_add_test(tests, values_by_chance_are_as_printf_has_them);
    tcase_add_test(tests, lines_are_as_printf_has_them);
    tcase_add_test(tests, a_value_is_kept_as_text);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}

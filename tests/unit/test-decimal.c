/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-decimal.c - core/base/decimal.h and out.h beside printf. One
 * thread.
 */
#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/out.h"
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

/* As "%.17g": also of values around powers of ten, where the first digit is found last. */
static void compare_exact(double value)
{
    char ours[ORR_DECIMAL_ROOM], theirs[ORR_DECIMAL_ROOM];

    for (int sign = 1; sign >= -1; sign -= 2) {
        snprintf(theirs, sizeof(theirs), "%.17g", sign * value);
        *orr_write_exact(ours, sign * value) = '\0';
        ck_assert_str_eq(ours, theirs);
    }
}

START_TEST(all_digits_are_as_printf_has_them)
{
    static const double values[] = {
        0,      1,        0.1,    0.5,   1.0 / 3,  1e-4,   1e-5,
        9.5e-5, 4e-324,   1e-300, 1e300, INFINITY, NAN,    1e15,
        1e17,   1e15 - 1, 0.125,  4096,  12345.5,  2.5e-4, 0.3};
    uint64_t state = 2;

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        compare_exact(values[i]);
    for (int power = -8; power <= 18; power++) {
        double down = pow(10, power), up = down;

        for (int i = 0; i < 40; i++) {
            compare_exact(down = nextafter(down, 0));
            compare_exact(up = nextafter(up, INFINITY));
        }
    }
    for (int i = 0; i < 100000; i++) {
        double value = (double)(rng_next(&state) >> 11) * 0x1p-53;

        compare_exact(value * pow(10, (int)(rng_next(&state) % 24) - 6));
        compare_exact(floor(value * 1e12) / 1000);
        compare_exact(
            ldexp(floor(value * 4096), (int)(rng_next(&state) % 60) - 24));
    }
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

static struct orr_out out_to(FILE *file)
{
    struct orr_out out;

    ck_assert_int_eq(orr_out_init(&out, file), 0);
    return out;
}

/* With a buffer at whose end most of them are. */
static void put_many(struct orr_out *out, FILE *other, unsigned first)
{
    char text[120];

    for (unsigned i = first; i < first + 3000; i++) {
        size_t n = i * 7 % sizeof(text);
        struct orr_same same;

        memset(text, 'a' + (char)(i % 26), sizeof(text));
        orr_same_init(&same);
        orr_put(out, text, n);
        orr_put_byte(out, '|');
        orr_put_unsigned(out, UINT64_MAX >> (i % 64));
        ORR_PUT(out, " literal ");
        orr_put_exact(out, ldexp(1 + i, (int)(i % 80) - 20));
        orr_put_signed(out, INT64_MIN >> (i % 64));
        orr_put_hex(out, UINT64_MAX >> (i % 64), i % 17);
        orr_put_decimal(out, ldexp(1 + i, (int)(i % 80) - 20), 9);
        for (unsigned k = 0; k < 2; k++)
            orr_put_same(out, &same, ldexp(1 + i, (int)(i % 80) - 20), 6);
        fprintf(
            other, "%.*s|%llu literal %.17g%lld%0*llx%.9f%.6f%.6f", (int)n,
            text, (unsigned long long)UINT64_MAX >> (i % 64),
            ldexp(1 + i, (int)(i % 80) - 20), (long long)INT64_MIN >> (i % 64),
            (int)(i % 17), (unsigned long long)UINT64_MAX >> (i % 64),
            ldexp(1 + i, (int)(i % 80) - 20), ldexp(1 + i, (int)(i % 80) - 20),
            ldexp(1 + i, (int)(i % 80) - 20));
    }
}

START_TEST(pieces_are_as_printf_has_them)
{
    char *ours = NULL, *theirs = NULL;
    size_t n, m;
    FILE *one = open_memstream(&ours, &n), *two = open_memstream(&theirs, &m);
    struct orr_out out = out_to(one);

    put_many(&out, two, 0);
    orr_out_flush(&out);
    put_many(&out, two, 3000);
    orr_out_done(&out);
    fclose(one);
    fclose(two);
    ck_assert_uint_eq(n, m);
    ck_assert_int_eq(memcmp(ours, theirs, n), 0);
    ck_assert_uint_gt(n, 1 << 17); /* the buffer was full */
    free(ours);
    free(theirs);
}
END_TEST

START_TEST(a_full_file_shows)
{
    FILE *full = fopen("/dev/full", "we");
    struct orr_out out;

    ck_assert_ptr_nonnull(full);
    setvbuf(full, NULL, _IONBF, 0);
    out = out_to(full);
    ORR_PUT(&out, "text");
    orr_out_done(&out);
    ck_assert_int_ne(ferror(full), 0);
    fclose(full);
}
END_TEST

/* What orr_print writes into a file is what fprintf does. */
#define print(file, ...)                                                       \
    do {                                                                       \
        struct orr_out out_ = out_to(file);                                    \
        orr_print(&out_, __VA_ARGS__);                                         \
        orr_out_done(&out_);                                                   \
    } while (0)

#define PRINTS(...)                                                            \
    do {                                                                       \
        char *ours_ = NULL, *theirs_ = NULL;                                   \
        size_t n_;                                                             \
        FILE *one_ = open_memstream(&ours_, &n_);                              \
        FILE *two_ = open_memstream(&theirs_, &n_);                            \
        print(one_, __VA_ARGS__);                                              \
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

START_TEST(digits_of_each_length_have_zeros_in_front)
{
    for (uint64_t power = 1, i = 0; i < 20; i++, power *= 10)
        for (unsigned least = 1; least <= 20; least++)
            for (int more = -1; more <= 1; more++) {
                uint64_t value = power + (uint64_t)(int64_t)more;
                char ours[40], theirs[40];

                *orr_write_digits(ours, value, least) = '\0';
                snprintf(theirs, sizeof(theirs), "%0*llu", (int)least,
                         (unsigned long long)value);
                ck_assert_str_eq(ours, theirs);
            }
}
END_TEST

START_TEST(values_are_kept_as_text)
{
    struct orr_general general = {0};
    char theirs[32];
    static const double values[] = {0,     0,     -0.0,     1e-9, 1.23456789012,
                                    1e300, 1e300, INFINITY, 0};

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        snprintf(theirs, sizeof(theirs), "%.9g", values[i]);
        ck_assert_str_eq(orr_general(&general, values[i]), theirs);
    }
    for (int i = 0; i < 1000; i++) { /* more than are kept, again and again */
        double value = i * i % 37 / 7.0;

        snprintf(theirs, sizeof(theirs), "%.9g", value);
        ck_assert_str_eq(orr_general(&general, value), theirs);
    }
}
END_TEST

SUITE_MAIN(decimal)
{
    Suite *suite = suite_create("decimal");
    TCase *tests = tcase_create("decimal");

    tcase_add_test(tests, odd_values_are_as_printf_has_them);
    tcase_add_test(tests, digits_of_each_length_have_zeros_in_front);
    tcase_add_test(tests, all_digits_are_as_printf_has_them);
    tcase_add_test(tests, ties_go_to_the_even_digit);
    tcase_add_test(tests, values_by_chance_are_as_printf_has_them);
    tcase_add_test(tests, pieces_are_as_printf_has_them);
    tcase_add_test(tests, a_full_file_shows);
    tcase_add_test(tests, lines_are_as_printf_has_them);
    tcase_add_test(tests, values_are_kept_as_text);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}

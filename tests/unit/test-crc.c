/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-crc.c - core/base/crc.h and starpu_hash.h against known
 * values and a bit-by-bit division. One thread.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_hash.h>

#include "core/base/crc.h"
#include "tests/suite.h"

/* The definition: one bit at a time. */
static uint32_t slow_byte(unsigned char byte, uint32_t crc)
{
    crc ^= (uint32_t)byte << 24;
    for (int bit = 0; bit < 8; bit++)
        crc = (crc << 1) ^ (crc >> 31 ? 0x1EDC6F41u : 0);
    return crc;
}

START_TEST(known_values_come_out)
{
    ck_assert_uint_eq(orr_crc_u32(1, 0), 0xfc93054a);
    ck_assert_uint_eq(orr_crc_u32(0x12345678, 0), 0x9dcbb3b7);
    ck_assert_uint_eq(orr_crc_bytes("abc", 3, 0), 0x72eb4694);
    ck_assert_uint_eq(orr_crc_size(1024, 0), 0xbdc1dabc);
    ck_assert_uint_eq(orr_crc_double(0.75, 7),
                      orr_crc_bytes("\0\0\0\0\0\0\xe8\x3f", 8, 7));
}
END_TEST

START_TEST(every_byte_agrees_with_the_definition)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned char b = (unsigned char)byte;

        ck_assert_uint_eq(orr_crc_bytes(&b, 1, 0xdeadbeef),
                          slow_byte(b, 0xdeadbeef));
    }
}
END_TEST

/* Each byte of a word has a table of its own. */
START_TEST(every_byte_of_a_word_agrees_with_the_definition)
{
    for (unsigned at = 0; at < 4; at++)
        for (unsigned byte = 0; byte < 256; byte++) {
            unsigned char bytes[4] = {0x5a, 0xc3, 0x0f, 0x99};
            uint32_t word = 0, expected = 0xdeadbeef;

            bytes[at] = (unsigned char)byte;
            for (unsigned i = 0; i < 4; i++)
                word |= (uint32_t)bytes[i] << 8 * i;
            for (unsigned i = 0; i < 4; i++)
                expected = slow_byte(bytes[i], expected);
            ck_assert_uint_eq(orr_crc_u32(word, 0xdeadbeef), expected);
        }
}
END_TEST

START_TEST(the_running_value_joins_two_halves)
{
    ck_assert_uint_eq(orr_crc_bytes("c", 1, orr_crc_bytes("ab", 2, 0)),
                      orr_crc_string("abc", 0));
    ck_assert_uint_eq(orr_crc_bytes("abc", 0, 77), 77);
}
END_TEST

START_TEST(public_functions_are_the_same_crc)
{
    void *pointer = &pointer;

    ck_assert_uint_eq(starpu_hash_crc32c_be(1, 0), 0xfc93054a);
    ck_assert_uint_eq(starpu_hash_crc32c_be_n("abc", 3, 0), 0x72eb4694);
    ck_assert_uint_eq(starpu_hash_crc32c_string("abc", 0), 0x72eb4694);
    ck_assert_uint_eq(starpu_hash_crc32c_be_ptr(pointer, 5),
                      orr_crc_bytes(&pointer, sizeof(pointer), 5));
}
END_TEST

SUITE_MAIN(crc)
{
    Suite *suite = suite_create("crc");
    TCase *tc = tcase_create("crc");

    tcase_add_test(tc, known_values_come_out);
    tcase_add_test(tc, every_byte_agrees_with_the_definition);
    tcase_add_test(tc, every_byte_of_a_word_agrees_with_the_definition);
    tcase_add_test(tc, the_running_value_joins_two_halves);
    tcase_add_test(tc, public_functions_are_the_same_crc);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

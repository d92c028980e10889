/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/test-shown.c - core/base/shown.h. One thread. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/host.h"
#include "core/base/shown.h"
#include "tests/rng.h"
#include "tests/suite.h"

static const struct {
    const char *text, *lines, *line;
} texts[] = {
    {"", "", ""},
    {"gemm<float, 3>", "gemm<float, 3>", "gemm<float, 3>"},
    {"\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
     "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"red \033[31m", "red ?[31m", "red ?[31m"},
    {"two\nlines\tand\ra bell\a", "two\nlines\tand a bell?", "two lines and a bell?"},
    {"\x7f", "?", "?"},
    {"C1: \xc2\x9b" "31m \xc2\xa0", "C1: ?31m \xc2\xa0", "C1: ?31m \xc2\xa0"},
    {"\xff\xfe\xc0\x80", "????", "????"},
    {"\xed\xa0\x80 a surrogate", "??? a surrogate", "??? a surrogate"},
    {"cut \xe2\x82", "cut ??", "cut ??"},
};

START_TEST(what_could_do_harm_is_replaced)
{
    char line[64] = "", lines[64];
    const char *at = texts[_i].text, *shown;
    size_t n;

    while ((shown = orr_shown_next(&at, &n), n > 0))
        strncat(line, shown, n);
    ck_assert_str_eq(line, texts[_i].line);
    strcpy(lines, texts[_i].text);
    orr_shown_lines(lines);
    ck_assert_str_eq(lines, texts[_i].lines);
}
END_TEST

/* However a text is cut into pieces, it becomes the same. */
START_TEST(pieces_are_as_the_whole)
{
    static const char bytes[] = "a\n\t\033\x7f\xc2\x9b\xa0\xe2\x82\xac\xf0\x9f\xff\xed ";
    uint64_t rng = rng_of((uint64_t)_i + 1);
    char text[257], whole[257], pieces[257], rest[260];
    size_t size = rng_next(&rng) % 257, at = 0, kept = 0, to = 0;

    for (size_t i = 0; i < size; i++)
        text[i] = bytes[rng_next(&rng) % (sizeof(bytes) - 1)];
    text[size] = '\0';
    strcpy(whole, text);
    orr_shown_lines(whole);
    while (at < size) {
        size_t n = rng_next(&rng) % 5, all, done, shown;

        n = n < size - at ? n : size - at;
        memcpy(rest + kept, text + at, n);
        at += n;
        all = kept + n;
        done = orr_shown_piece(rest, all, at == size, &shown);
        memcpy(pieces + to, rest, shown);
        to += shown;
        kept = all - done;
        ck_assert_uint_lt(kept, 4);
        memmove(rest, rest + done, kept);
    }
    pieces[to] = '\0';
    ck_assert_uint_eq(kept, 0);
    ck_assert_str_eq(pieces, whole);
    ck_assert(orr_is_utf8(whole));
}
END_TEST

/* A byte of 0 ends no piece. */
START_TEST(zero_bytes_are_control_characters)
{
    char text[] = "a\0b";
    size_t n;

    ck_assert_uint_eq(orr_shown_piece(text, 3, true, &n), 3);
    ck_assert_uint_eq(n, 3);
    ck_assert_str_eq(text, "a?b");
}
END_TEST

SUITE_MAIN(shown)
{
    Suite *suite = suite_create("shown");
    TCase *tests = tcase_create("shown");

    tcase_add_loop_test(tests, what_could_do_harm_is_replaced, 0, sizeof(texts) / sizeof(*texts));
    tcase_add_loop_test(tests, pieces_are_as_the_whole, 0, 50);
    tcase_add_test(tests, zero_bytes_are_control_characters);
    suite_add_tcase(suite, tests);
    return suite_main(suite);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-markup.c - core/base/markup.h: what a text becomes, and what is refused,
 * with its line. One thread.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/markup.h"
#include "tests/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct orr_markup markup;
static char said[4096];

static void say(const char *text, size_t length)
{
    size_t n = strlen(said);

    ck_assert_uint_lt(n + length, sizeof(said));
    memcpy(said + n, text, length);
    said[n + length] = '\0';
}

static void say_piece(int piece)
{
    if (piece == ORR_MARKUP_TEXT) { /* which may come in parts */
        size_t n = strlen(said);

        if (n && said[n - 1] == ']')
            said[n - 1] = '\0';
        else
            say("[", 1);
        say(markup.text, markup.length);
        say("]", 1);
        return;
    }
    if (piece == ORR_MARKUP_DOCTYPE) {
        say(markup.declares ? "!!" : "!", 1 + markup.declares);
        return;
    }
    say(piece == ORR_MARKUP_END ? "</" : "<", 1 + (piece == ORR_MARKUP_END));
    say(markup.name, strlen(markup.name));
    for (unsigned i = 0; i < markup.nattrs; i++) {
        say(" ", 1);
        say(markup.attrs[i].name, strlen(markup.attrs[i].name));
        say("=", 1);
        say(markup.attrs[i].value, strlen(markup.attrs[i].value));
    }
    say(">", 1);
}

/* Reads all of it; what it consists of is in `said`. Returns 0 or the error. */
static int read_text(const char *text, size_t size)
{
    char *own = malloc(size ? size : 1); /* so that what reads more is seen */
    int piece;

    memcpy(own, text, size);
    said[0] = '\0';
    ck_assert_int_eq(orr_markup_begin(&markup, own, size, NULL), 0);
    while ((piece = orr_markup_next(&markup)) > 0)
        say_piece(piece);
    ck_assert_int_eq(orr_markup_next(&markup), piece);
    orr_markup_end(&markup);
    free(own);
    return piece;
}

static const struct {
    const char *text, *said;
} good[] = {
    {"<a/>", "<a></a>"},
    {"<a></a>", "<a></a>"},
    {"\xef\xbb\xbf<a/>", "<a></a>"},
    {"<?xml version='1.0'?>\n<!-- x -->\n<a/>\n<!-- y --><?z?>\n", "<a></a>"},
    {"<!DOCTYPE a SYSTEM \"http://a/>\"><a/>", "!<a></a>"},
    {"<!DOCTYPE a [ ] ><a/>", "!<a></a>"},
    {"<a b='1' c=\"'2'\"/>", "<a b=1 c='2'></a>"},
    {"<a\n\tb = '1'\n/>", "<a b=1></a>"},
    {"<a b='&lt;&gt;&amp;&quot;&apos;&#65;&#x42;'/>", "<a b=<>&\"'AB></a>"},
    {"<a b='&#xe9;&#x20ac;&#x1f600;'/>", "<a b=\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80></a>"},
    {"<a b='1\r\n2\n3\t4'/>", "<a b=1 2 3 4></a>"},
    {"<a>1\r\n2\r3</a>", "<a>[1\n2\n3]</a>"},
    {"<a>x<b>y</b>z</a>", "<a>[x]<b>[y]</b>[z]</a>"},
    {"<a>x<!-- - -->y</a>", "<a>[xy]</a>"},
    {"<a><![CDATA[<b>&amp;]] >]]></a>", "<a>[<b>&amp;]] >]</a>"},
    {"<a>&#60;b&gt;</a>", "<a>[<b>]</a>"},
    {"<s:a xmlns:s='u' xmlns='v' s:b='1'></s:a>", "<a b=1></a>"},
    {"<a-1._\xc3\xa9/>", "<a-1._\xc3\xa9></a-1._\xc3\xa9>"},
};

START_TEST(what_is_well_formed_is_taken_apart)
{
    for (size_t i = 0; i < COUNT(good); i++) {
        ck_assert_msg(read_text(good[i].text, strlen(good[i].text)) == 0, "%s: %s",
                      good[i].text, markup.problem);
        ck_assert_str_eq(said, good[i].said);
    }
}
END_TEST

static const struct {
    const char *text;
    int rc;
    unsigned line;
    const char *problem;
} bad[] = {
    {"", -ENOMSG, 1, "no XML"},
    {" \n ", -ENOMSG, 2, "no XML"},
    {"hello", -ENOMSG, 1, "no XML"},
    {"<a>\n<b>", -EINVAL, 2, "no element found"},
    {"<a>\n<b>\n</a>", -EINVAL, 3, "mismatched tag"},
    {"<x:a></y:a>", -EINVAL, 1, "mismatched tag"},
    {"</a>", -EINVAL, 1, ""},
    {"<a/>\n<b/>", -EINVAL, 2, "junk after"},
    {"<a/>\nx", -EINVAL, 2, "junk after"},
    {"<!DOCTYPE a", -EINVAL, 1, ""},
    {"<a", -EINVAL, 1, "unclosed token"},
    {"<a b=1/>", -EINVAL, 1, "invalid token"},
    {"<a b='1/>", -EINVAL, 1, "unclosed token"},
    {"<a b='<'/>", -EINVAL, 1, "invalid token"},
    {"<a b='1'\nb='2'/>", -EINVAL, 2, "duplicate attribute"},
    {"<a x:b='1' b='2'/>", -EINVAL, 1, "b is there twice"},
    {"<a>1 < 2</a>", -EINVAL, 1, "invalid token"},
    {"<a>R&D</a>", -EINVAL, 1, "invalid token"},
    {"<a b='&c;'/>", -ENOTSUP, 1, "entity &c; is not"},
    {"<a>\n&c;</a>", -ENOTSUP, 2, "entity &c; is not"},
    {"<!DOCTYPE a SYSTEM 'x'><a b='&c;'/>", -ENOTSUP, 1, "entity &c; is not"},
    {"<!DOCTYPE a SYSTEM 'x'><a>&c;</a>", -ENOTSUP, 1, "entity &c; is not"},
    {"<a b='&#0;'/>", -EINVAL, 1, "character number"},
    {"<!-- a -- b --><a/>", -EINVAL, 1, "invalid token"},
    {"<a>\n\xff</a>", -EILSEQ, 2, "no text of its encoding"},
    {"<a>\xc3", -EILSEQ, 1, "no text of its encoding"},
    {"<?xml version='1.0' encoding='klingon'?><a/>", -EILSEQ, 1, "encoding"},
    {"<?xml version='1.0' encoding='US-ASCII'?><a>\xe9</a>", -EILSEQ, 1, "encoding"},
};

START_TEST(what_is_not_is_refused_with_its_line)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        ck_assert_msg(read_text(bad[i].text, strlen(bad[i].text)) == bad[i].rc,
                      "%s: %s", bad[i].text, markup.problem);
        ck_assert_msg(strstr(markup.problem, bad[i].problem), "%s: %s", bad[i].text,
                      markup.problem);
        ck_assert_msg(markup.line == bad[i].line, "%s: line %u", bad[i].text,
                      markup.line);
    }
    ck_assert_int_eq(read_text("<a>\0</a>", 8), -EILSEQ);
}
END_TEST

/* The beginning of a document is none, wherever it ends. */
START_TEST(no_beginning_of_a_document_is_one)
{
    static const char text[] =
        "<?xml version='1.0'?><!DOCTYPE a SYSTEM 'b'><!-- c --><a b='&amp;&#65;\xc3\xa9' "
        "c=\"2\"><d/>text<![CDATA[x]]></a>";

    for (size_t n = 0; n < sizeof(text) - 1; n++)
        ck_assert_int_lt(read_text(text, n), 0);
    ck_assert_int_eq(read_text(text, sizeof(text) - 1), 0);
    ck_assert_str_eq(said, "!<a b=&A\xc3\xa9 c=2><d></d>[textx]</a>");
}
END_TEST

START_TEST(declarations_are_told)
{
    static const char *const declarations[] = {
        "<!ENTITY b 'c'>", "<!ENTITY b SYSTEM 'c'>", "<!ATTLIST a b (c|d) 'c'>",
        "<!ELEMENT a (b)>", "<!NOTATION b SYSTEM 'c'>"};
    char text[200];

    for (size_t i = 0; i < COUNT(declarations); i++) {
        int n = snprintf(text, sizeof(text), "<!DOCTYPE a [%s]><a/>", declarations[i]);

        read_text(text, (size_t)n);
        ck_assert_int_eq(strncmp(said, "!!", 2), 0);
    }
}
END_TEST

START_TEST(attributes_are_limited_in_number)
{
    char text[4096];
    size_t n = (size_t)sprintf(text, "<a");

    for (int i = 0; i <= ORR_MARKUP_MAX_ATTRS; i++)
        n += (size_t)sprintf(text + n, " b%d='1'", i);
    n += (size_t)sprintf(text + n, "/>");
    ck_assert_int_eq(read_text(text, n), -EINVAL);
    ck_assert_ptr_nonnull(strstr(markup.problem, "more than 64 attributes"));
}
END_TEST

/* What pieces have told stays until the end, and long texts are whole. */
START_TEST(strings_live_until_the_end)
{
    enum { N = 3000, LONG = 100000 };
    char *text = malloc(N * 20 + LONG + 100);
    const char *names[N];
    size_t n = (size_t)sprintf(text, "<a>");

    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(text + n, "<b c='%d'/>", i);
    memset(text + n, 'x', LONG);
    n += LONG;
    n += (size_t)sprintf(text + n, "</a>");
    ck_assert_int_eq(orr_markup_begin(&markup, text, n, "UTF-8"), 0);
    ck_assert_int_eq(orr_markup_next(&markup), ORR_MARKUP_START);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(orr_markup_next(&markup), ORR_MARKUP_START);
        names[i] = markup.attrs[0].value;
        ck_assert_int_eq(orr_markup_next(&markup), ORR_MARKUP_END);
    }
    for (size_t left = LONG; left > 0; left -= markup.length)
        ck_assert_int_eq(orr_markup_next(&markup), ORR_MARKUP_TEXT);
    ck_assert_int_eq(orr_markup_next(&markup), ORR_MARKUP_END);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(atoi(names[i]), i);
    orr_markup_end(&markup);
    free(text);
}
END_TEST

START_TEST(encodings_become_utf8)
{
    static const char latin[] =
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a b='\xe9&amp;'/>";
    static const char utf16[] = "\xff\xfe<\0a\0>\0&\0l\0t\0;\0\xe9\0<\0/\0a\0>\0";

    ck_assert_int_eq(read_text(latin, sizeof(latin) - 1), 0);
    ck_assert_str_eq(said, "<a b=\xc3\xa9&></a>");
    ck_assert_int_eq(read_text(utf16, sizeof(utf16) - 1), 0);
    ck_assert_str_eq(said, "<a>[<\xc3\xa9]</a>");
}
END_TEST

SUITE_MAIN(markup)
{
    Suite *suite = suite_create("markup");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, what_is_well_formed_is_taken_apart);
    tcase_add_test(tc, what_is_not_is_refused_with_its_line);
    tcase_add_test(tc, no_beginning_of_a_document_is_one);
    tcase_add_test(tc, declarations_are_told);
    tcase_add_test(tc, attributes_are_limited_in_number);
    tcase_add_test(tc, strings_live_until_the_end);
    tcase_add_test(tc, encodings_become_utf8);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

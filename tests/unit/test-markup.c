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
    if (piece == ORR_MARKUP_TEXT) {
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
    char *own = malloc(size + 1);
    int piece;

    memcpy(own, text, size);
    own[size] = '\0';
    said[0] = '\0';
    orr_markup_begin(&markup, own, size);
    while ((piece = orr_markup_next(&markup)) > 0)
        say_piece(piece);
    if (piece < 0)
        ck_assert_int_eq(orr_markup_next(&markup), -EINVAL);
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
    {"<a>x<!-- - -->y</a>", "<a>[x][y]</a>"},
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
    {"<a>\n<b>", -EINVAL, 2, "ends inside of <b> of line 2"},
    {"<a>\n<b>\n</a>", -EINVAL, 3, "</a> where <b> of line 2"},
    {"<a></ab>", -EINVAL, 1, "mismatch"},
    {"<ab></a>", -EINVAL, 1, "mismatch"},
    {"<x:a></y:a>", -EINVAL, 1, "mismatch"},
    {"</a>", -EINVAL, 1, "without a beginning"},
    {"<a/>\n<b/>", -EINVAL, 2, "behind the end"},
    {"<a/>\nx", -EINVAL, 2, "text outside"},
    {"<a/><![CDATA[x]]>", -EINVAL, 1, "text outside"},
    {"<!DOCTYPE a><!DOCTYPE a><a/>", -EINVAL, 1, "DOCTYPE"},
    {"<a/><!DOCTYPE a>", -EINVAL, 1, "DOCTYPE"},
    {"<!DOCTYPE a", -EINVAL, 1, "DOCTYPE has no end"},
    {"<a", -EINVAL, 1, "no end"},
    {"<a ", -EINVAL, 1, "/ or >"},
    {"<a b", -EINVAL, 1, "= and a value"},
    {"<a b=1/>", -EINVAL, 1, "b has no quotation marks"},
    {"<a b='1/>", -EINVAL, 1, "ends the value of b"},
    {"<a b='1'c='2'/>", -EINVAL, 1, "a blank"},
    {"<a b='<'/>", -EINVAL, 1, "&lt;"},
    {"<a b='1'\nb='2'/>", -EINVAL, 2, "b is there twice"},
    {"<a / >", -EINVAL, 1, "behind /"},
    {"<1/>", -EINVAL, 1, "a name is expected"},
    {"< a/>", -EINVAL, 1, "a name is expected"},
    {"<a>1 < 2</a>", -EINVAL, 1, "a name is expected"},
    {"<a>]]></a>", -EINVAL, 1, "]]>"},
    {"<a>R&D</a>", -EINVAL, 1, "&amp;"},
    {"<a b='&c;'/>", -ENOTSUP, 1, "entity &c; is not"},
    {"<a b='&#0;'/>", -EINVAL, 1, "no character"},
    {"<a b='&#xd800;'/>", -EINVAL, 1, "no character"},
    {"<a b='&#x110000;'/>", -EINVAL, 1, "no character"},
    {"<a b='&#99999999999999999999;'/>", -EINVAL, 1, "no character"},
    {"<!-- a -- b --><a/>", -EINVAL, 1, "inside of a comment"},
    {"<!-- a", -EINVAL, 1, "comment has no end"},
    {"<a><![CDATA[x</a>", -EINVAL, 1, "CDATA has no end"},
    {"<?xml version='1.0'", -EINVAL, 1, "<? has no end"},
    {"<a>\n\xff</a>", -EILSEQ, 2, "UTF-8"},
    {"<a>\x01</a>", -EILSEQ, 1, "UTF-8"},
    {"<a>\xef\xbf\xbf</a>", -EILSEQ, 1, "UTF-8"},
    {"<a>\xc3", -EILSEQ, 1, "UTF-8"},
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
    ck_assert_str_eq(said, "!<a b=&A\xc3\xa9 c=2><d></d>[text][x]</a>");
}
END_TEST

START_TEST(declarations_are_told_and_limits_hold)
{
    char text[4096] = "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>";
    size_t n = 0;

    read_text(text, strlen(text));
    ck_assert_int_eq(strncmp(said, "!!", 2), 0);
    for (int i = 0; i <= ORR_MARKUP_MAX_DEPTH; i++)
        n += (size_t)sprintf(text + n, "<a>");
    ck_assert_int_eq(read_text(text, n), -EINVAL);
    ck_assert_ptr_nonnull(strstr(markup.problem, "in more than 256 others"));
    n = (size_t)sprintf(text, "<a");
    for (int i = 0; i <= ORR_MARKUP_MAX_ATTRS; i++)
        n += (size_t)sprintf(text + n, " b%d='1'", i);
    n += (size_t)sprintf(text + n, "/>");
    ck_assert_int_eq(read_text(text, n), -EINVAL);
    ck_assert_ptr_nonnull(strstr(markup.problem, "more than 64 attributes"));
}
END_TEST

static int turn(const char *text, size_t size, char **ret)
{
    int rc;

    *ret = malloc(size + 1);
    memcpy(*ret, text, size);
    (*ret)[size] = '\0';
    rc = orr_markup_to_utf8(ret, &size);
    ck_assert_uint_eq(size, rc ? size : strlen(*ret));
    return rc;
}

START_TEST(other_encodings_become_utf8)
{
    static const char utf8[] = "<?xml version='1.0' encoding='UTF-8'?><a/>";
    static const char latin[] = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><\xe9/>";
    static const char none[] = "<?xml version='1.0' encoding='klingon'?><a/>";
    static const char ascii[] = "<?xml version='1.0' encoding='US-ASCII'?><\xe9/>";
    char *text;

    ck_assert_int_eq(turn(utf8, sizeof(utf8) - 1, &text), 0);
    ck_assert_str_eq(text, utf8);
    free(text);
    ck_assert_int_eq(turn(latin, sizeof(latin) - 1, &text), 0);
    ck_assert_ptr_nonnull(strstr(text, "<\xc3\xa9/>"));
    free(text);
    ck_assert_int_eq(turn("\xff\xfe<\0a\0/\0>\0", 10, &text), 0);
    ck_assert_str_eq(text, "<a/>");
    free(text);
    ck_assert_int_eq(turn("\0<\0a\0/\0>", 8, &text), 0);
    ck_assert_str_eq(text, "<a/>");
    free(text);
    ck_assert_int_eq(turn(none, sizeof(none) - 1, &text), -EILSEQ);
    free(text);
    ck_assert_int_eq(turn(ascii, sizeof(ascii) - 1, &text), -EILSEQ);
    free(text);
}
END_TEST

SUITE_MAIN(markup)
{
    Suite *suite = suite_create("markup");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, what_is_well_formed_is_taken_apart);
    tcase_add_test(tc, what_is_not_is_refused_with_its_line);
    tcase_add_test(tc, no_beginning_of_a_document_is_one);
    tcase_add_test(tc, declarations_are_told_and_limits_hold);
    tcase_add_test(tc, other_encodings_become_utf8);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}

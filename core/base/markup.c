/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/markup.c - see markup.h. A name or a value ends with a 0 in the place of the
 * character behind it, once that has been read.
 */
#include "core/base/markup.h"

#include "core/base/host.h"

#include <errno.h>
#include <iconv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r\n"

/* ---- errors ---- */

static int wrong(struct orr_markup *m, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int wrong(struct orr_markup *m, int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(m->problem, sizeof(m->problem), format, args);
    va_end(args);
    m->at = m->end;
    return rc;
}

/* ---- characters ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == ':' || (unsigned char)c >= 0x80;
}

static bool in_name(char c)
{
    return starts_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

/* Bytes of the character of XML at `text`, 0 when it is none. */
static size_t char_length(const char *text)
{
    size_t length = orr_utf8_length(text);

    if (length == 1 && (unsigned char)*text < ' ' && !is_blank(*text))
        return 0;
    /* U+FFFE and U+FFFF. */
    if (length == 3 && !memcmp(text, "\xef\xbf", 2) && (unsigned char)text[2] >= 0xbe)
        return 0;
    return length;
}

/* Goes on to a place, counting lines. */
static void go_to(struct orr_markup *m, char *place)
{
    for (char *c = m->at; (c = memchr(c, '\n', (size_t)(place - c))); c++)
        m->line++;
    m->at = place;
}

static void skip_blanks(struct orr_markup *m)
{
    go_to(m, m->at + strspn(m->at, BLANKS));
}

/* Whether these characters are next; goes behind them. */
static bool take(struct orr_markup *m, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(m->at, word, length) != 0)
        return false;
    m->at += length;
    return true;
}

/* Goes behind the next place of these characters; false: there is none. */
static bool go_behind(struct orr_markup *m, const char *word)
{
    char *place = strstr(m->at, word);

    if (!place)
        return false;
    go_to(m, place + strlen(word));
    return true;
}

/* Length of the name that is next, 0: none. */
static size_t name_length(const struct orr_markup *m)
{
    const char *c = m->at;

    if (!starts_name(*c))
        return 0;
    while (in_name(*c))
        c++;
    return (size_t)(c - m->at);
}

static const char *without_prefix(const char *name)
{
    const char *colon = strchr(name, ':');

    return colon && colon[1] ? colon + 1 : name;
}

/* ---- references ---- */

static size_t write_utf8(unsigned long c, char *to)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* &#65; and &#x41;, at most as long in UTF-8 as it is written. */
static int read_number(struct orr_markup *m, const char **from, char **to)
{
    int base = (*from)[2] == 'x' ? 16 : 10;
    const char *digits = *from + (base == 16 ? 3 : 2);
    size_t n = strspn(digits, base == 16 ? "0123456789abcdefABCDEF" : "0123456789");
    unsigned long c = 0;
    char bytes[5] = "";

    if (n && n <= 10 && digits[n] == ';')
        c = strtoul(digits, NULL, base);
    if (c && c <= 0x10ffff)
        write_utf8(c, bytes);
    if (!char_length(bytes))
        return wrong(m, -EINVAL, "%.20s: no character of XML has this number",
                     *from);
    *from = digits + n + 1;
    *to += write_utf8(c, *to);
    return 0;
}

static int read_reference(struct orr_markup *m, const char **from, char **to)
{
    static const struct {
        const char *name;
        char c;
    } known[] = {
        {"&amp;", '&'}, {"&lt;", '<'},    {"&gt;", '>'},
        {"&quot;", '"'}, {"&apos;", '\''},
    };
    size_t length;

    for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++) {
        length = strlen(known[i].name);
        if (!strncmp(*from, known[i].name, length)) {
            *from += length;
            *(*to)++ = known[i].c;
            return 0;
        }
    }
    if ((*from)[1] == '#')
        return read_number(m, from, to);
    length = strcspn(*from, ";<>\"' \t\r\n");
    if (length < 2 || (*from)[length] != ';')
        return wrong(m, -EINVAL, "& without ; behind a name: write &amp; for the "
                                 "character");
    return wrong(m, -ENOTSUP, "entity %.*s is not accepted: write its text",
                 length < 40 ? (int)length + 1 : 40, *from);
}

/* What is written from `from` to `end`, in place; returns where it ends, NULL on
 * errors. In values a blank of any sort is a space. */
static char *decode(struct orr_markup *m, char *begin, const char *end,
                    bool is_value, int *ret)
{
    const char *from = begin;
    char *to = begin;

    while (from < end) {
        if (*from == '&') {
            *ret = read_reference(m, &from, &to);
            if (*ret)
                return NULL;
        } else if (*from == '\r') {
            from += 1 + (from[1] == '\n');
            *to++ = is_value ? ' ' : '\n';
        } else {
            *to++ = is_value && is_blank(*from) ? ' ' : *from;
            from++;
        }
    }
    return to;
}

/* ---- tags ---- */

static int add_attr(struct orr_markup *m, const char *name, const char *value)
{
    if (!strcmp(name, "xmlns") || !strncmp(name, "xmlns:", 6))
        return 0;
    name = without_prefix(name);
    for (unsigned i = 0; i < m->nattrs; i++)
        if (!strcmp(m->attrs[i].name, name))
            return wrong(m, -EINVAL, "attribute %.60s is there twice", name);
    if (m->nattrs == ORR_MARKUP_MAX_ATTRS)
        return wrong(m, -EINVAL, "more than %d attributes", ORR_MARKUP_MAX_ATTRS);
    m->attrs[m->nattrs++] =
        (struct orr_markup_attr){.name = name, .value = value};
    return 0;
}

/* name="value" */
static int read_attr(struct orr_markup *m)
{
    char *name = m->at, *value, *end, quote;
    size_t length = name_length(m);
    int rc = 0;

    if (!length)
        return wrong(m, -EINVAL, "a name of an attribute, / or > is expected");
    m->at += length;
    skip_blanks(m);
    if (!take(m, "="))
        return wrong(m, -EINVAL, "= and a value are expected behind the attribute "
                                 "%.*s", length < 60 ? (int)length : 60, name);
    name[length] = '\0';
    skip_blanks(m);
    quote = *m->at;
    if (quote != '"' && quote != '\'')
        return wrong(m, -EINVAL, "the value of %.60s has no quotation marks", name);
    value = ++m->at;
    end = strchr(value, quote);
    if (!end)
        return wrong(m, -EINVAL, "no quotation mark ends the value of %.60s", name);
    if (memchr(value, '<', (size_t)(end - value)))
        return wrong(m, -EINVAL, "< in the value of %.60s: write &lt;, or end the "
                                 "value before", name);
    go_to(m, end + 1);
    end = decode(m, value, end, true, &rc);
    if (!end)
        return rc;
    *end = '\0';
    return add_attr(m, name, value);
}

/* Behind <. */
static int read_start(struct orr_markup *m)
{
    char *name = m->at;
    size_t length = name_length(m);
    int rc;

    if (!length)
        return wrong(m, -EINVAL, "a name is expected behind <: write &lt; for the "
                                 "character");
    if (m->has_root && m->depth == 0)
        return wrong(m, -EINVAL, "<%.*s> behind the end of the outermost element",
                     length < 60 ? (int)length : 60, name);
    if (m->depth == ORR_MARKUP_MAX_DEPTH)
        return wrong(m, -EINVAL, "elements in more than %d others",
                     ORR_MARKUP_MAX_DEPTH);
    m->open[m->depth].line = m->line;
    m->at += length;
    m->nattrs = 0;
    while (skip_blanks(m), *m->at != '>' && *m->at != '/') {
        if (!is_blank(m->at[-1]))
            return wrong(m, -EINVAL, *m->at ? "a blank is expected between attributes"
                                            : "a tag has no end");
        rc = read_attr(m);
        if (rc)
            return rc;
    }
    m->closes = take(m, "/");
    if (!take(m, ">"))
        return wrong(m, -EINVAL, "> is expected behind /");
    name[length] = '\0';
    m->open[m->depth++].name = name;
    m->name = without_prefix(name);
    m->has_root = true;
    return ORR_MARKUP_START;
}

static int end_element(struct orr_markup *m)
{
    m->depth--;
    m->closes = false;
    m->name = without_prefix(m->open[m->depth].name);
    m->nattrs = 0;
    return ORR_MARKUP_END;
}

/* Behind </. */
static int read_end(struct orr_markup *m)
{
    const char *name = m->at, *open;
    int length = (int)strcspn(name, BLANKS "<>"), shown;

    if (m->depth == 0)
        return wrong(m, -EINVAL, "an end without a beginning");
    open = m->open[m->depth - 1].name;
    shown = length < 60 ? length : 60;
    if (strlen(open) != (size_t)length || strncmp(name, open, (size_t)length))
        return wrong(m, -EINVAL, "mismatch: </%.*s> where <%.60s> of line %u has to "
                                 "end", shown, name, open,
                     m->open[m->depth - 1].line);
    m->at += length;
    skip_blanks(m);
    if (!take(m, ">"))
        return wrong(m, -EINVAL, "> is expected behind </%.60s", open);
    return end_element(m);
}

/* ---- what is not an element ---- */

/* Behind <!--. */
static int skip_comment(struct orr_markup *m)
{
    if (!go_behind(m, "--"))
        return wrong(m, -EINVAL, "a comment has no end");
    return take(m, ">") ? 0 : wrong(m, -EINVAL, "-- inside of a comment");
}

/* Behind <!DOCTYPE: a name, where its declarations are, and declarations. */
static int read_type(struct orr_markup *m)
{
    if (m->has_type || m->has_root)
        return wrong(m, -EINVAL, "DOCTYPE behind the first element");
    m->has_type = true;
    while (*m->at && *m->at != '>' && *m->at != '[')
        if (*m->at == '"' || *m->at == '\'') {
            const char quote[] = {*m->at++, '\0'};

            if (!go_behind(m, quote))
                return wrong(m, -EINVAL, "no quotation mark ends a name in DOCTYPE");
        } else {
            go_to(m, m->at + 1);
        }
    if (take(m, "[")) {
        skip_blanks(m);
        m->declares = !take(m, "]");
        if (m->declares)
            return ORR_MARKUP_DOCTYPE;
        skip_blanks(m);
    }
    return take(m, ">") ? ORR_MARKUP_DOCTYPE
                        : wrong(m, -EINVAL, "DOCTYPE has no end");
}

static int read_cdata(struct orr_markup *m)
{
    if (m->depth == 0)
        return wrong(m, -EINVAL, "text outside of the outermost element");
    m->text = m->at;
    if (!go_behind(m, "]]>"))
        return wrong(m, -EINVAL, "CDATA has no end");
    m->length = (size_t)(m->at - m->text) - 3;
    return ORR_MARKUP_TEXT;
}

/* Text in elements, blanks outside of them. */
static int read_text(struct orr_markup *m)
{
    char *begin = m->at, *end = begin + strcspn(begin, "<");
    int rc = 0;

    if (m->depth == 0) {
        skip_blanks(m);
        if (m->at == end)
            return 0;
        return m->has_root || m->has_type
                   ? wrong(m, -EINVAL, "text outside of the outermost element")
                   : wrong(m, -ENOMSG, "this is no XML, which begins with <");
    }
    go_to(m, end);
    m->text = begin;
    if (memmem(begin, (size_t)(end - begin), "]]>", 3))
        return wrong(m, -EINVAL, "]]> in a text: write ]]&gt;");
    end = decode(m, begin, end, false, &rc);
    if (!end)
        return rc;
    m->length = (size_t)(end - begin);
    return ORR_MARKUP_TEXT;
}

/* Behind <. 0: nothing that callers see. */
static int read_markup(struct orr_markup *m)
{
    if (take(m, "/"))
        return read_end(m);
    if (take(m, "!--"))
        return skip_comment(m);
    if (take(m, "![CDATA["))
        return read_cdata(m);
    if (take(m, "!DOCTYPE"))
        return read_type(m);
    if (take(m, "?"))
        return go_behind(m, "?>") ? 0
                                  : wrong(m, -EINVAL, "<? has no end");
    return read_start(m);
}

/* ---- the text ---- */

void orr_markup_begin(struct orr_markup *m, char *text, size_t size)
{
    memset(m, 0, sizeof(*m));
    m->at = text;
    m->end = text + size;
    m->line = 1;
    take(m, "\xef\xbb\xbf");
}

/* Whether all of it are characters; at the beginning, since the reader writes 0 into
 * the text. */
static bool check_chars(struct orr_markup *m)
{
    char *begin = m->at, *c = begin;
    size_t length;

    while (c < m->end && (length = char_length(c)))
        c += length;
    if (c == m->end)
        return true;
    go_to(m, c);
    return false;
}

int orr_markup_next(struct orr_markup *m)
{
    int piece = 0;

    if (*m->problem)
        return -EINVAL;
    if (m->closes)
        return end_element(m);
    if (!m->has_root && !m->has_type && !check_chars(m))
        return wrong(m, -EILSEQ, "bytes that are no UTF-8 text");
    while (piece == 0 && m->at < m->end)
        piece = take(m, "<") ? read_markup(m) : read_text(m);
    if (piece)
        return piece;
    if (m->depth)
        return wrong(m, -EINVAL, "the file ends inside of <%.60s> of line %u",
                     m->open[m->depth - 1].name, m->open[m->depth - 1].line);
    if (!m->has_root)
        return wrong(m, -ENOMSG, "this is no XML, which begins with <");
    return ORR_MARKUP_DONE;
}

/* ---- encodings ---- */

/* The encoding that the text is said to have, NULL: UTF-8. */
static const char *encoding_of(const char *text, size_t size, char ret[40])
{
    const char *end, *at;
    size_t length;

    if (size >= 4 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
        return "UTF-16";
    if (size >= 4 && !memcmp(text, "<\0", 2))
        return "UTF-16LE";
    if (size >= 4 && !memcmp(text, "\0<", 2))
        return "UTF-16BE";
    if (strncmp(text, "<?xml", 5) != 0 || !(end = strstr(text, "?>")))
        return NULL;
    at = memmem(text, (size_t)(end - text), "encoding", 8);
    if (!at)
        return NULL;
    at += 8;
    at += strspn(at, BLANKS "=");
    length = *at ? strcspn(at + 1, "'\"?") : 0;
    if (length == 0 || length >= 40)
        return NULL;
    memcpy(ret, at + 1, length);
    ret[length] = '\0';
    if (!strcasecmp(ret, "UTF-8") || !strcasecmp(ret, "UTF8") ||
        !strncasecmp(ret, "UTF-16", 6) || !strncasecmp(ret, "UCS-", 4))
        return NULL; /* UTF-16 that can be read as this is none */
    return ret;
}

int orr_markup_to_utf8(char **text, size_t *size)
{
    char name[40], *to, *out, *in = *text;
    const char *encoding = encoding_of(*text, *size, name);
    size_t left = *size, room = 4 * *size; /* as long as a character can become */
    size_t turned;
    iconv_t tables;

    if (!encoding)
        return 0;
    tables = iconv_open("UTF-8", encoding);
    if (tables == (iconv_t)-1)
        return errno == ENOMEM ? -ENOMEM : -EILSEQ;
    to = out = malloc(room + 1);
    turned = to ? iconv(tables, &in, &left, &out, &room) : 0;
    iconv_close(tables);
    if (!to)
        return -ENOMEM;
    if (turned == (size_t)-1) {
        free(to);
        return -EILSEQ;
    }
    *out = '\0';
    *size = (size_t)(out - to);
    free(*text);
    *text = to;
    return 0;
}

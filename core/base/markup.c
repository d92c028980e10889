/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/markup.c - see markup.h. Expat calls a function for each piece; that stops it
 * until the next one is asked for. After it was stopped it may still come to the end of an
 * empty element, or to more of a text.
 */
#include "core/base/markup.h"

#include "core/base/host.h"
#include "core/base/number.h"

#include <errno.h>
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many bytes at a time: expat counts them in an int. */
static const size_t portion = (size_t)1 << 30;

/* ---- errors ---- */

static void markup_fail(struct orr_markup *m, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void markup_fail(struct orr_markup *m, int rc, const char *format, ...)
{
    va_list args;

    if (m->rc)
        return;
    va_start(args, format);
    orr_vsnprintf(m->problem, sizeof(m->problem), format, args);
    va_end(args);
    m->rc = rc;
    m->line = (unsigned)XML_GetCurrentLineNumber(m->parser);
    XML_StopParser(m->parser, XML_FALSE);
}

static void refuse_entity(struct orr_markup *m, const char *reference,
                          size_t length)
{
    markup_fail(m, -ENOTSUP, "entity %.*s is not accepted: write its text",
         length < 40 ? (int)length : 40, reference);
}

/* ---- strings ---- */

struct orr_markup_strings {
    struct orr_markup_strings *before;
    size_t used, room;
    char text[];
};

/* Room until the end, NULL (and an error) without memory. */
static char *make_room(struct orr_markup *m, size_t length)
{
    enum { ROOM = 1 << 14 };
    struct orr_markup_strings *strings = m->strings;

    if (!strings || strings->room - strings->used < length) {
        size_t room = length > ROOM ? length : ROOM;

        strings = malloc(sizeof(*strings) + room);
        if (!strings) {
            markup_fail(m, -ENOMEM, "out of memory");
            return NULL;
        }
        *strings = (struct orr_markup_strings){.before = m->strings, .room = room};
        m->strings = strings;
    }
    strings->used += length;
    return strings->text + strings->used - length;
}

static const char *copy_string(struct orr_markup *m, const char *text)
{
    char *copy = make_room(m, strlen(text) + 1);

    return copy ? strcpy(copy, text) : "";
}

static const char *markup_bare_name(const char *name)
{
    const char *colon = strchr(name, ':');

    return colon && colon[1] ? colon + 1 : name;
}

/* ---- what expat comes to ---- */

static void come_to(struct orr_markup *m, enum orr_markup_piece piece)
{
    m->piece = (int)piece;
    m->line = (unsigned)XML_GetCurrentLineNumber(m->parser);
    XML_StopParser(m->parser, XML_TRUE);
}

/* An entity that a document type might declare elsewhere is no error for expat: in the
 * value of an attribute it is nothing. */
static void check_entities(struct orr_markup *m)
{
    static const char *const known[] = {"&#",   "&amp;",  "&lt;",
                                        "&gt;", "&quot;", "&apos;"};
    const char *at = m->document + XML_GetCurrentByteIndex(m->parser);
    const char *end = at + XML_GetCurrentByteCount(m->parser);

    if (!m->has_type || memchr(at, '\0', (size_t)(end - at)))
        return; /* two bytes per character */
    while ((at = memchr(at, '&', (size_t)(end - at)))) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        bool is_known = !stop;

        for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
            is_known |= !strncmp(at, known[i], strlen(known[i]));
        if (!is_known) {
            refuse_entity(m, at, (size_t)(stop + 1 - at));
            return;
        }
        at++;
    }
}

static void add_attr(struct orr_markup *m, const char *name, const char *value)
{
    if (!strcmp(name, "xmlns") || !strncmp(name, "xmlns:", 6))
        return;
    name = markup_bare_name(name);
    for (unsigned i = 0; i < m->nattrs; i++)
        if (!strcmp(m->attrs[i].name, name))
            markup_fail(m, -EINVAL, "attribute %.60s is there twice", name);
    if (m->nattrs == ORR_MARKUP_MAX_ATTRS)
        markup_fail(m, -EINVAL, "more than %d attributes", ORR_MARKUP_MAX_ATTRS);
    else
        m->attrs[m->nattrs++] = (struct orr_markup_attr){
            .name = copy_string(m, name), .value = copy_string(m, value)};
}

static void XMLCALL see_start(void *arg, const char *name, const char **attrs)
{
    struct orr_markup *m = arg;

    check_entities(m);
    m->nattrs = 0;
    m->name = copy_string(m, markup_bare_name(name));
    for (; *attrs && !m->rc; attrs += 2)
        add_attr(m, attrs[0], attrs[1]);
    if (!m->rc)
        come_to(m, ORR_MARKUP_START);
}

static void XMLCALL see_end(void *arg, const char *name)
{
    struct orr_markup *m = arg;

    if (m->piece || m->rc) {
        m->closes = true;
        return;
    }
    m->nattrs = 0;
    m->name = copy_string(m, markup_bare_name(name));
    come_to(m, ORR_MARKUP_END);
}

static void XMLCALL see_text(void *arg, const char *text, int length)
{
    struct orr_markup *m = arg;
    size_t before = m->piece == ORR_MARKUP_TEXT ? m->length : 0;
    char *room = m->rc ? NULL : make_room(m, before + (size_t)length);

    if (!room)
        return;
    if (before)
        memcpy(room, m->text, before);
    memcpy(room + before, text, (size_t)length);
    m->text = room;
    m->length = before + (size_t)length;
    if (!before)
        come_to(m, ORR_MARKUP_TEXT);
}

static void come_to_type(struct orr_markup *m, bool declares)
{
    m->has_type = true;
    m->declares = declares;
    come_to(m, ORR_MARKUP_DOCTYPE);
}

static void XMLCALL on_type_end(void *arg)
{
    come_to_type(arg, false);
}

static void XMLCALL on_entity(void *arg, const char *name, int is_parameter,
                              const char *value, int length, const char *base,
                              const char *system, const char *public,
                              const char *notation)
{
    (void)name;
    (void)is_parameter;
    (void)value;
    (void)length;
    (void)base;
    (void)system;
    (void)public;
    (void)notation;
    come_to_type(arg, true);
}

static void XMLCALL on_attlist(void *arg, const char *element, const char *name,
                               const char *type, const char *otherwise,
                               int is_required)
{
    (void)element;
    (void)name;
    (void)type;
    (void)otherwise;
    (void)is_required;
    come_to_type(arg, true);
}

static void XMLCALL on_element(void *arg, const char *name, XML_Content *content)
{
    struct orr_markup *m = arg;

    (void)name;
    XML_FreeContentModel(m->parser, content);
    come_to_type(m, true);
}

static void XMLCALL on_notation(void *arg, const char *name, const char *base,
                                const char *system, const char *public)
{
    (void)name;
    (void)base;
    (void)system;
    (void)public;
    come_to_type(arg, true);
}

static void XMLCALL on_skipped(void *arg, const char *name, int is_parameter)
{
    (void)is_parameter;
    markup_fail(arg, -ENOTSUP, "entity &%.40s; is not accepted: write its text", name);
}

/* ---- the text ---- */

int orr_markup_begin(struct orr_markup *m, const char *text, size_t size,
                     const char *encoding)
{
    memset(m, 0, sizeof(*m));
    m->document = text;
    m->size = size;
    m->line = 1;
    m->parser = XML_ParserCreate(encoding);
    if (!m->parser)
        return -ENOMEM;
    XML_SetUserData(m->parser, m);
    XML_SetElementHandler(m->parser, see_start, see_end);
    XML_SetCharacterDataHandler(m->parser, see_text);
    XML_SetEndDoctypeDeclHandler(m->parser, on_type_end);
    XML_SetEntityDeclHandler(m->parser, on_entity);
    XML_SetAttlistDeclHandler(m->parser, on_attlist);
    XML_SetElementDeclHandler(m->parser, on_element);
    XML_SetNotationDeclHandler(m->parser, on_notation);
    XML_SetSkippedEntityHandler(m->parser, on_skipped);
    return 0;
}

void orr_markup_end(struct orr_markup *m)
{
    struct orr_markup_strings *strings = m->strings, *before;

    for (; strings; strings = before) {
        before = strings->before;
        free(strings);
    }
    m->strings = NULL;
    XML_ParserFree(m->parser);
    m->parser = NULL;
}

/* Whether a < is the first byte but for blanks and marks of its encoding. */
static bool begins_as_markup(const struct orr_markup *m)
{
    static const char others[] = " \t\r\n\xef\xbb\xbf\xfe\xff"; /* and 0 */
    size_t at = 0;

    while (at < m->size && memchr(others, m->document[at], sizeof(others)))
        at++;
    return at < m->size && m->document[at] == '<';
}

/* What expat says is wrong. */
static void markup_explain(struct orr_markup *m)
{
    enum XML_Error error = XML_GetErrorCode(m->parser);
    XML_Index index = XML_GetCurrentByteIndex(m->parser);
    const char *at = m->document + (index > 0 ? index : 0);
    size_t left = m->size - (size_t)(at - m->document);
    const char *entity = memchr(at, '&', left);
    const char *stop =
        entity ? memchr(entity, ';', left - (size_t)(entity - at)) : NULL;

    if (error == XML_ERROR_NO_MEMORY)
        markup_fail(m, -ENOMEM, "out of memory");
    else if (error == XML_ERROR_UNDEFINED_ENTITY && stop)
        refuse_entity(m, entity, (size_t)(stop + 1 - entity));
    else if (error == XML_ERROR_UNKNOWN_ENCODING ||
             error == XML_ERROR_INCORRECT_ENCODING ||
             error == XML_ERROR_PARTIAL_CHAR ||
             (error == XML_ERROR_INVALID_TOKEN && left &&
              !orr_utf8_length((char[5]){at[0], left > 1 ? at[1] : 0,
                                         left > 2 ? at[2] : 0,
                                         left > 3 ? at[3] : 0})))
        markup_fail(m, -EILSEQ, "bytes that are no text of its encoding");
    else if (!begins_as_markup(m))
        markup_fail(m, -ENOMSG, "this is no XML, which begins with <");
    else
        markup_fail(m, -EINVAL, "%s", XML_ErrorString(error));
}

static enum XML_Status go_on(struct orr_markup *m)
{
    size_t n = m->size - m->given;
    const char *at = m->document + m->given;

    if (m->stands)
        return XML_ResumeParser(m->parser);
    if (n > portion)
        n = portion;
    m->given += n;
    return XML_Parse(m->parser, at, (int)n, m->given == m->size);
}

int orr_markup_next(struct orr_markup *m)
{
    enum XML_Status status = XML_STATUS_OK;

    if (m->closes && !m->rc) {
        m->closes = false;
        m->nattrs = 0;
        return ORR_MARKUP_END;
    }
    m->piece = 0;
    while (!m->rc && !m->piece) {
        if (!m->stands && m->given == m->size && status == XML_STATUS_OK &&
            m->given)
            return ORR_MARKUP_DONE;
        status = go_on(m);
        m->stands = status == XML_STATUS_SUSPENDED;
        if (status == XML_STATUS_ERROR && !m->rc)
            markup_explain(m);
    }
    return m->rc ? m->rc : m->piece;
}

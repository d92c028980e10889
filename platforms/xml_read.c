/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/xml_read.c - reads platform files: their syntax is core/base/markup.h's.
 * One thread per file.
 */
#include "platforms/xml_read.h"

#include "core/base/log.h"
#include "core/base/number.h"
#include "platforms/bus_files.h"
#include "platforms/places.h"
#include "platforms/units.h"
#include "platforms/whole_file.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE (32u << 20)

/* ---- errors ---- */

unsigned orr_xml_line(const struct orr_xml_reader *r)
{
    return r->markup.line;
}

void orr_xml_fail(struct orr_xml_reader *r, const char *format, ...)
{
    char message[768], element[64] = "";
    va_list args;

    if (r->rc)
        return;
    va_start(args, format);
    orr_vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (r->element)
        snprintf(element, sizeof(element), "<%.40s>: ", r->element);
    r->rc = orr_fail(r->err, -EINVAL, "%s:%u: %s%s", r->path,
                                   orr_xml_line(r), element, message);
}

void orr_xml_check(struct orr_xml_reader *r, int rc)
{
    if (rc >= 0 || r->rc)
        return;
    if (rc == -E2BIG) {
        orr_xml_fail(r,
                     "more of these than a description may have (%d hosts, "
                     "%d links, %d routes, %d links of a route, %d "
                     "properties): describe a smaller machine",
                     ORR_DESC_MAX_HOSTS, ORR_DESC_MAX_LINKS,
                     ORR_DESC_MAX_ROUTES, ORR_DESC_MAX_HOPS,
                     ORR_DESC_MAX_PROPS);
        return;
    }
    r->rc = orr_fail(r->err, rc, "%s: out of memory", r->path);
}

static void syntax_error(struct orr_xml_reader *r, int rc)
{
    const struct orr_markup *markup = &r->markup;

    switch (rc) {
    case -EILSEQ:
        orr_xml_fail(r, "bytes that are no UTF-8 text: save the file as UTF-8, or "
                        "name its encoding in the first line, such as <?xml "
                        "version='1.0' encoding='ISO-8859-1'?> (UTF-16 and US-ASCII "
                        "are read, too)");
        break;
    case -ENOMEM:
        r->rc = orr_fail(r->err, -ENOMEM, "%s: out of memory", r->path);
        break;
    case -ENOMSG:
        orr_xml_fail(r, "this is no %s: not well-formed XML, which begins with "
                        "<?xml or <platform", r->grammar->is);
        break;
    case -ENOTSUP:
        orr_xml_fail(r, "%s", markup->problem);
        break;
    default:
        orr_xml_fail(r, "not well-formed XML: %s", markup->problem);
        break;
    }
}

/* ---- attributes ---- */

static void refuse_unused_attrs(struct orr_xml_reader *r)
{
    for (unsigned i = 0; i < r->markup.nattrs && r->rc == 0; i++)
        if (!r->markup.attrs[i].used)
            orr_xml_fail(r, "attribute %.60s is not understood: remove it",
                         r->markup.attrs[i].name);
}

/* ---- nesting ---- */

static const struct orr_xml_element *
find_element(const struct orr_xml_reader *r, const char *name)
{
    const struct orr_xml_element *element = r->grammar->elements;

    for (; element->name; element++)
        if (strcmp(element->name, name) == 0)
            return element;
    return NULL;
}

static void refuse_element(struct orr_xml_reader *r, const char *name)
{
    const char *why = r->grammar->refusal(name);

    if (why)
        orr_xml_fail(r, "%s", why);
    else
        orr_xml_fail(r, "unknown element: a platform consists of %s",
                     r->grammar->consists);
}

static bool may_start(struct orr_xml_reader *r,
                      const struct orr_xml_element *element)
{
    if (!(element->parents & 1u << r->places[r->depth]))
        orr_xml_fail(r, "not allowed here: see the order of elements in "
                        "platforms/README.md");
    else if (r->depth + 1 == ORR_XML_MAX_DEPTH)
        orr_xml_fail(r, "nested too deeply");
    return r->rc == 0;
}

static void on_start(struct orr_xml_reader *r)
{
    const struct orr_xml_element *element;

    r->element = r->markup.name;
    element = find_element(r, r->element);
    if (!element) {
        refuse_element(r, r->element);
        return;
    }
    if (!may_start(r, element))
        return;
    element->start(r);
    refuse_unused_attrs(r);
    r->places[++r->depth] = element->place;
    r->element = NULL;
}

static void on_end(struct orr_xml_reader *r)
{
    const struct orr_xml_element *element;

    r->element = r->markup.name;
    element = find_element(r, r->element);
    r->depth--;
    if (element && element->end)
        element->end(r);
    r->element = NULL;
}

static void on_text(struct orr_xml_reader *r)
{
    for (size_t i = 0; i < r->markup.length; i++)
        if (!memchr(" \t\r\n", r->markup.text[i], 4)) {
            orr_xml_fail(r, "text between elements: remove it, platforms hold "
                            "everything in attributes");
            return;
        }
}

static void on_doctype(struct orr_xml_reader *r)
{
    if (r->markup.declares)
        orr_xml_fail(r, "declarations inside DOCTYPE are not accepted: keep only its "
                        "name and system id");
}

/* ---- the document ---- */

static void read_pieces(struct orr_xml_reader *r)
{
    int piece = ORR_MARKUP_START;

    while (r->rc == 0 && piece != ORR_MARKUP_DONE) {
        piece = orr_markup_next(&r->markup);
        switch (piece) {
        case ORR_MARKUP_START:
            on_start(r);
            break;
        case ORR_MARKUP_END:
            on_end(r);
            break;
        case ORR_MARKUP_TEXT:
            on_text(r);
            break;
        case ORR_MARKUP_DOCTYPE:
            on_doctype(r);
            break;
        case ORR_MARKUP_DONE:
            break;
        default:
            syntax_error(r, piece);
            break;
        }
    }
}

void orr_xml_read(struct orr_xml_reader *r, const void *text, size_t size)
{
    if (size == 0 || size > INT_MAX) {
        r->rc = orr_fail(r->err, -EINVAL, "%s:1: the file is %s", r->path,
                         size ? "too large" : "empty");
        return;
    }
    if (orr_markup_begin(&r->markup, text, size, NULL) == 0)
        read_pieces(r);
    else
        syntax_error(r, -ENOMEM);
    orr_markup_end(&r->markup);
}

static void parse_machine(struct orr_xml_reader *r, const void *text,
                          size_t size)
{
    orr_xml_read(r, text, size);
    if (r->rc == 0 && r->nunitless)
        orr_log_warning("%s: %s: it has no unit, and neither have %u others: write "
                        "one, such as 12GBps or 5us",
                        r->path, r->unitless, r->nunitless - 1);
    orr_names_done(&r->hosts);
    orr_names_done(&r->links);
}

int orr_machine_desc_parse(const char *path, const void *text, size_t size,
                           struct orr_machine_desc **ret, struct orr_error *err)
{
    struct orr_xml_reader r = {
        .path = path, .grammar = &orr_xml_machine, .err = err};
    char *name = orr_platform_name(path);

    if (!name || orr_machine_desc_new(name, &r.desc)) {
        free(name);
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    }
    free(name);
    if (orr_desc_set_text(&r.desc->path, path)) {
        r.rc = orr_fail(err, -ENOMEM, "%s: out of memory", path);
    } else {
        parse_machine(&r, text, size);
        if (r.rc == 0)
            r.rc = orr_machine_desc_finish(r.desc, err);
    }
    if (r.rc)
        orr_machine_desc_free(r.desc);
    else
        *ret = r.desc;
    return r.rc;
}

/* The files beside the platform file: bus files and models. */
static int read_beside(struct orr_machine_desc *desc, const char *path,
                       struct orr_error *err)
{
    char *stem = orr_platform_stem(path);
    int rc;

    if (!stem || orr_platform_sampling_dir(path, &desc->sampling_dir))
        rc = orr_fail(err, -ENOMEM, "%s: out of memory", path);
    else
        rc = orr_bus_read_beside(desc, stem, err);
    free(stem);
    return rc;
}

int orr_machine_desc_read(const char *path, struct orr_machine_desc **ret,
                          struct orr_error *err)
{
    struct orr_machine_desc *desc;
    char *text;
    size_t size;
    int rc = orr_file_read(path, MAX_FILE, &text, &size, err);

    if (rc)
        return rc;
    rc = orr_machine_desc_parse(path, text, size, &desc, err);
    free(text);
    if (rc)
        return rc;
    rc = read_beside(desc, path, err);
    if (rc)
        orr_machine_desc_free(desc);
    else
        *ret = desc;
    return rc;
}

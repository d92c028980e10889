/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/xml_read.c - reads platform files with libxml2's event parser,
 * which never opens anything: no network, no DTD, no entities. One thread per
 * file.
 */
#include "platforms/xml_read.h"

#include "core/base/c_locale.h"
#include "core/base/log.h"
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

#include <libxml/SAX2.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

#define MAX_FILE (32u << 20)

/* ---- errors ---- */

unsigned orr_xml_line(const struct orr_xml_reader *r)
{
    int line = xmlSAX2GetLineNumber(r->parser);

    return line > 0 ? (unsigned)line : 0;
}

static void reader_stop_parser(struct orr_xml_reader *r, int rc)
{
    r->rc = rc;
    xmlStopParser(r->parser);
}

void orr_xml_fail(struct orr_xml_reader *r, const char *format, ...)
{
    char message[768], element[64] = "";
    va_list args;

    if (r->rc)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (r->element)
        snprintf(element, sizeof(element), "<%.40s>: ", r->element);
    reader_stop_parser(r, orr_fail(r->err, -EINVAL, "%s:%u: %s%s", r->path,
                                   orr_xml_line(r), element, message));
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
    reader_stop_parser(r, orr_fail(r->err, rc, "%s: out of memory", r->path));
}

static void on_syntax_error(void *arg, xmlErrorPtr error)
{
    struct orr_xml_reader *r = arg;
    int length;

    if (r->rc || error->level < XML_ERR_ERROR)
        return;
    if (error->code == XML_ERR_NO_MEMORY) {
        orr_xml_check(r, -ENOMEM);
        return;
    }
    if (error->code == XML_ERR_INVALID_CHAR ||
        error->code == XML_ERR_INVALID_ENCODING ||
        error->code == XML_ERR_UNKNOWN_ENCODING ||
        error->code == XML_I18N_CONV_FAILED) {
        reader_stop_parser(
            r, orr_fail(r->err, -EINVAL,
                        "%s:%d: bytes that are no UTF-8 text: save the file "
                        "as UTF-8, or name its encoding in the first line, "
                        "such as <?xml version='1.0' encoding='ISO-8859-1'?>",
                        r->path, error->line));
        return;
    }
    if (error->code == XML_ERR_DOCUMENT_EMPTY) {
        reader_stop_parser(
            r, orr_fail(r->err, -EINVAL,
                        "%s:%d: this is no machine: not well-formed XML, which "
                        "begins with <?xml or <platform",
                        r->path, error->line));
        return;
    }
    length = error->message ? (int)strcspn(error->message, "\n") : 0;
    reader_stop_parser(r, orr_fail(r->err, -EINVAL,
                                   "%s:%d: not well-formed XML: %.*s", r->path,
                                   error->line, length < 400 ? length : 400,
                                   error->message ? error->message : ""));
}

/* ---- attributes ---- */

static void clear_attrs(struct orr_xml_reader *r)
{
    for (unsigned i = 0; i < r->nattrs; i++) {
        free(r->attrs[i].name);
        free(r->attrs[i].value);
    }
    r->nattrs = 0;
}

/* libxml2 gives five pointers for each: name, prefix, namespace, value, end
 * of the value. */
static void take_attrs(struct orr_xml_reader *r, int n, const xmlChar **attrs)
{
    for (int i = 0; i < n; i++) {
        const char *value = (const char *)attrs[5 * i + 3];
        size_t length = (size_t)((const char *)attrs[5 * i + 4] - value);
        struct orr_xml_attr *attr = &r->attrs[r->nattrs];

        if (r->nattrs == ORR_XML_MAX_ATTRS) {
            orr_xml_fail(r, "too many attributes");
            return;
        }
        *attr = (struct orr_xml_attr){
            .name = strdup((const char *)attrs[5 * i]),
            .value = strndup(value, length),
        };
        r->nattrs++;
        if (!attr->name || !attr->value) {
            orr_xml_check(r, -ENOMEM);
            return;
        }
    }
}

static void refuse_unused_attrs(struct orr_xml_reader *r)
{
    for (unsigned i = 0; i < r->nattrs && r->rc == 0; i++)
        if (!r->attrs[i].used)
            orr_xml_fail(r, "attribute %.60s is not understood: remove it",
                         r->attrs[i].name);
}

/* ---- nesting ---- */

static void refuse_element(struct orr_xml_reader *r, const char *name)
{
    const char *why = orr_xml_element_refusal(name);

    if (why)
        orr_xml_fail(r, "%s", why);
    else
        orr_xml_fail(r, "unknown element: a platform consists of config, "
                        "zone, host, link, route, link_ctn and prop");
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

static void on_start(void *arg, const xmlChar *name, const xmlChar *prefix,
                     const xmlChar *uri, int nnamespaces,
                     const xmlChar **namespaces, int nattrs, int ndefaulted,
                     const xmlChar **attrs)
{
    struct orr_xml_reader *r = arg;
    const struct orr_xml_element *element;

    (void)prefix, (void)uri, (void)nnamespaces, (void)namespaces;
    (void)ndefaulted;
    if (r->rc)
        return;
    r->element = (const char *)name;
    element = orr_xml_element_find(r->element);
    if (!element) {
        refuse_element(r, r->element);
        return;
    }
    if (!may_start(r, element))
        return;
    take_attrs(r, nattrs, attrs);
    if (r->rc == 0)
        element->start(r);
    refuse_unused_attrs(r);
    clear_attrs(r);
    r->places[++r->depth] = element->place;
    r->element = NULL;
}

static void on_end(void *arg, const xmlChar *name, const xmlChar *prefix,
                   const xmlChar *uri)
{
    struct orr_xml_reader *r = arg;
    const struct orr_xml_element *element;

    (void)prefix, (void)uri;
    if (r->rc)
        return;
    r->element = (const char *)name;
    element = orr_xml_element_find(r->element);
    r->depth--;
    if (element && element->end)
        element->end(r);
    r->element = NULL;
}

static void on_text(void *arg, const xmlChar *text, int length)
{
    struct orr_xml_reader *r = arg;

    for (int i = 0; i < length && r->rc == 0; i++)
        if (!memchr(" \t\r\n", text[i], 4))
            orr_xml_fail(r, "text between elements: remove it, platforms hold "
                            "everything in attributes");
}

/* ---- entities of document types ---- */

static void refuse_declarations(struct orr_xml_reader *r)
{
    orr_xml_fail(r, "declarations inside DOCTYPE are not accepted: keep only "
                    "its name and system id");
}

static void on_entity(void *arg, const xmlChar *name, int type,
                      const xmlChar *public_id, const xmlChar *system_id,
                      xmlChar *content)
{
    (void)name, (void)type, (void)public_id, (void)system_id, (void)content;
    refuse_declarations(arg);
}

static void on_attribute(void *arg, const xmlChar *element, const xmlChar *name,
                         int type, int def, const xmlChar *value,
                         xmlEnumerationPtr tree)
{
    (void)element, (void)name, (void)type, (void)def, (void)value;
    xmlFreeEnumeration(tree); /* owned, by libxml2's rule */
    refuse_declarations(arg);
}

static void on_element(void *arg, const xmlChar *name, int type,
                       xmlElementContentPtr content)
{
    (void)name, (void)type, (void)content;
    refuse_declarations(arg);
}

static void on_notation(void *arg, const xmlChar *name,
                        const xmlChar *public_id, const xmlChar *system_id)
{
    (void)name, (void)public_id, (void)system_id;
    refuse_declarations(arg);
}

static xmlEntityPtr on_get_entity(void *arg, const xmlChar *name)
{
    xmlEntityPtr entity = xmlGetPredefinedEntity(name);

    if (!entity)
        orr_xml_fail(arg, "entity &%.40s; is not accepted: write its text",
                     (const char *)name);
    return entity;
}

/* ---- the document ---- */

static void set_handlers(xmlSAXHandlerPtr sax)
{
    memset(sax, 0, sizeof(*sax));
    sax->initialized = XML_SAX2_MAGIC;
    sax->startElementNs = on_start;
    sax->endElementNs = on_end;
    sax->characters = on_text;
    sax->cdataBlock = on_text;
    sax->getEntity = on_get_entity;
    sax->entityDecl = on_entity;
    sax->attributeDecl = on_attribute;
    sax->elementDecl = on_element;
    sax->notationDecl = on_notation;
    sax->serror = on_syntax_error;
}

static void parse_document(struct orr_xml_reader *r, const void *text,
                           size_t size)
{
    if (size == 0 || size > INT_MAX) {
        r->rc = orr_fail(r->err, -EINVAL, "%s:1: the file is %s", r->path,
                         size ? "too large" : "empty");
        return;
    }
    r->parser = xmlCreateMemoryParserCtxt(text, (int)size);
    if (r->parser) {
        set_handlers(r->parser->sax);
        r->parser->userData = r;
        /* NOENT decodes &amp; and the like in attributes; there are no other
         * entities. */
        xmlCtxtUseOptions(r->parser, XML_PARSE_NONET | XML_PARSE_NOENT |
                                         XML_PARSE_BIG_LINES);
        xmlParseDocument(r->parser);
        if (r->rc == 0 && !r->parser->wellFormed)
            r->rc =
                orr_fail(r->err, -EINVAL, "%s: not well-formed XML", r->path);
        /* libxml2 begins one when it meets a declaration. */
        xmlFreeDoc(r->parser->myDoc);
    } else {
        r->rc = orr_fail(r->err, -ENOMEM, "%s: out of memory", r->path);
    }
    if (r->rc == 0 && r->nunitless)
        orr_log_warning("%s: %s: it has no unit, and neither have %u others: write "
                        "one, such as 12GBps or 5us",
                        r->path, r->unitless, r->nunitless - 1);
    clear_attrs(r);
    orr_names_done(&r->hosts);
    orr_names_done(&r->links);
    xmlFreeParserCtxt(r->parser);
}

int orr_machine_desc_parse(const char *path, const void *text, size_t size,
                           struct orr_machine_desc **ret, struct orr_error *err)
{
    struct orr_xml_reader r = {.path = path, .err = err};
    char *name = orr_platform_name(path);
    struct orr_c_locale locale;

    if (!name || orr_machine_desc_new(name, &r.desc)) {
        free(name);
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    }
    free(name);
    if (orr_desc_set_text(&r.desc->path, path) || orr_c_locale_begin(&locale)) {
        r.rc = orr_fail(err, -ENOMEM, "%s: out of memory", path);
    } else {
        parse_document(&r, text, size);
        if (r.rc == 0)
            r.rc = orr_machine_desc_finish(r.desc, err);
        orr_c_locale_end(&locale);
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

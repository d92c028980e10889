/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/xml_read.h - the interface between xml_read.c (the file, its syntax
 * and nesting) and who knows the meaning of elements: xml_elements.c, of a machine,
 * cluster_file.c, of a cluster.
 */
#pragma once

#include "core/base/markup.h"
#include "platforms/desc_build.h"
#include "platforms/names.h"

enum orr_xml_place {
    ORR_XML_DOCUMENT,
    ORR_XML_PLATFORM,
    ORR_XML_CONFIG,
    ORR_XML_ZONE,
    ORR_XML_HOST,
    ORR_XML_LINK,
    ORR_XML_ROUTE,
    ORR_XML_LINK_CTN,
    ORR_XML_PROP,
};

#define ORR_XML_MAX_DEPTH 16

struct orr_xml_grammar;

struct orr_xml_reader {
    const char *path; /* for messages */
    const struct orr_xml_grammar *grammar;
    struct orr_error *err;
    int rc; /* first error; everything after it is ignored */
    struct orr_markup markup;
    const char *element; /* being started or ended, for messages */
    enum orr_xml_place places[ORR_XML_MAX_DEPTH]; /* around the element */
    unsigned depth;
    bool version3;
    /* What follows is of a machine. */
    struct orr_machine_desc *desc;
    struct orr_names hosts, links;
    /* The zone that holds everything. Zones around it hold nothing else. */
    bool full_routing;  /* of the innermost zone */
    bool zone_seen;     /* one has begun */
    bool zone_used;     /* it has a host, link or route */
    bool zone_closed;   /* one has ended: only ends can follow */
    unsigned route;     /* the open one */
    unsigned nunitless; /* bandwidths and latencies without a unit … */
    char unitless[200]; /* … and the first of them, where it stands */
    bool symmetrical;
};

struct orr_xml_element {
    const char *name;
    enum orr_xml_place place;
    unsigned parents; /* bits, 1 << place */
    void (*start)(struct orr_xml_reader *r);
    void (*end)(struct orr_xml_reader *r); /* may be NULL */
};

/* What may stand in a file. */
struct orr_xml_grammar {
    const struct orr_xml_element *elements; /* the last has no name */
    const char *is, *consists; /* "machine"; all of them, in a sentence */
    /* Why an element that SimGrid knows is not accepted, and what to do; NULL
     * for unknown names. */
    const char *(*refusal)(const char *name);
};

extern const struct orr_xml_grammar orr_xml_machine;

/* Reads the document; r->rc says how it ended. */
void orr_xml_read(struct orr_xml_reader *r, const void *text, size_t size);

/* For elements: the value of an attribute, which is thereby understood, NULL without
 * …; the same of one that must be there. */
const char *orr_xml_attr(struct orr_xml_reader *r, const char *name);
const char *orr_xml_need_attr(struct orr_xml_reader *r, const char *name);

/* The start of the element `platform`. */
void orr_xml_start_platform(struct orr_xml_reader *r);

unsigned orr_xml_line(const struct orr_xml_reader *r);

/* Stops with "path:line: <element>: " and the message, -EINVAL. */
void orr_xml_fail(struct orr_xml_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Stops when `rc` is negative: out of memory or too many. */
void orr_xml_check(struct orr_xml_reader *r, int rc);

/* Prints an element `prop`, on a line of its own behind the indent (xml_write.c). */
void orr_xml_print_prop(FILE *out, const char *indent, const char *id,
                        const char *value);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/xml_read.h - the interface between xml_read.c (the file, its syntax
 * and nesting) and xml_elements.c (the meaning of elements).
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

struct orr_xml_reader {
    const char *path; /* for messages */
    struct orr_machine_desc *desc;
    struct orr_error *err;
    int rc;              /* first error; everything after it is ignored */
    struct orr_markup markup;
    const char *element; /* being started or ended, for messages */
    enum orr_xml_place places[ORR_XML_MAX_DEPTH]; /* around the element */
    unsigned depth;
    bool version3;
    struct orr_names hosts, links;
    /* The zone that holds everything. Zones around it hold nothing else. */
    bool full_routing; /* of the innermost zone */
    bool zone_seen;    /* one has begun */
    bool zone_used;    /* it has a host, link or route */
    bool zone_closed;  /* one has ended: only ends can follow */
    unsigned route;    /* the open one */
    unsigned nunitless;   /* bandwidths and latencies without a unit … */
    char unitless[200];   /* … and the first of them, where it stands */
    bool symmetrical;
};

struct orr_xml_element {
    const char *name;
    enum orr_xml_place place;
    unsigned parents; /* bits, 1 << place */
    void (*start)(struct orr_xml_reader *r);
    void (*end)(struct orr_xml_reader *r); /* may be NULL */
};

/* The element of that name, NULL without. */
const struct orr_xml_element *orr_xml_element_find(const char *name);

/* Why an element that SimGrid knows is not accepted, and what to do; NULL for
 * unknown names. */
const char *orr_xml_element_refusal(const char *name);

unsigned orr_xml_line(const struct orr_xml_reader *r);

/* Stops with "path:line: <element>: " and the message, -EINVAL. */
void orr_xml_fail(struct orr_xml_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Stops when `rc` is negative: out of memory or too many. */
void orr_xml_check(struct orr_xml_reader *r, int rc);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/markup.h - XML, one piece after the other: beginnings and ends of elements,
 * and the text between them. Opens nothing: no network, no DTD, no entities but the five
 * of XML and characters by number. Prefixes of names are left out, and so are
 * declarations of namespaces. One thread per text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

enum { ORR_MARKUP_MAX_ATTRS = 64 };

enum orr_markup_piece {
    ORR_MARKUP_DONE, /* behind the end of the outermost element */
    ORR_MARKUP_START,
    ORR_MARKUP_END,
    ORR_MARKUP_TEXT,
    ORR_MARKUP_DOCTYPE,
};

struct orr_markup_attr {
    const char *name, *value;
    bool used; /* for the caller; false at first */
};

struct orr_markup_strings;
struct XML_ParserStruct;

struct orr_markup {
    unsigned line;    /* from 1: where the piece begins, or of the problem */
    const char *name; /* of the element; UTF-8, as all that follows */
    struct orr_markup_attr attrs[ORR_MARKUP_MAX_ATTRS]; /* at its start */
    unsigned nattrs;
    const char *text; /* of a text */
    size_t length;
    bool declares;     /* the document type has declarations */
    char problem[200]; /* after an error: what is wrong */
    /* Private. */
    struct XML_ParserStruct *parser;
    const char *document;
    size_t size, given; /* bytes of it, and how many the parser has */
    struct orr_markup_strings *strings;
    int piece; /* that the parser has come to, 0: none */
    int rc;    /* what ended it */
    bool has_type;
    bool closes; /* <a/>: its end is the next piece */
    bool stands; /* the parser waits behind a piece */
};

/* Begins a text, which stays until the end; `encoding`: its, NULL: what it says, UTF-8,
 * UTF-16, ISO-8859-1 or US-ASCII. Names, values and texts of pieces live until the end,
 * too. Errors: -ENOMEM. */
int orr_markup_begin(struct orr_markup *markup, const char *text, size_t size,
                     const char *encoding);
/* Also of one that is all 0. */
void orr_markup_end(struct orr_markup *markup);

/*
 * The next piece. Errors, with `line` and `problem`; no piece follows one:
 * -EILSEQ: an encoding that is not known, or bytes that are none of its characters;
 * -ENOMSG: no XML at all, which begins with <;
 * -ENOTSUP: an entity of the file's own;
 * -ENOMEM;
 * -EINVAL: everything else that is not well-formed.
 */
int orr_markup_next(struct orr_markup *markup);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/markup.h - XML, one piece after the other: beginnings and ends of elements,
 * and the text between them. Opens nothing and allocates nothing: no network, no DTD, no
 * entities but the five of XML and characters by number. Prefixes of names are left out,
 * and so are declarations of namespaces. One thread per text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

enum {
    ORR_MARKUP_MAX_DEPTH = 256,
    ORR_MARKUP_MAX_ATTRS = 64,
};

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

struct orr_markup {
    unsigned line;    /* from 1: of the end of the piece, or of the problem */
    const char *name; /* of the element */
    struct orr_markup_attr attrs[ORR_MARKUP_MAX_ATTRS]; /* at its start */
    unsigned nattrs;
    const char *text; /* of a text, without a 0 behind it */
    size_t length;
    bool declares;     /* the document type has declarations */
    char problem[200]; /* after an error: what is wrong */
    /* Private. */
    char *at, *end;
    struct {
        const char *name; /* with its prefix */
        unsigned line;
    } open[ORR_MARKUP_MAX_DEPTH];
    unsigned depth;
    bool closes;   /* <a/>: its end is the next piece */
    bool has_root; /* it has begun */
    bool has_type; /* the document type was there */
};

/* Begins a text of UTF-8 with a 0 behind it, which the reader writes to and which the
 * caller keeps until the end: names, values and text lie in it. */
void orr_markup_begin(struct orr_markup *markup, char *text, size_t size);

/*
 * The next piece. Errors, with `line` and `problem`; no piece follows one:
 * -EILSEQ: bytes that are no characters of XML in UTF-8;
 * -ENOMSG: no XML at all, which begins with <;
 * -ENOTSUP: an entity of the file's own;
 * -EINVAL: everything else that is not well-formed.
 */
int orr_markup_next(struct orr_markup *markup);

/*
 * Turns a text that says to be of another encoding into UTF-8; else it stays. It has a 0
 * behind its end, before and after; *text is the caller's (free), and may be another one
 * then. Errors: -EILSEQ an encoding that is not known, or bytes that are none of its;
 * -ENOMEM.
 */
int orr_markup_to_utf8(char **text, size_t *size);

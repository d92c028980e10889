/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/xml.h - a file of XML, one element after the other. Opens nothing: no network,
 * no DTD, no entities. One thread per file.
 */
#pragma once

#include "core/base/markup.h"
#include "import/flow.h"

struct xml_file {
    struct orr_markup markup;
    char *text; /* all of it, owned */
    struct flow *flow;
    int piece; /* read ahead: what is next, 0: not known */
};

/* Reads all of the descriptor, and closes it. Errors, with a message. */
int xml_open(struct flow *flow, int fd, struct xml_file *ret);
void xml_close(struct xml_file *file);

/* The beginning of the next element, or its end where `ends` is set; its name is
 * without prefix. Returns 1, 0 behind the last one, or an error with a message. */
int xml_next(struct xml_file *file, const char **ret_name, bool *ret_ends);

/* The attribute of the element that has begun, which lives until the file is closed; NULL
 * without. */
const char *xml_attribute(const struct xml_file *file, const char *name);

/* The text in the element that has begun, up to the next tag, to be freed; NULL
 * without. */
char *xml_text(struct xml_file *file);

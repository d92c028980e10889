/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/xml.h - libxml2's reader of one element after the other. Opens nothing:
 * no network, no DTD, no entities. One thread per file.
 */
#pragma once

#include <libxml/xmlreader.h>

#include "import/flow.h"

struct xml_file {
    xmlTextReaderPtr reader;
    int fd; /* which libxml2 leaves open */
    struct flow *flow;
    char problem[256]; /* of libxml2 */
};

/* Takes the descriptor. Errors, with a message. */
int xml_open(struct flow *flow, int fd, struct xml_file *ret);
void xml_close(struct xml_file *file);

/* The beginning of the next element, or its end where `ends` is set; its name is
 * without prefix. Returns 1, 0 behind the last one, or an error with a message. */
int xml_next(struct xml_file *file, const char **ret_name, bool *ret_ends);

/* The attribute, which the caller frees with xmlFree; NULL without. */
char *xml_attribute(struct xml_file *file, const char *name);

/* The text in the element, to be freed with xmlFree; NULL without. */
char *xml_text(struct xml_file *file);

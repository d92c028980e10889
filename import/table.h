/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/table.h - tables as CSV (RFC 4180, but a field has no line ends), whose first
 * line names the columns. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "import/flow.h"

struct table {
    struct flow *flow;  /* messages are its; its path and line are kept */
    const char *before; /* the flow's path, for the end */
    FILE *file;
    char *line, *head; /* owned */
    size_t room;
    char **names, **fields; /* owned lists, into head and line */
    size_t n;               /* columns */
};

/* Reads the first line. Errors, with a message. `path` is borrowed. */
int table_open(struct flow *flow, const char *path, struct table *ret);
void table_close(struct table *table);

/* The number of the column, -1: there is none. `other` is a name that it has
 * elsewhere, or NULL. */
int table_column(const struct table *table, const char *name,
                 const char *other);

/* The next row: 1, 0 behind the last one, or an error with a message. */
int table_next(struct table *table);

/* The field, NULL where the column is none, or the field is empty or NA. */
const char *table_field(const struct table *table, int column);

/* The same as a number; *ret is left alone where there is none. Errors, with a
 * message. */
int table_number(const struct table *table, int column, double *ret);

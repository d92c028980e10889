/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/table.h - aligned tables of text on stdout. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct table_column {
    const char *title;
    bool right; /* numbers are aligned to the right */
};

/* Texts, row after row. Zeroed to begin with; ended with table_end or
 * table_done. */
struct table {
    char **cells; /* owned, as are the texts */
    size_t n;
    bool failed; /* memory ran out: a text is missing */
};

/* Adds a text, "printf". Without memory table_end fails. */
void table_add(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints a line of titles and the rows of `ncolumns` texts, and ends the table.
 * The last column may be of any length. Errors: -ENOMEM, then nothing is
 * printed. */
int table_end(struct table *table, const struct table_column *columns,
              size_t ncolumns);

/* The same as a table of Markdown. */
int table_end_markdown(struct table *table, const struct table_column *columns,
                       size_t ncolumns);

/* Ends a table that is not to be printed. */
void table_done(struct table *table);

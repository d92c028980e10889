/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/table.h - aligned tables of text on stdout. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct table_column {
    const char *title;
    bool right; /* numbers are aligned to the right */
};

/* Prints a line of titles and `nrows` rows of `ncolumns` texts, row after
 * row. The last column may be as long as it likes. */
void table_print(const struct table_column *columns, size_t ncolumns,
                 char *const *cells, size_t nrows);

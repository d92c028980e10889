/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/table.c - see table.h. One thread. */
#include "tools/common/table.h"

#include "core/base/grow.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void table_add(struct table *table, const char *format, ...)
{
    char **cell = orr_array_add(table->cells, table->n);
    va_list args;

    if (!cell) {
        table->failed = true;
        return;
    }
    va_start(args, format);
    if (vasprintf(cell, format, args) < 0) {
        table->failed = true;
        table->n--;
    }
    va_end(args);
}

/* Characters of UTF-8 text. */
static int width(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static int column_width(const struct table *table,
                        const struct table_column *column, size_t c,
                        size_t ncolumns)
{
    int widest = width(column->title);

    for (size_t i = c; i < table->n; i += ncolumns) {
        int w = width(table->cells[i]);

        widest = w > widest ? w : widest;
    }
    return widest;
}

static void print_cell(const char *text, int wide, bool right, bool last)
{
    int blanks = wide - width(text);

    if (right)
        printf("%*s%s", blanks, "", text);
    else if (last)
        fputs(text, stdout);
    else
        printf("%s%*s", text, blanks, "");
    fputs(last ? "\n" : "  ", stdout);
}

/* `widths` has room for ncolumns. */
static void table_print_aligned(const struct table *table,
                                const struct table_column *columns,
                                size_t ncolumns, int *widths)
{
    for (size_t c = 0; c < ncolumns; c++) {
        widths[c] = column_width(table, &columns[c], c, ncolumns);
        print_cell(columns[c].title, widths[c], columns[c].right,
                   c + 1 == ncolumns);
    }
    for (size_t i = 0; i < table->n; i++) {
        size_t c = i % ncolumns;

        print_cell(table->cells[i], widths[c], columns[c].right,
                   c + 1 == ncolumns);
    }
}

int table_end(struct table *table, const struct table_column *columns,
              size_t ncolumns)
{
    int *widths = table->failed ? NULL : calloc(ncolumns, sizeof(*widths));
    int rc = widths ? 0 : -ENOMEM;

    if (rc == 0)
        table_print_aligned(table, columns, ncolumns, widths);
    free(widths);
    table_done(table);
    return rc;
}

static void print_bars(const char *text)
{
    fputs("| ", stdout);
    for (; *text; text++)
        printf(*text == '|' ? "\\%c" : "%c", *text);
    putchar(' ');
}

int table_end_markdown(struct table *table, const struct table_column *columns,
                       size_t ncolumns)
{
    int rc = table->failed ? -ENOMEM : 0;

    for (size_t c = 0; rc == 0 && c < ncolumns; c++)
        print_bars(columns[c].title);
    for (size_t c = 0; rc == 0 && c < ncolumns; c++)
        printf("%s%s", c ? "|" : "|\n|", columns[c].right ? "--:" : "---");
    for (size_t i = 0; rc == 0 && i < table->n; i++) {
        fputs(i % ncolumns ? "" : "|\n", stdout);
        print_bars(table->cells[i]);
    }
    if (rc == 0)
        puts("|");
    table_done(table);
    return rc;
}

void table_done(struct table *table)
{
    for (size_t i = 0; i < table->n; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct table){0};
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/table.c - see table.h. One thread. */
#include "tools/table.h"

#include <stdio.h>
#include <string.h>

/* Characters of UTF-8 text. */
static int width(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static int column_width(const struct table_column *column, size_t c,
                        size_t ncolumns, char *const *cells, size_t nrows)
{
    int widest = width(column->title);

    for (size_t r = 0; r < nrows; r++) {
        int w = width(cells[r * ncolumns + c]);

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

void table_print(const struct table_column *columns, size_t ncolumns,
                 char *const *cells, size_t nrows)
{
    for (size_t r = 0; r <= nrows; r++)
        for (size_t c = 0; c < ncolumns; c++)
            print_cell(r ? cells[(r - 1) * ncolumns + c] : columns[c].title,
                       column_width(&columns[c], c, ncolumns, cells, nrows),
                       columns[c].right, c + 1 == ncolumns);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/lp.c - builds linear programs and gives their rows and columns names
 * that every format accepts. One thread per program.
 */
#include "bound/lp.h"

#include "core/base/grow.h"
#include "core/base/number.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The longest name made here; with a number behind it, it stays below the 100
 * letters that cbc takes. */
enum { NAME_MOST = 85 };

void orr_lp_begin(struct orr_lp *lp, const char *title)
{
    memset(lp, 0, sizeof(*lp));
    lp->title = strdup(title);
    lp->failed = !lp->title;
    for (char *c = lp->title; c && *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
}

/* Keywords of the formats, sorted. */
static bool is_keyword(const char *name)
{
    static const char *const words[] = {
        "bin",      "binaries", "binary",   "bound",    "bounds",  "bv",
        "columns",  "end",      "endata",   "fr",       "free",    "fx",
        "gen",      "general",  "generals", "int",      "integer", "integers",
        "lazy",     "max",      "maximise", "maximize", "maximum", "mi",
        "min",      "minimise", "minimize", "minimum",  "name",    "nan",
        "objsense", "pl",       "range",    "ranges",   "rhs",     "rows",
        "sc",       "sec",      "semi",     "semis",    "sin",     "sos",
        "sos1",     "sos2",     "st",       "subject",  "such",    "sum",
        "that",     "to",       "up",       "user",
    };
    size_t low = 0, high = sizeof(words) / sizeof(words[0]);

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, words[middle]);

        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* Whether a reader may take the beginning of the name for a part of a number:
 * 2 e1 is 20 to some, and what begins with inf is infinite. */
static bool is_numberlike(const char *name)
{
    if (name[0] == 'e')
        return name[1] == '\0' || name[1] == 'e' || name[1] == '_' ||
               (name[1] >= '0' && name[1] <= '9');
    return strncmp(name, "inf", 3) == 0 || strncmp(name, "nan", 3) == 0;
}

/* The name in letters that all formats accept; owned, NULL without memory.
 * Names that are refused get a prefix. */
static __attribute__((format(printf, 1, 0))) char *name_make(const char *format,
                                                             va_list args)
{
    char text[NAME_MOST + 1], *name;
    bool letter;

    if (orr_vsnprintf(text, sizeof(text), format, args) < 0)
        text[0] = '\0';
    for (char *c = text; *c; c++) {
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
        else if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9')))
            *c = '_';
    }
    letter = text[0] >= 'a' && text[0] <= 'z';
    if (letter && !is_keyword(text) && !is_numberlike(text))
        return strdup(text);
    return asprintf(&name, "n_%s", text) < 0 ? NULL : name;
}

unsigned orr_lp_column(struct orr_lp *lp, double cost, double lower,
                       double upper, bool integer, const char *name_format, ...)
{
    struct orr_lp_column *column;
    char *name;
    va_list args;

    if (lp->failed)
        return 0;
    va_start(args, name_format);
    name = name_make(name_format, args);
    va_end(args);
    column = name ? orr_array_add(lp->columns, lp->ncolumns) : NULL;
    if (!column) {
        free(name);
        lp->failed = true;
        return 0;
    }
    *column = (struct orr_lp_column){name, cost, lower, upper, integer};
    return lp->ncolumns - 1;
}

unsigned orr_lp_row(struct orr_lp *lp, double lower, double upper,
                    const char *name_format, ...)
{
    struct orr_lp_row *row;
    char *name;
    va_list args;

    if (lp->failed)
        return 0;
    va_start(args, name_format);
    name = name_make(name_format, args);
    va_end(args);
    row = name ? orr_array_add(lp->rows, lp->nrows) : NULL;
    if (!row) {
        free(name);
        lp->failed = true;
        return 0;
    }
    *row = (struct orr_lp_row){name, lower, upper, lp->ncoefs, 0};
    return lp->nrows - 1;
}

void orr_lp_coef(struct orr_lp *lp, unsigned column, double value)
{
    if (lp->failed)
        return;
    if (!orr_array_reserve(&lp->coef_column, lp->ncoefs, sizeof(column)) ||
        !orr_array_reserve(&lp->coef_value, lp->ncoefs, sizeof(value))) {
        lp->failed = true;
        return;
    }
    lp->coef_column[lp->ncoefs] = column;
    lp->coef_value[lp->ncoefs++] = value;
    lp->rows[lp->nrows - 1].n++;
}

struct coef {
    unsigned column;
    double value;
};

static int by_column(const void *a, const void *b)
{
    const struct coef *x = a, *y = b;

    return (x->column > y->column) - (x->column < y->column);
}

static bool row_is_sorted(const struct orr_lp *lp, const struct orr_lp_row *row)
{
    for (unsigned i = 1; i < row->n; i++)
        if (lp->coef_column[row->first + i - 1] >
            lp->coef_column[row->first + i])
            return false;
    return true;
}

static int row_sort(struct orr_lp *lp, const struct orr_lp_row *row)
{
    struct coef *coefs;

    if (row_is_sorted(lp, row))
        return 0;
    coefs = calloc(row->n, sizeof(*coefs));
    if (!coefs)
        return -ENOMEM;
    for (unsigned i = 0; i < row->n; i++)
        coefs[i] = (struct coef){lp->coef_column[row->first + i],
                                 lp->coef_value[row->first + i]};
    qsort(coefs, row->n, sizeof(*coefs), by_column);
    for (unsigned i = 0; i < row->n; i++) {
        lp->coef_column[row->first + i] = coefs[i].column;
        lp->coef_value[row->first + i] = coefs[i].value;
    }
    free(coefs);
    return 0;
}

/* A name to be made unique: the address of the pointer to it, and its place,
 * so that the order is the same everywhere. */
struct name {
    char **text;
    unsigned place;
};

static int by_name(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    int order = strcmp(*x->text, *y->text);

    return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* Gives the later ones of equal names a number. Returns how many, or -ENOMEM.
 * The new ones may be equal to others in turn. */
static int names_part(struct name *names, unsigned n)
{
    int changed = 0;
    unsigned nth = 1;
    const char *first = n ? *names[0].text : NULL;

    qsort(names, n, sizeof(*names), by_name);
    for (unsigned i = 0; i < n; i++) {
        char *other;

        if (i == 0 || strcmp(*names[i].text, first) != 0) {
            first = *names[i].text;
            nth = 1;
            continue;
        }
        if (asprintf(&other, "%s_%u", first, ++nth) < 0)
            return -ENOMEM;
        free(*names[i].text);
        *names[i].text = other;
        changed++;
    }
    return changed;
}

static int names_make_unique(struct orr_lp *lp)
{
    unsigned n = 0;
    struct name *names =
        calloc((size_t)lp->ncolumns + lp->nrows + 1, sizeof(*names));
    int changed;

    if (!names)
        return -ENOMEM;
    for (unsigned c = 0; c < lp->ncolumns; c++, n++)
        names[n] = (struct name){&lp->columns[c].name, n};
    for (unsigned r = 0; r < lp->nrows; r++, n++)
        names[n] = (struct name){&lp->rows[r].name, n};
    do
        changed = names_part(names, n);
    while (changed > 0);
    free(names);
    return changed;
}

int orr_lp_end(struct orr_lp *lp)
{
    int rc = lp->failed ? -ENOMEM : 0;

    for (unsigned r = 0; !rc && r < lp->nrows; r++)
        rc = row_sort(lp, &lp->rows[r]);
    if (!rc)
        rc = names_make_unique(lp);
    if (rc)
        lp->failed = true;
    return rc;
}

void orr_lp_free(struct orr_lp *lp)
{
    for (unsigned c = 0; c < lp->ncolumns; c++)
        free(lp->columns[c].name);
    for (unsigned r = 0; r < lp->nrows; r++)
        free(lp->rows[r].name);
    free(lp->columns);
    free(lp->rows);
    free(lp->coef_column);
    free(lp->coef_value);
    free(lp->title);
    memset(lp, 0, sizeof(*lp));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/lp_write.c - linear programs as text for other solvers. No threads.
 *
 * Differences between the readers of a format are avoided:
 * - a row with two different bounds becomes two, NAME.lo and NAME.hi: GLPK's
 *   reader of CPLEX files has no ranges, and in MPS their sign is read in more
 *   than one way;
 * - a row without any bound is left out;
 * - columns that no row has appear in the objective, even at no cost, so that
 *   they are defined before the bounds;
 * - a column that is always 0 stands where there is no other: in empty rows and
 *   an empty objective; and one row is there if there is no other;
 * - bounds of whole columns are whole.
 */
#include "bound/lp.h"

#include "core/base/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The column that is always 0, for what has no other; and the objective. No
 * other name has a dot. */
#define ZERO_COLUMN "zero."
#define ZERO_ROW    "nothing."
#define OBJECTIVE   "cost."

/* Terms on a line: some readers end lines at 255 characters. */
enum { TERMS = 4 };

/* One side of a row: GLPK and its like call them L, G and E. */
struct side {
    char sense;         /* 'G', 'L' or 'E' */
    const char *suffix; /* of the row's name */
    double value;
};

/* Fills the sides of the row that need to be written and returns how many. */
static unsigned row_sides(const struct orr_lp_row *row, struct side sides[2])
{
    bool both = isfinite(row->lower) && isfinite(row->upper);
    unsigned n = 0;

    if (both && row->lower == row->upper) {
        sides[n++] = (struct side){'E', "", row->lower};
        return n;
    }
    if (isfinite(row->lower))
        sides[n++] = (struct side){'G', both ? ".lo" : "", row->lower};
    if (isfinite(row->upper))
        sides[n++] = (struct side){'L', both ? ".hi" : "", row->upper};
    return n;
}

/* What the writing needs to know of the program as a whole. */
struct survey {
    bool *in_row;  /* owned, per column: a written row has it */
    bool no_row;   /* none is written */
    bool zero;     /* the column that is always 0 is needed */
    bool integers; /* there are whole columns */
};

static int survey_init(struct survey *survey, const struct orr_lp *lp)
{
    struct side sides[2];
    bool no_cost = true;

    memset(survey, 0, sizeof(*survey));
    survey->in_row = calloc(lp->ncolumns + 1, sizeof(bool));
    if (!survey->in_row)
        return -ENOMEM;
    survey->no_row = true;
    for (unsigned r = 0; r < lp->nrows; r++) {
        if (row_sides(&lp->rows[r], sides) == 0)
            continue;
        survey->no_row = false;
        if (lp->rows[r].n == 0)
            survey->zero = true;
        for (unsigned i = 0; i < lp->rows[r].n; i++)
            survey->in_row[lp->coef_column[lp->rows[r].first + i]] = true;
    }
    for (unsigned c = 0; c < lp->ncolumns; c++) {
        survey->integers = survey->integers || lp->columns[c].integer;
        no_cost = no_cost && lp->columns[c].cost == 0 && survey->in_row[c];
    }
    survey->zero = survey->zero || survey->no_row || no_cost;
    return 0;
}

/* GLPK refuses other bounds of whole columns. */
static double lower_of(const struct orr_lp_column *column)
{
    return column->integer ? ceil(column->lower) : column->lower;
}

static double upper_of(const struct orr_lp_column *column)
{
    return column->integer ? floor(column->upper) : column->upper;
}

static const char *relation_sign(char sense)
{
    return sense == 'E' ? "=" : sense == 'G' ? ">=" : "<=";
}

/* --- CPLEX's format and lp_solve's: sums are written alike --- */

static void write_term(FILE *f, unsigned nth, double value, const char *name)
{
    orr_fprintf(f, "%s%c %.17g %s", nth % TERMS ? " " : "\n  ",
                signbit(value) ? '-' : '+', fabs(value), name);
}

static void objective_sum(const struct orr_lp *lp, const struct survey *survey,
                          FILE *f)
{
    unsigned nth = 0;

    for (unsigned c = 0; c < lp->ncolumns; c++)
        if (lp->columns[c].cost != 0 || !survey->in_row[c])
            write_term(f, nth++, lp->columns[c].cost, lp->columns[c].name);
    if (survey->zero)
        write_term(f, nth, 0, ZERO_COLUMN);
}

static void rows_write(const struct orr_lp *lp, const struct survey *survey,
                       const char *end, FILE *f)
{
    struct side sides[2];

    if (survey->no_row)
        fprintf(f, ZERO_ROW ": + 1 " ZERO_COLUMN " <= 1%s\n", end);

    for (unsigned r = 0; r < lp->nrows; r++) {
        const struct orr_lp_row *row = &lp->rows[r];
        unsigned n = row_sides(row, sides);

        for (unsigned s = 0; s < n; s++) {
            fprintf(f, "%s%s:", row->name, sides[s].suffix);
            for (unsigned i = 0; i < row->n; i++)
                write_term(f, i, lp->coef_value[row->first + i],
                           lp->columns[lp->coef_column[row->first + i]].name);
            if (row->n == 0)
                write_term(f, 0, 0, ZERO_COLUMN);
            orr_fprintf(f, " %s %.17g%s\n", relation_sign(sides[s].sense),
                        sides[s].value, end);
        }
    }
}

static void names_of_integers(const struct orr_lp *lp, const char *between,
                              FILE *f)
{
    unsigned nth = 0;

    for (unsigned c = 0; c < lp->ncolumns; c++)
        if (lp->columns[c].integer) {
            fprintf(f, "%s%s%s", nth ? between : "", nth % TERMS ? " " : "\n  ",
                    lp->columns[c].name);
            nth++;
        }
}

static void cplex_bound(const struct orr_lp_column *column, FILE *f)
{
    double lower = lower_of(column), upper = upper_of(column);

    if (lower == upper)
        orr_fprintf(f, " %s = %.17g\n", column->name, lower);
    else if (isinf(lower) && isinf(upper))
        fprintf(f, " %s free\n", column->name);
    else if (isinf(lower))
        orr_fprintf(f, " -inf <= %s <= %.17g\n", column->name, upper);
    else if (isfinite(upper))
        orr_fprintf(f, " %.17g <= %s <= %.17g\n", lower, column->name, upper);
    else if (lower != 0)
        orr_fprintf(f, " %s >= %.17g\n", column->name, lower);
}

static void cplex_write(const struct orr_lp *lp, const struct survey *survey,
                        FILE *f)
{
    fprintf(f, "\\ %s\nMinimize\n" OBJECTIVE ":", lp->title);
    objective_sum(lp, survey, f);
    fprintf(f, "\nSubject To\n");
    rows_write(lp, survey, "", f);
    fprintf(f, "Bounds\n");
    for (unsigned c = 0; c < lp->ncolumns; c++)
        cplex_bound(&lp->columns[c], f);
    if (survey->zero)
        fprintf(f, " " ZERO_COLUMN " = 0\n");
    if (survey->integers) {
        fprintf(f, "Generals");
        names_of_integers(lp, "", f);
        fprintf(f, "\n");
    }
    fprintf(f, "End\n");
}

/* Two statements at most: a bound of lp_solve's with = is a row. */
static void lp_solve_bound(const struct orr_lp_column *column, FILE *f)
{
    double lower = lower_of(column), upper = upper_of(column);

    if (isinf(lower))
        fprintf(f, "%s >= -1e30;\n", column->name);
    else if (lower != 0)
        orr_fprintf(f, "%s >= %.17g;\n", column->name, lower);
    if (isfinite(upper))
        orr_fprintf(f, "%s <= %.17g;\n", column->name, upper);
}

/* The title must not end the comment. */
static void lp_solve_title(const char *title, FILE *f)
{
    fprintf(f, "/* ");
    for (const char *c = title; *c; c++)
        fputc(*c == '*' && c[1] == '/' ? ' ' : *c, f);
    fprintf(f, " */\n");
}

static void lp_solve_write(const struct orr_lp *lp, const struct survey *survey,
                           FILE *f)
{
    lp_solve_title(lp->title, f);
    fprintf(f, "min:");
    objective_sum(lp, survey, f);
    fprintf(f, ";\n\n");
    rows_write(lp, survey, ";", f);
    fprintf(f, "\n");
    for (unsigned c = 0; c < lp->ncolumns; c++)
        lp_solve_bound(&lp->columns[c], f);
    if (survey->zero)
        fprintf(f, ZERO_COLUMN " <= 0;\n");
    if (survey->integers) {
        fprintf(f, "\nint");
        names_of_integers(lp, ",", f);
        fprintf(f, ";\n");
    }
}

/* --- free MPS --- */

/* The coefficients by column. */
struct transposed {
    unsigned *first, *row; /* owned: ncolumns + 1 and ncoefs */
    double *value;         /* owned */
};

static void transposed_done(struct transposed *t)
{
    free(t->first);
    free(t->row);
    free(t->value);
}

static int transposed_init(struct transposed *t, const struct orr_lp *lp)
{
    t->first = calloc((size_t)lp->ncolumns + 2, sizeof(*t->first));
    t->row = calloc((size_t)lp->ncoefs + 1, sizeof(*t->row));
    t->value = calloc((size_t)lp->ncoefs + 1, sizeof(*t->value));
    if (!t->first || !t->row || !t->value) {
        transposed_done(t);
        return -ENOMEM;
    }
    /* Counted two places on, first[c + 1] is where column c is filled next. */
    for (unsigned i = 0; i < lp->ncoefs; i++)
        t->first[lp->coef_column[i] + 2]++;
    for (unsigned c = 0; c < lp->ncolumns; c++)
        t->first[c + 1] += t->first[c];
    for (unsigned r = 0; r < lp->nrows; r++)
        for (unsigned i = 0; i < lp->rows[r].n; i++) {
            unsigned from = lp->rows[r].first + i;
            unsigned at = t->first[lp->coef_column[from] + 1]++;

            t->row[at] = r;
            t->value[at] = lp->coef_value[from];
        }
    return 0;
}

static void mps_rows(const struct orr_lp *lp, const struct survey *survey,
                     FILE *f)
{
    struct side sides[2];

    fprintf(f, "ROWS\n N " OBJECTIVE "\n%s",
            survey->no_row ? " L " ZERO_ROW "\n" : "");
    for (unsigned r = 0; r < lp->nrows; r++) {
        unsigned n = row_sides(&lp->rows[r], sides);

        for (unsigned s = 0; s < n; s++)
            fprintf(f, " %c %s%s\n", sides[s].sense, lp->rows[r].name,
                    sides[s].suffix);
    }
}

static void mps_column(const struct orr_lp *lp, const struct transposed *t,
                       unsigned c, FILE *f)
{
    const struct orr_lp_column *column = &lp->columns[c];
    struct side sides[2];

    orr_fprintf(f, " %s " OBJECTIVE " %.17g\n", column->name, column->cost);
    for (unsigned i = t->first[c]; i < t->first[c + 1]; i++) {
        const struct orr_lp_row *row = &lp->rows[t->row[i]];
        unsigned n = row_sides(row, sides);

        for (unsigned s = 0; s < n; s++)
            orr_fprintf(f, " %s %s%s %.17g\n", column->name, row->name,
                        sides[s].suffix, t->value[i]);
    }
}

static void write_lp_mps_columns(const struct orr_lp *lp,
                                 const struct survey *survey,
                                 const struct transposed *t, FILE *f)
{
    unsigned markers = 0;

    fprintf(f, "COLUMNS\n");
    for (unsigned c = 0; c < lp->ncolumns; c++) {
        bool integer = lp->columns[c].integer;

        if (integer && (c == 0 || !lp->columns[c - 1].integer))
            fprintf(f, " marker.%u 'MARKER' 'INTORG'\n", markers++);
        mps_column(lp, t, c, f);
        if (integer && (c + 1 == lp->ncolumns || !lp->columns[c + 1].integer))
            fprintf(f, " marker.%u 'MARKER' 'INTEND'\n", markers++);
    }
    if (survey->zero)
        fprintf(f, " " ZERO_COLUMN " " OBJECTIVE " 0\n%s",
                survey->no_row ? " " ZERO_COLUMN " " ZERO_ROW " 1\n" : "");
}

static void mps_rhs(const struct orr_lp *lp, FILE *f)
{
    struct side sides[2];

    fprintf(f, "RHS\n");
    for (unsigned r = 0; r < lp->nrows; r++) {
        unsigned n = row_sides(&lp->rows[r], sides);

        for (unsigned s = 0; s < n; s++)
            if (sides[s].value != 0)
                orr_fprintf(f, " rhs. %s%s %.17g\n", lp->rows[r].name,
                            sides[s].suffix, sides[s].value);
    }
}

/* The upper bound comes first: where it is negative, some readers take the
 * lower one as infinite unless it is given afterwards. Whole columns without
 * bounds go up to 1 with some. */
static void mps_bound(const struct orr_lp_column *column, FILE *f)
{
    const char *name = column->name;
    double lower = lower_of(column), upper = upper_of(column);

    if (lower == upper) {
        orr_fprintf(f, " FX bounds. %s %.17g\n", name, lower);
        return;
    }
    if (isinf(lower) && isinf(upper)) {
        fprintf(f, " FR bounds. %s\n", name);
        return;
    }
    if (isinf(lower))
        fprintf(f, " MI bounds. %s\n", name);
    if (isfinite(upper))
        orr_fprintf(f, " UP bounds. %s %.17g\n", name, upper);
    else if (column->integer)
        fprintf(f, " PL bounds. %s\n", name);
    if (isfinite(lower) && (lower != 0 || upper < 0 || column->integer))
        orr_fprintf(f, " LO bounds. %s %.17g\n", name, lower);
}

static int mps_write(const struct orr_lp *lp, const struct survey *survey,
                     FILE *f)
{
    struct transposed t;
    int rc = transposed_init(&t, lp);

    if (rc)
        return rc;
    fprintf(f,
            "* %s\n* Free format: fields are separated by blanks.\n"
            "NAME orrery FREE\n",
            lp->title);
    mps_rows(lp, survey, f);
    write_lp_mps_columns(lp, survey, &t, f);
    mps_rhs(lp, f);
    fprintf(f, "BOUNDS\n");
    for (unsigned c = 0; c < lp->ncolumns; c++)
        mps_bound(&lp->columns[c], f);
    if (survey->zero)
        fprintf(f, " FX bounds. " ZERO_COLUMN " 0\n");
    fprintf(f, "ENDATA\n");
    transposed_done(&t);
    return 0;
}

int orr_lp_write(const struct orr_lp *lp, enum orr_lp_format format, FILE *f)
{
    struct survey survey;
    int rc = survey_init(&survey, lp);

    if (rc)
        return rc;
    if (format == ORR_LP_CPLEX)
        cplex_write(lp, &survey, f);
    else if (format == ORR_LP_LP_SOLVE)
        lp_solve_write(lp, &survey, f);
    else
        rc = mps_write(lp, &survey, f);
    free(survey.in_row);
    return rc ? rc : fflush(f) || ferror(f) ? -EIO : 0;
}

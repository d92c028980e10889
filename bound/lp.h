/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/lp.h - a linear program, perhaps with integers, to be minimised: made
 * once, then solved (glpk.c) or written for other solvers (lp_write.c). One
 * thread at a time.
 *
 * Making one never fails in between: without memory all later calls do nothing
 * and orr_lp_end returns the error.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "core/base/error.h"

struct orr_lp_column {
    char *name; /* owned: [a-z][a-z0-9_]*, unique, no keyword of any format */
    double cost, lower, upper; /* ±INFINITY: no bound */
    bool integer;
};

struct orr_lp_row {
    char *name; /* owned, as those of columns */
    double lower, upper;
    unsigned first, n; /* its coefficients */
};

struct orr_lp {
    char *title; /* owned: one line of description */
    unsigned ncolumns, nrows, ncoefs;
    struct orr_lp_column *columns;
    struct orr_lp_row *rows;
    unsigned *coef_column; /* ascending within a row */
    double *coef_value;
    /* private */
    bool failed;
};

/* Zeroed but for the title, which is copied. */
void orr_lp_begin(struct orr_lp *lp, const char *title);

/* Returns the column's number. The name, "printf", is made to fit: other
 * characters become _, keywords get a prefix, and of equal names of rows or
 * columns the later ones get a number when the program ends. Bounds have
 * lower <= upper; costs and coefficients are finite. */
unsigned orr_lp_column(struct orr_lp *lp, double cost, double lower,
                       double upper, bool integer, const char *name_format, ...)
    __attribute__((format(printf, 6, 7)));

/* Begins a row; coefficients are then added to it, each column at most once.
 * Returns the row's number. */
unsigned orr_lp_row(struct orr_lp *lp, double lower, double upper,
                    const char *name_format, ...)
    __attribute__((format(printf, 4, 5)));
void orr_lp_coef(struct orr_lp *lp, unsigned column, double value);

/* Sorts; to be called once, before the program is used. -ENOMEM when memory
 * was out at any time. */
int orr_lp_end(struct orr_lp *lp);

void orr_lp_free(struct orr_lp *lp);

enum orr_lp_format {
    ORR_LP_CPLEX,    /* glpsol --lp, cbc */
    ORR_LP_LP_SOLVE, /* lp_solve's own dialect */
    ORR_LP_MPS,      /* free MPS, for all three */
};

/* Numbers in the C locale, with 17 digits. Errors: -EIO, -ENOMEM. */
int orr_lp_write(const struct orr_lp *lp, enum orr_lp_format format, FILE *f);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/branch.h - inside the module: a makespan that is least when some
 * columns are whole, by branch and bound whose every step is proved. One thread
 * per program.
 */
#pragma once

#include <stdbool.h>

#include "bound/lp.h"

struct orr_branch_program {
    /* Minimises its column 0, the makespan, which alone has a cost. All columns
     * are bounded, and some optimum keeps to these bounds; they are changed
     * while it is solved. */
    struct orr_lp *lp;
    /* Per column: no solution with at least 1 there has a shorter makespan. */
    const double *implied;
    /* The makespan of a whole solution near x, or INFINITY. */
    double (*round)(const double *x, void *arg);
    void *arg;
};

struct orr_branch_options {
    double seconds;
    double tolerance;    /* relative gap that counts as none */
    double lower;        /* proved already */
    unsigned long nodes; /* at most so many are solved; 0: no limit */
    /* Told what is proved after each node; false ends the search. Or NULL. */
    bool (*goes_on)(double lower, void *arg);
    void *arg;
};

struct orr_branch_result {
    double lower;  /* proved at any time */
    double upper;  /* of a whole solution; INFINITY: none was found */
    bool finished; /* the gap is within the tolerance */
    unsigned long nodes;
};

/* Ends after `seconds` or `nodes`, with what is proved then. Errors: -ENOMEM,
 * also when making the program failed. */
int orr_branch(const struct orr_branch_program *program,
               const struct orr_branch_options *options,
               struct orr_branch_result *ret);

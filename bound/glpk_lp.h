/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/glpk_lp.h - solves linear programs, and proves the results of the
 * solver. A solver belongs to one thread at a time; different ones are
 * independent.
 */
#pragma once

#include <stdbool.h>

#include "bound/lp.h"

enum orr_lp_outcome {
    ORR_LP_OPTIMAL,    /* x is feasible and within the tolerance of `bound` */
    ORR_LP_TIME_LIMIT, /* or the limit of iterations */
    ORR_LP_INFEASIBLE, /* by the solver */
    ORR_LP_UNBOUNDED,  /* by the solver */
    ORR_LP_SUSPICIOUS, /* the result of the solver is refuted here, or it
                        * failed */
};

struct orr_lp_solution {
    enum orr_lp_outcome outcome;
    double objective; /* of x; NaN where there is no feasible x */
    /* No feasible point is cheaper. Proved here from y (orr_lp_dual_bound),
     * whatever the outcome; −INFINITY: nothing is proved. Of integer programs
     * it is that of the solver, not proved. */
    double bound;
    double *x;     /* owned, per column */
    double *y;     /* owned, per row: dual values; NULL for integer ones */
    char why[160]; /* empty where the outcome is optimal */
    long iterations;
};

struct orr_lp_solve_options {
    double seconds;   /* time limit, <= 0: none */
    double tolerance; /* of gaps and of violated rows, relative; <= 0: 1e-6 */
    bool scale;       /* let the solver scale the program when it first sees it:
                       * for programs with values of very different magnitude */
};

struct orr_lp_solver;

/* Makes a solver without a program. Errors: -ENOMEM. */
int orr_lp_solver_new(struct orr_lp_solver **ret);
void orr_lp_solver_free(struct orr_lp_solver *solver); /* NULL is allowed */

/* Solves the program without regard to integers. The solver keeps the basis:
 * when it is called again with the same program, to which only columns and rows
 * (never coefficients of old rows) were added, and costs and bounds changed, it
 * goes on from there. Rows need not be sorted. Blocks. `ret` is to be ended
 * with orr_lp_solution_done. Errors: -ENOMEM, also when making the program
 * failed; then `ret` holds nothing. */
int orr_lp_solver_run(struct orr_lp_solver *solver, const struct orr_lp *lp,
                      const struct orr_lp_solve_options *options,
                      struct orr_lp_solution *ret);

/* Sets the start of the next run: which columns and rows are basic, as many as
 * there are rows; the others are at their lower bounds, or at the upper ones
 * where they have no lower. The program is loaded as by a run. A wrong number
 * of basic ones or a singular basis costs time, nothing else. Errors:
 * -ENOMEM. */
int orr_lp_solver_basis(struct orr_lp_solver *solver, const struct orr_lp *lp,
                        const bool *column_basic, const bool *row_basic);

/* All in one: a program, solved once. */
int orr_lp_solve(const struct orr_lp *lp,
                 const struct orr_lp_solve_options *options,
                 struct orr_lp_solution *ret);

void orr_lp_solution_done(struct orr_lp_solution *solution);

/* A value that no feasible point is below (weak duality):
 *   Σ_i min over [lower_i, upper_i] of y_i·row  +
 *   Σ_j min over [lower_j, upper_j] of (c_j − Σ_i y_i·a_ij)·x_j.
 * Any y will do: where y_i has a sign for which its row has no bound, 0 counts
 * instead. A column without a bound where its reduced cost is not exactly zero
 * makes it −INFINITY: give columns bounds that some optimum keeps. The rounding
 * error is subtracted. Errors: -ENOMEM. */
int orr_lp_dual_bound(const struct orr_lp *lp, const double *y, double *ret);

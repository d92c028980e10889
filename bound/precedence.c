/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/precedence.c - the precedence bound: completion times and classes'
 * areas. By the theory of linear programs it is the bound of all paths, and
 * paths.c finds it. Small graphs are also solved as they are written, by GLPK;
 * the two must agree. No state; any thread.
 */
#include "bound/relaxed.h"

#include <errno.h>
#include <math.h>

#include "bound/glpk_lp.h"
#include "bound/programs.h"

#define SMALL       150  /* tasks */
#define GLPK_SECOND 0.25 /* of the time that GLPK may take */
#define ROUNDING    1e-7

/* Bounds that some optimum keeps, without which no dual solution would prove
 * anything: columns are shares of tasks, x_…, and times. */
static void limit_columns(struct orr_lp *lp, double upper_ms)
{
    for (unsigned c = 0; c < lp->ncolumns; c++)
        lp->columns[c].upper = lp->columns[c].name[0] == 'x' ? 1 : upper_ms;
}

/* Solves the same problem as written. */
static int solve_plainly(const struct orr_bound_instance *in,
                         const struct orr_bound_options *options,
                         double upper_ms, struct orr_lp_solution *ret)
{
    struct orr_lp_solve_options how = {.seconds =
                                           options->seconds * GLPK_SECOND,
                                       .tolerance = options->tolerance};
    struct orr_lp lp;
    int rc = orr_bound_precedence_program(in, false, &lp);

    if (rc == 0) {
        limit_columns(&lp, upper_ms);
        rc = orr_lp_solve(&lp, &how, ret);
    }
    orr_lp_free(&lp);
    return rc;
}

int orr_bound_precedence(const struct orr_bound_instance *in,
                         const struct orr_bound_options *options,
                         struct orr_bound_result *ret)
{
    struct orr_lp_solution plain;
    double slack, least;
    int rc = orr_bound_paths(in, options, ret);

    if (rc || in->ntasks > SMALL || ret->outcome != ORR_BOUND_OPTIMAL)
        return rc;
    slack = ROUNDING * fmax(ret->upper_ms, 1e-9);
    rc = solve_plainly(in, options, ret->upper_ms * (1 + 1e-3) + 1e-9, &plain);
    if (rc)
        return rc;
    least = plain.bound;
    /* Only what is proved counts: where values differ by many orders GLPK finds
     * no solution though there is one, or one that is none. */
    if (least > ret->upper_ms + slack)
        rc = orr_bound_give_up(ret, ORR_BOUND_SUSPICIOUS,
                               "two methods contradict each other: %.9g ms are "
                               "possible, %.9g ms are not",
                               ret->upper_ms, least);
    else if (least > ret->ms)
        ret->ms = fmin(least, ret->upper_ms);
    orr_lp_solution_done(&plain);
    return rc;
}

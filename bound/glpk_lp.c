/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/glpk_lp.c - linear programs, solved with GLPK. Any thread: GLPK keeps
 * its state per thread.
 */
#include "bound/glpk_lp.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glpk.h>

#define TOLERANCE 1e-6

struct orr_lp_solver {
    glp_prob *lp;
    bool started; /* there is a basis */
};

int orr_lp_solver_new(struct orr_lp_solver **ret)
{
    struct orr_lp_solver *solver = calloc(1, sizeof(*solver));
    int output;

    if (!solver)
        return -ENOMEM;
    output = glp_term_out(GLP_OFF);
    solver->lp = glp_create_prob();
    glp_set_obj_dir(solver->lp, GLP_MIN);
    glp_term_out(output);
    *ret = solver;
    return 0;
}

void orr_lp_solver_free(struct orr_lp_solver *solver)
{
    if (!solver)
        return;
    glp_delete_prob(solver->lp);
    free(solver);
}

void orr_lp_solution_done(struct orr_lp_solution *solution)
{
    free(solution->x);
    free(solution->y);
    solution->x = solution->y = NULL;
}

/* The type of bounds in GLPK's constants. */
static int bounds_type(double lower, double upper)
{
    if (isinf(lower))
        return isinf(upper) ? GLP_FR : GLP_UP;
    if (isinf(upper))
        return GLP_LO;
    return lower == upper ? GLP_FX : GLP_DB;
}

/* Copies what is new; all bounds and costs. */
static int glpk_load_program(struct orr_lp_solver *solver,
                             const struct orr_lp *lp)
{
    glp_prob *to = solver->lp;
    unsigned rows = (unsigned)glp_get_num_rows(to);
    unsigned columns = (unsigned)glp_get_num_cols(to);
    int *index;
    double *value;

    if (lp->failed)
        return -ENOMEM;
    index = malloc(((size_t)lp->ncolumns + 1) * sizeof(*index));
    value = malloc(((size_t)lp->ncolumns + 1) * sizeof(*value));
    if (!index || !value) {
        free(index);
        free(value);
        return -ENOMEM;
    }
    if (lp->ncolumns > columns)
        glp_add_cols(to, (int)(lp->ncolumns - columns));
    if (lp->nrows > rows)
        glp_add_rows(to, (int)(lp->nrows - rows));
    for (unsigned j = 0; j < lp->ncolumns; j++) {
        const struct orr_lp_column *c = &lp->columns[j];

        glp_set_col_bnds(to, (int)j + 1, bounds_type(c->lower, c->upper),
                         c->lower, c->upper);
        glp_set_obj_coef(to, (int)j + 1, c->cost);
    }
    for (unsigned i = 0; i < lp->nrows; i++) {
        const struct orr_lp_row *r = &lp->rows[i];
        int n = 0;

        glp_set_row_bnds(to, (int)i + 1, bounds_type(r->lower, r->upper),
                         r->lower, r->upper);
        if (i < rows)
            continue;
        for (unsigned k = r->first; k < r->first + r->n; k++) {
            if (lp->coef_value[k] == 0)
                continue;
            n++;
            index[n] = (int)lp->coef_column[k] + 1;
            value[n] = lp->coef_value[k];
        }
        glp_set_mat_row(to, (int)i + 1, n, index, value);
    }
    free(index);
    free(value);
    return 0;
}

int orr_lp_solver_basis(struct orr_lp_solver *solver, const struct orr_lp *lp,
                        const bool *column_basic, const bool *row_basic)
{
    int output = glp_term_out(GLP_OFF);
    int rc = glpk_load_program(solver, lp);

    /* GLPK puts nonbasic variables at their bounds. */
    for (unsigned j = 0; !rc && j < lp->ncolumns; j++)
        glp_set_col_stat(solver->lp, (int)j + 1,
                         column_basic[j] ? GLP_BS : GLP_NL);
    for (unsigned i = 0; !rc && i < lp->nrows; i++)
        glp_set_row_stat(solver->lp, (int)i + 1,
                         row_basic[i] ? GLP_BS : GLP_NL);
    glp_term_out(output);
    if (!rc)
        solver->started = true;
    return rc;
}

/* The least value of d·x, d within ± error, x within its bounds. */
static long double least_product(long double d, long double error, double lower,
                                 double upper)
{
    long double least = INFINITY;

    for (int sign = -1; sign <= 1; sign += 2) {
        long double slope = d + sign * error;
        double x = slope > 0 ? lower : upper;

        if (slope != 0)
            least = fminl(least, slope * x);
        else
            least = fminl(least, 0);
    }
    return least;
}

/* y, or 0 where the row has no bound for its sign. */
static double usable_dual_value(const struct orr_lp_row *row, double y)
{
    if (isnan(y) || (y > 0 && isinf(row->lower)) ||
        (y < 0 && isinf(row->upper)))
        return 0;
    return y;
}

int orr_lp_dual_bound(const struct orr_lp *lp, const double *y, double *ret)
{
    /* Reduced costs, and how large the numbers were that made them. */
    long double *reduced = calloc(lp->ncolumns + (size_t)1, sizeof(*reduced));
    long double *size = calloc(lp->ncolumns + (size_t)1, sizeof(*size));
    unsigned *count = calloc(lp->ncolumns + (size_t)1, sizeof(*count));
    long double sum = 0, sizes = 0;

    if (!reduced || !size || !count) {
        free(reduced);
        free(size);
        free(count);
        return -ENOMEM;
    }
    for (unsigned j = 0; j < lp->ncolumns; j++) {
        reduced[j] = lp->columns[j].cost;
        size[j] = fabsl(reduced[j]);
    }
    for (unsigned i = 0; i < lp->nrows; i++) {
        const struct orr_lp_row *row = &lp->rows[i];
        double multiplier = usable_dual_value(row, y[i]);
        long double term;

        if (multiplier == 0)
            continue;
        term = (long double)multiplier *
               (multiplier > 0 ? row->lower : row->upper);
        sum += term;
        sizes += fabsl(term);
        for (unsigned k = row->first; k < row->first + row->n; k++) {
            unsigned j = lp->coef_column[k];

            term = (long double)multiplier * lp->coef_value[k];
            reduced[j] -= term;
            size[j] += fabsl(term);
            count[j]++;
        }
    }
    for (unsigned j = 0; j < lp->ncolumns; j++) {
        /* Each of `count` products and sums errs by at most an epsilon of the
         * largest partial sum. */
        long double error = 2 * LDBL_EPSILON * count[j] * size[j];
        long double term = least_product(
            reduced[j], error, lp->columns[j].lower, lp->columns[j].upper);

        sum += term;
        sizes += fabsl(term);
    }
    sum -= 2 * LDBL_EPSILON * ((long double)lp->nrows + lp->ncolumns) * sizes;
    *ret = isfinite(sum) ? nextafter((double)sum, -(double)INFINITY)
                         : -(double)INFINITY;
    free(reduced);
    free(size);
    free(count);
    return 0;
}

static double bound_excess(double value, double lower, double upper)
{
    return fmax(0, fmax(lower - value, value - upper));
}

/* By how much x violates rows and bounds, relative to the numbers in them. */
static double violation(const struct orr_lp *lp, const double *x)
{
    double worst = 0;

    for (unsigned j = 0; j < lp->ncolumns; j++)
        worst = fmax(worst, bound_excess(x[j], lp->columns[j].lower,
                                         lp->columns[j].upper) /
                                fmax(1, fabs(x[j])));
    for (unsigned i = 0; i < lp->nrows; i++) {
        const struct orr_lp_row *row = &lp->rows[i];
        double value = 0, size = 1;

        for (unsigned k = row->first; k < row->first + row->n; k++) {
            double term = lp->coef_value[k] * x[lp->coef_column[k]];

            value += term;
            size = fmax(size, fabs(term));
        }
        worst = fmax(worst, bound_excess(value, row->lower, row->upper) / size);
    }
    return worst;
}

static double objective(const struct orr_lp *lp, const double *x)
{
    double sum = 0;

    for (unsigned j = 0; j < lp->ncolumns; j++)
        sum += lp->columns[j].cost * x[j];
    return sum;
}

static void solution_set_outcome(struct orr_lp_solution *ret,
                                 enum orr_lp_outcome outcome, const char *why)
{
    ret->outcome = outcome;
    strncpy(ret->why, why, sizeof(ret->why) - 1);
}

static int solution_init(const struct orr_lp *lp, bool dual,
                         struct orr_lp_solution *ret)
{
    *ret = (struct orr_lp_solution){
        .objective = NAN,
        .bound = -(double)INFINITY,
        .x = calloc((size_t)lp->ncolumns + 1, sizeof(*ret->x)),
        .y = dual ? calloc((size_t)lp->nrows + 1, sizeof(*ret->y)) : NULL,
    };
    if (ret->x && (ret->y || !dual))
        return 0;
    orr_lp_solution_done(ret);
    return -ENOMEM;
}

/* The outcome by GLPK's status, before it is checked. */
static void check_simplex(glp_prob *lp, int code, struct orr_lp_solution *ret)
{
    int status = glp_get_status(lp);

    if (code == GLP_ETMLIM || code == GLP_EITLIM)
        solution_set_outcome(ret, ORR_LP_TIME_LIMIT, "time is out");
    else if (code)
        solution_set_outcome(ret, ORR_LP_SUSPICIOUS,
                             "the simplex method failed");
    else if (status == GLP_OPT)
        solution_set_outcome(ret, ORR_LP_OPTIMAL, "");
    else if (status == GLP_NOFEAS)
        solution_set_outcome(ret, ORR_LP_INFEASIBLE, "no point is feasible");
    else if (status == GLP_UNBND)
        solution_set_outcome(ret, ORR_LP_UNBOUNDED,
                             "the program has no least value");
    else
        solution_set_outcome(ret, ORR_LP_SUSPICIOUS,
                             "the simplex method gave up");
}

/* A fresh basis where the solver failed from the old one. */
static int simplex(struct orr_lp_solver *solver, const glp_smcp *options)
{
    int code = glp_simplex(solver->lp, options);

    if (code == 0 || code == GLP_ETMLIM || code == GLP_EITLIM)
        return code;
    glp_adv_basis(solver->lp, 0);
    return glp_simplex(solver->lp, options);
}

static int milliseconds(double seconds)
{
    if (!(seconds > 0) || seconds * 1e3 >= INT_MAX)
        return INT_MAX;
    return (int)fmax(1, ceil(seconds * 1e3));
}

static int run_loaded(struct orr_lp_solver *solver, const struct orr_lp *lp,
                      const struct orr_lp_solve_options *options,
                      struct orr_lp_solution *ret)
{
    double tolerance = options->tolerance > 0 ? options->tolerance : TOLERANCE;
    glp_smcp how;
    int rc, before = glp_get_it_cnt(solver->lp);

    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.tm_lim = milliseconds(options->seconds);
    /* After new rows the old basis is dual feasible; after new columns it is
     * not, and the solver switches to the primal method. */
    how.meth = solver->started ? GLP_DUALP : GLP_PRIMAL;
    if (!solver->started) {
        if (options->scale)
            glp_scale_prob(solver->lp, GLP_SF_AUTO);
        glp_adv_basis(solver->lp, 0);
        solver->started = true;
    }
    check_simplex(solver->lp, simplex(solver, &how), ret);
    ret->iterations = glp_get_it_cnt(solver->lp) - before;
    for (unsigned j = 0; j < lp->ncolumns; j++)
        ret->x[j] = glp_get_col_prim(solver->lp, (int)j + 1);
    for (unsigned i = 0; i < lp->nrows; i++)
        ret->y[i] = glp_get_row_dual(solver->lp, (int)i + 1);
    if (violation(lp, ret->x) <= tolerance)
        ret->objective = objective(lp, ret->x);
    rc = orr_lp_dual_bound(lp, ret->y, &ret->bound);
    if (!rc && ret->outcome == ORR_LP_OPTIMAL &&
        !(ret->objective - ret->bound <=
          tolerance * fmax(1e-9, fabs(ret->objective))))
        solution_set_outcome(
            ret, ORR_LP_SUSPICIOUS,
            isnan(ret->objective)
                ? "the solver's optimum violates the program"
                : "the solver's optimum is not proved by its dual solution");
    return rc;
}

int orr_lp_solver_run(struct orr_lp_solver *solver, const struct orr_lp *lp,
                      const struct orr_lp_solve_options *options,
                      struct orr_lp_solution *ret)
{
    int output = glp_term_out(GLP_OFF);
    int rc = glpk_load_program(solver, lp);

    if (!rc)
        rc = solution_init(lp, true, ret);
    if (!rc) {
        rc = run_loaded(solver, lp, options, ret);
        if (rc)
            orr_lp_solution_done(ret);
    }
    glp_term_out(output);
    return rc;
}

int orr_lp_solve(const struct orr_lp *lp,
                 const struct orr_lp_solve_options *options,
                 struct orr_lp_solution *ret)
{
    struct orr_lp_solver *solver;
    int rc = orr_lp_solver_new(&solver);

    if (rc)
        return rc;
    rc = orr_lp_solver_run(solver, lp, options, ret);
    orr_lp_solver_free(solver);
    return rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/glpk.c - the area bound, solved with GLPK: the module orrery/bound.so.
 * Any thread: GLPK keeps its state per thread.
 *
 * Workers with equal durations for every pool form a class. The relaxed
 * problem has a variable per (class, pool): tasks x[c][t] ≥ 0, and
 *   min tmax,  Σ_t d[c][t]·x[c][t] ≤ size[c]·tmax,  Σ_c x[c][t] = count[t].
 * Any multipliers λ[c] ≥ 0 with Σ size[c]·λ[c] = 1 prove the lower bound
 * Σ_t count[t]·min_c λ[c]·d[c][t] (weak duality), whatever the solver's
 * rounding did; that value is the answer, and must meet the primal one.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <glpk.h>

#include "bound/methods.h"
#include "bound/solver.h"
#include "core/base/module.h"

#define TIME_LIMIT_MS 60000
#define GAP           1e-6 /* relative, between primal and dual */

struct classes {
    unsigned count;
    unsigned *first; /* per class: a worker of it */
    unsigned *size;  /* per class */
    unsigned *of;    /* per worker */
};

static bool workers_equal(const struct orr_bound_problem *problem, unsigned v,
                          unsigned w)
{
    for (unsigned t = 0; t < problem->npools; t++) {
        double a = problem->pools[t].duration_ms[v];
        double b = problem->pools[t].duration_ms[w];

        if (a != b && !(isnan(a) && isnan(b)))
            return false;
    }
    return true;
}

/* Groups the workers; every worker alone unless `merge`. */
static int classes_init(struct classes *classes,
                        const struct orr_bound_problem *problem, bool merge)
{
    unsigned *all = calloc(3 * (size_t)problem->nworkers, sizeof(*all));

    if (!all)
        return -ENOMEM;
    *classes = (struct classes){0, all, all + problem->nworkers,
                                all + 2 * (size_t)problem->nworkers};
    for (unsigned w = 0; w < problem->nworkers; w++) {
        unsigned c = merge ? 0 : classes->count;

        while (c < classes->count &&
               !workers_equal(problem, classes->first[c], w))
            c++;
        if (c == classes->count)
            classes->first[classes->count++] = w;
        classes->of[w] = c;
        classes->size[c]++;
    }
    return 0;
}

static void classes_done(struct classes *classes)
{
    free(classes->first);
}

static double duration(const struct orr_bound_problem *problem,
                       const struct classes *classes, unsigned c, unsigned t)
{
    return problem->pools[t].duration_ms[classes->first[c]];
}

/* One linear program. Rows: the classes from 1, then the pools. Columns: tmax,
 * then the known pairs, numbered by `column` (npools × classes, 0: none). */
struct program {
    const struct orr_bound_problem *problem;
    struct classes classes;
    glp_prob *lp;
    int *column; /* owned */
};

static void program_add_pair(struct program *p, unsigned c, unsigned t,
                             bool integer)
{
    int rows[3] = {0, (int)c + 1, (int)(p->classes.count + t) + 1};
    double values[3] = {0, duration(p->problem, &p->classes, c, t), 1};
    int column = glp_add_cols(p->lp, 1);

    glp_set_col_bnds(p->lp, column, GLP_LO, 0, 0);
    if (integer)
        glp_set_col_kind(p->lp, column, GLP_IV);
    glp_set_mat_col(p->lp, column, 2, rows, values);
    p->column[t * p->classes.count + c] = column;
}

static void program_add_tmax(struct program *p, int *rows, double *values)
{
    int column = glp_add_cols(p->lp, 1);

    glp_set_obj_dir(p->lp, GLP_MIN);
    glp_set_obj_coef(p->lp, column, 1);
    glp_set_col_bnds(p->lp, column, GLP_LO, 0, 0);
    for (unsigned c = 0; c < p->classes.count; c++) {
        rows[c + 1] = (int)c + 1;
        values[c + 1] = -(double)p->classes.size[c];
    }
    glp_set_mat_col(p->lp, column, (int)p->classes.count, rows, values);
}

static void program_fill(struct program *p, bool integer)
{
    unsigned nclasses = p->classes.count;

    for (unsigned c = 0; c < nclasses; c++)
        glp_set_row_bnds(p->lp, (int)c + 1, GLP_UP, 0, 0);
    for (unsigned t = 0; t < p->problem->npools; t++) {
        double count = (double)p->problem->pools[t].count;

        glp_set_row_bnds(p->lp, (int)(nclasses + t) + 1, GLP_FX, count, count);
        for (unsigned c = 0; c < nclasses; c++)
            if (!isnan(duration(p->problem, &p->classes, c, t)))
                program_add_pair(p, c, t, integer);
    }
}

static void program_done(struct program *p)
{
    if (p->lp)
        glp_delete_prob(p->lp);
    free(p->column);
    classes_done(&p->classes);
}

static int program_init(struct program *p,
                        const struct orr_bound_problem *problem, bool integer)
{
    int *rows = NULL;
    double *values = NULL;
    int rc;

    *p = (struct program){.problem = problem};
    /* Whole tasks cannot be shared out evenly: each worker for itself. */
    rc = classes_init(&p->classes, problem, !integer);
    if (rc)
        return rc;
    p->column =
        calloc((size_t)problem->npools * p->classes.count, sizeof(*p->column));
    rows = calloc(p->classes.count + 1, sizeof(*rows));
    values = calloc(p->classes.count + 1, sizeof(*values));
    if (!p->column || !rows || !values) {
        rc = -ENOMEM;
    } else {
        p->lp = glp_create_prob();
        glp_add_rows(p->lp, (int)(p->classes.count + problem->npools));
        program_add_tmax(p, rows, values);
        program_fill(p, integer);
    }
    free(rows);
    free(values);
    if (rc)
        program_done(p);
    return rc;
}

/* Σ_t count·min_c λ·d, where λ are the class rows' multipliers, made
 * non-negative and scaled so that they prove a bound. */
static double dual_value(const struct program *p)
{
    double sum = 0, value = 0;

    for (unsigned c = 0; c < p->classes.count; c++)
        sum +=
            p->classes.size[c] * fmax(0, -glp_get_row_dual(p->lp, (int)c + 1));
    if (!(sum > 0))
        return 0;
    for (unsigned t = 0; t < p->problem->npools; t++) {
        double least = INFINITY;

        for (unsigned c = 0; c < p->classes.count; c++) {
            double lambda = fmax(0, -glp_get_row_dual(p->lp, (int)c + 1)) / sum;
            double d = duration(p->problem, &p->classes, c, t);

            if (!isnan(d))
                least = fmin(least, lambda * d);
        }
        value += least * (double)p->problem->pools[t].count;
    }
    return value;
}

static double relaxed_count(const struct program *p, unsigned c, unsigned t)
{
    int column = p->column[t * p->classes.count + c];

    return column ? fmax(0, glp_get_col_prim(p->lp, column)) : 0;
}

/* The time of the last class with the tasks shared out as the solver says, each
 * pool scaled to its count. */
static double primal_value(const struct program *p)
{
    double value = 0;

    for (unsigned c = 0; c < p->classes.count; c++) {
        double busy = 0;

        for (unsigned t = 0; t < p->problem->npools; t++) {
            double count = 0, mine = relaxed_count(p, c, t);

            for (unsigned b = 0; b < p->classes.count; b++)
                count += relaxed_count(p, b, t);
            if (mine > 0)
                busy += mine / count * (double)p->problem->pools[t].count *
                        duration(p->problem, &p->classes, c, t);
        }
        value = fmax(value, busy / p->classes.size[c]);
    }
    return value;
}

static int solve_relaxed(const struct orr_bound_problem *problem,
                         double *ret_ms, double *counts, struct orr_error *err)
{
    struct program p;
    glp_smcp options;
    double dual, primal;
    int rc = program_init(&p, problem, false);

    if (rc)
        return orr_fail(err, rc, "Bound: out of memory.");
    glp_init_smcp(&options);
    options.msg_lev = GLP_MSG_OFF;
    glp_adv_basis(p.lp, 0);
    if (glp_simplex(p.lp, &options) || glp_get_status(p.lp) != GLP_OPT)
        rc = orr_fail(err, -EDOM, "Bound: the simplex method failed.");
    if (!rc) {
        dual = dual_value(&p);
        primal = primal_value(&p);
        if (primal - dual > GAP * fmax(primal, 1e-9))
            rc = orr_fail(err, -EDOM,
                          "Bound: the solver's optimum %g ms is not proved, "
                          "its dual solution gives %g ms.",
                          primal, dual);
    }
    for (unsigned t = 0; !rc && counts && t < problem->npools; t++)
        for (unsigned w = 0; w < problem->nworkers; w++)
            counts[t * problem->nworkers + w] =
                relaxed_count(&p, p.classes.of[w], t) /
                p.classes.size[p.classes.of[w]];
    if (!rc)
        *ret_ms = dual;
    program_done(&p);
    return rc;
}

static int solve_integer(const struct orr_bound_problem *problem,
                         double *ret_ms, double *counts, struct orr_error *err)
{
    struct program p;
    glp_iocp options;
    int rc = program_init(&p, problem, true);

    if (rc)
        return orr_fail(err, rc, "Bound: out of memory.");
    glp_init_iocp(&options);
    options.msg_lev = GLP_MSG_OFF;
    options.presolve = GLP_ON;
    options.tm_lim = TIME_LIMIT_MS;
    rc = glp_intopt(p.lp, &options);
    if (rc == GLP_ETMLIM)
        rc = orr_fail(err, -ETIME,
                      "Bound: whole tasks take more than %d s to place. Ask "
                      "for the relaxed bound.",
                      TIME_LIMIT_MS / 1000);
    else if (rc || glp_mip_status(p.lp) != GLP_OPT)
        rc = orr_fail(err, -EDOM, "Bound: branch and cut failed.");
    for (unsigned t = 0; !rc && counts && t < problem->npools; t++)
        for (unsigned w = 0; w < problem->nworkers; w++) {
            int column = p.column[t * p.classes.count + w];

            counts[t * problem->nworkers + w] =
                column ? glp_mip_col_val(p.lp, column) : 0;
        }
    if (!rc)
        *ret_ms = glp_mip_obj_val(p.lp);
    program_done(&p);
    return rc;
}

/* Whether the problem has an answer. */
static int problem_check(const struct orr_bound_problem *problem,
                         struct orr_error *err)
{
    if (problem->npools == 0 || problem->nworkers == 0)
        return orr_fail(err, -ENODATA,
                        "Bound: no task was recorded. Only tasks with a "
                        "history model count, submitted between "
                        "starpu_bound_start and starpu_bound_stop.");
    for (unsigned t = 0; t < problem->npools; t++) {
        const struct orr_bound_pool *pool = &problem->pools[t];
        bool known = false;

        for (unsigned w = 0; w < problem->nworkers; w++)
            known = known || !isnan(pool->duration_ms[w]);
        if (!known)
            return orr_fail(err, -ENODATA,
                            "Bound: model %s has no figures for footprint "
                            "%08x on any worker. Calibrate it first "
                            "(STARPU_CALIBRATE=1).",
                            pool->symbol, pool->footprint);
    }
    return 0;
}

static int area(const struct orr_bound_problem *problem, double *ret_relaxed_ms,
                double *ret_integer_ms, double *counts, struct orr_error *err)
{
    double relaxed = 0, integer = 0;
    int said, rc = problem_check(problem, err);

    if (rc)
        return rc;
    said = glp_term_out(GLP_OFF);
    /* Whole tasks first: it alone can take too long, and counts must stay
     * as they are on failure. */
    if (ret_integer_ms)
        rc = solve_integer(problem, &integer, counts, err);
    if (!rc)
        rc = solve_relaxed(problem, &relaxed, ret_integer_ms ? NULL : counts,
                           err);
    glp_term_out(said);
    if (rc)
        return rc;
    *ret_relaxed_ms = relaxed;
    if (ret_integer_ms)
        *ret_integer_ms = integer;
    return 0;
}

const struct orr_module *orr_module_entry(void);

const struct orr_module *orr_module_entry(void)
{
    static const struct orr_bound_solver solver = {
        .area = area, .compute = orr_bound_compute};
    static const struct orr_module module = {
        .abi = ORR_MODULE_ABI, .name = "bound", .table = &solver};

    return &module;
}

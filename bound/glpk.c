/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/glpk.c - the area bound of pools with whole tasks, solved with GLPK, and
 * the table of the module orrery/bound.so. Any thread: GLPK keeps its state per
 * thread.
 *
 * Whole tasks cannot be distributed evenly among equal workers, so each worker
 * has its own row: numbers of tasks x[w][t] ≥ 0,
 *   min tmax,  Σ_t d[w][t]·x[w][t] ≤ tmax,  Σ_w x[w][t] = count[t].
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <glpk.h>

#include "bound/methods.h"
#include "bound/pools.h"
#include "bound/solver.h"
#include "core/base/module.h"

#define TIME_LIMIT_MS 60000

/* One program. Rows: the workers from 1, then the pools. Columns: tmax, then
 * the known pairs, numbered by `column` (npools × workers, 0: none). */
struct program {
    const struct orr_bound_problem *problem;
    glp_prob *lp;
    int *column; /* owned */
};

static void program_add_pair(struct program *p, unsigned w, unsigned t)
{
    unsigned nworkers = p->problem->nworkers;
    int rows[3] = {0, (int)w + 1, (int)(nworkers + t) + 1};
    double values[3] = {0, p->problem->pools[t].duration_ms[w], 1};
    int column = glp_add_cols(p->lp, 1);

    glp_set_col_bnds(p->lp, column, GLP_LO, 0, 0);
    glp_set_col_kind(p->lp, column, GLP_IV);
    glp_set_mat_col(p->lp, column, 2, rows, values);
    p->column[t * nworkers + w] = column;
}

static void program_add_tmax(struct program *p, int *rows, double *values)
{
    unsigned nworkers = p->problem->nworkers;
    int column = glp_add_cols(p->lp, 1);

    glp_set_obj_dir(p->lp, GLP_MIN);
    glp_set_obj_coef(p->lp, column, 1);
    glp_set_col_bnds(p->lp, column, GLP_LO, 0, 0);
    for (unsigned w = 0; w < nworkers; w++) {
        rows[w + 1] = (int)w + 1;
        values[w + 1] = -1;
    }
    glp_set_mat_col(p->lp, column, (int)nworkers, rows, values);
}

static void program_fill(struct program *p)
{
    unsigned nworkers = p->problem->nworkers;

    for (unsigned w = 0; w < nworkers; w++)
        glp_set_row_bnds(p->lp, (int)w + 1, GLP_UP, 0, 0);
    for (unsigned t = 0; t < p->problem->npools; t++) {
        const struct orr_bound_pool *pool = &p->problem->pools[t];
        double count = (double)pool->count;

        glp_set_row_bnds(p->lp, (int)(nworkers + t) + 1, GLP_FX, count, count);
        for (unsigned w = 0; w < nworkers; w++)
            if (!isnan(pool->duration_ms[w]))
                program_add_pair(p, w, t);
    }
}

static void program_done(struct program *p)
{
    if (p->lp)
        glp_delete_prob(p->lp);
    free(p->column);
}

static int program_init(struct program *p,
                        const struct orr_bound_problem *problem)
{
    size_t nworkers = problem->nworkers;
    int *rows = calloc(nworkers + 1, sizeof(*rows));
    double *values = calloc(nworkers + 1, sizeof(*values));
    int rc = -ENOMEM;

    *p = (struct program){.problem = problem};
    p->column = calloc(problem->npools * nworkers, sizeof(*p->column));
    if (p->column && rows && values) {
        p->lp = glp_create_prob();
        glp_add_rows(p->lp, (int)(nworkers + problem->npools));
        program_add_tmax(p, rows, values);
        program_fill(p);
        rc = 0;
    }
    free(rows);
    free(values);
    if (rc)
        program_done(p);
    return rc;
}

static int solve_integer(const struct orr_bound_problem *problem,
                         double *ret_ms, double *counts, struct orr_error *err)
{
    struct program p;
    glp_iocp options;
    int rc = program_init(&p, problem);

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
            int column = p.column[t * problem->nworkers + w];

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
                            "Bound: model %s has no estimate for footprint "
                            "%08x on any worker. Calibrate it first "
                            "(STARPU_CALIBRATE=1).",
                            pool->symbol, pool->footprint);
    }
    return 0;
}

static int solve_pool_area(const struct orr_bound_problem *problem,
                           double *ret_relaxed_ms, double *ret_integer_ms,
                           double *counts, struct orr_error *err)
{
    double relaxed = 0, integer = 0;
    int output, rc = problem_check(problem, err);

    if (rc)
        return rc;
    output = glp_term_out(GLP_OFF);
    /* Whole tasks first: it alone can take too long, and counts must stay
     * as they are on failure. */
    if (ret_integer_ms)
        rc = solve_integer(problem, &integer, counts, err);
    if (!rc)
        rc = orr_bound_pools_relaxed(problem, &relaxed,
                                     ret_integer_ms ? NULL : counts, err);
    glp_term_out(output);
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
        .area = solve_pool_area, .compute = orr_bound_compute,
        .ranks = orr_bound_ranks_compute, .ranks_done = orr_bound_ranks_done};
    static const struct orr_module module = {
        .abi = ORR_MODULE_ABI,
        .name = "bound",
        .table = &solver,
        .stamp = orr_module_stamp,
    };

    return &module;
}

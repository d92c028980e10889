/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-bound.c - how long bounds take, in ms: the area bound of 4
 * codelets × 200 footprints on 8 classes that differ, and the bound of all
 * paths for Cholesky factorisations, each beside GLPK's simplex method on the
 * same program where that ends in reasonable time. Medians of RUNS.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <glpk.h>

#include "bound/area.h"
#include "bound/methods.h"
#include "bound/programs.h"
#include "tests/bench/bench.h"
#include "tests/unit/bound_graphs.h"

enum { RUNS = 5, TYPES = 800, CLASSES = 8, VARIANTS = TYPES * CLASSES };

static double now_ms(void)
{
    return bench_now_ns(CLOCK_MONOTONIC) / 1e6;
}

/* GLPK from its own advanced basis: ms that the simplex method takes. */
static double plain_ms(const struct orr_lp *lp, double *ret_value)
{
    glp_prob *p = glp_create_prob();
    glp_smcp options;
    double start;

    glp_term_out(GLP_OFF);
    glp_add_cols(p, (int)lp->ncolumns);
    for (unsigned c = 0; c < lp->ncolumns; c++) {
        glp_set_obj_coef(p, (int)c + 1, lp->columns[c].cost);
        glp_set_col_bnds(p, (int)c + 1, GLP_LO, 0, 0);
    }
    glp_add_rows(p, (int)lp->nrows);
    for (unsigned r = 0; r < lp->nrows; r++) {
        const struct orr_lp_row *row = &lp->rows[r];
        int *columns = calloc(row->n + 1, sizeof(*columns));
        double *values = calloc(row->n + 1, sizeof(*values));

        if (!columns || !values)
            abort();
        for (unsigned i = 0; i < row->n; i++) {
            columns[i + 1] = (int)lp->coef_column[row->first + i] + 1;
            values[i + 1] = lp->coef_value[row->first + i];
        }
        glp_set_mat_row(p, (int)r + 1, (int)row->n, columns, values);
        glp_set_row_bnds(p, (int)r + 1,
                         row->lower == row->upper ? GLP_FX
                         : isinf(row->lower)      ? GLP_UP
                                                  : GLP_LO,
                         row->lower, row->upper);
        free(columns);
        free(values);
    }
    glp_init_smcp(&options);
    options.msg_lev = GLP_MSG_OFF;
    start = now_ms();
    glp_adv_basis(p, 0);
    if (glp_simplex(p, &options))
        abort();
    start = now_ms() - start;
    *ret_value = glp_get_obj_val(p);
    glp_delete_prob(p);
    return start;
}

/* -- area -- */

struct problem {
    struct orr_area area;
    double size[CLASSES], count[TYPES], use[VARIANTS];
    unsigned first_variant[TYPES + 1], first_use[VARIANTS + 1],
        resource[VARIANTS];
};

/* Each codelet is faster on some classes than on others, and takes longer for
 * larger data; nothing is equal. */
static void make(struct problem *p, unsigned seed)
{
    unsigned state = 12345 + seed, n = 0;

    p->area =
        (struct orr_area){CLASSES,          TYPES,        p->size,     p->count,
                          p->first_variant, p->first_use, p->resource, p->use};
    for (unsigned c = 0; c < CLASSES; c++)
        p->size[c] = 1 + c % 3;
    for (unsigned k = 0; k < TYPES; k++) {
        state = state * 1664525 + 1013904223;
        p->count[k] = 1 + (state >> 16) % 50;
        for (unsigned c = 0; c < CLASSES; c++) {
            unsigned codelet = k / 200;
            double speed = 1 + (codelet * 7 + c * 5) % 11;

            state = state * 1664525 + 1013904223;
            p->resource[n] = c;
            p->use[n] = (1 + k % 200) / speed * (1 + (state >> 8) * 0x1p-26);
            n++;
            p->first_use[n] = n;
        }
        p->first_variant[k + 1] = n;
    }
}

static void area_program(const struct problem *p, struct orr_lp *lp)
{
    orr_lp_begin(lp, "area");
    orr_lp_column(lp, 1, 0, INFINITY, false, "t");
    for (unsigned w = 0; w < VARIANTS; w++)
        orr_lp_column(lp, 0, 0, INFINITY, false, "x%u", w);
    for (unsigned c = 0; c < CLASSES; c++) {
        orr_lp_row(lp, -INFINITY, 0, "c%u", c);
        orr_lp_coef(lp, 0, -p->size[c]);
        for (unsigned w = 0; w < VARIANTS; w++)
            if (p->resource[w] == c)
                orr_lp_coef(lp, 1 + w, p->use[w]);
    }
    for (unsigned k = 0; k < TYPES; k++) {
        orr_lp_row(lp, p->count[k], p->count[k], "k%u", k);
        for (unsigned w = p->first_variant[k]; w < p->first_variant[k + 1]; w++)
            orr_lp_coef(lp, 1 + w, 1);
    }
    if (orr_lp_end(lp))
        abort();
}

static void bench_area(void)
{
    static struct problem p;
    double own[RUNS], plain[RUNS], value = 0, price[CLASSES];
    struct orr_area_solution solution = {.price = price};

    for (unsigned run = 0; run < RUNS; run++) {
        struct orr_lp lp;
        double start;

        make(&p, run);
        start = now_ms();
        if (orr_area_solve(&p.area, 1e-9, INFINITY, &solution))
            abort();
        own[run] = now_ms() - start;
        area_program(&p, &lp);
        plain[run] = plain_ms(&lp, &value);
        orr_lp_free(&lp);
        if (fabs(value - solution.bound) > 1e-6 * value)
            abort();
    }
    printf(
        "bench bound-area kinds=%d classes=%d ms=%.3f pivots=%u glpk_ms=%.1f "
        "ratio=%.4f\n",
        TYPES, CLASSES, bench_median(own, RUNS), solution.pivots,
        bench_median(plain, RUNS),
        bench_median(own, RUNS) / bench_median(plain, RUNS));
}

/* -- paths -- */

static void bench_paths(const char *what, struct orr_graph *graph, double merge,
                        bool plainly)
{
    struct orr_bound_instance_options options = {0, merge, true};
    struct orr_bound_instance *in;
    struct orr_bound_result r = {.ms = 0};
    double own[RUNS];

    if (orr_bound_instance_new(graph, &options, &in, NULL, NULL))
        abort();
    for (unsigned run = 0; run < RUNS; run++) {
        double start = now_ms();

        orr_bound_result_done(&r);
        if (orr_bound_compute(in, ORR_BOUND_PATHS, NULL, &r))
            abort();
        own[run] = now_ms() - start;
    }
    printf(
        "bench bound-paths graph=%s tasks=%u edges=%u classes=%u ms=%.2f bound=%.3f "
        "gap=%.1e",
        what, in->ntasks, in->nedges, in->nclasses, bench_median(own, RUNS),
        r.ms, (r.upper_ms - r.ms) / r.upper_ms);
    if (plainly) {
        struct orr_lp lp;
        double value, ms;

        if (orr_bound_precedence_program(in, false, &lp))
            abort();
        ms = plain_ms(&lp, &value);
        orr_lp_free(&lp);
        if (value < r.ms * (1 - 1e-6))
            abort();
        printf(" glpk_ms=%.1f ratio=%.4f", ms, bench_median(own, RUNS) / ms);
    }
    printf("\n");
    fflush(stdout);
    orr_bound_result_done(&r);
    orr_bound_instance_free(in);
    orr_graph_free(graph);
}

int main(void)
{
    static const unsigned tiles[] = {8, 10, 20, 40};
    static const struct bound_random random = {11480, 40,   20,   4,
                                               0.3,   true, false};
    static const struct bound_random wide = {11480, 12,   200, 20,
                                             0.3,   true, true};

    bench_area();
    for (unsigned i = 0; i < 4; i++)
        for (unsigned four = 0; four < 2; four++)
            bench_paths("cholesky", bound_cholesky(tiles[i], 9, &bound_mirage),
                        four ? 0 : 0.05, tiles[i] <= 10);
    /* So many workers that paths count. */
    bench_paths("cholesky-1000-cores", bound_cholesky(40, 1000, &bound_mirage),
                0, false);
    bench_paths("random-5-classes", bound_random(1, &random), 0, false);
    bench_paths("random-wide", bound_random(2, &wide), 0, false);
    return EXIT_SUCCESS;
}

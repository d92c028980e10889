/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/pools.c - the area bound of pools and workers. Workers with equal
 * durations for every pool form a class. No state; any thread.
 */
#include "bound/pools.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bound/area.h"

#define GAP 1e-6 /* relative, between what is proved and what is reached */

/* The problem as area.h has it; variants are the known pairs of pool and
 * class. */
struct shares {
    const struct orr_bound_problem *problem;
    unsigned nclasses, nvariants;
    /* All owned. Per class: its first worker, its size. */
    unsigned *first;
    double *size;
    unsigned *class_of; /* per worker */
    double *count;      /* per pool */
    unsigned *first_variant, *first_use, *class_of_variant;
    double *ms;
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

static void shares_classify_workers(struct shares *s)
{
    for (unsigned w = 0; w < s->problem->nworkers; w++) {
        unsigned c = 0;

        while (c < s->nclasses && !workers_equal(s->problem, s->first[c], w))
            c++;
        if (c == s->nclasses)
            s->first[s->nclasses++] = w;
        s->class_of[w] = c;
        s->size[c]++;
    }
}

static void shares_add_variants(struct shares *s)
{
    for (unsigned t = 0; t < s->problem->npools; t++) {
        const struct orr_bound_pool *pool = &s->problem->pools[t];

        s->count[t] = (double)pool->count;
        for (unsigned c = 0; c < s->nclasses; c++) {
            if (isnan(pool->duration_ms[s->first[c]]))
                continue;
            s->class_of_variant[s->nvariants] = c;
            /* A mean less a deviation may be negative. */
            s->ms[s->nvariants++] = fmax(0, pool->duration_ms[s->first[c]]);
            s->first_use[s->nvariants] = s->nvariants;
        }
        s->first_variant[t + 1] = s->nvariants;
    }
}

static void shares_done(struct shares *s)
{
    free(s->first);
    free(s->size);
    free(s->class_of);
    free(s->count);
    free(s->first_variant);
    free(s->first_use);
    free(s->class_of_variant);
    free(s->ms);
}

static int shares_init(struct shares *s,
                       const struct orr_bound_problem *problem)
{
    size_t workers = problem->nworkers, pools = problem->npools;

    *s = (struct shares){.problem = problem};
    s->first = calloc(workers, sizeof(*s->first));
    s->size = calloc(workers, sizeof(*s->size));
    s->class_of = calloc(workers, sizeof(*s->class_of));
    s->count = calloc(pools, sizeof(*s->count));
    s->first_variant = calloc(pools + 1, sizeof(*s->first_variant));
    s->first_use = calloc(pools * workers + 1, sizeof(*s->first_use));
    s->class_of_variant = calloc(pools * workers, sizeof(*s->class_of_variant));
    s->ms = calloc(pools * workers, sizeof(*s->ms));
    if (!s->first || !s->size || !s->class_of || !s->count ||
        !s->first_variant || !s->first_use || !s->class_of_variant || !s->ms)
        return -ENOMEM;
    shares_classify_workers(s);
    shares_add_variants(s);
    return 0;
}

/* Equal workers get equal parts. */
static void shares_divide_by_worker(const struct shares *s, const double *x,
                                    double *counts)
{
    unsigned nworkers = s->problem->nworkers;

    for (unsigned t = 0; t < s->problem->npools; t++)
        for (unsigned w = 0; w < nworkers; w++) {
            counts[t * nworkers + w] = 0;
            for (unsigned i = s->first_variant[t]; i < s->first_variant[t + 1];
                 i++)
                if (s->class_of_variant[i] == s->class_of[w])
                    counts[t * nworkers + w] = x[i] / s->size[s->class_of[w]];
        }
}

static int shares_solve(const struct shares *s, double *ret_ms, double *counts,
                        struct orr_error *err)
{
    struct orr_area area = {
        s->nclasses,  s->problem->npools,  s->size, s->count, s->first_variant,
        s->first_use, s->class_of_variant, s->ms};
    struct orr_area_solution solution = {0};
    int rc = -ENOMEM;

    solution.x = calloc(s->nvariants + 1, sizeof(*solution.x));
    solution.price = calloc(s->nclasses, sizeof(*solution.price));
    if (solution.x && solution.price)
        rc = orr_area_solve(&area, GAP, INFINITY, &solution);
    if (rc == -EDOM)
        rc = orr_fail(err, rc,
                      "Bound: the simplex method ended at %g ms, of which only "
                      "%g ms are proved.",
                      solution.primal, solution.bound);
    else if (rc)
        rc = orr_fail(err, rc, "Bound: out of memory.");
    if (rc == 0) {
        *ret_ms = solution.bound;
        if (counts)
            shares_divide_by_worker(s, solution.x, counts);
    }
    free(solution.x);
    free(solution.price);
    return rc;
}

int orr_bound_pools_relaxed(const struct orr_bound_problem *problem,
                            double *ret_ms, double *counts,
                            struct orr_error *err)
{
    struct shares s;
    int rc = shares_init(&s, problem);

    rc = rc ? orr_fail(err, rc, "Bound: out of memory.")
            : shares_solve(&s, ret_ms, counts, err);
    shares_done(&s);
    return rc;
}

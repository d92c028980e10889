/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/relaxed.c - the critical path and the area bound. No state; any thread.
 */
#include "bound/relaxed.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bound/limits.h"

/* Each task on its fastest variant. Only the sum can be wrong. */
int orr_bound_critical_path(const struct orr_bound_instance *in,
                            const struct orr_bound_options *options,
                            struct orr_bound_result *ret)
{
    double *ms = calloc(in->ntasks, sizeof(*ms));
    int rc = -ENOMEM;

    (void)options;
    if (ms) {
        for (unsigned i = 0; i < in->ntasks; i++)
            ms[i] = in->types[in->type[i]].best_ms;
        rc = orr_bound_limit_path(in, ms, &ret->ms, ret);
        ret->upper_ms = ret->ms;
        ret->proved = rc == 0;
    }
    free(ms);
    return rc;
}

struct arrays {
    double *size, *count, *use;
    unsigned *first_variant, *first_use, *resource;
};

static void arrays_done(struct arrays *a)
{
    free(a->size);
    free(a->count);
    free(a->use);
    free(a->first_variant);
    free(a->first_use);
    free(a->resource);
}

static int arrays_init(struct arrays *a, const struct orr_bound_instance *in)
{
    a->size = calloc(in->nclasses, sizeof(*a->size));
    a->count = calloc(in->ntypes, sizeof(*a->count));
    a->use = calloc(in->nvariants, sizeof(*a->use));
    a->first_variant = calloc(in->ntypes + 1, sizeof(*a->first_variant));
    a->first_use = calloc(in->nvariants + 1, sizeof(*a->first_use));
    a->resource = calloc(in->nvariants, sizeof(*a->resource));
    if (!a->size || !a->count || !a->use || !a->first_variant ||
        !a->first_use || !a->resource)
        return -ENOMEM;
    for (unsigned c = 0; c < in->nclasses; c++)
        a->size[c] = in->classes[c].size;
    for (unsigned k = 0; k < in->ntypes; k++) {
        a->count[k] = in->types[k].ntasks;
        a->first_variant[k + 1] =
            in->types[k].first_variant + in->types[k].nvariants;
    }
    for (unsigned w = 0; w < in->nvariants; w++) {
        a->use[w] = in->variants[w].width * in->variants[w].ms;
        a->resource[w] = in->variants[w].class;
        a->first_use[w + 1] = w + 1;
    }
    return 0;
}

int orr_bound_area_solve(const struct orr_bound_instance *in, double tolerance,
                         double deadline, struct orr_area_solution *ret)
{
    struct arrays a;
    int rc = arrays_init(&a, in);

    if (rc == 0) {
        struct orr_area area = {
            in->nclasses,    in->ntypes,  a.size,     a.count,
            a.first_variant, a.first_use, a.resource, a.use};

        rc = orr_area_solve(&area, tolerance, deadline, ret);
    }
    arrays_done(&a);
    return rc;
}

/* The class with the highest price of time. */
static unsigned dearest_class(const struct orr_bound_instance *in,
                              const double *price)
{
    unsigned most = 0;

    for (unsigned c = 0; c < in->nclasses; c++)
        if (price[c] * in->classes[c].size >
            price[most] * in->classes[most].size)
            most = c;
    return most;
}

int orr_bound_area(const struct orr_bound_instance *in,
                   const struct orr_bound_options *options,
                   struct orr_bound_result *ret)
{
    struct orr_area_solution solution = {0};
    int rc = -ENOMEM;

    solution.x = calloc(in->nvariants, sizeof(*solution.x));
    solution.price = calloc(in->nclasses, sizeof(*solution.price));
    if (solution.x && solution.price)
        rc = orr_bound_area_solve(in, fmin(options->tolerance, 1e-6),
                                  orr_bound_clock() + options->seconds,
                                  &solution);
    if (rc == 0 || rc == -ETIME) {
        ret->ms = solution.bound;
        ret->upper_ms = solution.primal;
        ret->proved = true;
        if (rc == -ETIME) {
            ret->outcome = ORR_BOUND_TIME_LIMIT;
            rc = orr_bound_why(ret, "%u pivots were not enough",
                               solution.pivots);
        }
        if (rc == 0)
            rc = orr_bound_limit_class(in, dearest_class(in, solution.price),
                                       solution.x, ret);
    } else if (rc == -EDOM) {
        rc = orr_bound_give_up(ret, ORR_BOUND_SUSPICIOUS,
                               "the simplex method ended at %g ms, of which "
                               "%g ms are proved",
                               solution.primal, solution.bound);
    }
    free(solution.x);
    free(solution.price);
    return rc;
}

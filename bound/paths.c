/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/paths.c - fractions of tasks on variants such that neither a class's
 * area nor any path is longer than T: the precedence bound, the same as that of
 * the area with all paths as cuts. No state; any thread.
 *
 * Its dual has one price per class and one for the longest path. For given
 * prices flow.c finds the best flow, a proved bound, and a choice of variants
 * with its areas and longest path. The best mixture of the choices so far is a
 * feasible solution, and its dual the next prices (G. B. Dantzig and P. Wolfe,
 * Operations Research 8 (1960) 101-111). Prices between those and the best ones
 * so far are asked first, which steadies them (W. Ben-Ameur and J. Neto,
 * Networks 49 (2007) 3-17).
 */
#include "bound/relaxed.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/flow.h"
#include "bound/limits.h"

#define LEAST_SHARE 1e-9 /* of the path's price: none is not allowed */
#define MOST        2000 /* choices */
#define AIM         1e-5 /* gap; where it is not reached, the caller's counts */
#define NOTABLE     0.01 /* share of the path's price worth reporting */

/* Choices, and what is known of their mixtures. Resources are the classes, then
 * paths; prices are such that Σ size·price = 1. */
struct mixture {
    const struct orr_bound_instance *in;
    unsigned n, room; /* choices */
    unsigned nresources;
    double *size;
    double *use;                    /* choice × resource */
    double *done;                   /* choice × variant */
    unsigned *first_use, *resource; /* as struct orr_area has them */
    struct orr_area_solution solution; /* x: per choice */
    struct orr_flow *flow;
    struct orr_flow_answer answer;
    double *best, lower; /* prices that prove most, and what they prove */
    double *asked;
    double deadline;
    struct orr_bound_result *steps; /* borrowed: what was proved when goes there */
};

static void mixture_done(struct mixture *m)
{
    free(m->size);
    free(m->use);
    free(m->done);
    free(m->first_use);
    free(m->resource);
    free(m->solution.x);
    free(m->solution.price);
    free(m->answer.done);
    free(m->answer.area);
    free(m->answer.ms);
    free(m->best);
    free(m->asked);
    orr_flow_free(m->flow);
}

static int mixture_init(struct mixture *m, const struct orr_bound_instance *in)
{
    unsigned n = in->nclasses + 1;

    *m = (struct mixture){.in = in, .nresources = n};
    m->solution.primal = INFINITY;
    m->size = calloc(n, sizeof(*m->size));
    m->solution.price = calloc(n, sizeof(*m->solution.price));
    m->best = calloc(n, sizeof(*m->best));
    m->asked = calloc(n, sizeof(*m->asked));
    m->answer.done = calloc(in->nvariants, sizeof(*m->answer.done));
    m->answer.area = calloc(n, sizeof(*m->answer.area));
    m->answer.ms = calloc(in->ntasks, sizeof(*m->answer.ms));
    if (!m->size || !m->solution.price || !m->best || !m->asked ||
        !m->answer.done || !m->answer.area || !m->answer.ms)
        return -ENOMEM;
    for (unsigned c = 0; c < in->nclasses; c++)
        m->size[c] = in->classes[c].size;
    m->size[n - 1] = 1;
    return orr_flow_new(in, &m->flow);
}

/* realloc that keeps the old memory where it fails. */
static bool mixture_array_grow(void *array, size_t n, size_t size)
{
    void **old = array;
    void *memory = realloc(*old, n * size);

    if (memory)
        *old = memory;
    return memory != NULL;
}

static int mixture_reserve(struct mixture *m)
{
    size_t room = 2 * m->room + 16;

    if (m->n < m->room)
        return 0;
    if (!mixture_array_grow(&m->use, room * m->nresources, sizeof(*m->use)) ||
        !mixture_array_grow(&m->done, room * m->in->nvariants,
                            sizeof(*m->done)) ||
        !mixture_array_grow(&m->first_use, room + 1, sizeof(*m->first_use)) ||
        !mixture_array_grow(&m->resource, room * m->nresources,
                            sizeof(*m->resource)) ||
        !mixture_array_grow(&m->solution.x, room, sizeof(*m->solution.x)))
        return -ENOMEM;
    m->room = (unsigned)room;
    return 0;
}

/* Adds the answer as a choice. */
static int add_choice(struct mixture *m)
{
    unsigned nvariants = m->in->nvariants, n = m->nresources;
    int rc = mixture_reserve(m);

    if (rc)
        return rc;
    m->first_use[0] = 0;
    m->first_use[m->n + 1] = (m->n + 1) * n;
    for (unsigned r = 0; r < n; r++) {
        m->resource[m->n * n + r] = r;
        m->use[m->n * n + r] =
            r < n - 1 ? m->answer.area[r] : m->answer.path_ms;
    }
    memcpy(m->done + (size_t)m->n * nvariants, m->answer.done,
           nvariants * sizeof(*m->done));
    m->n++;
    return 0;
}

/* All tasks on their fastest variants: the first choice, so that no mixture is
 * without one of a short path. */
static int add_fastest(struct mixture *m)
{
    const struct orr_bound_instance *in = m->in;

    for (unsigned k = 0; k < in->ntypes; k++) {
        const struct orr_bound_task_type *type = &in->types[k];
        unsigned w = 0;

        if (type->nvariants == 0)
            continue;
        while (in->variants[type->first_variant + w].ms > type->best_ms)
            w++;
        m->answer.done[type->first_variant + w] = type->ntasks;
        m->answer.area[in->variants[type->first_variant + w].class] +=
            type->ntasks * type->best_ms *
            in->variants[type->first_variant + w].width;
    }
    m->answer.path_ms = m->lower;
    return add_choice(m);
}

static int mixture_solve_area(struct mixture *m)
{
    const double count = 1;
    const unsigned first_variant[] = {0, m->n};
    struct orr_area area = {
        m->nresources, 1,           m->size, &count, first_variant,
        m->first_use,  m->resource, m->use};
    int rc = orr_area_solve(&area, 1e-9, m->deadline, &m->solution);

    /* Its prices serve all the same. */
    return rc == -EDOM ? 0 : rc;
}

/* Evaluates the prices m->asked. */
static int mixture_evaluate_prices(struct mixture *m)
{
    unsigned n = m->nresources;
    double sum = 0;
    int rc;

    m->asked[n - 1] = fmax(m->asked[n - 1], LEAST_SHARE);
    for (unsigned r = 0; r < n; r++)
        sum += m->asked[r] * m->size[r];
    for (unsigned r = 0; r < n; r++)
        m->asked[r] /= sum;
    rc = orr_flow_solve(m->flow, m->asked, m->asked[n - 1], m->deadline,
                        &m->answer);
    if (rc != -ENOMEM && m->answer.bound > m->lower) {
        m->lower = m->answer.bound;
        memcpy(m->best, m->asked, n * sizeof(*m->best));
        orr_bound_note_step(m->steps, m->lower);
    }
    return rc ? rc : add_choice(m);
}

/* Whether the last choice makes the mixture better: it is cheaper than T. */
static bool mixture_is_better(const struct mixture *m)
{
    const double *use = m->use + (size_t)(m->n - 1) * m->nresources;
    double cost = 0;

    for (unsigned r = 0; r < m->nresources; r++)
        cost += use[r] * m->solution.price[r];
    return cost < m->solution.bound * (1 - 1e-12);
}

static int mixture_improve(struct mixture *m, double tolerance)
{
    bool stuck = false;
    double keep = 0.5;
    int rc = 0;

    while ((rc = mixture_solve_area(m)) == 0 &&
           m->solution.primal - m->lower > tolerance * m->solution.primal) {
        bool better;

        if (m->n == MOST || stuck)
            return -ETIME;
        for (unsigned r = 0; r < m->nresources; r++)
            m->asked[r] = keep * m->best[r] + (1 - keep) * m->solution.price[r];
        rc = mixture_evaluate_prices(m);
        if (rc)
            return rc;
        better = mixture_is_better(m);
        stuck = keep == 0 && !better;
        keep = better ? 0.5 : keep / 2;
        if (keep < 0.1)
            keep = 0;
    }
    return rc;
}

/* The area and the critical path, which bound from below. */
static int mixture_begin(struct mixture *m, double tolerance)
{
    const struct orr_bound_instance *in = m->in;
    struct orr_bound_result path = {.ms = 0};
    struct orr_area_solution area = {.price = m->best};
    int rc = orr_bound_critical_path(in, NULL, &path);

    orr_bound_result_done(&path);
    if (rc)
        return rc;
    m->lower = path.ms;
    rc = add_fastest(m);
    if (rc)
        return rc;
    rc = orr_bound_area_solve(in, fmin(tolerance, 1e-7), m->deadline, &area);
    if (rc && rc != -EDOM)
        return rc;
    memcpy(m->asked, m->best, m->nresources * sizeof(*m->asked));
    if (area.bound > m->lower) {
        m->lower = area.bound;
    } else {
        memset(m->best, 0, m->nresources * sizeof(*m->best));
        m->best[m->nresources - 1] = 1;
    }
    m->asked[m->nresources - 1] = 1e-4;
    return mixture_evaluate_prices(m);
}

/* The last choice's longest path, unless the critical path proves most. */
static int mixture_describe_path(const struct mixture *m,
                                 struct orr_bound_result *ret)
{
    struct orr_bound_result path = {.limit = NULL};
    int rc;

    if (m->best[m->nresources - 1] < 1 && m->n > 1)
        return orr_bound_limit_path(m->in, m->answer.ms, NULL, ret);
    rc = orr_bound_critical_path(m->in, NULL, &path);
    ret->limit = path.limit;
    return rc;
}

/* The limiting factor by the prices that prove most: the longest path or a
 * class; the best mixture has the work of the class. */
static int say_limit(const struct mixture *m, struct orr_bound_result *ret)
{
    const struct orr_bound_instance *in = m->in;
    double path = m->best[m->nresources - 1];
    unsigned dearest = 0;
    double *done;
    int rc;

    for (unsigned c = 0; c < in->nclasses; c++)
        if (m->best[c] * m->size[c] > m->best[dearest] * m->size[dearest])
            dearest = c;
    if (path > m->best[dearest] * m->size[dearest])
        return mixture_describe_path(m, ret);
    done = calloc(in->nvariants, sizeof(*done));
    if (!done)
        return -ENOMEM;
    for (unsigned i = 0; i < m->n; i++)
        for (unsigned w = 0; w < in->nvariants; w++)
            done[w] +=
                m->solution.x[i] * m->done[(size_t)i * in->nvariants + w];
    rc = orr_bound_limit_class(in, dearest, done, ret);
    free(done);
    if (rc == 0 && path > NOTABLE)
        rc = orr_bound_limit(ret, "%s; paths weigh %.0f %%", ret->limit,
                             100 * path);
    return rc;
}

/* What is known at the end, whatever the end was. */
static int mixture_report(const struct mixture *m, double tolerance, int rc,
                          struct orr_bound_result *ret)
{
    if (rc == -EDOM)
        return orr_bound_give_up(ret, ORR_BOUND_SUSPICIOUS,
                                 "the network simplex method did not end");
    if (rc && rc != -ETIME)
        return rc;
    /* Prices and flows prove it: see flow.h. */
    ret->ms = m->lower;
    ret->proved = true;
    if (isfinite(m->solution.primal))
        ret->upper_ms = m->solution.primal;
    if (ret->upper_ms - ret->ms <= tolerance * ret->upper_ms) {
        rc = 0;
    } else {
        ret->outcome = ORR_BOUND_TIME_LIMIT;
        if (!isfinite(m->solution.primal))
            return orr_bound_why(ret, "no more was proved when time was out");
        rc = ret->ms > 0 ? orr_bound_why(ret,
                                         "at most %.2g %% more is to be proved, when "
                                         "time was out",
                                         100 * (ret->upper_ms / ret->ms - 1))
                         : orr_bound_why(ret, "time was out");
    }
    return rc ? rc : say_limit(m, ret);
}

int orr_bound_paths(const struct orr_bound_instance *in,
                    const struct orr_bound_options *options,
                    struct orr_bound_result *ret)
{
    double aim = fmin(options->tolerance, AIM);
    struct mixture m;
    int rc = mixture_init(&m, in);

    if (rc == 0) {
        m.deadline = orr_bound_clock() + options->seconds;
        m.steps = ret;
        rc = mixture_begin(&m, aim);
    }
    if (rc == 0)
        rc = mixture_improve(&m, aim);
    rc = rc == -ENOMEM ? rc : mixture_report(&m, options->tolerance, rc, ret);
    mixture_done(&m);
    return rc;
}

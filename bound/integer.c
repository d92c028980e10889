/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/integer.c - bounds of whole tasks. No state; any thread.
 *
 * Times in the programs are in units of a lower bound, so that solvers see
 * values near 1. Column 0 is the makespan T. For the area, x[w] tasks are done
 * in variant w:  Σ_w of a type x = its tasks, Σ_w of a class width·ms·x ≤
 * size·T. With dependencies, x[t][w] is 0 or 1 and C[t] when t ends:  Σ_w x[t]
 * = 1, C[t] − Σ_w ms·x[t] ≥ C[u] for each u before t,  T ≥ C[t] + the longest
 * path of best times after t, areas as above, and areas within time: with
 * head[t] and tail[t] the longest paths of best times before and after t, the
 * tasks with head ≥ h and tail ≥ q have but T − h − q in a class, so that
 *   Σ width·ms·x over those of a class ≤ size·(T − h − q)   for any h and q.
 */
#include "bound/integer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/branch.h"
#include "bound/exact.h"
#include "bound/methods.h"
#include "bound/search.h"
#include "bound/whole.h"

enum {
    MOST_TASKS = 2000,     /* with dependencies */
    MOST_VARIANTS = 20000, /* columns of variants, of either program */
    FEW_TASKS = 200,       /* that get more areas within time */
    WINDOWS_FEW = 6,       /* of heads and of tails */
    WINDOWS_MANY = 2,
};

/* Scaling and adding up, relative: taken off what is proved. */
#define ROUNDING 1e-12

struct model {
    const struct orr_bound_instance *in;
    struct orr_lp lp;
    double unit;               /* ms */
    double most;               /* the makespan of all tasks in turn, in units */
    double *implied;           /* owned, per column */
    double *head, *tail, *end; /* owned, per task, in units; end: scratch */
    unsigned *first; /* owned, per task: column of its first variant */
    double *busy;    /* owned, per class: scratch */
    unsigned *count; /* owned, per variant: scratch */
};

static const struct orr_bound_task_type *model_task_type(const struct model *m,
                                                         unsigned t)
{
    return &m->in->types[m->in->type[t]];
}

static double model_variant_time(const struct model *m, unsigned variant)
{
    return m->in->variants[variant].ms / m->unit;
}

static bool variant_class_is_large_enough(const struct model *m,
                                          unsigned variant)
{
    const struct orr_bound_variant *w = &m->in->variants[variant];

    return w->width > 0 && w->width <= m->in->classes[w->class].size;
}

/* Of the variants that a class has workers enough for. */
static double best_time_of_type(const struct model *m, unsigned type)
{
    const struct orr_bound_task_type *k = &m->in->types[type];
    double best = INFINITY;

    for (unsigned w = k->first_variant; w < k->first_variant + k->nvariants;
         w++)
        if (variant_class_is_large_enough(m, w))
            best = fmin(best, model_variant_time(m, w));
    return best;
}

static void model_done(struct model *m)
{
    orr_lp_free(&m->lp);
    free(m->implied);
    free(m->head);
    free(m->tail);
    free(m->end);
    free(m->first);
    free(m->busy);
    free(m->count);
}

/* `variants`: columns that there will be. */
static int model_init(struct model *m, const struct orr_bound_instance *in,
                      double unit, size_t columns)
{
    size_t n = in->ntasks + (size_t)1;

    *m = (struct model){.in = in, .unit = unit};
    m->implied = calloc(columns + 1, sizeof(*m->implied));
    m->head = calloc(n, sizeof(*m->head));
    m->tail = calloc(n, sizeof(*m->tail));
    m->end = calloc(n, sizeof(*m->end));
    m->first = calloc(n, sizeof(*m->first));
    m->busy = calloc(in->nclasses + (size_t)1, sizeof(*m->busy));
    m->count = calloc(in->nvariants + (size_t)1, sizeof(*m->count));
    orr_lp_begin(&m->lp, "whole tasks");
    if (!m->implied || !m->head || !m->tail || !m->end || !m->first ||
        !m->busy || !m->count)
        return -ENOMEM;
    for (unsigned k = 0; k < in->ntypes; k++)
        if (in->types[k].ntasks)
            m->most += in->types[k].ntasks * best_time_of_type(m, k);
    m->most *= 1 + 1e-6;
    orr_lp_column(&m->lp, 1, 0, m->most, false, "makespan");
    return 0;
}

/* A variant as column, which at least 1 task in it makes as long as
 * `implied`. */
static unsigned model_add_variant(struct model *m, unsigned variant,
                                  unsigned most, double implied)
{
    unsigned column = orr_lp_column(
        &m->lp, 0, 0, variant_class_is_large_enough(m, variant) ? most : 0,
        true, "x_%u", m->lp.ncolumns);

    if (!m->lp.failed)
        m->implied[column] = implied;
    return column;
}

/* The makespan that the areas in `busy` need. */
static double areas_of(const struct model *m)
{
    double most = 0;

    for (unsigned c = 0; c < m->in->nclasses; c++)
        most = fmax(most, m->busy[c] / m->in->classes[c].size);
    return most;
}

/* Work of one task in a variant, in worker × units. */
static double work_of(const struct model *m, unsigned variant)
{
    return model_variant_time(m, variant) * m->in->variants[variant].width;
}

/* -- the area -- */

static void make_area(struct model *m)
{
    const struct orr_bound_instance *in = m->in;

    for (unsigned k = 0; k < in->ntypes; k++) {
        const struct orr_bound_task_type *type = &in->types[k];

        m->first[0] = m->lp.ncolumns;
        for (unsigned w = 0; w < type->nvariants; w++) {
            unsigned variant = type->first_variant + w;

            m->count[variant] = model_add_variant(
                m, variant, type->ntasks, model_variant_time(m, variant));
        }
        orr_lp_row(&m->lp, type->ntasks, type->ntasks, "do_%u", k);
        for (unsigned w = 0; w < type->nvariants; w++)
            orr_lp_coef(&m->lp, m->first[0] + w, 1);
    }
    for (unsigned c = 0; c < in->nclasses; c++) {
        orr_lp_row(&m->lp, -INFINITY, 0, "busy_%u", c);
        orr_lp_coef(&m->lp, 0, -(double)in->classes[c].size);
        for (unsigned w = 0; w < in->nvariants; w++)
            if (in->variants[w].class == c &&
                variant_class_is_large_enough(m, w))
                orr_lp_coef(&m->lp, m->count[w], work_of(m, w));
    }
}

/* The variant of a type that one more task lengthens the areas least in. */
static unsigned cheapest_variant(const struct model *m,
                                 const struct orr_bound_task_type *type)
{
    double least = INFINITY;
    unsigned best = type->first_variant;

    for (unsigned w = type->first_variant;
         w < type->first_variant + type->nvariants; w++) {
        unsigned class = m->in->variants[w].class;
        double after =
            (m->busy[class] + work_of(m, w)) / m->in->classes[class].size;

        after = fmax(after, model_variant_time(m, w));
        if (variant_class_is_large_enough(m, w) && after < least) {
            least = after;
            best = w;
        }
    }
    return best;
}

/* Whole parts as in x, what is left where it lengthens areas least. */
static double round_area(const double *x, void *arg)
{
    struct model *m = arg;
    double longest = 0;
    unsigned column = 1;

    memset(m->busy, 0, m->in->nclasses * sizeof(*m->busy));
    memset(m->count, 0, m->in->nvariants * sizeof(*m->count));
    for (unsigned k = 0; k < m->in->ntypes; k++) {
        const struct orr_bound_task_type *type = &m->in->types[k];
        unsigned left = type->ntasks;

        for (unsigned w = type->first_variant;
             w < type->first_variant + type->nvariants; w++) {
            double most = fmin(left, fmax(0, floor(x[column++] + 1e-6)));

            m->count[w] = (unsigned)most;
            m->busy[m->in->variants[w].class] += most * work_of(m, w);
            left -= (unsigned)most;
        }
        m->first[0] = left;
        while (m->first[0]) {
            unsigned variant = cheapest_variant(m, type);

            m->count[variant]++;
            m->busy[m->in->variants[variant].class] += work_of(m, variant);
            m->first[0]--;
        }
    }
    for (unsigned w = 0; w < m->in->nvariants; w++)
        if (m->count[w])
            longest = fmax(longest, model_variant_time(m, w));
    return fmax(longest, areas_of(m));
}

/* -- dependencies -- */

static void find_heads(struct model *m)
{
    const struct orr_bound_instance *in = m->in;

    for (unsigned i = 0; i < in->ntasks; i++) {
        unsigned t = in->order[i];
        double end = m->head[t] + best_time_of_type(m, in->type[t]);

        for (unsigned e = in->first_succ[t]; e < in->first_succ[t + 1]; e++)
            m->head[in->succs[e]] = fmax(m->head[in->succs[e]], end);
    }
    for (unsigned i = in->ntasks; i-- > 0;) {
        unsigned t = in->order[i];
        double tail = m->tail[t] + best_time_of_type(m, in->type[t]);

        for (unsigned e = in->first_pred[t]; e < in->first_pred[t + 1]; e++)
            m->tail[in->preds[e]] = fmax(m->tail[in->preds[e]], tail);
    }
}

/* Row: end of t, less its time, less the end of `before` (0: none). */
static void add_start(struct model *m, unsigned t, unsigned before)
{
    const struct orr_bound_task_type *type = model_task_type(m, t);

    orr_lp_row(&m->lp, 0, INFINITY, "s_%u", m->lp.nrows);
    orr_lp_coef(&m->lp, m->first[t] - 1, 1);
    if (before)
        orr_lp_coef(&m->lp, before, -1);
    for (unsigned w = 0; w < type->nvariants; w++)
        if (model_variant_time(m, type->first_variant + w) > 0)
            orr_lp_coef(&m->lp, m->first[t] + w,
                        -model_variant_time(m, type->first_variant + w));
}

static void model_add_task(struct model *m, unsigned t)
{
    const struct orr_bound_task_type *type = model_task_type(m, t);

    m->first[t] = 1 + orr_lp_column(&m->lp, 0, m->head[t], m->most, false,
                                    "c_%u", m->lp.ncolumns);
    for (unsigned w = 0; w < type->nvariants; w++)
        model_add_variant(m, type->first_variant + w, 1,
                          m->head[t] +
                              model_variant_time(m, type->first_variant + w) +
                              m->tail[t]);
    orr_lp_row(&m->lp, 1, 1, "p_%u", t);
    for (unsigned w = 0; w < type->nvariants; w++)
        orr_lp_coef(&m->lp, m->first[t] + w, 1);
    orr_lp_row(&m->lp, m->tail[t], INFINITY, "e_%u", t);
    orr_lp_coef(&m->lp, 0, 1);
    orr_lp_coef(&m->lp, m->first[t] - 1, -1);
}

/* The area of a class within time, for tasks with such heads and tails. */
static void add_window(struct model *m, unsigned class, double head,
                       double tail)
{
    double size = m->in->classes[class].size;

    orr_lp_row(&m->lp, -INFINITY, -size * (head + tail), "a_%u", m->lp.nrows);
    orr_lp_coef(&m->lp, 0, -size);
    for (unsigned t = 0; t < m->in->ntasks; t++) {
        const struct orr_bound_task_type *type = model_task_type(m, t);

        if (m->head[t] < head || m->tail[t] < tail)
            continue;
        for (unsigned w = 0; w < type->nvariants; w++)
            if (m->in->variants[type->first_variant + w].class == class &&
                variant_class_is_large_enough(m, type->first_variant + w))
                orr_lp_coef(&m->lp, m->first[t] + w,
                            work_of(m, type->first_variant + w));
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Windows after heads at equal ranks, and before tails; all of the time is
 * one of them. */
static void add_windows(struct model *m)
{
    const struct orr_bound_instance *in = m->in;
    unsigned n = in->ntasks <= FEW_TASKS ? WINDOWS_FEW : WINDOWS_MANY;
    double last[2] = {0, 0};

    for (unsigned c = 0; c < in->nclasses; c++)
        add_window(m, c, 0, 0);
    for (unsigned i = 0; i < n; i++) {
        unsigned rank = (unsigned)((in->ntasks - 1) * (i + 1.) / n);

        for (unsigned side = 0; side < 2; side++) {
            double at;

            memcpy(m->end, side ? m->tail : m->head,
                   in->ntasks * sizeof(*m->end));
            qsort(m->end, in->ntasks, sizeof(*m->end), compare_doubles);
            at = m->end[rank];
            if (at <= last[side])
                continue;
            last[side] = at;
            for (unsigned c = 0; c < in->nclasses; c++)
                add_window(m, c, side ? 0 : at, side ? at : 0);
        }
    }
}

static void make_precedence(struct model *m)
{
    const struct orr_bound_instance *in = m->in;

    find_heads(m);
    for (unsigned t = 0; t < in->ntasks; t++)
        model_add_task(m, t);
    for (unsigned t = 0; t < in->ntasks; t++) {
        if (in->first_pred[t] == in->first_pred[t + 1])
            add_start(m, t, 0);
        for (unsigned e = in->first_pred[t]; e < in->first_pred[t + 1]; e++)
            add_start(m, t, m->first[in->preds[e]] - 1);
    }
    add_windows(m);
}

/* Whole tasks as the variants that have most of them. */
static double round_precedence(const double *x, void *arg)
{
    struct model *m = arg;
    const struct orr_bound_instance *in = m->in;
    double longest = 0;

    memset(m->busy, 0, in->nclasses * sizeof(*m->busy));
    for (unsigned i = 0; i < in->ntasks; i++) {
        unsigned t = in->order[i], best = 0;
        const struct orr_bound_task_type *type = model_task_type(m, t);
        unsigned variant;

        for (unsigned w = 1; w < type->nvariants; w++)
            if (x[m->first[t] + w] > x[m->first[t] + best])
                best = w;
        variant = type->first_variant + best;
        if (!variant_class_is_large_enough(m, variant))
            return INFINITY;
        m->end[t] = 0;
        for (unsigned e = in->first_pred[t]; e < in->first_pred[t + 1]; e++)
            m->end[t] = fmax(m->end[t], m->end[in->preds[e]]);
        m->end[t] += model_variant_time(m, variant);
        longest = fmax(longest, m->end[t]);
        m->busy[in->variants[variant].class] += work_of(m, variant);
    }
    return fmax(longest, areas_of(m)) * (1 + 1e-9);
}

/* -- both -- */

/* The longest of all types' best times: positive wherever a schedule takes
 * time. */
static double simple_bound(const struct orr_bound_instance *in)
{
    const struct model m = {.in = in, .unit = 1};
    double least = 0;

    for (unsigned k = 0; k < in->ntypes; k++)
        if (in->types[k].ntasks)
            least = fmax(least, best_time_of_type(&m, k));
    return least;
}

/* What the search tells of itself. */
struct told {
    const struct orr_bound_options *options;
    struct orr_bound_result *ret;
    double unit;
    bool stopped;
    int rc;
};

static bool search_goes_on(double lower, void *arg)
{
    struct told *told = arg;

    if (isfinite(lower))
        orr_bound_note_step(told->ret, lower * told->unit * (1 - ROUNDING));
    told->stopped = !orr_bound_goes_on(told->options, told->ret, &told->rc);
    return !told->stopped;
}

/* Builds the program and branches on it; `lower` is proved, in ms. */
static int model_solve(struct model *m, const struct orr_bound_options *options,
                       double lower, bool edges, struct orr_bound_result *ret)
{
    const struct orr_branch_program program = {.lp = &m->lp,
                                               .implied = m->implied,
                                               .round = edges ? round_precedence
                                                              : round_area,
                                               .arg = m};
    struct told told = {options, ret, m->unit, false, 0};
    double left = ret->began_s + options->seconds - orr_bound_clock();
    const struct orr_branch_options how = {.seconds = fmax(1e-3, left),
                                           .tolerance = options->tolerance,
                                           .lower = lower / m->unit *
                                                    (1 - ROUNDING),
                                           .goes_on = search_goes_on,
                                           .arg = &told};
    struct orr_branch_result found;
    int rc;

    if (edges)
        make_precedence(m);
    else
        make_area(m);
    rc = orr_lp_end(&m->lp);
    if (rc == 0)
        rc = orr_branch(&program, &how, &found);
    if (rc || told.rc)
        return rc ? rc : told.rc;
    /* All tasks in turn are a solution, so that there is one. */
    if (!isfinite(found.lower))
        return orr_bound_give_up(ret, ORR_BOUND_SUSPICIOUS,
                                 "no solution was found, though there is one");
    if (!found.finished && !told.stopped)
        rc = orr_bound_give_up(ret, ORR_BOUND_TIME_LIMIT,
                               "branch and bound was not over after %lu nodes",
                               found.nodes);
    ret->ms = fmax(lower, found.lower * m->unit * (1 - ROUNDING));
    ret->proved = true;
    /* `lower` may be above the optimum of this program. */
    if (isfinite(found.upper))
        ret->upper_ms = fmax(ret->ms, found.upper * m->unit);
    return rc;
}

static size_t count_variants(const struct orr_bound_instance *in, bool edges)
{
    size_t n = 0;

    for (unsigned k = 0; k < in->ntypes; k++)
        n += (edges ? in->types[k].ntasks : (size_t)1) * in->types[k].nvariants;
    return n;
}

static int branch_on(const struct orr_bound_instance *in,
                     const struct orr_bound_options *options, double lower,
                     bool edges, struct orr_bound_result *ret)
{
    size_t nvariants = count_variants(in, edges);
    struct model m;
    int rc;

    if (edges && in->ntasks > MOST_TASKS)
        return orr_bound_give_up(ret, ORR_BOUND_SKIPPED,
                                 "for at most %d tasks; there are %u",
                                 (int)MOST_TASKS, in->ntasks);
    if (nvariants > MOST_VARIANTS)
        return orr_bound_give_up(ret, ORR_BOUND_SKIPPED,
                                 "for at most %d variants; there are "
                                 "%zu",
                                 (int)MOST_VARIANTS, nvariants);
    lower = fmax(lower, simple_bound(in));
    if (lower == 0) {
        ret->ms = ret->upper_ms = 0; /* all tasks take no time */
        ret->proved = true;
        return 0;
    }
    rc = model_init(&m, in, lower, nvariants + in->ntasks + 1);
    if (rc == 0 && !isfinite(m.most * lower))
        rc = orr_bound_give_up(ret, ORR_BOUND_SKIPPED,
                               "durations are too long to be added up");
    else if (rc == 0)
        rc = model_solve(&m, options, lower, edges, ret);
    model_done(&m);
    return rc;
}

/* Time was out, with this much proved. */
static int give_up_at(struct orr_bound_result *ret, double ms)
{
    int rc = orr_bound_give_up(ret, ORR_BOUND_TIME_LIMIT,
                               "the search for a worker for each task was not "
                               "over");

    ret->ms = ms;
    ret->proved = true;
    return rc;
}

int orr_bound_integer_area(const struct orr_bound_instance *in,
                           const struct orr_bound_options *options,
                           struct orr_bound_result *ret)
{
    struct orr_bound_options half = *options;
    double lower = 0, upper;
    int rc = orr_bound_check_able(in, ret);

    if (rc || ret->outcome != ORR_BOUND_OPTIMAL)
        return rc;
    if (in->ntasks > ORR_SEARCH_MOST) {
        rc = orr_bound_begin_with(in, ORR_BOUND_AREA, options, &lower, ret);
        return rc ? rc : branch_on(in, options, lower, false, ret);
    }
    half.seconds /= 2;
    rc = orr_bound_search(in, &half, /* no_edges= */ true, ret);
    if (rc || ret->outcome != ORR_BOUND_TIME_LIMIT)
        return rc;
    /* Many alike: counting them proves more, though of whole classes, so that
     * its optimum need not be reached. */
    lower = ret->ms;
    upper = ret->upper_ms;
    free(ret->why);
    ret->why = NULL;
    ret->outcome = ORR_BOUND_OPTIMAL;
    rc = branch_on(in, &half, lower, false, ret);
    if (rc)
        return rc;
    if (!(ret->ms >= upper * (1 - options->tolerance)))
        rc = give_up_at(ret, fmax(lower, ret->ms));
    ret->upper_ms = upper;
    return rc;
}

/* What the first relaxation of the whole program takes at least: 1.1 to 1.7 s of 1,540
 * tasks, it grows with their square. With less time it is not begun. */
static double relaxation_seconds(const struct orr_bound_instance *in)
{
    return 4e-7 * in->ntasks * in->ntasks;
}

int orr_bound_integer(const struct orr_bound_instance *in,
                      const struct orr_bound_options *options,
                      struct orr_bound_result *ret)
{
    /* Of the whole program the first relaxation takes longer than all that. */
    const struct orr_bound_options most = {.seconds = 3 * options->seconds,
                                           .tolerance = options->tolerance};
    struct orr_bound_options left = *options;
    double lower = 0;
    int rc = orr_bound_check_able(in, ret);

    if (rc || ret->outcome != ORR_BOUND_OPTIMAL)
        return rc;
    rc =
        orr_bound_begin_with(in, ORR_BOUND_CRITICAL_PATH, options, &lower, ret);
    if (rc == 0 && in->ntasks <= MOST_TASKS)
        rc = orr_bound_begin_with(in, ORR_BOUND_PATHS, &most, &lower, ret);
    left.seconds += ret->began_s - orr_bound_clock();
    if (rc == 0 && in->ntasks <= MOST_TASKS && left.seconds > 0)
        rc = orr_bound_raise_whole(in, &left, &lower, ret);
    if (rc == 0 && in->ntasks <= MOST_TASKS)
        rc = orr_bound_begin_with(in, ORR_BOUND_INTEGER_AREA, options, &lower,
                                  ret);
    left.seconds = ret->began_s + options->seconds - orr_bound_clock();
    if (rc == 0 && in->ntasks <= MOST_TASKS && lower > 0 &&
        left.seconds < relaxation_seconds(in)) {
        rc = give_up_at(ret, lower);
        return rc ? rc : orr_bound_why(ret, "a search for whole tasks takes longer than "
                                            "there was time for");
    }
    return rc ? rc : branch_on(in, options, lower, /* edges= */ true, ret);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/runtime.c - the bound with what the runtime itself takes (struct
 * orr_graph_costs). No state; any thread. For any schedule of makespan M:
 *
 * - Tasks are submitted by one thread: task k is there at r_k at the earliest, the sum of
 *   what the submissions before it take. It may start once it is pushed, after r_k and
 *   the ends of its predecessors, and its worker has asked for its data. So M is at
 *   least the longest path with these dates and delays.
 * - A worker that does nothing else while it executes a kernel asks for the data between
 *   two kernels: with that added to times, areas and paths of tasks are at most M, as
 *   the precedence bound has it.
 * - With n tasks it spends n - 1 times what lies between two of them, too. So with that
 *   added, areas (not paths, whose tasks may be on different workers) are at most
 *   (M + progress) times the workers; and since tasks from k on all run after r_k, M is
 *   at least r_k + their area - progress.
 *
 * Without costs it is the precedence bound.
 */
#include "bound/relaxed.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/limits.h"

#define SUFFIXES 16 /* dates from which the area of the rest is looked at */

/* The instance with longer times, and what costs make of its tasks. */
struct costly {
    struct orr_bound_instance in; /* borrows all but types and variants */
    double *release, *delay;      /* ms by task: r_k; push and asking for data */
    double *path;                 /* the same: when it may have ended */
};

static double task_fetch_ms(const struct orr_graph *graph, unsigned task)
{
    return graph->costs.fetch_ms * graph->tasks[task].naccesses;
}

static void costly_done(struct costly *c)
{
    free(c->in.types);
    free(c->in.variants);
    free(c->release);
    free(c->delay);
    free(c->path);
}

/* Whether all workers of a class do nothing else while they execute. */
static bool class_is_blocking(const struct orr_bound_instance *in, unsigned class)
{
    for (unsigned w = 0; w < in->graph->nworkers; w++)
        if (in->class_of[w] == class && !in->graph->workers[w].blocking)
            return false;
    return true;
}

/* By asking for data, of tasks of a type by that which asks for the fewest; NULL: by
 * what lies between two tasks. */
static void costly_lengthen(struct costly *c, const double *least_fetch)
{
    for (unsigned k = 0; k < c->in.ntypes; k++) {
        struct orr_bound_task_type *type = &c->in.types[k];
        double best = INFINITY;

        for (unsigned v = 0; v < type->nvariants; v++) {
            struct orr_bound_variant *variant =
                &c->in.variants[type->first_variant + v];

            if (variant->width == 1 && class_is_blocking(&c->in, variant->class))
                variant->ms += least_fetch ? least_fetch[k]
                                           : c->in.graph->costs.progress_ms;
            best = fmin(best, variant->ms);
        }
        type->best_ms = best;
    }
}

static void costly_dates(struct costly *c)
{
    const struct orr_graph *graph = c->in.graph;
    double now = 0;

    for (unsigned i = 0; i < c->in.ntasks; i++) {
        const struct orr_graph_task *task = &graph->tasks[i];
        bool joins = !strcmp(graph->types[task->type].symbol, "(join)");

        c->release[i] = joins ? 0 : now;
        c->delay[i] = joins ? 0 : graph->costs.push_ms + task_fetch_ms(graph, i);
        if (joins)
            continue;
        now += graph->costs.submit_ms +
               graph->costs.submit_access_ms * task->naccesses;
        if (task->ndeps == 0)
            now += graph->costs.submit_ready_ms;
    }
}

static int costly_init(struct costly *c, const struct orr_bound_instance *in)
{
    double *least = orr_bound_array(in->ntypes, sizeof(*least));
    size_t types = in->ntypes * sizeof(*in->types);
    size_t variants = in->nvariants * sizeof(*in->variants);

    *c = (struct costly){.in = *in};
    c->in.types = malloc(types + 1);
    c->in.variants = malloc(variants + 1);
    c->release = orr_bound_array(in->ntasks, sizeof(double));
    c->delay = orr_bound_array(in->ntasks, sizeof(double));
    c->path = orr_bound_array(in->ntasks, sizeof(double));
    if (!least || !c->in.types || !c->in.variants || !c->release || !c->delay ||
        !c->path) {
        free(least);
        return -ENOMEM;
    }
    memcpy(c->in.types, in->types, types);
    memcpy(c->in.variants, in->variants, variants);
    for (unsigned k = 0; k < in->ntypes; k++)
        least[k] = INFINITY;
    for (unsigned i = 0; i < in->ntasks; i++)
        least[in->type[i]] =
            fmin(least[in->type[i]], task_fetch_ms(in->graph, i));
    for (unsigned k = 0; k < in->ntypes; k++)
        least[k] = isfinite(least[k]) ? least[k] : 0;
    costly_dates(c);
    costly_lengthen(c, least);
    free(least);
    return 0;
}

/* The longest path with dates; `in` has the times without costs, which delays have. */
static double costly_path(struct costly *c, const struct orr_bound_instance *in,
                          unsigned *ret_last)
{
    double most = 0;

    for (unsigned o = 0; o < in->ntasks; o++) {
        unsigned i = in->order[o];
        double ready = c->release[i];

        for (unsigned e = in->first_pred[i]; e < in->first_pred[i + 1]; e++)
            ready = fmax(ready, c->path[in->preds[e]]);
        c->path[i] = ready + c->delay[i] + in->types[in->type[i]].best_ms;
        if (c->path[i] > most) {
            most = c->path[i];
            *ret_last = i;
        }
    }
    return most;
}

static int say_path(const struct costly *c, const struct orr_bound_instance *in,
                    unsigned last, double ms, struct orr_bound_result *ret)
{
    unsigned i = last, n = 1;

    for (bool found = true; found; n += found) {
        double began = c->path[i] - in->types[in->type[i]].best_ms - c->delay[i];

        found = false;
        for (unsigned e = in->first_pred[i]; e < in->first_pred[i + 1] && !found;
             e++)
            if (c->path[in->preds[e]] >= began && began > c->release[i]) {
                i = in->preds[e];
                found = true;
            }
    }
    return orr_bound_limit(
        ret, "submission of %u tasks until %.4g ms, then a path of %u: %.0f %% is "
             "submission",
        i + 1, c->release[i], n, 100 * c->release[i] / ms);
}

/* The area of the tasks from `first` on, by the order of submission; 0 where it was not
 * proved. */
static int suffix_area(struct costly *c, unsigned first, double deadline,
                       double *ret)
{
    struct orr_area_solution solution = {0};
    struct orr_bound_instance *in = &c->in;
    int rc = -ENOMEM;

    for (unsigned k = 0; k < in->ntypes; k++)
        in->types[k].ntasks = 0;
    for (unsigned i = first; i < in->ntasks; i++)
        in->types[in->type[i]].ntasks++;
    solution.x = orr_bound_array(in->nvariants, sizeof(*solution.x));
    solution.price = orr_bound_array(in->nclasses, sizeof(*solution.price));
    if (solution.x && solution.price)
        rc = orr_bound_area_solve(in, 1e-6, deadline, &solution);
    *ret = rc == 0 || rc == -ETIME ? solution.bound : 0;
    free(solution.x);
    free(solution.price);
    return rc == -ENOMEM ? rc : 0;
}

/* Those of all tasks, and of the rest after some of the submissions. */
static int raise_by_suffixes(struct costly *c, double deadline,
                             struct orr_bound_result *ret)
{
    double progress = c->in.graph->costs.progress_ms;
    int rc = 0;

    costly_lengthen(c, NULL);
    for (unsigned s = 0; s < SUFFIXES && rc == 0; s++) {
        unsigned first = (unsigned)((uint64_t)c->in.ntasks * s / SUFFIXES);
        double area, ms;

        if ((s > 0 && first == 0) || orr_bound_clock() > deadline)
            continue;
        rc = suffix_area(c, first, deadline, &area);
        ms = c->release[first] + area - progress;
        if (rc || !(ms > ret->ms))
            continue;
        ret->ms = ms;
        rc = orr_bound_limit(ret,
                             "submission of %u tasks until %.4g ms, then the "
                             "workers, busy with the other %u",
                             first, c->release[first], c->in.ntasks - first);
    }
    return rc;
}

static bool costs_are_known(const struct orr_graph_costs *costs)
{
    return costs->submit_ms + costs->submit_access_ms + costs->submit_ready_ms +
               costs->push_ms + costs->progress_ms + costs->fetch_ms >
           0;
}

int orr_bound_runtime(const struct orr_bound_instance *in,
                      const struct orr_bound_options *options,
                      struct orr_bound_result *ret)
{
    const struct orr_bound_options half = {options->seconds / 2,
                                           options->tolerance};
    double deadline = orr_bound_clock() + options->seconds, path;
    struct costly c;
    unsigned last = 0;
    int rc;

    if (!costs_are_known(&in->graph->costs))
        return orr_bound_give_up(ret, ORR_BOUND_SKIPPED,
                                 "the graph says nothing of what the runtime "
                                 "takes: it is of a real run, or tasks are not "
                                 "submitted one after the other");
    rc = costly_init(&c, in);
    if (rc == 0)
        rc = orr_bound_precedence(&c.in, &half, ret);
    if (rc == 0 && isnan(ret->ms)) {
        costly_done(&c);
        return 0;
    }
    if (rc == 0) {
        path = costly_path(&c, in, &last);
        if (path > ret->ms) {
            ret->ms = path;
            rc = say_path(&c, in, last, path, ret);
        }
    }
    if (rc == 0)
        rc = raise_by_suffixes(&c, deadline, ret);
    /* What precedence found is no schedule with costs. */
    ret->upper_ms = NAN;
    ret->proved = rc == 0;
    costly_done(&c);
    return rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/runtime.c - the bound with what the runtime itself takes (struct
 * orr_graph_costs). No state; any thread. For any schedule of makespan M:
 *
 * Dates. Each thread that submits is a chain of its own, which begins at 0 at the
 * earliest: its k-th task is there at r_k, the sum of what its submissions before that
 * take. A task that another task submits is there when that one starts, at the
 * earliest; of all others nothing is known, they may be there at 0.
 *
 * Paths. A task may start once it was pushed, after r_k and the ends of its
 * predecessors, and its worker has asked for its data. So M is at least the longest path
 * with these dates and delays. (Of tasks that no thread submits the push may be paid
 * by what comes later; it is left out.) Where tasks submit others, the earliest start of
 * one is a date of the next: dates are found again and again, each time no later than
 * true ones.
 *
 * Areas. A worker does in turn, for each of its n tasks: what lies between two, asking
 * for the data, and then
 * - a kernel that it awaits: it does nothing else meanwhile, for p, on a device for the
 *   queue's cost at least;
 * - or else (asynchronous, on a device) the start of a kernel, and after it the queue's
 *   cost, while the kernel executes: those of a worker one after the other.
 * Until its last kernel ends it has done all of that but what lies before the first
 * task, and the queue's cost of the last one. So with
 *   E = p, or max(p, queue) where it is awaited on a device, and
 *   H = progress + fetch + (awaited ? E : queue)
 * the sum of its E is at most M, and that of its H at most M + progress + queue; without
 * the queue where all kernels are awaited. Any mixture, a·E + (1 - a)·H for one 0 ≤ a ≤ 1
 * per class of workers, is then at most M + (1 - a)·(progress + queue). With times of
 * variants lengthened to that, the area of all tasks is at most M and that again, and of
 * those that are there from a date r on, which all run after it, M - r and that again.
 * Tasks that only one worker can run are in a class of that worker alone.
 *
 * Paths of tasks may be on different workers. So for the precedence bound, whose prices
 * are for areas and paths at once, times are E, and with what asking takes where all
 * kernels of the class are awaited: both hold for areas and paths.
 *
 * Without costs it is the precedence bound.
 */
#include "bound/relaxed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound/limits.h"
#include "core/base/number.h"

#define SUFFIXES 16 /* dates from which the area of the rest is looked at */
#define PASSES   8  /* for dates of tasks that tasks submit */

/* Of a variant: E, what a worker is held for beside asking, whether all await it. */
struct kernel {
    double ms, held_ms;
    bool awaited;
};

/* The instance with longer times, and what costs make of its tasks. */
struct costly {
    const struct orr_bound_instance *plain;
    struct orr_bound_instance in; /* borrows all but types and variants */
    struct kernel *kernels;       /* by variant */
    unsigned *workers, *first;    /* workers by class, where those of each begin */
    bool *in_turn;                /* by class: all kernels are awaited */
    double *fetch_ms;             /* by type: least of its tasks */
    double *best_ms;              /* by type: E of its fastest variant */
    double *release, *delay;      /* by task: r_k; push and asking for data */
    double *path;                 /* the same: when it may have ended */
    unsigned *nth;                /* the same: of its thread's tasks, from 1 */
    unsigned *by_date;            /* tasks by their releases */
    unsigned nthreads;
};

static double task_fetch_ms(const struct orr_graph *graph, unsigned task)
{
    return graph->costs.fetch_ms * graph->tasks[task].naccesses;
}

static void costly_done(struct costly *c)
{
    free(c->in.types);
    free(c->in.variants);
    free(c->kernels);
    free(c->workers);
    free(c->first);
    free(c->in_turn);
    free(c->fetch_ms);
    free(c->best_ms);
    free(c->release);
    free(c->delay);
    free(c->path);
    free(c->nth);
    free(c->by_date);
}

/* --- times on workers --- */

static void sort_workers(struct costly *c)
{
    unsigned nworkers = c->in.graph->nworkers;

    /* first[k + 1] is where the next one of class k goes. */
    for (unsigned w = 0; w < nworkers; w++)
        c->first[c->in.class_of[w] + 2]++;
    for (unsigned k = 2; k < c->in.nclasses + 2; k++)
        c->first[k] += c->first[k - 1];
    for (unsigned w = 0; w < nworkers; w++)
        c->workers[c->first[c->in.class_of[w] + 1]++] = w;
}

static bool is_awaited(const struct orr_graph *graph, unsigned type, unsigned w)
{
    const uint8_t *awaited = graph->types[type].awaited;

    return graph->workers[w].blocking || (awaited && awaited[w]);
}

/* Of a variant of one worker's width: E of the worker of its class for which it is
 * least, and what some of them, and all of them, are kept busy with beside asking. */
static struct kernel find_kernel(const struct costly *c, unsigned type,
                                 const struct orr_bound_variant *variant)
{
    const struct orr_graph *graph = c->in.graph;
    bool is_task = orr_graph_type_is_task(&graph->types[type]);
    double queue = is_task ? graph->costs.queue_ms : 0;
    struct kernel kernel = {INFINITY, INFINITY, true};

    for (unsigned i = c->first[variant->class]; i < c->first[variant->class + 1]; i++) {
        unsigned w = c->workers[i];
        bool awaited = !is_task || is_awaited(graph, type, w);
        double ms = awaited && !graph->workers[w].blocking ? fmax(variant->ms, queue)
                                                           : variant->ms;

        kernel.awaited = kernel.awaited && awaited;
        kernel.ms = fmin(kernel.ms, ms);
        kernel.held_ms = fmin(kernel.held_ms, awaited ? ms : queue);
    }
    return kernel;
}

static void find_kernels(struct costly *c)
{
    const struct orr_bound_instance *plain = c->plain;

    for (unsigned k = 0; k < plain->nclasses; k++)
        c->in_turn[k] = true;
    for (unsigned k = 0; k < plain->ntypes; k++) {
        const struct orr_bound_task_type *type = &plain->types[k];

        c->best_ms[k] = INFINITY;
        for (unsigned n = 0; n < type->nvariants; n++) {
            unsigned v = type->first_variant + n;
            const struct orr_bound_variant *variant = &plain->variants[v];

            c->kernels[v] = variant->width == 1
                                ? find_kernel(c, k, variant)
                                : (struct kernel){variant->ms, variant->ms, true};
            c->best_ms[k] = fmin(c->best_ms[k], c->kernels[v].ms);
            if (type->ntasks && !c->kernels[v].awaited)
                c->in_turn[variant->class] = false;
        }
    }
}

/* Sets times to those of paths and areas. */
static void lengthen_both(struct costly *c)
{
    for (unsigned k = 0; k < c->in.ntypes; k++) {
        struct orr_bound_task_type *type = &c->in.types[k];

        type->best_ms = INFINITY;
        for (unsigned n = 0; n < type->nvariants; n++) {
            unsigned v = type->first_variant + n;
            struct orr_bound_variant *variant = &c->in.variants[v];

            variant->ms = c->kernels[v].ms;
            if (variant->width == 1 && c->in_turn[variant->class])
                variant->ms += c->fetch_ms[k];
            type->best_ms = fmin(type->best_ms, variant->ms);
        }
    }
}

/* Sets times to those of areas alone; of devices, whose workers go on meanwhile, to a
 * mixture: `share` of the kernel. Returns what areas of M may be longer by. */
static double lengthen_areas(struct costly *c, double share)
{
    const struct orr_graph_costs *costs = &c->in.graph->costs;
    double more = 0;

    for (unsigned k = 0; k < c->in.ntypes; k++) {
        struct orr_bound_task_type *type = &c->in.types[k];
        double asks = costs->progress_ms + c->fetch_ms[k];

        /* No worker asks for what stands for something else. */
        if (!orr_graph_type_is_task(&c->in.graph->types[k]))
            continue;
        for (unsigned n = 0; type->ntasks && n < type->nvariants; n++) {
            unsigned v = type->first_variant + n;
            struct orr_bound_variant *variant = &c->in.variants[v];
            double kernel = c->kernels[v].ms;

            variant->ms = kernel;
            if (variant->width != 1)
                continue;
            if (c->in_turn[variant->class]) {
                variant->ms += asks;
                more = fmax(more, costs->progress_ms);
            } else {
                variant->ms = share * kernel +
                              (1 - share) * (asks + c->kernels[v].held_ms);
                more = fmax(more, (1 - share) *
                                      (costs->progress_ms + costs->queue_ms));
            }
        }
    }
    return more;
}

/* --- dates --- */

static int costly_dates(struct costly *c)
{
    const struct orr_graph *graph = c->in.graph;
    double *now = orr_bound_array((size_t)c->in.ntasks + 1, sizeof(*now));
    unsigned *count = orr_bound_array((size_t)c->in.ntasks + 1, sizeof(*count));
    int rc = now && count ? 0 : -ENOMEM;

    for (unsigned i = 0; !rc && i < c->in.ntasks; i++) {
        const struct orr_graph_task *task = &graph->tasks[i];
        unsigned s = task->submitter;

        if (!orr_graph_is_task(graph, i))
            continue;
        c->delay[i] = task_fetch_ms(graph, i);
        if (task->by != ORR_GRAPH_BY_THREAD)
            continue;
        c->delay[i] += graph->costs.push_ms;
        c->release[i] = now[s];
        c->nthreads += count[s] == 0;
        c->nth[i] = ++count[s];
        now[s] += graph->costs.submit_ms +
                  graph->costs.submit_access_ms * task->naccesses;
        if (task->ndeps == 0)
            now[s] += graph->costs.submit_ready_ms;
    }
    free(now);
    free(count);
    return rc;
}

static int costly_init(struct costly *c, const struct orr_bound_instance *in)
{
    size_t types = in->ntypes * sizeof(*in->types);
    size_t variants = in->nvariants * sizeof(*in->variants);

    *c = (struct costly){.in = *in, .plain = in};
    c->in.types = malloc(types + 1);
    c->in.variants = malloc(variants + 1);
    c->kernels = orr_bound_array(in->nvariants, sizeof(struct kernel));
    c->workers = orr_bound_array(in->graph->nworkers, sizeof(unsigned));
    c->first = orr_bound_array((size_t)in->nclasses + 2, sizeof(unsigned));
    c->in_turn = orr_bound_array(in->nclasses, sizeof(bool));
    c->fetch_ms = orr_bound_array(in->ntypes, sizeof(double));
    c->best_ms = orr_bound_array(in->ntypes, sizeof(double));
    c->release = orr_bound_array(in->ntasks, sizeof(double));
    c->delay = orr_bound_array(in->ntasks, sizeof(double));
    c->path = orr_bound_array(in->ntasks, sizeof(double));
    c->nth = orr_bound_array(in->ntasks, sizeof(unsigned));
    c->by_date = orr_bound_array(in->ntasks, sizeof(unsigned));
    if (!c->in.types || !c->in.variants || !c->kernels || !c->workers || !c->first ||
        !c->in_turn || !c->fetch_ms || !c->best_ms || !c->release || !c->delay || !c->path ||
        !c->nth || !c->by_date)
        return -ENOMEM;
    memcpy(c->in.types, in->types, types);
    memcpy(c->in.variants, in->variants, variants);
    for (unsigned k = 0; k < in->ntypes; k++)
        c->fetch_ms[k] = in->types[k].ntasks ? (double)INFINITY : 0;
    for (unsigned i = 0; i < in->ntasks; i++)
        c->fetch_ms[in->type[i]] =
            !orr_graph_is_task(in->graph, i)
                ? 0
                : fmin(c->fetch_ms[in->type[i]], task_fetch_ms(in->graph, i));
    sort_workers(c);
    find_kernels(c);
    return costly_dates(c);
}

/* --- paths --- */

/* The longest path with dates; returns its length. */
static double find_path(struct costly *c, unsigned *ret_last)
{
    const struct orr_bound_instance *in = &c->in;
    double most = 0;

    for (unsigned o = 0; o < in->ntasks; o++) {
        unsigned i = in->order[o];
        double ready = c->release[i];

        for (unsigned e = in->first_pred[i]; e < in->first_pred[i + 1]; e++)
            ready = fmax(ready, c->path[in->preds[e]]);
        c->path[i] = ready + c->delay[i] + c->best_ms[in->type[i]];
        if (c->path[i] > most) {
            most = c->path[i];
            *ret_last = i;
        }
    }
    return most;
}

/* Dates of tasks that tasks submit; false if none has changed. */
static bool move_releases(struct costly *c)
{
    bool moved = false;

    for (unsigned i = 0; i < c->in.ntasks; i++) {
        const struct orr_graph_task *task = &c->in.graph->tasks[i];
        double start;

        if (task->by != ORR_GRAPH_BY_TASK)
            continue;
        start = c->path[task->submitter] - c->best_ms[c->in.type[task->submitter]];
        if (start > c->release[i]) {
            c->release[i] = start;
            moved = true;
        }
    }
    return moved;
}

static double costly_path(struct costly *c, unsigned *ret_last)
{
    double ms = find_path(c, ret_last);

    for (unsigned pass = 0; pass < PASSES && move_releases(c); pass++)
        ms = find_path(c, ret_last);
    return ms;
}

static int say_path(const struct costly *c, unsigned last, double ms,
                    struct orr_bound_result *ret)
{
    const struct orr_bound_instance *in = &c->in;
    unsigned i = last, n = 1;
    double delays = c->delay[last], share;
    char before[120] = "";

    for (bool found = true; found; n += found) {
        double began = c->path[i] - c->best_ms[in->type[i]] - c->delay[i];

        found = false;
        for (unsigned e = in->first_pred[i]; e < in->first_pred[i + 1] && !found;
             e++)
            if (c->path[in->preds[e]] >= began && began > c->release[i]) {
                i = in->preds[e];
                delays += c->delay[i];
                found = true;
            }
    }
    share = ms > 0 ? 100 / ms : 0;
    if (c->release[i] > 0 && c->nth[i])
        orr_snprintf(before, sizeof(before),
                     "submission of %u tasks%s, %.0f %% of it, then a ", c->nth[i],
                     c->nthreads > 1 ? " by one of the threads" : "",
                     share * c->release[i]);
    else if (c->release[i] > 0)
        orr_snprintf(before, sizeof(before), "after %.0f %% of it, when a task submits it, a ",
                     share * c->release[i]);
    return orr_bound_limit(ret,
                           "%spath of %u task%s; pushing and asking for data is "
                           "%.0f %%",
                           before, n, n == 1 ? "" : "s", share * delays);
}

/* --- areas --- */

struct dated {
    double release;
    unsigned task;
};

static int compare_dated(const void *a, const void *b)
{
    const struct dated *x = a, *y = b;

    if (x->release != y->release)
        return x->release < y->release ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static int sort_by_date(struct costly *c)
{
    struct dated *dated = orr_bound_array(c->in.ntasks, sizeof(*dated));

    if (!dated)
        return -ENOMEM;
    for (unsigned i = 0; i < c->in.ntasks; i++)
        dated[i] = (struct dated){c->release[i], i};
    qsort(dated, c->in.ntasks, sizeof(*dated), compare_dated);
    for (unsigned i = 0; i < c->in.ntasks; i++)
        c->by_date[i] = dated[i].task;
    free(dated);
    return 0;
}

/* The area of the tasks from `first` on, by their dates; 0 where it was not proved. */
static int suffix_area(struct costly *c, unsigned first, double deadline,
                       double *ret)
{
    struct orr_area_solution solution = {0};
    struct orr_bound_instance *in = &c->in;
    int rc = -ENOMEM;

    for (unsigned k = 0; k < in->ntypes; k++)
        in->types[k].ntasks = 0;
    for (unsigned i = first; i < in->ntasks; i++)
        in->types[in->type[c->by_date[i]]].ntasks++;
    solution.x = orr_bound_array(in->nvariants, sizeof(*solution.x));
    solution.price = orr_bound_array(in->nclasses, sizeof(*solution.price));
    if (solution.x && solution.price)
        rc = orr_bound_area_solve(in, 1e-6, deadline, &solution);
    *ret = rc == 0 || rc == -ETIME ? solution.bound : 0;
    free(solution.x);
    free(solution.price);
    return rc == -ENOMEM ? rc : 0;
}

static int say_area(const struct costly *c, unsigned first, bool queues,
                    struct orr_bound_result *ret)
{
    if (!(c->release[c->by_date[first]] > 0))
        return orr_bound_limit(ret, "the workers, busy with %u task%s%s",
                               c->in.ntasks - first, c->in.ntasks - first == 1 ? "" : "s",
                               queues ? " and the queues of devices" : "");
    return orr_bound_limit(ret,
                           "submission of %u task%s, %.0f %% of it, then the "
                           "workers, busy with the other %u%s",
                           first, first == 1 ? "" : "s",
                           100 * c->release[c->by_date[first]] / ret->ms,
                           c->in.ntasks - first, queues ? " and the queues of devices" : "");
}

/* Those of all tasks, and of the rest after some of the submissions. */
static int raise_by_suffixes(struct costly *c, double share, double deadline,
                             struct orr_bound_result *ret)
{
    double more = lengthen_areas(c, share);
    int rc = 0;

    for (unsigned s = 0; s < SUFFIXES && rc == 0; s++) {
        unsigned first = (unsigned)((uint64_t)c->in.ntasks * s / SUFFIXES);
        double area, ms;

        if ((s > 0 && first == 0) || orr_bound_clock() > deadline)
            continue;
        rc = suffix_area(c, first, deadline, &area);
        ms = c->release[c->by_date[first]] + area - more;
        if (rc || !(ms > ret->ms))
            continue;
        ret->ms = ms;
        rc = say_area(c, first, share < 1, ret);
    }
    memcpy(c->in.types, c->plain->types, c->in.ntypes * sizeof(*c->in.types));
    return rc;
}

static int raise_by_areas(struct costly *c, double deadline,
                          struct orr_bound_result *ret)
{
    static const double shares[] = {1, 0, 0.5};
    bool devices = false;
    int rc = sort_by_date(c);

    for (unsigned k = 0; k < c->in.nclasses; k++)
        devices = devices || !c->in_turn[k];
    for (unsigned i = 0; !rc && i < (devices ? 3 : 1); i++)
        rc = raise_by_suffixes(c, shares[i], deadline, ret);
    return rc;
}

static bool costs_are_known(const struct orr_graph_costs *costs)
{
    return costs->submit_ms + costs->submit_access_ms + costs->submit_ready_ms +
               costs->push_ms + costs->progress_ms + costs->fetch_ms +
               costs->queue_ms >
           0;
}

int orr_bound_runtime(const struct orr_bound_instance *in,
                      const struct orr_bound_options *options,
                      struct orr_bound_result *ret)
{
    const struct orr_bound_options half = {.seconds = options->seconds / 2,
                                           .tolerance = options->tolerance};
    double deadline = orr_bound_clock() + options->seconds, path;
    struct costly c;
    unsigned last = 0;
    int rc;

    if (!costs_are_known(&in->graph->costs))
        return orr_bound_give_up(ret, ORR_BOUND_SKIPPED,
                                 "the graph says nothing of what the runtime "
                                 "takes: it is of a real run");
    rc = costly_init(&c, in);
    if (rc == 0) {
        lengthen_both(&c);
        rc = orr_bound_precedence(&c.in, &half, ret);
    }
    if (rc == 0 && isnan(ret->ms)) {
        costly_done(&c);
        return 0;
    }
    if (rc == 0) {
        path = costly_path(&c, &last);
        if (path > ret->ms) {
            ret->ms = path;
            rc = say_path(&c, last, path, ret);
        }
    }
    if (rc == 0)
        rc = raise_by_areas(&c, deadline, ret);
    /* What precedence found is no schedule with costs. */
    ret->upper_ms = NAN;
    ret->proved = rc == 0;
    costly_done(&c);
    return rc;
}

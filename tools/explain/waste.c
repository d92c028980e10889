/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/waste.c - kernels that ran where others are faster, tasks for one
 * worker, full links, data copied again, devices slower than their like.
 */
#include "tools/explain/explain.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shortest time of a task type, ms; infinite: none is known. */
static double fastest_time_of_type(const struct orr_graph *graph,
                                   const struct orr_graph_task_type *type)
{
    double best = (double)INFINITY;

    for (unsigned w = 0; w < graph->nworkers; w++)
        if (type->mean_ms[w] < best)
            best = type->mean_ms[w];
    return best;
}

static int compare_misplaced(const void *a, const void *b)
{
    const struct explain_misplaced *x = a, *y = b;

    if (x->lost != y->lost)
        return x->lost < y->lost ? 1 : -1;
    return x->type < y->type ? -1 : x->type > y->type;
}

/* One per type: by the kernel's name and footprint. */
struct explain_misplaced *explain_misplaced_all(const struct explain_run *run,
                                                size_t *ret_n)
{
    const struct orr_graph *graph = run->graph;
    struct explain_misplaced *all = calloc(graph->ntypes + 1, sizeof(*all));
    size_t kept = 0;

    for (size_t t = 0; all && t < run->ntasks; t++) {
        const struct explain_task *task = &run->tasks[t];
        const struct orr_graph_task_type *type;
        struct explain_misplaced *one;
        double best;

        if (task->number == UINT_MAX)
            continue;
        type = &graph->types[graph->tasks[task->number].type];
        best = fastest_time_of_type(graph, type);
        if (!(type->mean_ms[task->worker] > best * 1.001))
            continue;
        one = &all[graph->tasks[task->number].type];
        one->several |=
            one->ntasks && one->worker != graph->workers[task->worker].name;
        one->worker = graph->workers[task->worker].name;
        one->lost += fmax(0, task->end - task->start - best);
        one->ntasks++;
    }
    for (unsigned i = 0; all && i < graph->ntypes; i++)
        if (all[i].ntasks) {
            all[kept] = all[i];
            all[kept].kernel = graph->types[i].symbol;
            all[kept++].type = i;
        }
    if (all)
        qsort(all, kept, sizeof(*all), compare_misplaced);
    *ret_n = kept;
    return all;
}

/* --- tasks for one worker --- */

/* UINT_MAX: several can run it, or none. */
static unsigned only_worker(const struct orr_graph *graph, unsigned type)
{
    unsigned found = UINT_MAX;

    for (unsigned w = 0; w < graph->nworkers; w++) {
        if (isinf(graph->types[type].mean_ms[w]))
            continue;
        if (found != UINT_MAX)
            return UINT_MAX;
        found = w;
    }
    return found;
}

struct explain_alone *explain_alone_all(const struct explain_run *run)
{
    const struct orr_graph *graph = run->graph;
    struct explain_alone *alone = calloc(graph->nworkers + 1, sizeof(*alone));
    unsigned *only = calloc(graph->ntypes + 1, sizeof(*only));

    for (unsigned k = 0; only && k < graph->ntypes; k++)
        only[k] = only_worker(graph, k);
    for (size_t t = 0; alone && only && t < run->ntasks; t++) {
        const struct explain_task *task = &run->tasks[t];

        if (task->number == UINT_MAX ||
            only[graph->tasks[task->number].type] != task->worker)
            continue;
        alone[task->worker].ntasks++;
        alone[task->worker].ms += task->end - task->start;
    }
    if (!only) {
        free(alone);
        alone = NULL;
    }
    free(only);
    return alone;
}

/* --- models --- */

#define OFF 1.5 /* times as long, or as short, as expected */

/* µs between what its model says and what it took, in all. */
static double off_by_us(const struct report_kernel *kernel)
{
    return fabs(kernel->median_us - kernel->predicted_us) *
           (double)kernel->count;
}

static bool is_longer(const struct report_kernel *kernel, double than)
{
    return kernel->median_us > than && kernel->mean_us > than;
}

static bool is_shorter(const struct report_kernel *kernel, double than)
{
    return kernel->median_us < than && kernel->mean_us < than;
}

/* The median tells nothing where times are expected to differ, of which the mean is
 * known, and the mean nothing where few tasks were disturbed. */
static bool prediction_is_wrong(const struct report_kernel *kernel)
{
    return kernel->predicted_us > 0 && kernel->median_us > 0 &&
           (is_longer(kernel, OFF * kernel->predicted_us) ||
            is_shorter(kernel, kernel->predicted_us / OFF));
}

static int compare_wrong(const void *a, const void *b)
{
    const struct report_kernel *x = *(const struct report_kernel *const *)a;
    const struct report_kernel *y = *(const struct report_kernel *const *)b;
    double left = off_by_us(x), right = off_by_us(y);

    if (left != right)
        return left < right ? 1 : -1;
    return (x > y) - (x < y);
}

const struct report_kernel **explain_wrong_models(const struct report *report,
                                                  size_t *ret_n)
{
    const struct report_kernel **wrong =
        calloc(report->nkernels + 1, sizeof(struct report_kernel *));
    size_t n = 0;

    for (size_t k = 0; wrong && k < report->nkernels; k++)
        if (prediction_is_wrong(&report->kernels[k]))
            wrong[n++] = &report->kernels[k];
    if (n)
        qsort(wrong, n, sizeof(struct report_kernel *), compare_wrong);
    *ret_n = n;
    return wrong;
}

static const struct orr_graph_route *route_of(const struct orr_graph *graph,
                                              const struct explain_copy *copy)
{
    for (unsigned r = 0; r < graph->nroutes; r++)
        if (graph->routes[r].src == copy->from &&
            graph->routes[r].dst == copy->to)
            return &graph->routes[r];
    return NULL;
}

double *explain_link_use(const struct explain_run *run)
{
    const struct orr_graph *graph = run->graph;
    double *use = calloc(graph->nlinks + 1, sizeof(*use));
    double length = run->end - run->begin;

    for (size_t i = 0; use && i < run->ncopies; i++) {
        const struct explain_copy *copy = &run->copies[i];
        const struct orr_graph_route *route = route_of(graph, copy);
        double took = copy->end - copy->start;
        /* Results that go home at the end delay no task. */
        double within =
            fmin(copy->end, run->end) - fmax(copy->start, run->begin);
        double bytes = took > 0 ? copy->bytes * fmax(within, 0) / took : 0;

        for (unsigned l = 0; route && l < route->nlinks; l++) {
            unsigned link = graph->route_links[route->first_link + l];

            if (isfinite(graph->links[link].bandwidth) && length > 0)
                use[link] += bytes / graph->links[link].bandwidth / length;
        }
    }
    return use;
}

static int compare_targets(const void *a, const void *b)
{
    const struct explain_copy *x = a, *y = b;

    if (x->handle != y->handle)
        return x->handle < y->handle ? -1 : 1;
    return (int)x->to - (int)y->to;
}

double explain_copied_again(const struct explain_run *run)
{
    struct explain_copy *copies = malloc((run->ncopies + 1) * sizeof(*copies));
    double bytes = 0;

    if (!copies)
        return (double)NAN;
    if (run->ncopies) {
        memcpy(copies, run->copies, run->ncopies * sizeof(*copies));
        qsort(copies, run->ncopies, sizeof(*copies), compare_targets);
    }
    for (size_t i = 1; i < run->ncopies; i++)
        if (compare_targets(&copies[i - 1], &copies[i]) == 0 &&
            copies[i].start < run->end)
            bytes += copies[i].bytes;
    free(copies);
    return bytes;
}

/* Whether the names differ in their numbers only, up to a bracket. */
static bool same_kind(const char *a, const char *b)
{
    size_t length = strcspn(a, " 0123456789");

    return length == strcspn(b, " 0123456789") && !strncmp(a, b, length);
}

/* The shortest time of a type on workers of this one's kind, ms; infinite: none
 * is known. */
static double fastest_alike(const struct orr_graph *graph,
                            const struct orr_graph_task_type *type,
                            unsigned worker)
{
    double best = (double)INFINITY;

    for (unsigned w = 0; w < graph->nworkers; w++)
        if (type->mean_ms[w] < best &&
            same_kind(graph->workers[w].name, graph->workers[worker].name))
            best = type->mean_ms[w];
    return best;
}

/* Tasks of the graph are in order of submission, and wait for earlier ones, but
 * for rare ones that tags make wait for later ones: these are left out, which
 * makes the chain shorter at most. */
double explain_longest(const struct explain_run *run)
{
    const struct orr_graph *graph = run->graph;
    double *end = calloc(graph->ntasks + 1, sizeof(*end)), longest = 0;

    if (!end)
        return (double)NAN;
    for (unsigned t = 0; t < graph->ntasks; t++) {
        const struct orr_graph_task *task = &graph->tasks[t];
        bool ran = task->worker != ORR_GRAPH_NOT_RUN;

        for (unsigned d = 0; d < task->ndeps; d++)
            end[t] = fmax(end[t], end[graph->deps[task->first_dep + d].task]);
        if (ran)
            end[t] += fmin(
                task->end_ms - task->start_ms,
                fastest_alike(graph, &graph->types[task->type], task->worker));
        longest = fmax(longest, end[t]);
    }
    free(end);
    return longest;
}

double explain_slower(const struct explain_run *run, unsigned worker)
{
    const struct orr_graph *graph = run->graph;
    double slower = 1, ratios = 0;
    unsigned n = 0;

    for (unsigned i = 0; i < graph->ntypes; i++) {
        const double *mean = graph->types[i].mean_ms;
        double best = fastest_alike(graph, &graph->types[i], worker);

        if (!(best > 0) || !(mean[worker] < (double)INFINITY))
            continue;
        ratios += mean[worker] / best;
        n++;
    }
    if (n)
        slower = ratios / n;
    return slower;
}

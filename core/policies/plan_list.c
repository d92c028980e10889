/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/policies/plan_list.c - see plan_list.h. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* qsort_r */
#endif
#include "core/policies/plan_list.h"

#include "core/base/grow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- gaps --- */

/* The first span that ends after the date. */
static uint32_t first_after(const struct orr_plan_line *line, double date)
{
    uint32_t low = 0, high = line->n;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (line->spans[middle].end <= date)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double orr_plan_line_find(const struct orr_plan_line *line, double from,
                          double length)
{
    double start = from;

    for (uint32_t i = first_after(line, from); i < line->n; i++) {
        if (start + length <= line->spans[i].start)
            break;
        if (line->spans[i].end > start)
            start = line->spans[i].end;
    }
    return start;
}

int orr_plan_line_add(struct orr_plan_line *line, double start, double length)
{
    uint32_t at = first_after(line, start);

    if (!orr_array_reserve(&line->spans, line->n, sizeof(*line->spans)))
        return -ENOMEM;
    memmove(&line->spans[at + 1], &line->spans[at],
            (line->n++ - at) * sizeof(*line->spans));
    line->spans[at] = (struct orr_span){start, start + length};
    return 0;
}

void orr_plan_line_done(struct orr_plan_line *line)
{
    free(line->spans);
    *line = (struct orr_plan_line){NULL, 0};
}

/* --- ranks --- */

/* The duration on the fastest worker; 0: no worker can run it. */
static double shortest_length(const struct orr_plan *plan,
                              const struct orr_plan_task *task)
{
    double least = INFINITY;

    for (unsigned k = 0; task->length && k < plan->nclasses; k++)
        if (plan->class_size[k])
            least = fmin(least, task->length[k]);
    return isfinite(least) ? least : 0;
}

/* The mean time of a copy between two workers, which may be the same one. */
static double mean_copy(const struct orr_plan *plan, uint64_t bytes)
{
    double sum = 0, pairs = 0;

    for (unsigned a = 0; bytes && a < plan->nclasses; a++)
        for (unsigned b = 0; b < plan->nclasses; b++) {
            double n = (double)plan->class_size[a] * plan->class_size[b];

            if (plan->node_of[a] != plan->node_of[b])
                sum += n * plan->copy(plan->arg, plan->node_of[a],
                                      plan->node_of[b], bytes);
            pairs += n;
        }
    return pairs > 0 ? sum / pairs : 0;
}

/* A node comes behind those that it waits for, so a walk backwards meets it before
 * them. Most edges have the size of the one before, whose copy time is kept. */
static void find_ranks(struct orr_plan *plan)
{
    const struct orr_graph_ahead *graph = plan->graph;
    uint64_t bytes = 0;
    double copy = 0;

    for (uint32_t i = graph->nnodes; i-- > 0;) {
        const struct orr_graph_ahead_node *node = &graph->nodes[i];
        struct orr_plan_task *task = &plan->tasks[i];

        task->rank += shortest_length(plan, task);
        for (uint32_t e = node->first; e < node->first + node->n; e++) {
            const struct orr_graph_ahead_edge *edge = &graph->edges[e];
            struct orr_plan_task *before = &plan->tasks[edge->before];

            if (edge->bytes != bytes) {
                bytes = edge->bytes;
                copy = mean_copy(plan, bytes);
            }
            before->rank = fmax(before->rank, task->rank + copy);
        }
    }
}

/* --- placement --- */

/* When all tasks that task i waits for have ended. */
static double time_ready(const struct orr_plan *plan, uint32_t i)
{
    const struct orr_graph_ahead_node *node = &plan->graph->nodes[i];
    double ready = plan->from;

    for (uint32_t e = node->first; e < node->first + node->n; e++)
        ready = fmax(ready, plan->tasks[plan->graph->edges[e].before].end);
    return ready;
}

/* A copy of a datum to a memory. */
struct copy {
    unsigned from;
    double start, us;
};

/* The lines of copies to and from a memory. */
static struct orr_plan_line *line_to(const struct orr_plan *plan, unsigned node)
{
    return &plan->links[2 * node];
}

static struct orr_plan_line *line_from(const struct orr_plan *plan,
                                       unsigned node)
{
    return &plan->links[2 * node + 1];
}

/* The first gap of both lines. */
static double find_gap(const struct orr_plan *plan, unsigned from, unsigned to,
                       double ready, double us)
{
    double start, other = ready;

    do {
        start = orr_plan_line_find(line_to(plan, to), other, us);
        other = orr_plan_line_find(line_from(plan, from), start, us);
    } while (other > start);
    return start;
}

/* The time of the copy from the memory where it takes least; false: no memory
 * has the datum. */
static bool find_copy(const struct orr_plan *plan,
                      const struct orr_plan_datum *datum, unsigned to,
                      double ready, struct copy *ret)
{
    ret->us = INFINITY;
    for (unsigned from = 0; from < plan->nnodes; from++) {
        double us;

        if (!isfinite(datum->there[from]))
            continue;
        us = plan->copy(plan->arg, from, to, datum->bytes);
        if (us < ret->us)
            *ret = (struct copy){from, 0, us};
    }
    if (!isfinite(ret->us))
        return false;
    ret->start = find_gap(plan, ret->from, to, ready, ret->us);
    return true;
}

/* When the data of a task that is ready at `ready` are in the memory. Data that the
 * memory lacks are copied one after the other. */
static double data_there(const struct orr_plan *plan,
                         const struct orr_plan_task *task, double ready,
                         unsigned node)
{
    double there = ready, copied = ready;
    struct copy copy;

    for (uint32_t u = 0; u < task->nuses; u++) {
        const struct orr_plan_datum *datum = &plan->data[task->uses[u].datum];

        if (!task->uses[u].reads)
            continue;
        if (isfinite(datum->there[node]))
            there = fmax(there, datum->there[node]);
        else if (find_copy(plan, datum, node, copied, &copy))
            copied = copy.start + copy.us;
    }
    return fmax(there, copied);
}

/* Takes the gaps for these copies. Errors: -ENOMEM. */
static int copy_data(const struct orr_plan *plan,
                     const struct orr_plan_task *task, double ready,
                     unsigned node)
{
    struct copy copy;
    int err = 0;

    for (uint32_t u = 0; !err && u < task->nuses; u++) {
        const struct orr_plan_datum *datum = &plan->data[task->uses[u].datum];

        if (!task->uses[u].reads || isfinite(datum->there[node]) ||
            !find_copy(plan, datum, node, ready, &copy))
            continue;
        err = orr_plan_line_add(line_to(plan, node), copy.start, copy.us);
        if (!err)
            err = orr_plan_line_add(line_from(plan, copy.from), copy.start,
                                    copy.us);
        ready = copy.start + copy.us;
        datum->there[node] = ready;
    }
    return err;
}

/* Notes that the data which the task writes are on this node only, from its end on. */
static void plan_write_data(const struct orr_plan *plan,
                            const struct orr_plan_task *task, unsigned node)
{
    for (uint32_t u = 0; u < task->nuses; u++) {
        double *at = plan->data[task->uses[u].datum].there;

        for (unsigned m = 0; task->uses[u].writes && m < plan->nnodes; m++)
            at[m] = m == node ? task->end : (double)INFINITY;
    }
}

/* Puts the task on the worker where it ends first, with its data there at there[class];
 * of several the one with the lowest number. */
static int plan_put_task(const struct orr_plan *plan,
                         struct orr_plan_task *task, const double *there)
{
    double best = INFINITY;

    for (uint32_t w = 0; w < plan->nworkers; w++) {
        uint32_t k = plan->class_of[w];
        double start;

        if (k == ORR_PLAN_NONE || !isfinite(task->length[k]) ||
            (task->only != ORR_PLAN_NONE && task->only != w) ||
            there[k] + task->length[k] >= best)
            continue;
        start = orr_plan_line_find(&plan->lines[w], there[k], task->length[k]);
        if (start + task->length[k] >= best)
            continue;
        best = start + task->length[k];
        task->worker = w;
        task->start = start;
        task->end = best;
    }
    if (isfinite(best))
        return orr_plan_line_add(&plan->lines[task->worker], task->start,
                                 task->end - task->start);
    return 0;
}

static bool is_able(const struct orr_plan *plan,
                    const struct orr_plan_task *task)
{
    bool able = false;

    for (unsigned k = 0; task->length && !able && k < plan->nclasses; k++)
        able = plan->class_size[k] && isfinite(task->length[k]);
    return able;
}

static int plan_place_task(struct orr_plan *plan, uint32_t i, double *there)
{
    struct orr_plan_task *task = &plan->tasks[i];
    unsigned node;
    double ready;
    int err;

    if (task->placed)
        return 0;
    ready = time_ready(plan, i);
    task->worker = ORR_PLAN_NONE;
    task->start = task->end = ready;
    if (!is_able(plan, task))
        return 0;
    for (unsigned k = 0; k < plan->nclasses; k++)
        if (isfinite(task->length[k]))
            there[k] = data_there(plan, task, ready, plan->node_of[k]);
    err = plan_put_task(plan, task, there);
    if (err || task->worker == ORR_PLAN_NONE)
        return err;
    node = plan->node_of[plan->class_of[task->worker]];
    err = copy_data(plan, task, ready, node);
    plan_write_data(plan, task, node);
    return err;
}

int orr_plan_place(const struct orr_plan *plan, struct orr_plan_task *task,
                   const double *there)
{
    task->worker = ORR_PLAN_NONE;
    return is_able(plan, task) ? plan_put_task(plan, task, there) : 0;
}

/* The higher rank first; of equal ranks the task submitted first, for which the other
 * may wait. */
static int by_rank(const void *a, const void *b, void *arg)
{
    const struct orr_plan_task *tasks = arg;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    if (tasks[left].rank != tasks[right].rank)
        return tasks[left].rank > tasks[right].rank ? -1 : 1;
    return left < right ? -1 : left > right;
}

int orr_plan_make(struct orr_plan *plan)
{
    uint32_t n = plan->graph->nnodes;
    uint32_t *order = malloc(((size_t)n + 1) * sizeof(*order));
    double *there = calloc(plan->nclasses + 1, sizeof(*there));
    int err = order && there ? 0 : -ENOMEM;

    if (!err)
        find_ranks(plan);
    for (uint32_t i = 0; !err && i < n; i++)
        if (plan->tasks[i].placed)
            plan_write_data(plan, &plan->tasks[i], plan->tasks[i].node);
    for (uint32_t i = 0; !err && i < n; i++)
        order[i] = i;
    if (!err)
        qsort_r(order, n, sizeof(*order), by_rank, plan->tasks);
    for (uint32_t i = 0; !err && i < n; i++)
        err = plan_place_task(plan, order[i], there);
    free(order);
    free(there);
    return err;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bound/producers.c - see producers.h. */
#include "bound/producers.h"

#include <errno.h>
#include <stdlib.h>

#include "bound/instance.h"

struct following {
    const struct orr_graph *graph;
    unsigned *order, *place; /* place: of a task in the order */
    unsigned *producer;      /* by access */
};

/* Kahn: a graph that was checked has no cycle. */
static int sort_tasks(struct following *f)
{
    const struct orr_graph *graph = f->graph;
    unsigned *first = orr_bound_array((size_t)graph->ntasks + 2, sizeof(*first));
    unsigned *later = orr_bound_array(graph->ndeps, sizeof(*later));
    unsigned *left = orr_bound_array(graph->ntasks, sizeof(*left)), n = 0;
    int rc = first && later && left ? 0 : -ENOMEM;

    for (unsigned t = 0; !rc && t < graph->ntasks; t++) {
        left[t] = graph->tasks[t].ndeps;
        for (unsigned e = 0; e < left[t]; e++)
            first[graph->deps[graph->tasks[t].first_dep + e].task + 2]++;
    }
    for (unsigned t = 0; !rc && t < graph->ntasks; t++)
        first[t + 2] += first[t + 1];
    for (unsigned t = 0; !rc && t < graph->ntasks; t++)
        for (unsigned e = 0; e < graph->tasks[t].ndeps; e++)
            later[first[graph->deps[graph->tasks[t].first_dep + e].task + 1]++] = t;
    for (unsigned t = 0; !rc && t < graph->ntasks; t++)
        if (left[t] == 0)
            f->order[n++] = t;
    for (unsigned at = 0; !rc && at < n; at++) {
        unsigned t = f->order[at];

        f->place[t] = at;
        for (unsigned e = first[t]; e < first[t + 1]; e++)
            if (--left[later[e]] == 0)
                f->order[n++] = later[e];
    }
    free(first);
    free(later);
    free(left);
    return rc;
}

/* The later one of two. */
static unsigned later_of(const struct following *f, unsigned a, unsigned b)
{
    if (a == ORR_BOUND_NOBODY || b == ORR_BOUND_NOBODY)
        return a == ORR_BOUND_NOBODY ? b : a;
    return f->place[a] > f->place[b] ? a : b;
}

static unsigned find_producer(const struct following *f, const struct orr_graph_task *task,
                              unsigned datum)
{
    const struct orr_graph *graph = f->graph;
    unsigned found = ORR_BOUND_NOBODY;

    for (unsigned e = 0; e < task->ndeps; e++) {
        unsigned before = graph->deps[task->first_dep + e].task;
        const struct orr_graph_task *other = &graph->tasks[before];

        for (unsigned a = other->first_access; a < other->first_access + other->naccesses; a++)
            if (graph->accesses[a].datum == datum)
                found = later_of(f, found,
                                 graph->accesses[a].mode & ORR_GRAPH_WRITE ? before
                                                                           : f->producer[a]);
    }
    return found;
}

int orr_bound_producers(const struct orr_graph *graph, unsigned **ret_order, unsigned **ret)
{
    struct following f = {.graph = graph};
    int rc = -ENOMEM;

    f.order = orr_bound_array(graph->ntasks, sizeof(*f.order));
    f.place = orr_bound_array(graph->ntasks, sizeof(*f.place));
    f.producer = orr_bound_array(graph->naccesses, sizeof(*f.producer));
    if (f.order && f.place && f.producer)
        rc = sort_tasks(&f);
    for (unsigned at = 0; !rc && at < graph->ntasks; at++) {
        const struct orr_graph_task *task = &graph->tasks[f.order[at]];

        for (unsigned a = task->first_access; a < task->first_access + task->naccesses; a++)
            f.producer[a] = find_producer(&f, task, graph->accesses[a].datum);
    }
    free(f.place);
    if (rc) {
        free(f.order);
        free(f.producer);
        return rc;
    }
    *ret_order = f.order;
    *ret = f.producer;
    return 0;
}

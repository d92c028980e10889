/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/join.c - the graphs of all ranks as one, whose tasks may run on the workers of
 * every rank: as long as the fastest of the same kernel and size there. Without data and links.
 *
 * A task comes behind those whose values it reads, of its own rank or by a message, and behind
 * those that the program says, whatever the placement. It need not come behind a reader of the
 * datum that it writes, nor a receiver behind the readers of the value before: on other ranks
 * these would have copies of their own. Where the order of a datum's writers is not known all
 * that its rank waited for is kept.
 */
#include "tools/bound/cluster.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/instance.h"
#include "bound/producers.h"

struct join {
    struct orr_graph *const *of; /* by rank; NULL: it had no tasks */
    unsigned n;
    struct orr_graph *all;
    /* Owned: of each rank, and behind the last one. */
    unsigned *first_worker, *first_task;
};

static bool same_kernel(const struct orr_graph_task_type *a, const struct orr_graph_task_type *b)
{
    return a->footprint == b->footprint && !strcmp(a->symbol, b->symbol);
}

/* Whether kernels take as long on both: the same machine with the same edits. */
static bool are_alike(const struct orr_graph *a, const struct orr_graph *b)
{
    unsigned i = 0, j = 0;

    if (!a->machine || !b->machine || strcmp(a->machine, b->machine) != 0 ||
        a->nworkers != b->nworkers)
        return false;
    while (true) {
        while (i < a->nabout && strcmp(a->about[i].what, "what if") != 0)
            i++;
        while (j < b->nabout && strcmp(b->about[j].what, "what if") != 0)
            j++;
        if (i == a->nabout || j == b->nabout)
            return i == a->nabout && j == b->nabout;
        if (strcmp(a->about[i++].text, b->about[j++].text) != 0)
            return false;
    }
}

/* The least time of the kernel on a worker of the rank, by all its types of that kernel. False:
 * it has none. */
static bool times_of(const struct orr_graph *graph, const struct orr_graph_task_type *type,
                     unsigned worker, double *mean, double *deviation)
{
    bool found = false;

    *mean = INFINITY;
    *deviation = 0;
    for (unsigned t = 0; t < graph->ntypes; t++) {
        const struct orr_graph_task_type *other = &graph->types[t];

        if (!same_kernel(other, type))
            continue;
        found = true;
        *mean = isnan(*mean) || isnan(other->mean_ms[worker]) ? (double)NAN
                                                              : fmin(*mean, other->mean_ms[worker]);
        *deviation = fmax(*deviation, other->deviation_ms[worker]);
    }
    return found;
}

/* On a worker of a rank that has no such tasks: as on a rank that is alike; else not known. */
static void times_anywhere(const struct join *join, unsigned rank, unsigned worker,
                           const struct orr_graph_task_type *type, double *mean, double *deviation)
{
    const struct orr_graph *graph = join->of[rank];

    if (times_of(graph, type, worker, mean, deviation))
        return;
    for (unsigned r = 0; r < join->n; r++)
        if (join->of[r] && are_alike(join->of[r], graph) &&
            times_of(join->of[r], type, worker, mean, deviation))
            return;
    *mean = (double)NAN;
    *deviation = 0;
}

/* The number of the kernel among those of all, added if it is new; negative: -ENOMEM. */
static int add_type(struct join *join, const struct orr_graph_task_type *type)
{
    struct orr_graph *all = join->all;
    struct orr_graph_task_type *added;

    for (unsigned t = 0; t < all->ntypes; t++)
        if (same_kernel(&all->types[t], type))
            return (int)t;
    added = &all->types[all->ntypes];
    added->symbol = strdup(type->symbol);
    added->mean_ms = orr_bound_array(all->nworkers, sizeof(*added->mean_ms));
    added->deviation_ms = orr_bound_array(all->nworkers, sizeof(*added->deviation_ms));
    added->footprint = type->footprint;
    all->ntypes++;
    if (!added->symbol || !added->mean_ms || !added->deviation_ms)
        return -ENOMEM;
    for (unsigned r = 0; r < join->n; r++)
        for (unsigned w = join->first_worker[r]; w < join->first_worker[r + 1]; w++)
            times_anywhere(join, r, w - join->first_worker[r], type, &added->mean_ms[w],
                           &added->deviation_ms[w]);
    return (int)all->ntypes - 1;
}

static int add_workers(struct join *join)
{
    struct orr_graph *all = join->all;
    unsigned w = 0;

    for (unsigned r = 0; r < join->n; r++)
        for (unsigned k = 0; join->of[r] && k < join->of[r]->nworkers; k++, w++) {
            const struct orr_graph_worker *worker = &join->of[r]->workers[k];

            all->workers[w] = (struct orr_graph_worker){.name = strdup(worker->name),
                                                        .blocking = worker->blocking};
            if (!all->workers[w].name)
                return -ENOMEM;
        }
    return 0;
}

static bool reads_from(const struct orr_graph *graph, const unsigned *producer,
                       const struct orr_graph_task *task, unsigned other)
{
    for (unsigned a = task->first_access; a < task->first_access + task->naccesses; a++)
        if (producer[a] == other && graph->accesses[a].mode & ORR_GRAPH_READ)
            return true;
    return false;
}

static void add_dep(struct orr_graph *all, unsigned before)
{
    all->deps[all->ndeps++] = (struct orr_graph_dep){.task = before};
    all->tasks[all->ntasks - 1].ndeps++;
}

/* What the last task added waits for: the makers of its values, … */
static void add_values(struct join *join, const struct orr_graph *graph, unsigned first,
                       const unsigned *producer, const struct orr_graph_task *task)
{
    for (unsigned a = task->first_access; a < task->first_access + task->naccesses; a++)
        if (producer[a] != ORR_BOUND_NOBODY && graph->accesses[a].mode & ORR_GRAPH_READ)
            add_dep(join->all, first + producer[a]);
    /* … and what is not because of data. */
    for (unsigned e = task->first_dep; e < task->first_dep + task->ndeps; e++)
        if (graph->deps[e].bytes == 0 && !reads_from(graph, producer, task, graph->deps[e].task))
            add_dep(join->all, first + graph->deps[e].task);
}

static int add_tasks(struct join *join, unsigned rank, const struct bound_messages *messages)
{
    const struct orr_graph *graph = join->of[rank];
    struct orr_graph *all = join->all;
    unsigned first = join->first_task[rank], *order, *producer;
    int rc = orr_bound_producers(graph, &order, &producer);

    if (rc)
        return rc;
    for (unsigned t = 0; t < graph->ntasks && rc >= 0; t++) {
        const struct orr_graph_task *task = &graph->tasks[t];
        int type = add_type(join, &graph->types[task->type]);

        rc = type < 0 ? type : 0;
        if (rc)
            break;
        all->tasks[all->ntasks++] = (struct orr_graph_task){.type = (unsigned)type,
                                                            .id = first + t,
                                                            .first_dep = all->ndeps,
                                                            .by = ORR_GRAPH_BY_OTHER,
                                                            .worker = ORR_GRAPH_NOT_RUN,
                                                            .start_ms = (double)NAN,
                                                            .end_ms = (double)NAN};
        add_values(join, graph, first, producer, task);
        for (unsigned m = messages->first[first + t]; m < messages->first[first + t + 1]; m++)
            add_dep(all, join->first_task[messages->all[m].from] + messages->all[m].sent);
    }
    free(order);
    free(producer);
    return rc;
}

/* Room for all of them. */
static int make_room(struct join *join, unsigned nmessages)
{
    struct orr_graph *all = join->all;
    unsigned tasks = 0, types = 0;
    size_t deps = nmessages;

    for (unsigned r = 0; r < join->n; r++) {
        const struct orr_graph *graph = join->of[r];

        join->first_worker[r] = all->nworkers;
        join->first_task[r] = tasks;
        if (!graph)
            continue;
        all->nworkers += graph->nworkers;
        tasks += graph->ntasks;
        deps += graph->ndeps + graph->naccesses;
        types += graph->ntypes;
    }
    join->first_worker[join->n] = all->nworkers;
    all->nnodes = 1;
    all->nodes = orr_bound_array(1, sizeof(*all->nodes));
    all->workers = orr_bound_array(all->nworkers, sizeof(*all->workers));
    all->tasks = orr_bound_array(tasks, sizeof(*all->tasks));
    all->deps = orr_bound_array(deps, sizeof(*all->deps));
    all->types = orr_bound_array(types, sizeof(*all->types));
    if (!all->nodes || !all->workers || !all->tasks || !all->deps || !all->types)
        return -ENOMEM;
    all->nodes[0] = (struct orr_graph_node){.name = strdup("RAM"), .capacity = INFINITY};
    return all->nodes[0].name ? 0 : -ENOMEM;
}

int bounds_join(struct orr_graph *const *graphs, unsigned n,
                const struct bound_messages *messages, struct orr_graph **ret)
{
    struct join join = {.of = graphs, .n = n, .all = calloc(1, sizeof(*join.all)),
                        .first_worker = calloc((size_t)n + 1, sizeof(*join.first_worker)),
                        .first_task = calloc((size_t)n + 1, sizeof(*join.first_task))};
    int rc = join.all && join.first_worker && join.first_task ? make_room(&join, messages->n)
                                                             : -ENOMEM;

    if (!rc)
        rc = add_workers(&join);
    for (unsigned r = 0; r < n && !rc; r++)
        if (graphs[r])
            rc = add_tasks(&join, r, messages);
    free(join.first_worker);
    free(join.first_task);
    if (rc) {
        orr_graph_free(join.all);
        return rc;
    }
    join.all->simulated = true;
    join.all->makespan_ms = (double)NAN;
    *ret = join.all;
    return 0;
}

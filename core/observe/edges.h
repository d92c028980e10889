/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/edges.h - what tasks wait for, read from where that is known: a graph,
 * or a list of waits.h. In both tasks are in the order of their numbers. Inline, since
 * a trace has a million of them. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bound/graph.h"
#include "core/observe/waits.h"

struct orr_edges {
    const struct orr_graph *graph; /* NULL: not recorded */
    const struct orr_waits *waits; /* NULL: of the graph */
    unsigned ntasks;
    uint64_t first; /* number of the first task */
    bool dense;     /* those of the others follow it one by one: as mostly */
};

static inline uint64_t orr_edges_id(const struct orr_edges *edges,
                                    unsigned place)
{
    if (edges->dense)
        return edges->first + place;
    return edges->waits ? edges->waits->tasks[place].id
                        : edges->graph->tasks[place].id;
}

/* The edges of the graph or of the list, one of which is NULL; of both NULL: there are
 * none. */
static inline struct orr_edges orr_edges_of(const struct orr_graph *graph,
                                            const struct orr_waits *waits)
{
    struct orr_edges edges = {.graph = graph, .waits = waits};

    if (waits)
        edges.ntasks = waits->ntasks;
    else if (graph)
        edges.ntasks = graph->ntasks;
    if (edges.ntasks > 0) {
        edges.first = orr_edges_id(&edges, 0);
        edges.dense = orr_edges_id(&edges, edges.ntasks - 1) - edges.first ==
                      edges.ntasks - 1;
    }
    return edges;
}

/* The place of the job; ntasks: it is none of them. */
static inline unsigned orr_edges_find(const struct orr_edges *edges,
                                      uint64_t job)
{
    unsigned low = 0, high = edges->ntasks - 1;

    if (edges->ntasks == 0 || job < edges->first)
        return edges->ntasks;
    if (job - edges->first < high)
        high = (unsigned)(job - edges->first);
    if (edges->dense)
        low = high;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (orr_edges_id(edges, middle) < job)
            low = middle + 1;
        else
            high = middle;
    }
    return orr_edges_id(edges, low) == job ? low : edges->ntasks;
}

/* How many tasks the one at that place waits for, and one of them. */
static inline unsigned orr_edges_count(const struct orr_edges *edges,
                                       unsigned place)
{
    return edges->waits ? edges->waits->tasks[place].n
                        : edges->graph->tasks[place].ndeps;
}

static inline uint64_t orr_edges_before(const struct orr_edges *edges,
                                        unsigned place, unsigned d)
{
    const struct orr_graph *graph = edges->graph;

    if (edges->waits)
        return orr_edges_id(
            edges, edges->waits->lists[edges->waits->tasks[place].first + d]);
    return orr_edges_id(edges,
                        graph->deps[graph->tasks[place].first_dep + d].task);
}

/* The job will be looked at; the second form is called earlier. Tasks end in another
 * order than that in which they were submitted, and what is known of them lies in
 * memory in the order of submission. */
static inline void orr_edges_fetch_task(const struct orr_edges *edges,
                                        uint64_t job)
{
    if (edges->dense && edges->waits && job - edges->first < edges->ntasks)
        __builtin_prefetch(&edges->waits->tasks[job - edges->first]);
}

static inline void orr_edges_fetch_list(const struct orr_edges *edges,
                                        uint64_t job)
{
    const struct orr_waits *waits = edges->waits;

    if (edges->dense && waits && job - edges->first < edges->ntasks)
        __builtin_prefetch(
            &waits->lists[waits->tasks[job - edges->first].first]);
}

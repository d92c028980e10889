/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/watch/graph.h - the tasks of a run and what they wait for, as records of
 * watch/shared.h say it: the last GRAPH_TASKS of them, however many there are. What tasks
 * wait for because of tags is not known here. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GRAPH_TASKS = 1 << 18, GRAPH_EDGES = 1 << 20 };

struct watch_record;

enum graph_state {
    GRAPH_JOIN, /* no task: an acquisition, a switch of a partition */
    GRAPH_WAITS,
    GRAPH_READY,
    GRAPH_RUNS,
    GRAPH_ENDED,
};

struct graph_task {
    uint64_t id; /* 0: no task */
    double start, end; /* µs, of RUNS and ENDED */
    uint32_t before, behind; /* edges, newest first, + 1; 0: none */
    uint16_t worker;
    uint8_t kernel; /* WATCH_KERNELS: it has none */
    uint8_t state;  /* enum graph_state */
    uint8_t place;  /* where it was submitted, watch/shared.h */
};

struct graph;

/* NULL without memory. */
struct graph *graph_new(void);
void graph_free(struct graph *graph); /* NULL is none */
void graph_clear(struct graph *graph);

/* A record more. Submissions in their order; what becomes of a task may come in any order
 * behind its own. */
void graph_add(struct graph *graph, const struct watch_record *record);

/* The task runs on that worker since that date, µs; one that has ended, or is not known, stays
 * as it is. */
void graph_runs(struct graph *graph, uint64_t id, uint32_t worker,
                double since);

/* NULL: it is not known, or not any more. */
const struct graph_task *graph_find(const struct graph *graph, uint64_t id);

/* The task submitted last, 0: none; how many are known; what of the edges was left out, for
 * want of room. */
uint64_t graph_last(const struct graph *graph);
uint64_t graph_size(const struct graph *graph);
uint64_t graph_left_out(const struct graph *graph);

/* Numbers of the jobs before, or behind, the task, at most `max`. */
unsigned graph_neighbours(const struct graph *graph, const struct graph_task *task, bool before,
                          uint64_t *ret, unsigned max);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/optimise/plan.h - schedules that are searched: which worker executes
 * each task, and when it comes in that worker's order. One thread.
 */
#pragma once

#include <stdint.h>

#include "bound/graph.h"

struct plan {
    unsigned *worker; /* owned, per task of the graph */
    double *when;     /* owned, per task: only the order counts */
    double ms;        /* what the simulator says, NaN: not asked */
};

/* Errors: -ENOMEM, nothing is owned then. */
int plan_new(const struct orr_graph *graph, struct plan *ret);
void plan_copy(const struct orr_graph *graph, struct plan *to,
               const struct plan *from);
void plan_done(struct plan *plan);

/* What the graph's run did. */
void plan_from_run(const struct orr_graph *graph, struct plan *ret);

/* List scheduling: tasks by upward rank (the mean time over the workers that can,
 * and of the copies behind it, along the longest way to an end), each multiplied by
 * 1 + noise·u, u uniform in ±1, to the worker where it ends first. (H. Topcuoglu,
 * S. Hariri, M.-Y. Wu, "Performance-effective and low-complexity task scheduling for
 * heterogeneous computing", 2002, without insertion; the noise is ours.) Errors:
 * -ENOMEM. */
int plan_list(const struct orr_graph *graph, double noise, uint64_t *random,
              struct plan *ret);

/* A neighbour of what is there: some tasks go to another worker, or come earlier or
 * later. */
void plan_change(const struct orr_graph *graph, uint64_t *random,
                 struct plan *plan);

/* Uniform in 0 … 1, excluding 1 (splitmix64). */
double plan_random(uint64_t *state);

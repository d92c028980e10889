/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/schedule.h - schedules that the policy static=FILE follows
 * (core/sched/schedule.h), made of recorded runs. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bound/graph.h"

/* The number of tasks that a schedule knows, which come first in the graph;
 * those behind only pass dependencies on. */
unsigned schedule_ntasks(const struct orr_graph *graph);

/* Writes which worker executes each task, `worker` and `when` per task, in the
 * order of `when`; tasks whose worker is ORR_GRAPH_NOT_RUN are left out. NULL
 * stands for what the run of the graph did. `note` is a line of text. Prints
 * what went wrong, and returns -1 then. */
int schedule_write(const char *path, const struct orr_graph *graph,
                   const unsigned *worker, const double *when,
                   const char *note);

/* One that leaves all to a policy. */
int schedule_write_policy(const char *path, const char *policy,
                          const char *note);

/* Reads a graph that a run has left; NULL with a message. The caller's. */
struct orr_graph *schedule_graph(const char *path);

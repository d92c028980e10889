/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/check_bounds.h - compares a simulated run with lower bounds
 * (ORRERY_CHECK_BOUNDS): a run that takes less time than is possible shows a fault of
 * the simulation or of the bounds.
 */
#pragma once

#include <stdbool.h>

struct orr_runtime;

/* Whether the graph of tasks is to be recorded from the beginning, for this or
 * for ORRERY_GRAPH. */
bool orr_check_bounds_needs_graph(const struct orr_runtime *rt);

/* If requested: computes bounds from the durations of the run, all of whose tasks have
 * ended, and aborts with a message when the run was faster than one of them. Bounds
 * that need a solver are computed only if there is one, and for at most 2,000 tasks. */
void orr_check_bounds(struct orr_runtime *rt);

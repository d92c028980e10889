/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/job/watched.h - whether something observes when tasks begin and end: a trace,
 * profiling, a profiler, counters, a record, a graph, a report.
 */
#pragma once

#include <stdbool.h>

struct orr_runtime;

/* Any context, any lock. */
bool orr_tasks_are_watched(struct orr_runtime *rt);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/tool.h - a profiler's library that is told what happens
 * (starpu_profiling_tool.h): rt->tool, NULL where there is none.
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>
#include <starpu_profiling_tool.h>

struct orr_job;
struct orr_runtime;
struct orr_tool;
struct orr_worker;

/* Opens what STARPU_PROF_TOOL names, else looks whether the program has such a
 * function, and lets it register its callbacks. *ret is NULL without: what cannot be
 * opened is said. Errors: -ENOMEM. The caller ends *ret with orr_tool_close. */
int orr_tool_open(const char *file, struct orr_tool **ret);

/* NULL is allowed. No context calls it any more. */
void orr_tool_close(struct orr_tool *tool);

/* Tells of an event: of the worker and the job, if they are not NULL. Calls code of
 * the profiler: no lock held. */
void orr_tool_tell(const struct orr_tool *tool,
                   enum starpu_prof_tool_event event,
                   const struct orr_worker *worker, const struct orr_job *job);

/* starpu_init is about to return. */
void orr_tool_tell_ready(const struct orr_tool *tool, struct starpu_conf *conf);

/* The worker's kernel begins, or has ended. */
void orr_tool_tell_kernel(const struct orr_tool *tool, bool begins,
                          const struct orr_worker *worker,
                          const struct orr_job *job);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/tool.h - a profiler's library that is told what happens
 * (starpu_profiling_tool.h), as an observer (tell.h): rt->views->tool, NULL where there is none.
 */
#pragma once

struct orr_runtime;
struct orr_tool;

/* Opens the library that STARPU_PROF_TOOL names, else looks whether the program has
 * such a function, lets it register its callbacks, and registers the observer. A
 * library that cannot be opened is said. Before any other observer. Errors: -ENOMEM. */
int orr_tool_observe(struct orr_runtime *rt);

/* NULL is allowed. No context tells it anything any more. */
void orr_tool_close(struct orr_tool *tool);

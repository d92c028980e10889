/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/profile.h - what applications see that switch profiling on: the times of a
 * task's stages (starpu_profiling_task_info), and what workers did. An observer (tell.h):
 * it wants nothing before profiling is switched on, or a task comes that has a
 * structure of its own for its times.
 *
 * Each stage is noted by the context that has the task then; what workers did is noted
 * by them under their lock, and read by any thread.
 */
#pragma once

#include <stdio.h>

#include <starpu.h>

#include "core/exec/runtime.h"
#include "core/job/tasks.h"

struct orr_worker;

/* Converts µs of the machine's clock. */
static inline struct timespec orr_profile_time(double us)
{
    double seconds = (double)(long long)(us / 1e6);

    return (struct timespec){.tv_sec = (time_t)seconds,
                             .tv_nsec = (long)((us - seconds * 1e6) * 1e3)};
}

static inline bool orr_profile_is_on(struct orr_runtime *rt)
{
    return atomic_load_explicit(&rt->tasks->profiling, memory_order_relaxed);
}

/* Registers it, switched on where the configuration says so. Before workers begin. */
void orr_profile_observe(struct orr_runtime *rt);

/* Returns whether it was on. Any thread. */
bool orr_profile_switch(struct orr_runtime *rt, bool on);

/* Everything is 0 from `now` on. */
void orr_worker_profile_reset(struct orr_worker *worker, double now);

/* What was noted since the last reset, up to `now`. */
void orr_worker_profile_read(struct orr_worker *worker, double now,
                             struct starpu_profiling_worker_info *ret);

/* Prints how many tasks each worker has executed and, if profiling is on, its times. */
void orr_worker_profiles_print(struct orr_runtime *rt, FILE *out);

/* At the end of a run: prints the same, and how many ms workers slept, if
 * STARPU_WORKER_STATS and STARPU_IDLE_FILE ask for them. */
void orr_worker_profiles_report(struct orr_runtime *rt);

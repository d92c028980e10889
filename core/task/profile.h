/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/profile.h - the times of a task's stages, for applications that
 * switch profiling on. Each stage is noted by the context that the task is
 * with; a task without profiling_info costs a test.
 */
#pragma once

#include <stdlib.h>

#include <starpu.h>

#include "core/runtime.h"

/* Of µs on the machine's clock. */
static inline struct timespec orr_profile_time(double us)
{
    double seconds = (double)(long long)(us / 1e6);

    return (struct timespec){.tv_sec = (time_t)seconds,
                             .tv_nsec = (long)((us - seconds * 1e6) * 1e3)};
}

static inline bool orr_profile_is_on(struct orr_runtime *rt)
{
    return atomic_load_explicit(&rt->profiling, memory_order_relaxed);
}

/* The task is submitted: it gets a structure if profiling is on and it has none
 * of its own. Without memory it stays without. */
static inline void orr_profile_begin(struct orr_runtime *rt,
                                     struct starpu_task *task)
{
    if (!orr_profile_is_on(rt))
        return;
    if (!task->profiling_info)
        task->profiling_info = calloc(1, sizeof(*task->profiling_info));
    if (task->profiling_info)
        task->profiling_info->submit_time =
            orr_profile_time(orr_exec_now(rt->exec));
}

/* Notes that a stage begins or ends now: ORR_PROFILE(rt, task, pop_end_time).
 */
#define ORR_PROFILE(rt, task, field)                                           \
    do {                                                                       \
        struct starpu_profiling_task_info *info_ = (task)->profiling_info;     \
        if (info_)                                                             \
            info_->field = orr_profile_time(orr_exec_now((rt)->exec));         \
    } while (0)

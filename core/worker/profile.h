/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/worker/profile.h - what workers did, for applications that switch
 * profiling on. Workers note it under their lock, any thread reads it.
 */
#pragma once

#include <stdio.h>

#include <starpu.h>

#include "core/worker/worker.h"

/* The worker enters a state at `now` (µs); its lock is free. */
void orr_worker_profile_state(struct orr_worker *worker,
                              enum orr_worker_state state, double now);

/* A kernel took `kernel_us`, and its task counts `flops`. Its lock is free. */
void orr_worker_profile_task(struct orr_worker *worker, double kernel_us,
                             double flops);

/* A task took so many joules. Its lock is free. */
void orr_worker_profile_energy(struct orr_worker *worker, double joules);

/* Everything is 0 from `now` on. */
void orr_worker_profile_reset(struct orr_worker *worker, double now);

/* What was noted since the last reset, up to `now`. */
void orr_worker_profile_read(struct orr_worker *worker, double now,
                             struct starpu_profiling_worker_info *ret);

/* Of all workers: their tasks, and while profiling is on their times. */
void orr_worker_profiles_print(struct orr_runtime *rt, FILE *out);

/* At the end of a run: that, and the ms that they slept, as STARPU_WORKER_STATS and
 * STARPU_IDLE_FILE ask for. */
void orr_worker_profiles_report(struct orr_runtime *rt);

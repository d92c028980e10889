/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/threads.h - the policy of records of OpenMP programs, where none is named: workers
 * are the program's threads. A task that waits for others keeps its thread, which executes
 * meanwhile what OpenMP's runtime lets it execute; then it goes on there. Simulated, one
 * thread.
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

#include "record/call.h"

struct threads;
struct strand;

/* The policy's name, which may be asked for as any other one's. */
#define PLAYER_THREADS_NAME "openmp-threads"

/* `newest_first`: a thread that waits for nothing takes what it has made last, then the oldest
 * of another one; else the oldest of all. NULL without memory. */
struct threads *player_threads_new(bool newest_first);

/* After the run. Accepts NULL. */
void player_threads_free(struct threads *threads);

/* For the starpu_conf of the run. Valid as long as `threads`, of which one is run at a time. */
struct starpu_sched_policy *player_threads_policy(struct threads *threads);

/* The task that `call` submits: what it resumes and is under. NULL without memory, or for
 * numbers of no task before it. Stays the player's. */
struct strand *player_threads_enter(struct threads *threads,
                                    const struct orr_call *call);

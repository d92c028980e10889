/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/direct.h - jobs that go past the policy: any processor can run them, main
 * memory is the only node, no observer is on. Such a task costs only its order, its
 * data and its end. There is a queue per worker; a worker whose queue is empty takes
 * from the others. By priority, then the deepest and the oldest first.
 *
 * Real machines only. Any context, no lock held.
 */
#pragma once

#include <stdbool.h>

struct orr_direct;
struct orr_job;
struct orr_runtime;
struct orr_worker;

/* Makes the queues, if there are none yet; they stay until the run ends. Main.
 * Errors: -ENOMEM. */
int orr_direct_init(struct orr_runtime *rt);
void orr_direct_free(struct orr_runtime *rt);

/* Whether a task that any processor can run may go that way now: orr_job_direct. */
bool orr_direct_may(struct orr_runtime *rt);

/* The worker's next job, NULL: there is none, or it takes none. */
struct orr_job *orr_direct_pop(struct orr_runtime *rt,
                               struct orr_worker *worker);

/* Whether jobs are queued, as of a moment ago; a worker looks, if one sleeps. */
bool orr_direct_any(struct orr_runtime *rt);
void orr_direct_wake(struct orr_runtime *rt);

/* A worker that finds no job calls it, and looks once more: it may submit one. Main, while
 * the workers have nothing of it to do; NULL: none, and no worker is in it any more on
 * return. Not from the source. */
void orr_direct_set_source(struct orr_runtime *rt, void (*source)(void *arg), void *arg);

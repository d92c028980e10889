/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/closures.h - deferred tasks that are nothing but a call: no data, no model, no
 * priority. No task of the runtime is made for one. Each processor has a list of those that
 * were created on it. A task that waits for its children executes these itself, the newest
 * first; a worker that has nothing to do takes the oldest ones of any processor, in a task
 * of the runtime that executes as many as it finds.
 *
 * Real machines only, while nobody watches tasks (core/sched/direct.h).
 */
#pragma once

#include <stdbool.h>

struct orr_omp;
struct orr_omp_count;
struct orr_omp_task;
struct orr_runtime;

/* Makes the lists; main, before the first task. Errors: -ENOMEM. */
int orr_omp_closures_init(struct orr_omp *omp);
void orr_omp_closures_done(struct orr_omp *omp);

/* Puts a task into the list of the caller's processor, if it can be put there: the caller
 * is in a team of all processors, on one of them, and the list has room. False: it cannot. */
bool orr_omp_closure_defer(struct orr_omp_task *parent, struct orr_omp_task *task, void *arg,
                           bool frees_arg);

/* The caller, whose task is `self`, waits for `count`, which counts its children: executes
 * those of them that are the newest in its processor's list. */
void orr_omp_closures_run_counted(struct orr_omp_task *self,
                                  const struct orr_omp_count *count);

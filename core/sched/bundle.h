/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/bundle.h - groups of tasks that policies place as if they were one:
 * durations are estimated for all members together that no policy has got yet. Any
 * context; a lock per bundle (rank ORR_RANK_PLANS: estimates take others).
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

/* A bundle that is open and has no members; NULL without memory. It is freed once it is
 * closed and empty. */
starpu_task_bundle_t orr_bundle_new(void);

/* Errors: -EPERM closed, -EINVAL the task was submitted, -ENOMEM. */
int orr_bundle_insert(starpu_task_bundle_t bundle, struct starpu_task *task);

/* -ENOENT: it is no member. */
int orr_bundle_remove(starpu_task_bundle_t bundle, struct starpu_task *task);

/* To be called when a policy gets the member. */
void orr_bundle_note_push(starpu_task_bundle_t bundle,
                          const struct starpu_task *task);

void orr_bundle_close(starpu_task_bundle_t bundle);

/* Sums up of(task, arg) over the members, if `waiting` only over those that no policy
 * has got yet; what is not positive counts as 0. `of` may not block. */
double orr_bundle_sum(starpu_task_bundle_t bundle, bool waiting,
                      double (*of)(struct starpu_task *task, void *arg),
                      void *arg);

/* µs to bring each datum that some waiting member reads, or the member `also`, to
 * the node, once. */
double orr_bundle_transfer_time(starpu_task_bundle_t bundle, unsigned node,
                                const struct starpu_task *also);

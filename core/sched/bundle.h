/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/bundle.h - groups of tasks that policies place as if they were one:
 * what they take is estimated for all members that no policy has got yet. Any
 * context; a lock per bundle (rank ORR_RANK_PLANS: estimates take others).
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

/* Without members, open. NULL without memory. It is freed once it is closed and
 * empty. */
starpu_task_bundle_t orr_bundle_new(void);

/* Errors: -EPERM closed, -EINVAL the task was submitted, -ENOMEM. */
int orr_bundle_insert(starpu_task_bundle_t bundle, struct starpu_task *task);

/* -ENOENT: it is no member. */
int orr_bundle_remove(starpu_task_bundle_t bundle, struct starpu_task *task);

/* A policy gets the member. */
void orr_bundle_note_push(starpu_task_bundle_t bundle,
                          const struct starpu_task *task);

void orr_bundle_close(starpu_task_bundle_t bundle);

/* Sums up of(task, arg) over the members, those only that no policy has got yet
 * if `waiting`; what is not positive counts as none. `of` may not block. */
double orr_bundle_sum(starpu_task_bundle_t bundle, bool waiting,
                      double (*of)(struct starpu_task *task, void *arg),
                      void *arg);

/* µs to bring each datum that some waiting member reads, or the member `also`, to
 * the node, once. */
double orr_bundle_transfer_time(starpu_task_bundle_t bundle, unsigned node,
                                const struct starpu_task *also);

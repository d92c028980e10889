/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/loop/suspend.h - tasks that wait inside of their kernels. The kernel's
 * stack stays as it is, its worker goes on with other tasks on a spare stack, and
 * the kernel goes on when it was woken and the worker is free: on the same thread.
 *
 * A stack is a context. All those of a worker take turns (orr_exec_ops.leave): one
 * runs, and is worker->context; others are kernels that wait; the rest are spare: each
 * has a loop of the worker that waits for its next turn. A wake of a context that is
 * not worker->context any more wakes that one as well: no wake is lost, since a loop
 * whose turn has come looks at everything once before it parks.
 *
 * Nothing of this is there before the first kernel waits.
 */
#pragma once

#include <stdbool.h>

#include "core/worker/worker.h"

/* Kernels of the run that wait are suspended from now on: orr_wait. */
void orr_suspend_init(struct orr_runtime *rt);

/* A suspended kernel that may go on, or NULL. In the worker's loop; nothing else runs
 * there. */
struct orr_context *orr_suspend_next(struct orr_worker *worker);

/* Lets the kernel go on. Returns when it has ended or waits once more. */
void orr_suspend_go_on(struct orr_worker *worker, struct orr_context *kernel);

/* The calling kernel lets up to n other jobs of its worker go first, and goes on when
 * there is none. It need not be woken. One of a worker's kernels at a time. */
void orr_suspend_yield(unsigned n);

/* Whether it may. */
bool orr_suspend_may_yield(void);

/* When the first of those that wait for a time goes on; µs, ORR_FOREVER. */
double orr_suspend_wakes_at(const struct orr_worker *worker);

/* The calling loop is to end on the worker's first stack: goes over to that one. Does
 * nothing there. */
void orr_suspend_leave_to_first(struct orr_worker *worker);

/* The worker gives up its thread: its spare stacks are not used any more, but stay,
 * since other contexts may still wake them. */
void orr_suspend_retire(struct orr_worker *worker);

/* Takes over stacks that are not used any more, and stay as those do. */
void orr_suspend_keep(struct orr_worker *worker, struct orr_context *stacks);

/* Frees them all; the worker is not woken any more. Any context. */
void orr_suspend_done(struct orr_worker *worker);

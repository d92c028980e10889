/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/loop/borrow.h - a context that is no worker takes the place of one that has
 * nothing to do, runs a task in it as its kernel, and gives it back: no other thread
 * has to be woken for that. While it is the worker it may wait as kernels do; the
 * worker's loop then goes on beside it, on its thread (suspend.h).
 *
 * A kernel that the worker has begun can lend the place as well: then the other context
 * executes what the task is for, whose own context waits until it is given back. So what
 * observes tasks sees an ordinary one.
 *
 * The seat says which context is the worker, and with it goes what is the worker's
 * [owner]. Its own loop offers it when it is about to wait, and takes it back before it
 * looks for anything. A worker that is not lendable never offers it. Real machines
 * only.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include <starpu.h>

#include "core/worker/worker.h"

/* What one context needs to borrow one worker again and again. */
struct orr_borrowing {
    struct orr_worker *worker; /* [const] */
    struct starpu_task task;   /* what it runs, and … */
    struct orr_job *job; /* … its job, which is always RUNNING, and holds its nest while
                          * nothing else does … */
    struct orr_kernel kernel; /* … and what of its kernel suspension looks at */
    struct orr_context *owner; /* whose turn it was on the worker's own thread */
    /* The worker's stacks that belong to its own thread while it is lent, and to the
     * borrower else: those on which nothing runs, and the first. */
    struct orr_context *spares, *first;
    unsigned cache; /* the borrower's */
    struct orr_job *lent; /* of the kernel that lends the place, and … */
    atomic_bool returned; /* … whether it has that back: give_back with lend */
};

/* Prepares it for tasks of that codelet. Errors: -ENOMEM. */
int orr_borrowing_init(struct orr_borrowing *b, struct orr_worker *worker,
                       struct starpu_codelet *cl);

/* Nothing is borrowed. By the borrower, before the workers stop. */
void orr_borrowing_done(struct orr_borrowing *b);

/* Main, which calls it, is the worker, on its processor, and in the kernel of b->task.
 * False: the worker has something to do, or the run's tasks are watched, of which this
 * is none. */
bool orr_worker_borrow(struct orr_borrowing *b);

/* The kernel has ended. Waits for others that were begun on this thread. */
void orr_worker_give_back(struct orr_borrowing *b);

/* The calling kernel, of b->worker, lends its place to the context that `tell` wakes: that
 * one calls orr_kernel_borrow, then orr_kernel_give_back, before this returns. False, and
 * nothing is told: other kernels of the worker wait, or it is lent. */
bool orr_kernel_lend(struct orr_borrowing *b, void (*tell)(void *arg),
                     void *arg);

/* The calling context, which is no worker, is in that kernel from now on. */
void orr_kernel_borrow(struct orr_borrowing *b);

/* It is so no more. Waits for kernels that were begun on this thread. */
void orr_kernel_give_back(struct orr_borrowing *b);

/* The calling loop may go on, and looks at everything; false: its worker is lent, it
 * waits. */
static inline bool orr_seat_take(struct orr_worker *worker)
{
    unsigned expected = ORR_SEAT_FREE;

    if (!orr_self->borrows) {
        if (atomic_load_explicit(&worker->seat, memory_order_relaxed) ==
            ORR_SEAT_TAKEN)
            return true;
        if (!atomic_compare_exchange_strong(&worker->seat, &expected,
                                            ORR_SEAT_TAKEN))
            return false;
    }
    if (atomic_load_explicit(&worker->called, memory_order_relaxed))
        atomic_exchange(&worker->called, false);
    return true;
}

/* The same for a loop that was woken; if another context has the seat, that one passes
 * the wake on. */
static inline bool orr_seat_take_woken(struct orr_worker *worker)
{
    if (orr_seat_take(worker))
        return true;
    atomic_store(&worker->called, true);
    return orr_seat_take(worker); /* it may have come back before that */
}

/* The worker's own loop is about to wait; others are no such loop. */
static inline void orr_seat_offer(struct orr_worker *worker)
{
    if (atomic_load_explicit(&worker->lendable, memory_order_relaxed) &&
        atomic_load_explicit(&worker->seat, memory_order_relaxed) ==
            ORR_SEAT_TAKEN)
        atomic_store_explicit(&worker->seat, ORR_SEAT_FREE,
                              memory_order_release);
}

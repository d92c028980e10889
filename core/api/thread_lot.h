/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/thread_lot.h - waiting for POSIX objects inside of kernels, on the real
 * machine.
 */
#pragma once

#include <stdbool.h>

#include "core/base/wait.h"

/* The wait of a kernel, or of a thread that is in no kernel, whose context is NULL
 * here. */
struct orr_lot_waiter {
    struct orr_waiter waiter; /* first */
    const void *object;
};

/* Whether the caller is a kernel of the real machine that may leave its worker. */
static inline bool orr_lot_applies(void)
{
    return orr_self && orr_self->suspends_at &&
           orr_self->suspends_at == orr_self->frozen &&
           !orr_self->exec->one_thread;
}

/* The caller is going to wait for the object. After this call it tries once more; then
 * it calls orr_lot_wait or orr_lot_leave. */
void orr_lot_enter(struct orr_lot_waiter *waiter, const void *object);

/* Waits until it is woken, or in a kernel until the date, and leaves; returns
 * whether it was woken. `noun` names the object in reports. */
bool orr_lot_wait(struct orr_lot_waiter *waiter, const char *noun,
                  double until_us);

/* Does not wait; returns whether it was woken before. */
bool orr_lot_leave(struct orr_lot_waiter *waiter);

/* The object was given back: wakes `n` of those that wait for it, the oldest first. A
 * few instructions if no kernel waits for any object. */
void orr_lot_wake(const void *object, unsigned n);

/* A barrier: waits until `count` kernels or threads have arrived; returns true for the
 * last one. *arrived is the number of those that wait. */
bool orr_lot_meet(const void *object, unsigned *arrived, unsigned count);

/* Waits until try_it(arg) returns anything but EBUSY, which is tried whenever the object
 * was given back, and returns that. */
int orr_lot_await(const void *object, const char *noun,
                  int (*try_it)(void *arg), void *arg);

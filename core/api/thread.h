/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/thread.h - what the functions behind starpu_thread.h share. On the
 * real machine they forward to POSIX; simulated, everything belongs to one OS
 * thread and waiting is parking.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/wait.h"

/* Whether the caller waits in virtual time. */
static inline bool orr_waits_virtually(void)
{
    return orr_self && orr_self->exec->one_thread;
}

/* Simulated: lets that much time pass for the caller, and with it for all others;
 * false, at once, where it must not wait. */
bool orr_pass_time(double us, const struct orr_awaited *awaited);

/* Simulated: the caller enters the queue and waits until it is released, or the date,
 * in virtual µs, has come: false, and it is not in the queue any more. */
static inline bool orr_thread_wait(struct orr_waiters *waiters,
                                   const struct orr_awaited *awaited,
                                   double until_us)
{
    struct orr_waiter self;

    orr_waiters_add(waiters, &self);
    if (orr_wait_until(&self, awaited, until_us))
        return true;
    (void)orr_waiters_remove(waiters, &self);
    return false;
}

/* Simulated: the first one goes on; false: there is none. Never switches. */
static inline bool orr_thread_release(struct orr_waiters *waiters)
{
    struct orr_waiter *first = orr_waiters_take(waiters);

    if (first)
        orr_waiter_release(first);
    return first != NULL;
}

/* Objects of starpu_thread.h are 16 words: the POSIX object in the first
 * eight, untouched while simulated, and ours behind it. POSIX's own may not be
 * all zero after use, and words that no static initialiser names may hold
 * anything, so ours is valid only with the mark of its address. */
enum { ORR_OBJECT_BEHIND = 8 };
static const long orr_object_mark = 0x6f72726572790000;

/* Our record of six words at most in an object, all zero at first sight. */
static inline void *orr_object_record(long *opaque)
{
    long mark = (long)(uintptr_t)opaque ^ orr_object_mark;
    long *words = opaque + ORR_OBJECT_BEHIND;

    if (words[0] != mark) {
        memset(words, 0, 8 * sizeof(*words));
        words[0] = mark;
    }
    return words + 1;
}

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

#include "core/base/exec.h"

/* Whether the caller waits in virtual time. */
static inline bool orr_waits_virtually(void)
{
    return orr_self && orr_self->exec->one_thread;
}

/* Simulated: lets that much time pass for the caller, and with it for all others;
 * false, at once, where it must not wait. */
bool orr_pass_time(double us, const char *waits_for);

/* A context that waits for another; on the stack of the waiting one. */
struct orr_waiter {
    struct orr_context *context;
    struct orr_waiter *next;
    bool granted; /* the thing is ours, the wait is over */
    bool writes;  /* read-write locks: the requested right */
};

/* First come, first served. All-zero is empty. */
struct orr_waiters {
    struct orr_waiter *first, *last;
};

/* Appends the calling context and blocks until it was granted or the date, in
 * virtual µs, has come. Returns false for the latter. `what` names the wait in
 * reports. */
bool orr_waiters_wait(struct orr_waiters *waiters, struct orr_waiter *self,
                      const char *what, double until_us);

/* Takes the first waiter out, grants and wakes it; NULL without one. Never
 * switches. */
struct orr_waiter *orr_waiters_grant(struct orr_waiters *waiters);

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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/wait.h - how OpenMP's constructs wait: for a number to become 0, for
 * each other, for a turn. Who waits suspends its task. Any context that may block.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "core/base/exec.h"

/* Somebody who waits, on its stack. */
struct orr_omp_waiter {
    struct orr_omp_waiter *next;
    struct orr_context *context;
    atomic_bool granted;
    union {
        unsigned long long turn; /* for which it waits … */
        const void *owner;       /* … or who it is, to locks */
    };
};

void orr_omp_waiter_init(struct orr_omp_waiter *self);

/* Waits until it is granted; `what` is for messages. With `soon` it looks for a
 * moment first, on machines where that is cheaper. */
void orr_omp_wait(struct orr_omp_waiter *self, const char *what, bool soon);

/* It may go on; its stack may be gone afterwards. */
void orr_omp_grant(struct orr_omp_waiter *waiter);

/* All of a list. */
void orr_omp_grant_all(struct orr_omp_waiter *first);

/* --- a number of things that have not ended, for which one may wait --- */

/* Zeroed: none. */
struct orr_omp_count {
    atomic_ulong twice;            /* the number, and 1 if somebody waits */
    struct orr_omp_waiter *waiter; /* published by that */
};

/* One more. While somebody waits, only by one that is counted. */
void orr_omp_count_up(struct orr_omp_count *count);

/* One less; nothing of the count may be used afterwards. */
void orr_omp_count_down(struct orr_omp_count *count);

/* Until there is none. One at a time. */
void orr_omp_count_wait(struct orr_omp_count *count, const char *what);

/* --- n threads that meet again and again, when no task is left --- */

struct orr_omp_meeting {
    unsigned nthreads;    /* [const] */
    atomic_ulong missing; /* threads that have not come, tasks under way */
    _Atomic(struct orr_omp_waiter *) waiters;
};

void orr_omp_meeting_init(struct orr_omp_meeting *meeting, unsigned nthreads);

/* A task more, by a thread or a task of the team. */
void orr_omp_meeting_expect(struct orr_omp_meeting *meeting);

/* How many threads have not come and tasks have not ended, as of a moment ago. */
unsigned long orr_omp_meeting_missing(const struct orr_omp_meeting *meeting);

/* A task less, or a thread that does not wait. Nothing of the meeting may be used
 * afterwards, since that may be over. */
void orr_omp_meeting_leave(struct orr_omp_meeting *meeting);

/* A thread has come, and waits for all others and all tasks. */
void orr_omp_meeting_wait(struct orr_omp_meeting *meeting, bool soon);

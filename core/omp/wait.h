/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/wait.h - how OpenMP's constructs wait: for a number to become 0, for
 * each other, for a turn. Who waits suspends its task. Any context that may block.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/exec.h"

/* How often who expects something soon looks for it: some ten microseconds. */
#define ORR_OMP_SPINS 1000u

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
    /* How often they have met. Who waits spins for it to change, alone in a line of
     * the cache, or is in … */
    _Alignas(64) atomic_ulong round;
    /* Threads that have not come, and tasks under way times ORR_OMP_A_TASK. */
    _Alignas(64) _Atomic uint64_t missing;
    unsigned nthreads; /* [const] */
    /* … the list of that round, which is closed when it ends; of two in turn. */
    _Atomic(struct orr_omp_waiter *) waiters[2];
};

#define ORR_OMP_A_TASK (UINT64_C(1) << 32)

void orr_omp_meeting_init(struct orr_omp_meeting *meeting, unsigned nthreads);

/* A task more, by a thread or a task of the team. */
void orr_omp_meeting_expect(struct orr_omp_meeting *meeting);

/* How many tasks have not ended, as of a moment ago. */
unsigned long orr_omp_meeting_tasks(const struct orr_omp_meeting *meeting);

/* A task less; a thread that does not wait. Nothing of the meeting may be used
 * afterwards, since that may be over. */
void orr_omp_meeting_task_ended(struct orr_omp_meeting *meeting);
void orr_omp_meeting_leave(struct orr_omp_meeting *meeting);

/* A thread has come, and waits for all others and all tasks. Where only threads are
 * missing it spins so often first. */
void orr_omp_meeting_wait(struct orr_omp_meeting *meeting, unsigned spins);

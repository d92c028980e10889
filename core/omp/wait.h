/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/wait.h - what OpenMP's constructs wait for: a number that becomes 0, or each
 * other. A thread that waits suspends its task. Any context that may block.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/wait.h"

/* How often a thread looks for what it expects in a moment: some ten microseconds. */
#define ORR_OMP_SPINS 1000u

/* --- a number of things that have not ended, for which one may wait --- */

/* Zeroed: none. */
struct orr_omp_count {
    atomic_ulong twice;            /* the number, and 1 if a thread waits */
    struct orr_waiter *waiter;     /* published by that */
};

/* One more. While a thread waits, only by one that is counted. */
void orr_omp_count_up(struct orr_omp_count *count);

/* One less; nothing of the count may be used afterwards. */
void orr_omp_count_down(struct orr_omp_count *count);

/* Whether it is more than 0, as of a moment ago. */
static inline bool orr_omp_count_is_waited(const struct orr_omp_count *count)
{
    return atomic_load_explicit(&count->twice, memory_order_acquire) > 0;
}

/* Waits until the number is 0; one thread at a time. `of` says what is counted, for
 * reports: "tasks that it has created". */
void orr_omp_count_wait(struct orr_omp_count *count, const char *of);

/* --- n threads that meet again and again, when no task is left --- */

struct orr_omp_meeting {
    /* How often they have met, alone in a line of the cache. A thread that waits spins
     * until it changes, or is in … */
    _Alignas(64) atomic_ulong round;
    /* Threads that have not come, and tasks under way times ORR_OMP_A_TASK. */
    _Alignas(64) _Atomic uint64_t missing;
    unsigned nthreads; /* [const] */
    /* … the list of that round, which is closed when it ends; of two in turn. */
    _Atomic(struct orr_waiter *) waiters[2];
};

#define ORR_OMP_A_TASK (UINT64_C(1) << 32)

void orr_omp_meeting_init(struct orr_omp_meeting *meeting, unsigned nthreads);

/* There is one more task; called by a thread or a task of the team. */
void orr_omp_meeting_expect(struct orr_omp_meeting *meeting);

/* How many tasks have not ended, as of a moment ago. */
unsigned long orr_omp_meeting_tasks(const struct orr_omp_meeting *meeting);

/* A task has ended; a thread has come and does not wait. The caller may not use the
 * meeting afterwards, since it may be over. */
void orr_omp_meeting_task_ended(struct orr_omp_meeting *meeting);
void orr_omp_meeting_leave(struct orr_omp_meeting *meeting);

/* The calling thread has come, and waits for all others and all tasks. If only threads
 * are missing it spins `spins` times first. */
void orr_omp_meeting_wait(struct orr_omp_meeting *meeting, unsigned spins);

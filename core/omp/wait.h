/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/wait.h - what OpenMP's constructs wait for: a number that becomes 0, each
 * other. Who waits suspends its task. Any context that may block.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/wait.h"

/* How often who expects something soon looks for it: some ten microseconds. */
#define ORR_OMP_SPINS 1000u

/* --- a number of things that have not ended, for which one may wait --- */

/* Zeroed: none. */
struct orr_omp_count {
    atomic_ulong twice;            /* the number, and 1 if somebody waits */
    struct orr_waiter *waiter;     /* published by that */
};

/* One more. While somebody waits, only by one that is counted. */
void orr_omp_count_up(struct orr_omp_count *count);

/* One less; nothing of the count may be used afterwards. */
void orr_omp_count_down(struct orr_omp_count *count);

/* Until there is none. One at a time. `of` says of what, for reports: "tasks that
 * it has created". */
void orr_omp_count_wait(struct orr_omp_count *count, const char *of);

/* --- n threads that meet again and again, when no task is left --- */

struct orr_omp_meeting {
    /* How often they have met. Who waits spins for it to change, alone in a line of
     * the cache, or is in … */
    _Alignas(64) atomic_ulong round;
    /* Threads that have not come, and tasks under way times ORR_OMP_A_TASK. */
    _Alignas(64) _Atomic uint64_t missing;
    unsigned nthreads; /* [const] */
    /* … the list of that round, which is closed when it ends; of two in turn. */
    _Atomic(struct orr_waiter *) waiters[2];
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

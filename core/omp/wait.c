/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/wait.c - see wait.h. */
#include "core/omp/wait.h"

#include <stdio.h>

/* A thread that spins looks at the meeting's tasks once in so many looks at its round. */
enum { LOOKS_FOR_TASKS = 8 };

/* --- counts --- */

void orr_omp_count_up(struct orr_omp_count *count)
{
    atomic_fetch_add_explicit(&count->twice, 2, memory_order_relaxed);
}

void orr_omp_count_down(struct orr_omp_count *count)
{
    struct orr_waiter *waiter;

    /* The task that waits goes on when it is released, not when it sees 0, so the count
     * still exists here. */
    if (atomic_fetch_sub_explicit(&count->twice, 2, memory_order_acq_rel) !=
        (2 | 1))
        return;
    waiter = count->waiter;
    atomic_store_explicit(&count->twice, 0, memory_order_relaxed);
    orr_waiter_release(waiter);
}

static void omp_count_describe(const struct orr_awaited *awaited, char *text,
                               size_t size)
{
    const struct orr_omp_count *count = awaited->object;

    snprintf(text, size, "%lu %s",
             atomic_load_explicit(&count->twice, memory_order_relaxed) / 2,
             awaited->noun);
}

void orr_omp_count_wait(struct orr_omp_count *count, const char *of)
{
    const struct orr_awaited awaited = {
        .noun = of, .describe = omp_count_describe, .object = count};
    struct orr_waiter self;

    if (atomic_load_explicit(&count->twice, memory_order_acquire) == 0)
        return;
    orr_waiter_init(&self);
    count->waiter = &self;
    if (atomic_fetch_add_explicit(&count->twice, 1, memory_order_acq_rel) == 0)
        atomic_store_explicit(&count->twice, 0, memory_order_relaxed);
    else
        orr_wait(&self, &awaited);
}

/* --- meetings --- */

/* Stands for the list of a round that is over. */
static const struct orr_waiter closed_list;
#define CLOSED ((struct orr_waiter *)(uintptr_t)&closed_list)

void orr_omp_meeting_init(struct orr_omp_meeting *meeting, unsigned nthreads)
{
    meeting->nthreads = nthreads;
    atomic_init(&meeting->round, 0);
    atomic_init(&meeting->missing, nthreads);
    atomic_init(&meeting->waiters[0], NULL);
    atomic_init(&meeting->waiters[1], NULL);
}

void orr_omp_meeting_expect(struct orr_omp_meeting *meeting)
{
    atomic_fetch_add_explicit(&meeting->missing, ORR_OMP_A_TASK,
                              memory_order_relaxed);
}

unsigned long orr_omp_meeting_tasks(const struct orr_omp_meeting *meeting)
{
    return atomic_load_explicit(&meeting->missing, memory_order_relaxed) /
           ORR_OMP_A_TASK;
}

/* The list as a queue: the one that came first goes on first. */
static struct orr_waiters meeting_queue(struct orr_waiter *newest)
{
    struct orr_waiters queue = {NULL};

    while (newest) {
        struct orr_waiter *next = newest->next;

        orr_waiters_prepend(&queue, newest);
        newest = next;
    }
    return queue;
}

/* No thread and no task is missing. The next round is set up before the threads go on.
 * All of them have left the round before this one, so its list serves for the next
 * round. */
static void meeting_end_round(struct orr_omp_meeting *meeting)
{
    unsigned long round =
        atomic_load_explicit(&meeting->round, memory_order_relaxed);
    struct orr_waiter *waiters = atomic_exchange_explicit(
        &meeting->waiters[round % 2], CLOSED, memory_order_acq_rel);

    atomic_store_explicit(&meeting->waiters[(round + 1) % 2], NULL,
                          memory_order_relaxed);
    atomic_store_explicit(&meeting->missing, meeting->nthreads,
                          memory_order_relaxed);
    atomic_store_explicit(&meeting->round, round + 1, memory_order_release);
    orr_waiters_release(meeting_queue(waiters));
}

/* Takes n off what is missing; returns whether that was all, which ends the round. */
static bool meeting_arrive(struct orr_omp_meeting *meeting, uint64_t n)
{
    if (atomic_fetch_sub_explicit(&meeting->missing, n, memory_order_acq_rel) !=
        n)
        return false;
    meeting_end_round(meeting);
    return true;
}

void orr_omp_meeting_task_ended(struct orr_omp_meeting *meeting)
{
    (void)meeting_arrive(meeting, ORR_OMP_A_TASK);
}

void orr_omp_meeting_leave(struct orr_omp_meeting *meeting)
{
    (void)meeting_arrive(meeting, 1);
}

static bool meeting_round_is_over(const struct orr_omp_meeting *meeting,
                                  unsigned long round)
{
    return atomic_load_explicit(&meeting->round, memory_order_acquire) != round;
}

/* Enters the round's list of waiters; false: the round is over. */
static bool enter_list(struct orr_omp_meeting *meeting, unsigned long round,
                       struct orr_waiter *self)
{
    _Atomic(struct orr_waiter *) *list = &meeting->waiters[round % 2];

    orr_waiter_init(self);
    self->next = atomic_load_explicit(list, memory_order_relaxed);
    do
        if (self->next == CLOSED)
            return false;
    while (!atomic_compare_exchange_weak_explicit(list, &self->next, self,
                                                  memory_order_release,
                                                  memory_order_relaxed));
    return true;
}

static void meeting_describe(const struct orr_awaited *awaited, char *text,
                             size_t size)
{
    const struct orr_omp_meeting *meeting = awaited->object;
    uint64_t missing =
        atomic_load_explicit(&meeting->missing, memory_order_relaxed);

    snprintf(text, size, "%u of %u threads and %u tasks of its team",
             (unsigned)(missing % ORR_OMP_A_TASK), meeting->nthreads,
             (unsigned)(missing / ORR_OMP_A_TASK));
}

void orr_omp_meeting_wait(struct orr_omp_meeting *meeting, unsigned spins)
{
    const struct orr_awaited awaited = {.noun = "threads and tasks of its team",
                                        .describe = meeting_describe,
                                        .object = meeting};

    /* The round cannot end before the caller has come. */
    unsigned long round =
        atomic_load_explicit(&meeting->round, memory_order_relaxed);
    struct orr_waiter self;

    if (meeting_arrive(meeting, 1))
        return;
    for (; spins > 0; spins--) {
        if (meeting_round_is_over(meeting, round))
            return;
        /* Threads that come write that line, so it is read rarely. */
        if (spins % LOOKS_FOR_TASKS == 0 && orr_omp_meeting_tasks(meeting) > 0)
            break;
        orr_exec_pause();
    }
    if (enter_list(meeting, round, &self))
        orr_wait(&self, &awaited);
    else /* the thread that closed the list is about to end the round */
        ORR_SPIN_WHILE(!meeting_round_is_over(meeting, round));
}

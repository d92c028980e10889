/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/wait.c - see wait.h. */
#include "core/omp/wait.h"

/* A few microseconds. After that the worker looks for other tasks, and at the same
 * time for the end of the wait, for a while longer. */
enum { LOOKS = 8 };

/* So many looks at the round of a meeting go before one at its tasks. */
enum { LOOKS_FOR_TASKS = 8 };

void orr_omp_waiter_init(struct orr_omp_waiter *self)
{
    self->context = orr_self;
    self->next = NULL;
    atomic_init(&self->granted, false);
}

static bool is_granted(struct orr_omp_waiter *self)
{
    return atomic_load_explicit(&self->granted, memory_order_acquire);
}

void orr_omp_wait(struct orr_omp_waiter *self, const char *what, bool soon)
{
    struct orr_exec *exec = orr_self->exec;
    const char *waited_for = orr_self->waits_for;

    for (unsigned n = 0; soon && n < LOOKS && !is_granted(self); n++)
        soon = exec->ops->linger(exec, n);
    orr_self->waits_for = what;
    /* A wait may end by a token that was meant for an earlier one. */
    while (!is_granted(self))
        orr_exec_wait(exec, ORR_FOREVER);
    orr_self->waits_for = waited_for;
}

void orr_omp_grant(struct orr_omp_waiter *waiter)
{
    struct orr_context *context = waiter->context;

    atomic_store_explicit(&waiter->granted, true, memory_order_release);
    context->exec->ops->wake(context->exec, context);
}

void orr_omp_grant_all(struct orr_omp_waiter *first)
{
    while (first) {
        struct orr_omp_waiter *next = first->next;

        orr_omp_grant(first);
        first = next;
    }
}

/* --- counts --- */

void orr_omp_count_up(struct orr_omp_count *count)
{
    atomic_fetch_add_explicit(&count->twice, 2, memory_order_relaxed);
}

void orr_omp_count_down(struct orr_omp_count *count)
{
    struct orr_omp_waiter *waiter;

    /* Who waits goes on when it is granted, not when it sees the number: so the
     * count is there until then. */
    if (atomic_fetch_sub_explicit(&count->twice, 2, memory_order_acq_rel) !=
        (2 | 1))
        return;
    waiter = count->waiter;
    atomic_store_explicit(&count->twice, 0, memory_order_relaxed);
    orr_omp_grant(waiter);
}

void orr_omp_count_wait(struct orr_omp_count *count, const char *what)
{
    struct orr_omp_waiter self;

    if (atomic_load_explicit(&count->twice, memory_order_acquire) == 0)
        return;
    orr_omp_waiter_init(&self);
    count->waiter = &self;
    if (atomic_fetch_add_explicit(&count->twice, 1, memory_order_acq_rel) == 0)
        atomic_store_explicit(&count->twice, 0, memory_order_relaxed);
    else
        orr_omp_wait(&self, what, false);
}

/* --- meetings --- */

/* In a list: its round is over. */
static const struct orr_omp_waiter closed_list;
#define CLOSED ((struct orr_omp_waiter *)(uintptr_t)&closed_list)

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

/* Whoever came first goes on first. */
static struct orr_omp_waiter *waiters_reversed(struct orr_omp_waiter *waiter)
{
    struct orr_omp_waiter *result = NULL;

    while (waiter) {
        struct orr_omp_waiter *next = waiter->next;

        waiter->next = result;
        result = waiter;
        waiter = next;
    }
    return result;
}

/* Nobody is missing: all go on, and the next round begins before they do. All have
 * left the one before, whose list becomes that of the next. */
static void meeting_end_round(struct orr_omp_meeting *meeting)
{
    unsigned long round =
        atomic_load_explicit(&meeting->round, memory_order_relaxed);
    struct orr_omp_waiter *waiters = atomic_exchange_explicit(
        &meeting->waiters[round % 2], CLOSED, memory_order_acq_rel);

    atomic_store_explicit(&meeting->waiters[(round + 1) % 2], NULL,
                          memory_order_relaxed);
    atomic_store_explicit(&meeting->missing, meeting->nthreads,
                          memory_order_relaxed);
    atomic_store_explicit(&meeting->round, round + 1, memory_order_release);
    orr_omp_grant_all(waiters_reversed(waiters));
}

/* Returns whether that was the last one. */
static bool come(struct orr_omp_meeting *meeting, uint64_t n)
{
    if (atomic_fetch_sub_explicit(&meeting->missing, n, memory_order_acq_rel) !=
        n)
        return false;
    meeting_end_round(meeting);
    return true;
}

void orr_omp_meeting_task_ended(struct orr_omp_meeting *meeting)
{
    (void)come(meeting, ORR_OMP_A_TASK);
}

void orr_omp_meeting_leave(struct orr_omp_meeting *meeting)
{
    (void)come(meeting, 1);
}

static bool meeting_round_is_over(const struct orr_omp_meeting *meeting,
                                  unsigned long round)
{
    return atomic_load_explicit(&meeting->round, memory_order_acquire) != round;
}

/* False: the round is over. */
static bool enter_list(struct orr_omp_meeting *meeting, unsigned long round,
                       struct orr_omp_waiter *self)
{
    _Atomic(struct orr_omp_waiter *) *list = &meeting->waiters[round % 2];

    orr_omp_waiter_init(self);
    self->next = atomic_load_explicit(list, memory_order_relaxed);
    do
        if (self->next == CLOSED)
            return false;
    while (!atomic_compare_exchange_weak_explicit(list, &self->next, self,
                                                  memory_order_release,
                                                  memory_order_relaxed));
    return true;
}

void orr_omp_meeting_wait(struct orr_omp_meeting *meeting, unsigned spins)
{
    /* Stays until the caller has come. */
    unsigned long round =
        atomic_load_explicit(&meeting->round, memory_order_relaxed);
    struct orr_omp_waiter self;

    if (come(meeting, 1))
        return;
    for (; spins > 0; spins--) {
        if (meeting_round_is_over(meeting, round))
            return;
        /* Who comes writes there: it is looked at rarely. */
        if (spins % LOOKS_FOR_TASKS == 0 && orr_omp_meeting_tasks(meeting) > 0)
            break;
        orr_exec_pause();
    }
    if (enter_list(meeting, round, &self))
        orr_omp_wait(&self, "the other threads of the team, and its tasks",
                     false);
    else
        while (!meeting_round_is_over(
            meeting, round)) /* whoever closed it is about to */
            orr_self->exec->ops->relax(orr_self->exec);
}

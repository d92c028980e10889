/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/wait.c - see wait.h. */
#include "core/omp/wait.h"

/* A few microseconds. After that the worker looks for other tasks, and at the same
 * time for the end of the wait, for a while longer. */
enum { LOOKS = 8 };

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
    if (context != orr_self) /* who comes last lets itself go as well */
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

void orr_omp_meeting_init(struct orr_omp_meeting *meeting, unsigned nthreads)
{
    meeting->nthreads = nthreads;
    atomic_init(&meeting->missing, nthreads);
    atomic_init(&meeting->waiters, NULL);
}

void orr_omp_meeting_expect(struct orr_omp_meeting *meeting)
{
    atomic_fetch_add_explicit(&meeting->missing, 1, memory_order_relaxed);
}

unsigned long orr_omp_meeting_missing(const struct orr_omp_meeting *meeting)
{
    return atomic_load_explicit(&meeting->missing, memory_order_relaxed);
}

/* Whoever came first goes on first. */
static struct orr_omp_waiter *reversed(struct orr_omp_waiter *waiter)
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

/* Nobody is missing: all go on, and the next meeting begins before they do. */
static void let_go(struct orr_omp_meeting *meeting)
{
    struct orr_omp_waiter *waiters = reversed(atomic_exchange_explicit(
        &meeting->waiters, NULL, memory_order_acquire));

    atomic_store_explicit(&meeting->missing, meeting->nthreads,
                          memory_order_relaxed);
    orr_omp_grant_all(waiters);
}

void orr_omp_meeting_leave(struct orr_omp_meeting *meeting)
{
    if (atomic_fetch_sub_explicit(&meeting->missing, 1, memory_order_acq_rel) ==
        1)
        let_go(meeting);
}

void orr_omp_meeting_wait(struct orr_omp_meeting *meeting, bool soon)
{
    struct orr_omp_waiter self;

    orr_omp_waiter_init(&self);
    self.next = atomic_load_explicit(&meeting->waiters, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&meeting->waiters, &self.next,
                                                  &self, memory_order_release,
                                                  memory_order_relaxed))
        ;
    orr_omp_meeting_leave(meeting);
    orr_omp_wait(&self, "the other threads of the team, and its tasks", soon);
}

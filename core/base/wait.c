/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/wait.c - see wait.h. */
#include "core/base/wait.h"

#include <assert.h>
#include <sched.h>
#include <stdio.h>

/* --- what is waited for --- */

void orr_awaited_write(const struct orr_awaited *awaited, char *text,
                       size_t size)
{
    if (awaited && awaited->describe)
        awaited->describe(awaited, text, size);
    else
        snprintf(text, size, "%s",
                 awaited ? awaited->noun : "something of its own");
}

void orr_awaited_write_address(const struct orr_awaited *awaited, char *text,
                               size_t size)
{
    snprintf(text, size, "%s at %p", awaited->noun, awaited->object);
}

/* A reader says that it reads, then looks; a context that goes on takes away what is
 * read, then looks for readers: what one of them reads stays until it has. */
bool orr_context_tell(struct orr_context *context, char *text, size_t size,
                      bool *ret_seen)
{
    const struct orr_awaited *awaited;

    __atomic_fetch_add(&context->readers, 1, __ATOMIC_SEQ_CST);
    awaited = __atomic_load_n(&context->awaited, __ATOMIC_SEQ_CST);
    if (awaited) {
        *ret_seen = __atomic_exchange_n(&context->seen, true, __ATOMIC_RELAXED);
        if (text)
            orr_awaited_write(awaited, text, size);
    }
    __atomic_fetch_sub(&context->readers, 1, __ATOMIC_RELEASE);
    return awaited != NULL;
}

/* Returns what the context waited for before: a loop of a worker may be around. */
static const struct orr_awaited *
awaited_begin(const struct orr_awaited *awaited)
{
    struct orr_context *self = orr_self;
    const struct orr_awaited *outer = self->awaited;

    assert(self->ranks == 0 || self->exec->one_thread); /* that says which */
    __atomic_store_n(&self->seen, false, __ATOMIC_RELAXED);
    __atomic_store_n(&self->awaited, awaited, __ATOMIC_RELEASE);
    return outer;
}

static void awaited_end(const struct orr_awaited *outer)
{
    struct orr_context *self = orr_self;

    __atomic_store_n(&self->awaited, outer, __ATOMIC_SEQ_CST);
    /* A thread that is no context, which writes a line. */
    while (__atomic_load_n(&self->readers, __ATOMIC_SEQ_CST) > 0)
        sched_yield();
}

/* --- one that waits --- */

void orr_waiter_init(struct orr_waiter *waiter)
{
    waiter->next = NULL;
    waiter->context = orr_self;
    atomic_init(&waiter->over, false);
}

void orr_waiter_release(struct orr_waiter *waiter)
{
    struct orr_context *context = waiter->context;

    atomic_store_explicit(&waiter->over, true, memory_order_release);
    /* The calling context itself may be about to park, or has not begun to wait. */
    if (context != orr_self || context->awaited)
        orr_context_wake(context);
}

/* The worker of a task goes on with others meanwhile; but not where it is between two
 * of them. */
static void park_or_suspend(struct orr_context *self, double until_us)
{
    struct orr_exec *exec = self->exec;

    if (self->suspends_at && self->frozen)
        exec->suspend(until_us);
    else
        exec->ops->park(exec, until_us);
}

void orr_wait(struct orr_waiter *waiter, const struct orr_awaited *awaited)
{
    (void)orr_wait_until(waiter, awaited, ORR_FOREVER);
}

bool orr_wait_until(struct orr_waiter *waiter,
                    const struct orr_awaited *awaited, double until_us)
{
    struct orr_context *self = orr_self;
    const struct orr_awaited *outer = awaited_begin(awaited);

    while (!orr_waiter_is_over(waiter) &&
           !(until_us < ORR_FOREVER && orr_exec_now(self->exec) >= until_us))
        park_or_suspend(self, until_us);
    awaited_end(outer);
    return orr_waiter_is_over(waiter);
}

/* --- queues of them --- */

void orr_waiters_add(struct orr_waiters *waiters, struct orr_waiter *waiter)
{
    orr_waiter_init(waiter);
    orr_waiters_prepend(waiters, waiter);
    waiters->last = waiter; /* in a ring the last comes before the first */
}

void orr_waiters_prepend(struct orr_waiters *waiters, struct orr_waiter *waiter)
{
    if (!waiters->last)
        waiters->last = waiter->next = waiter;
    waiter->next = waiters->last->next;
    waiters->last->next = waiter;
}

static struct orr_waiter *waiters_take_behind(struct orr_waiters *waiters,
                                              struct orr_waiter *before)
{
    struct orr_waiter *waiter = before->next;

    before->next = waiter->next;
    if (waiter == before)
        waiters->last = NULL;
    else if (waiter == waiters->last)
        waiters->last = before;
    return waiter;
}

struct orr_waiter *orr_waiters_take(struct orr_waiters *waiters)
{
    return waiters->last ? waiters_take_behind(waiters, waiters->last) : NULL;
}

bool orr_waiters_remove(struct orr_waiters *waiters, struct orr_waiter *waiter)
{
    struct orr_waiter *before = waiters->last;

    if (!before)
        return false;
    while (before->next != waiter) {
        before = before->next;
        if (before == waiters->last)
            return false;
    }
    (void)waiters_take_behind(waiters, before);
    return true;
}

void orr_waiters_release(struct orr_waiters taken)
{
    struct orr_waiter *waiter;

    while ((waiter = orr_waiters_take(&taken)))
        orr_waiter_release(waiter);
}

/* --- a context that looks at everything whenever it was woken --- */

void orr_context_park(const struct orr_awaited *awaited, double until_us)
{
    const struct orr_awaited *outer = awaited_begin(awaited);

    orr_self->exec->ops->park(orr_self->exec, until_us);
    awaited_end(outer);
}

void orr_context_sleep(const struct orr_awaited *awaited, double us)
{
    const struct orr_awaited *outer = awaited_begin(awaited);

    orr_self->exec->ops->sleep(orr_self->exec, us);
    awaited_end(outer);
}

void orr_context_work(const struct orr_awaited *awaited, double us)
{
    const struct orr_awaited *outer = awaited_begin(awaited);

    orr_self->exec->ops->work(orr_self->exec, us);
    awaited_end(outer);
}

void orr_context_join(const struct orr_awaited *awaited,
                      struct orr_context *context)
{
    const struct orr_awaited *outer = awaited_begin(awaited);

    orr_self->exec->ops->join(orr_self->exec, context);
    awaited_end(outer);
}

void orr_context_poll(const struct orr_awaited *awaited, double us)
{
    struct orr_exec *exec = orr_self->exec;
    const struct orr_awaited *outer = awaited_begin(awaited);

    if (orr_self->suspends_at && orr_self->frozen)
        exec->suspend(exec->ops->now(exec) + us);
    else
        exec->ops->sleep(exec, us);
    awaited_end(outer);
}

/* --- spinning --- */

void orr_spin(void)
{
    struct orr_exec *exec = orr_self ? orr_self->exec : NULL;

    if (!exec) {
        sched_yield();
        return;
    }
    assert(!exec->one_thread);
    exec->ops->relax(exec);
}

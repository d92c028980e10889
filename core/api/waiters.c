/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/waiters.c - see thread.h. Simulated contexts only. */
#include "core/api/thread.h"

#include <stddef.h>

static void append(struct orr_waiters *waiters, struct orr_waiter *waiter)
{
    waiter->next = NULL;
    if (waiters->last)
        waiters->last->next = waiter;
    else
        waiters->first = waiter;
    waiters->last = waiter;
}

static void take_out(struct orr_waiters *waiters, struct orr_waiter *waiter)
{
    struct orr_waiter **link = &waiters->first, *before = NULL;

    while (*link && *link != waiter) {
        before = *link;
        link = &before->next;
    }
    if (!*link)
        return;
    *link = waiter->next;
    if (waiters->last == waiter)
        waiters->last = before;
}

bool orr_waiters_wait(struct orr_waiters *waiters, struct orr_waiter *self,
                      const char *what, double until_us)
{
    struct orr_exec *exec = orr_self->exec;
    const char *waited_for = orr_self->waits_for;

    self->context = orr_self;
    self->granted = false;
    append(waiters, self);
    orr_self->waits_for = what;
    /* A park may end by a token that was meant for an earlier wait. */
    while (!self->granted && exec->ops->now(exec) < until_us)
        orr_exec_wait(exec, until_us);
    orr_self->waits_for = waited_for;
    if (!self->granted)
        take_out(waiters, self);
    return self->granted;
}

struct orr_waiter *orr_waiters_grant(struct orr_waiters *waiters)
{
    struct orr_waiter *first = waiters->first;
    struct orr_exec *exec;

    if (!first)
        return NULL;
    waiters->first = first->next;
    if (!waiters->first)
        waiters->last = NULL;
    first->granted = true;
    exec = first->context->exec;
    exec->ops->wake(exec, first->context);
    return first;
}

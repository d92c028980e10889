/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/lock.c - see lock.h. */
#include "core/omp/lock.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/exec/runtime.h"

/* A few microseconds. After that the worker looks for other tasks, and at the same
 * time for the end of the wait, for a while longer. */
enum { LOOKS = 8 };

struct lock_waiter {
    struct orr_waiter waiter; /* first */
    const void *owner;        /* of the waiter */
};

void orr_omp_lock_init(struct orr_omp_lock *lock, bool looks, const char *name)
{
    *lock = (struct orr_omp_lock){.looks = looks, .name = name};
    orr_lock_init(&lock->guard, ORR_RANK_RUNTIME);
}

bool orr_omp_lock_try(struct orr_omp_lock *lock, const void *owner)
{
    bool is_free;

    orr_lock(&lock->guard);
    is_free = lock->owner == NULL;
    if (is_free)
        lock->owner = owner;
    orr_unlock(&lock->guard);
    return is_free;
}

/* Enters the queue in the order of arrival; false: the lock is the caller's at
 * once. */
static bool enter_queue(struct orr_omp_lock *lock, const void *owner,
                        struct lock_waiter *self)
{
    bool waits;

    self->owner = owner;
    orr_lock(&lock->guard);
    waits = lock->owner != NULL;
    if (waits)
        orr_waiters_add(&lock->waiters, &self->waiter);
    else
        lock->owner = owner;
    orr_unlock(&lock->guard);
    return waits;
}

static void omp_lock_describe(const struct orr_awaited *awaited, char *text,
                              size_t size)
{
    const struct orr_omp_lock *lock = awaited->object;

    if (lock->name)
        snprintf(text, size, "the critical section `%.80s'", lock->name);
    else
        orr_awaited_write_address(awaited, text, size);
}

void orr_omp_lock_take(struct orr_omp_lock *lock, const void *owner,
                       const char *call)
{
    const struct orr_awaited awaited = {
        .noun = "the lock", .describe = omp_lock_describe, .object = lock};
    struct orr_exec *exec = orr_self->exec;
    struct lock_waiter self;

    if (orr_omp_lock_try(lock, owner))
        return;
    if (!orr_may_block(call))
        abort();
    if (!enter_queue(lock, owner, &self))
        return;
    for (unsigned n = 0; lock->looks && n < LOOKS; n++)
        if (orr_waiter_is_over(&self.waiter) || !exec->ops->linger(exec, n))
            break;
    orr_wait(&self.waiter, &awaited);
}

const void *orr_omp_lock_owner(struct orr_omp_lock *lock)
{
    const void *owner;

    orr_lock(&lock->guard);
    owner = lock->owner;
    orr_unlock(&lock->guard);
    return owner;
}

void orr_omp_lock_give(struct orr_omp_lock *lock)
{
    struct orr_waiter *next;

    orr_lock(&lock->guard);
    next = orr_waiters_take(&lock->waiters);
    lock->owner = next ? ((struct lock_waiter *)next)->owner : NULL;
    orr_unlock(&lock->guard);
    if (next)
        orr_waiter_release(next);
}

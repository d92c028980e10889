/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/lock.c - see lock.h. */
#include "core/omp/lock.h"

#include <stdlib.h>

#include "core/runtime.h"

void orr_omp_lock_init(struct orr_omp_lock *lock, bool looks)
{
    *lock = (struct orr_omp_lock){.looks = looks};
    orr_lock_init(&lock->guard, ORR_RANK_RUNTIME);
    lock->last = &lock->first;
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
                        struct orr_omp_waiter *self)
{
    bool waits;

    orr_omp_waiter_init(self);
    self->owner = owner;
    orr_lock(&lock->guard);
    waits = lock->owner != NULL;
    if (waits) {
        *lock->last = self;
        lock->last = &self->next;
    } else {
        lock->owner = owner;
    }
    orr_unlock(&lock->guard);
    return waits;
}

void orr_omp_lock_take(struct orr_omp_lock *lock, const void *owner,
                       const char *call)
{
    struct orr_omp_waiter self;

    if (orr_omp_lock_try(lock, owner))
        return;
    if (!orr_may_block(call))
        abort();
    if (enter_queue(lock, owner, &self))
        orr_omp_wait(&self, call, lock->looks);
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
    struct orr_omp_waiter *next;

    orr_lock(&lock->guard);
    next = lock->first;
    lock->owner = next ? next->owner : NULL;
    if (next)
        lock->first = next->next;
    if (!lock->first)
        lock->last = &lock->first;
    orr_unlock(&lock->guard);
    if (next)
        orr_omp_grant(next);
}

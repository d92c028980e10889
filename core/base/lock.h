/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/lock.h - core's own lock: short critical sections only.
 *
 * A context spins, then lets others run. Under simulation contexts switch
 * only inside blocking calls, which are refused while a lock is held, so
 * locking there is no more than the debug accounting. Ranks give the order
 * in which locks may be taken; debug builds count the locks held.
 */
#pragma once

#include <assert.h>
#include <stdatomic.h>

#include "core/base/exec.h"

/* A context that holds a lock may only take locks of a higher rank. */
enum orr_lock_rank {
    ORR_RANK_SUBMIT,  /* runtime: tags */
    ORR_RANK_HANDLE,  /* a data handle: dependencies and coherency */
    ORR_RANK_JOB,     /* a job: successors and waiters */
    ORR_RANK_NODE,    /* a memory node: requests, least recently used list */
    ORR_RANK_SCHED,   /* a policy's queues */
    ORR_RANK_WORKER,  /* a worker's mailbox */
    ORR_RANK_RUNTIME, /* counters' waiters, registries, cost rows */
    ORR_RANK_CACHE,   /* the free objects of those who are no worker */
    ORR_RANK_SLAB,    /* the depot of a slab */
};

struct orr_lock {
    atomic_uchar taken;
    unsigned char rank;
};

#define ORR_LOCK_INIT(r)                                                       \
    {                                                                          \
        0, (unsigned char)(r)                                                  \
    }

static inline void orr_lock_init(struct orr_lock *lock, enum orr_lock_rank rank)
{
    atomic_init(&lock->taken, 0);
    lock->rank = (unsigned char)rank;
}

/* Waits until the lock was let go, out of line. */
void orr_lock_wait(struct orr_lock *lock);

/* Takes the lock. The calling thread must be a context. Pairs with
 * orr_unlock of the previous holder. */
static inline void orr_lock(struct orr_lock *lock)
{
    struct orr_context *self = orr_self;

#ifndef NDEBUG
    self->locks++;
#endif
    if (self->exec->simulated) {
        assert(!atomic_load_explicit(&lock->taken, memory_order_relaxed));
#ifndef NDEBUG
        atomic_store_explicit(&lock->taken, 1, memory_order_relaxed);
#endif
        return;
    }
    if (atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire))
        orr_lock_wait(lock);
}

static inline void orr_unlock(struct orr_lock *lock)
{
#ifndef NDEBUG
    orr_self->locks--;
#endif
    atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

/* Takes one more lock of the rank that was taken last: the caller knows an
 * order among these, which all others keep too. */
static inline void orr_lock_next(struct orr_lock *lock)
{
    orr_lock(lock);
}

/* Takes the lock if nobody has it, without waiting. */
static inline bool orr_trylock(struct orr_lock *lock)
{
    if (atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire))
        return false;
#ifndef NDEBUG
    orr_self->locks++;
#endif
    return true;
}

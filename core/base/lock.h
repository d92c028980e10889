/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/lock.h - core's own lock: short critical sections only.
 *
 * A context spins, then lets others run. Under simulation contexts switch
 * only inside blocking calls, which are refused while a lock is held, so
 * locking there is no more than the debug accounting.
 *
 * Ranks give the order in which locks may be taken. Debug builds count the
 * locks that a context holds, per rank, and stop at one that is taken out of
 * order, with the names of both ranks, and at one that is let go and not held. Clang checks that functions are called
 * with the locks that they name (ORR_REQUIRES, tests/unit/test-locks.sh).
 */
#pragma once

#include <assert.h>
#include <stdatomic.h>

#include "core/base/exec.h"

/* A context that holds a lock may only take locks of a higher rank. */
#define ORR_LOCK_RANKS(X)                                                      \
    X(PLANS, "plans")      /* planned partitions: what was submitted */        \
    X(REMOTE, "messages")  /* of a layer above: what its thread is to do */    \
    X(SUBMIT, "tags")      /* the table of tags */                             \
    X(HANDLE, "handle")    /* a data handle: dependencies and coherency */     \
    X(JOB, "job")          /* a job: successors and waiters */                 \
    X(NODE, "memory node") /* a memory node: requests, blocks to evict */      \
    X(SCHED, "policy")     /* a policy's queues */                             \
    X(WORKER, "worker")    /* a worker's mailbox */                            \
    X(RUNTIME, "runtime")  /* counters' waiters, registries, cost rows */      \
    X(NESTS, "nests")      /* which tasks are inside of which */               \
    X(CACHE, "slab cache") /* the free objects of threads that are no workers */   \
    X(SLAB, "slab")        /* the depot of a slab */

enum orr_lock_rank {
#define ORR_RANK(name, text) ORR_RANK_##name,
    ORR_LOCK_RANKS(ORR_RANK)
#undef ORR_RANK
        ORR_NRANKS
};

static_assert(ORR_NRANKS <= ORR_MAX_LOCK_RANKS, "a context counts each rank");
static_assert(ORR_MAX_LOCK_RANKS <= 16, "and has a bit for each");

/* --- what clang checks --- */

#if defined(__clang__)
#    define ORR_ATTRIBUTE(a) __attribute__((a))
#else
#    define ORR_ATTRIBUTE(a)
#endif

/* The function may only be called while the lock is held. */
#define ORR_REQUIRES(lock) ORR_ATTRIBUTE(requires_capability(lock))
/* The function takes it, or lets it go, for the caller. */
#define ORR_ACQUIRES(lock) ORR_ATTRIBUTE(acquire_capability(lock))
#define ORR_RELEASES(lock) ORR_ATTRIBUTE(release_capability(lock))
/* It takes it if it returns true. */
#define ORR_TRIES(lock)    ORR_ATTRIBUTE(try_acquire_capability(true, lock))
/* What it locks cannot be followed: say why. */
#define ORR_UNCHECKED      ORR_ATTRIBUTE(no_thread_safety_analysis)

struct ORR_ATTRIBUTE(capability("lock")) orr_lock {
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

/* Fills these for a thread that belongs to no run, so that it may take locks that
 * threads of the real machine take: it makes `context` orr_self meanwhile. */
void orr_lock_outside(struct orr_context *context, struct orr_exec *exec);

/* Waits until the lock was let go, out of line. */
void orr_lock_wait(struct orr_lock *lock);

/* Names the lock that the context may not take now, and stops the program. */
_Noreturn void orr_lock_refuse(const struct orr_lock *lock, bool next);

/* The same of one that is let go, and of whose rank the context holds none: it is no lock
 * any more that was taken, its memory has become another object's. */
_Noreturn void orr_lock_refuse_end(const struct orr_lock *lock);

/* Counts a lock that is about to be taken. Stops the program if the context may not
 * take it: it holds one of that rank or a higher one. */
static inline void orr_lock_count_first(const struct orr_lock *lock)
{
#ifndef NDEBUG
    struct orr_context *self = orr_self;
    unsigned ranks = self->ranks;

    if (__builtin_expect(ranks >> lock->rank, 0))
        orr_lock_refuse(lock, false);
    self->ranks = (unsigned short)(ranks | 1u << lock->rank);
#else
    (void)lock;
#endif
}

/* The same of one more of a rank: it holds one of a higher rank, or none of that. */
static inline void orr_lock_count_next(const struct orr_lock *lock)
{
#ifndef NDEBUG
    struct orr_context *self = orr_self;

    if (self->ranks >> lock->rank != 1)
        orr_lock_refuse(lock, true);
    self->more[lock->rank]++;
#else
    (void)lock;
#endif
}

/* The same of one that was taken in any order. */
static inline void orr_lock_count_tried(const struct orr_lock *lock)
{
#ifndef NDEBUG
    struct orr_context *self = orr_self;
    unsigned bit = 1u << lock->rank;

    if (self->ranks & bit)
        self->more[lock->rank]++;
    else
        self->ranks = (unsigned short)(self->ranks | bit);
#else
    (void)lock;
#endif
}

/* Counts one that is let go. Stops the program if none of that rank is held. */
static inline void orr_lock_discount(const struct orr_lock *lock)
{
#ifndef NDEBUG
    struct orr_context *self = orr_self;
    unsigned rank = lock->rank;

    if (__builtin_expect(rank >= ORR_NRANKS || !(self->ranks >> rank & 1), 0))
        orr_lock_refuse_end(lock);
    if (__builtin_expect(self->more[rank], 0))
        self->more[rank]--;
    else
        self->ranks = (unsigned short)(self->ranks & ~(1u << rank));
#else
    (void)lock;
#endif
}

static inline void orr_lock_take(struct orr_lock *lock)
    ORR_ACQUIRES(lock) ORR_UNCHECKED
{
    if (orr_self->exec->one_thread) {
        assert(!atomic_load_explicit(&lock->taken, memory_order_relaxed));
#ifndef NDEBUG
        atomic_store_explicit(&lock->taken, 1, memory_order_relaxed);
#endif
        return;
    }
    if (atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire))
        orr_lock_wait(lock);
}

/* Takes the lock. The calling thread must be a context. Pairs with
 * orr_unlock of the previous holder. */
static inline void orr_lock(struct orr_lock *lock) ORR_ACQUIRES(lock)
{
    orr_lock_count_first(lock);
    orr_lock_take(lock);
}

/* Takes one more lock of the rank that was taken last: the caller knows an
 * order among these, which all others keep too. */
static inline void orr_lock_next(struct orr_lock *lock) ORR_ACQUIRES(lock)
{
    orr_lock_count_next(lock);
    orr_lock_take(lock);
}

static inline void orr_unlock(struct orr_lock *lock)
    ORR_RELEASES(lock) ORR_UNCHECKED
{
    orr_lock_discount(lock);
    atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

/* Takes the lock if nobody has it, without waiting: in any order. */
static inline bool orr_trylock(struct orr_lock *lock)
    ORR_TRIES(lock) ORR_UNCHECKED
{
    if (atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire))
        return false;
    orr_lock_count_tried(lock);
    return true;
}

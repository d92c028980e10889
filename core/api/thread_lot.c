/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/thread_lot.c - where kernels wait for POSIX objects on the real machine:
 * their worker goes on with others meanwhile, maybe with the one that they wait for.
 * POSIX knows nothing of them: a thread that gives an object back looks here whether a
 * kernel waits for it.
 *
 * A kernel that is going to wait enters its waiter, then tries once more; a thread that
 * gives an object back does so first, then looks whether there are waiters: no wake is
 * lost. Objects and threads belong to the process, and so does the lot. Locks are held
 * for a few instructions.
 */
#include "core/api/thread_lot.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { NBUCKETS = 64 };

struct bucket {
    pthread_mutex_t lock;
    pthread_cond_t woken; /* for threads that are in no kernel */
    struct orr_waiters waiters; /* [lock] */
};

static struct {
    atomic_uint nwaiting;
    struct bucket buckets[NBUCKETS];
} lot = {.buckets = {[0 ... NBUCKETS - 1] = {PTHREAD_MUTEX_INITIALIZER,
                                             PTHREAD_COND_INITIALIZER,
                                             {NULL}}}};

static struct bucket *bucket_of(const void *object)
{
    return &lot.buckets[((uintptr_t)object >> 4 ^ (uintptr_t)object >> 12) %
                        NBUCKETS];
}

static void enter_locked(struct bucket *bucket, struct orr_lot_waiter *waiter,
                         const void *object)
{
    orr_waiters_add(&bucket->waiters, &waiter->waiter);
    if (!orr_lot_applies())
        waiter->waiter.context = NULL;
    waiter->object = object;
    atomic_fetch_add(&lot.nwaiting, 1);
}

void orr_lot_enter(struct orr_lot_waiter *waiter, const void *object)
{
    struct bucket *bucket = bucket_of(object);

    pthread_mutex_lock(&bucket->lock);
    enter_locked(bucket, waiter, object);
    pthread_mutex_unlock(&bucket->lock);
    atomic_thread_fence(memory_order_seq_cst);
}

static struct orr_waiter *lot_find_locked(const struct bucket *bucket,
                                          const void *object)
{
    orr_waiters_foreach (waiter, &bucket->waiters)
        if (((struct orr_lot_waiter *)waiter)->object == object)
            return waiter;
    return NULL;
}

/* Takes out at most `n` that wait for the object, and wakes them. */
static void wake_locked(struct bucket *bucket, const void *object, unsigned n)
{
    struct orr_waiter *waiter;

    for (; n && (waiter = lot_find_locked(bucket, object)); n--) {
        (void)orr_waiters_remove(&bucket->waiters, waiter);
        if (waiter->context) {
            orr_waiter_release(waiter);
        } else {
            atomic_store(&waiter->over, true);
            pthread_cond_broadcast(&bucket->woken);
        }
    }
}

void orr_lot_wake(const void *object, unsigned n)
{
    struct bucket *bucket = bucket_of(object);

    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&lot.nwaiting, memory_order_relaxed))
        return;
    pthread_mutex_lock(&bucket->lock);
    wake_locked(bucket, object, n);
    pthread_mutex_unlock(&bucket->lock);
}

bool orr_lot_meet(const void *object, unsigned *arrived, unsigned count)
{
    struct bucket *bucket = bucket_of(object);
    struct orr_lot_waiter waiter;
    bool last;

    pthread_mutex_lock(&bucket->lock);
    last = ++*arrived == count;
    if (last) {
        *arrived = 0;
        wake_locked(bucket, object, UINT_MAX);
    } else {
        enter_locked(bucket, &waiter, object);
    }
    pthread_mutex_unlock(&bucket->lock);
    if (!last)
        (void)orr_lot_wait(&waiter, "the barrier", ORR_FOREVER);
    return last;
}

static void wait_as_thread(struct orr_lot_waiter *waiter)
{
    struct bucket *bucket = bucket_of(waiter->object);

    pthread_mutex_lock(&bucket->lock);
    while (!orr_waiter_is_over(&waiter->waiter))
        pthread_cond_wait(&bucket->woken, &bucket->lock);
    pthread_mutex_unlock(&bucket->lock);
}

bool orr_lot_wait(struct orr_lot_waiter *waiter, const char *noun,
                  double until_us)
{
    const struct orr_awaited awaited = {.noun = noun,
                                        .describe = orr_awaited_write_address,
                                        .object = waiter->object};

    if (waiter->waiter.context)
        (void)orr_wait_until(&waiter->waiter, &awaited, until_us);
    else
        wait_as_thread(waiter);
    return orr_lot_leave(waiter);
}

bool orr_lot_leave(struct orr_lot_waiter *waiter)
{
    struct bucket *bucket = bucket_of(waiter->object);

    pthread_mutex_lock(&bucket->lock);
    (void)orr_waiters_remove(&bucket->waiters, &waiter->waiter);
    pthread_mutex_unlock(&bucket->lock);
    atomic_fetch_sub(&lot.nwaiting, 1);
    return orr_waiter_is_over(&waiter->waiter);
}

int orr_lot_await(const void *object, const char *noun,
                  int (*try_it)(void *arg), void *arg)
{
    struct orr_lot_waiter waiter;
    int ret;

    while ((ret = try_it(arg)) == EBUSY) {
        orr_lot_enter(&waiter, object);
        ret = try_it(arg);
        if (ret != EBUSY) {
            if (orr_lot_leave(&waiter))
                orr_lot_wake(object, 1); /* the wake was meant for another one */
            return ret;
        }
        (void)orr_lot_wait(&waiter, noun, ORR_FOREVER);
    }
    return ret;
}

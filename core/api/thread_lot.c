/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/thread_lot.c - where kernels wait for POSIX objects on the real machine:
 * their worker goes on with others meanwhile, maybe with the one that they wait
 * for. POSIX knows nothing of them: whoever gives an object back looks here whether
 * one waits for it.
 *
 * Who waits enters its name, then tries once more; who gives back does that, then
 * looks whether there are names: no wake is lost. Objects and threads belong to
 * the process, and so does the lot. Locks are held for a few instructions.
 */
#include "core/api/thread_lot.h"

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { NBUCKETS = 64 };

static struct bucket {
    pthread_mutex_t lock;
    pthread_cond_t woken; /* for threads that are in no kernel */
    struct orr_lot_waiter *first; /* [lock] oldest first */
} lot[NBUCKETS] = {[0 ... NBUCKETS - 1] = {PTHREAD_MUTEX_INITIALIZER,
                                          PTHREAD_COND_INITIALIZER, NULL}};
static atomic_uint nwaiting;

static struct bucket *bucket_of(const void *object)
{
    return &lot[((uintptr_t)object >> 4 ^ (uintptr_t)object >> 12) % NBUCKETS];
}

static void enter_locked(struct bucket *bucket, struct orr_lot_waiter *waiter,
                         const void *object)
{
    struct orr_lot_waiter **link = &bucket->first;

    *waiter = (struct orr_lot_waiter){
        .object = object, .context = orr_lot_applies() ? orr_self : NULL};
    while (*link)
        link = &(*link)->next;
    *link = waiter;
    atomic_fetch_add(&nwaiting, 1);
}

void orr_lot_enter(struct orr_lot_waiter *waiter, const void *object)
{
    struct bucket *bucket = bucket_of(object);

    pthread_mutex_lock(&bucket->lock);
    enter_locked(bucket, waiter, object);
    pthread_mutex_unlock(&bucket->lock);
    atomic_thread_fence(memory_order_seq_cst);
}

/* Takes out at most `n` who wait for the object, and wakes them. */
static void wake_locked(struct bucket *bucket, const void *object, unsigned n)
{
    struct orr_lot_waiter **link;

    for (link = &bucket->first; *link && n;) {
        struct orr_lot_waiter *waiter = *link;
        struct orr_context *context = waiter->context;

        if (waiter->object != object) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        n--;
        /* Its stack may be gone once it sees `woken`. */
        atomic_store_explicit(&waiter->woken, true, memory_order_release);
        if (context)
            context->exec->ops->wake(context->exec, context);
        else
            pthread_cond_broadcast(&bucket->woken);
    }
}

void orr_lot_wake(const void *object, unsigned n)
{
    struct bucket *bucket = bucket_of(object);

    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&nwaiting, memory_order_relaxed))
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
        (void)orr_lot_wait(&waiter, "a barrier", ORR_FOREVER);
    return last;
}

static void wait_as_kernel(struct orr_lot_waiter *waiter, double until_us)
{
    struct orr_exec *exec = orr_self->exec;

    while (!atomic_load_explicit(&waiter->woken, memory_order_acquire) &&
           exec->ops->now(exec) < until_us)
        orr_exec_wait(exec, until_us);
}

static void wait_as_thread(struct orr_lot_waiter *waiter)
{
    struct bucket *bucket = bucket_of(waiter->object);

    pthread_mutex_lock(&bucket->lock);
    while (!atomic_load(&waiter->woken))
        pthread_cond_wait(&bucket->woken, &bucket->lock);
    pthread_mutex_unlock(&bucket->lock);
}

bool orr_lot_wait(struct orr_lot_waiter *waiter, const char *what,
                  double until_us)
{
    if (!waiter->context) {
        wait_as_thread(waiter);
    } else {
        orr_self->waits_for = what;
        wait_as_kernel(waiter, until_us);
        orr_self->waits_for = NULL;
    }
    return orr_lot_leave(waiter);
}

bool orr_lot_leave(struct orr_lot_waiter *waiter)
{
    struct bucket *bucket = bucket_of(waiter->object);
    struct orr_lot_waiter **link = &bucket->first;

    pthread_mutex_lock(&bucket->lock);
    while (*link && *link != waiter)
        link = &(*link)->next;
    if (*link)
        *link = waiter->next;
    pthread_mutex_unlock(&bucket->lock);
    atomic_fetch_sub(&nwaiting, 1);
    return atomic_load(&waiter->woken);
}

void orr_lot_await(const void *object, const char *what,
                   int (*try_it)(void *arg), void *arg)
{
    struct orr_lot_waiter waiter;

    while (try_it(arg) != 0) {
        orr_lot_enter(&waiter, object);
        if (try_it(arg) == 0) {
            if (orr_lot_leave(&waiter))
                orr_lot_wake(object, 1); /* it was meant for somebody */
            return;
        }
        (void)orr_lot_wait(&waiter, what, ORR_FOREVER);
    }
}

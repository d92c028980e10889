/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/thread_lock.c - mutexes, conditions, read-write locks of
 * starpu_thread.h. Real: POSIX. Simulated: an owner and a queue of waiters,
 * behind the POSIX object, so that a free one can be used on one machine after
 * the other. Ownership is handed on in order of arrival; nothing but the waits
 * switches.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <starpu.h>

#include "core/api/poll.h"
#include "core/api/thread.h"
#include "core/api/thread_lot.h"
#include "core/base/clock_hook.h"

/* -- mutexes -------------------------------------------------------------- */

struct mutex {
    struct orr_context *owner;
    unsigned depth; /* how often the owner of a recursive mutex has locked it beyond the
                     * first time */
    int kind;       /* requested of mutex_init; 0 is the default */
    struct orr_waiters waiters;
};

static_assert(sizeof(pthread_mutex_t) <= ORR_OBJECT_BEHIND * sizeof(long) &&
                  sizeof(pthread_cond_t) <= ORR_OBJECT_BEHIND * sizeof(long) &&
                  sizeof(pthread_rwlock_t) <= ORR_OBJECT_BEHIND * sizeof(long),
              "POSIX objects must end before ours begin");
static_assert(sizeof(struct mutex) <= 6 * sizeof(long),
              "a simulated mutex must fit");

static struct mutex *mutex_record(starpu_pthread_mutex_t *mutex)
{
    return orr_object_record(mutex->u.opaque);
}

int starpu_pthread_mutex_init(starpu_pthread_mutex_t *mutex,
                              const starpu_pthread_mutexattr_t *mutexattr)
{
    memset(mutex, 0, sizeof(*mutex));
    if (mutexattr)
        pthread_mutexattr_gettype(mutexattr, &mutex_record(mutex)->kind);
    return pthread_mutex_init(&mutex->u.posix, mutexattr);
}

int starpu_pthread_mutex_destroy(starpu_pthread_mutex_t *mutex)
{
    if (!orr_waits_virtually())
        return pthread_mutex_destroy(&mutex->u.posix);
    return mutex_record(mutex)->owner ? EBUSY : 0;
}

static int try_lock(starpu_pthread_mutex_t *mutex)
{
    struct mutex *m = mutex_record(mutex);

    if (!m->owner)
        m->owner = orr_self;
    else if (m->owner != orr_self)
        return EBUSY;
    else if (m->kind == PTHREAD_MUTEX_RECURSIVE)
        m->depth++;
    else
        return EDEADLK;
    return 0;
}

/* How often a kernel tries before it leaves its worker: leaving takes longer than most
 * mutexes are held. */
enum { SPINS = 20 };

static int mutex_try_posix(void *mutex)
{
    return pthread_mutex_trylock(mutex);
}

/* A kernel may have to let the one that holds the mutex go on first. */
static int lock_posix(pthread_mutex_t *mutex)
{
    if (!orr_lot_applies())
        return pthread_mutex_lock(mutex);
    for (unsigned i = 0; i < SPINS; i++) {
        int ret = mutex_try_posix(mutex);

        if (ret != EBUSY)
            return ret;
        orr_spin();
    }
    return orr_lot_await(mutex, "the mutex", mutex_try_posix, mutex);
}

static int unlock_posix(pthread_mutex_t *mutex)
{
    int ret = pthread_mutex_unlock(mutex);

    if (ret == 0)
        orr_lot_wake(mutex, 1);
    return ret;
}

int starpu_pthread_mutex_lock(starpu_pthread_mutex_t *mutex)
{
    int ret;

    if (!orr_waits_virtually())
        return lock_posix(&mutex->u.posix);
    ret = try_lock(mutex);
    /* A default mutex that its owner locks again is a deadlock in POSIX too; an
     * error is easier to debug. */
    if (ret == EBUSY) {
        const struct orr_awaited awaited = {
            .noun = "the mutex",
            .describe = orr_awaited_write_address,
            .object = mutex,
            .held_by = &mutex_record(mutex)->owner};

        orr_thread_wait(&mutex_record(mutex)->waiters, &awaited, ORR_FOREVER);
        ret = 0;
    }
    return ret;
}

int starpu_pthread_mutex_trylock(starpu_pthread_mutex_t *mutex)
{
    int ret;

    if (!orr_waits_virtually())
        return pthread_mutex_trylock(&mutex->u.posix);
    ret = try_lock(mutex);
    return orr_poll_result(ret == EDEADLK ? EBUSY : ret);
}

/* The next waiter owns it. */
static void hand_on(struct mutex *m)
{
    const struct orr_waiter *next = orr_waiters_first(&m->waiters);

    m->owner = next ? next->context : NULL;
    (void)orr_thread_release(&m->waiters);
}

int starpu_pthread_mutex_unlock(starpu_pthread_mutex_t *mutex)
{
    struct mutex *m = mutex_record(mutex);

    if (!orr_waits_virtually())
        return unlock_posix(&mutex->u.posix);
    if (m->owner != orr_self)
        return EPERM;
    if (m->depth > 0)
        m->depth--;
    else
        hand_on(m);
    return 0;
}

int starpu_pthread_mutex_lock_sched(starpu_pthread_mutex_t *mutex)
{
    return starpu_pthread_mutex_lock(mutex);
}

int starpu_pthread_mutex_unlock_sched(starpu_pthread_mutex_t *mutex)
{
    return starpu_pthread_mutex_unlock(mutex);
}

int starpu_pthread_mutex_trylock_sched(starpu_pthread_mutex_t *mutex)
{
    return starpu_pthread_mutex_trylock(mutex);
}

int starpu_pthread_mutexattr_gettype(const starpu_pthread_mutexattr_t *attr,
                                     int *type)
{
    return pthread_mutexattr_gettype(attr, type);
}

int starpu_pthread_mutexattr_settype(starpu_pthread_mutexattr_t *attr, int type)
{
    return pthread_mutexattr_settype(attr, type);
}

int starpu_pthread_mutexattr_destroy(starpu_pthread_mutexattr_t *attr)
{
    return pthread_mutexattr_destroy(attr);
}

int starpu_pthread_mutexattr_init(starpu_pthread_mutexattr_t *attr)
{
    return pthread_mutexattr_init(attr);
}

/* -- conditions ----------------------------------------------------------- */

static struct orr_waiters *cond_of(starpu_pthread_cond_t *cond)
{
    return orr_object_record(cond->u.opaque);
}

int starpu_pthread_cond_init(starpu_pthread_cond_t *cond,
                             starpu_pthread_condattr_t *cond_attr)
{
    memset(cond, 0, sizeof(*cond));
    return pthread_cond_init(&cond->u.posix, cond_attr);
}

int starpu_pthread_cond_destroy(starpu_pthread_cond_t *cond)
{
    if (!orr_waits_virtually())
        return pthread_cond_destroy(&cond->u.posix);
    return orr_waiters_first(cond_of(cond)) ? EBUSY : 0;
}

/* A thread and a kernel may go on by one signal, as POSIX allows. */
static int wake_posix(pthread_cond_t *cond, int (*call)(pthread_cond_t *),
                      unsigned n)
{
    int ret = call(cond);

    orr_lot_wake(cond, n);
    return ret;
}

/* In a kernel; `until_us` of the machine's clock. */
static int wait_in_kernel(pthread_cond_t *cond, pthread_mutex_t *mutex,
                          double until_us)
{
    struct orr_lot_waiter self;
    int ret;
    bool woken;

    orr_lot_enter(&self, cond);
    ret = unlock_posix(mutex);
    if (ret != 0) {
        (void)orr_lot_leave(&self);
        return ret;
    }
    woken = orr_lot_wait(&self, "the condition", until_us);
    (void)lock_posix(mutex);
    return woken ? 0 : ETIMEDOUT;
}

int starpu_pthread_cond_signal(starpu_pthread_cond_t *cond)
{
    if (!orr_waits_virtually())
        return wake_posix(&cond->u.posix, pthread_cond_signal, 1);
    (void)orr_thread_release(cond_of(cond));
    return 0;
}

int starpu_pthread_cond_broadcast(starpu_pthread_cond_t *cond)
{
    if (!orr_waits_virtually())
        return wake_posix(&cond->u.posix, pthread_cond_broadcast, UINT_MAX);
    while (orr_thread_release(cond_of(cond)))
        ;
    return 0;
}

/* Waits until a virtual date with the mutex let go, whatever its depth. */
static int wait_until(starpu_pthread_cond_t *cond,
                      starpu_pthread_mutex_t *mutex, double until_us)
{
    const struct orr_awaited awaited = {.noun = "the condition",
                                        .describe = orr_awaited_write_address,
                                        .object = cond};
    struct mutex *m = mutex_record(mutex);
    unsigned depth = m->depth;
    bool granted;

    if (m->owner != orr_self)
        return EPERM;
    m->depth = 0;
    hand_on(m);
    granted = orr_thread_wait(cond_of(cond), &awaited, until_us);
    starpu_pthread_mutex_lock(mutex);
    m->depth = depth;
    return granted ? 0 : ETIMEDOUT;
}

int starpu_pthread_cond_wait(starpu_pthread_cond_t *cond,
                             starpu_pthread_mutex_t *mutex)
{
    if (orr_lot_applies())
        return wait_in_kernel(&cond->u.posix, &mutex->u.posix, ORR_FOREVER);
    if (!orr_waits_virtually())
        return pthread_cond_wait(&cond->u.posix, &mutex->u.posix);
    return wait_until(cond, mutex, ORR_FOREVER);
}

/* Applications make dates from the real clock, so what counts is how far away
 * this one is; µs of the machine's clock. Simulated, it is taken to the
 * millisecond: the microseconds between the caller's reading of the clock and
 * ours must not make simulations differ. */
static double date_of(const struct timespec *date)
{
    struct orr_exec *exec = orr_self->exec;
    const struct orr_clock_preload *preload =
        exec->virtual_time ? orr_clock_preload() : NULL;
    struct timespec now;
    double us;

    if (preload)
        preload->date(&now);
    else
        clock_gettime(CLOCK_REALTIME, &now);
    us = (double)(date->tv_sec - now.tv_sec) * 1e6 +
         (double)(date->tv_nsec - now.tv_nsec) * 1e-3;
    if (us >= 1000 && exec->virtual_time)
        us = nearbyint(us * 1e-3) * 1e3;
    return exec->ops->now(exec) + (us > 0 ? us : 0);
}

int starpu_pthread_cond_timedwait(starpu_pthread_cond_t *cond,
                                  starpu_pthread_mutex_t *mutex,
                                  const struct timespec *abstime)
{
    if (orr_lot_applies())
        return wait_in_kernel(&cond->u.posix, &mutex->u.posix,
                              date_of(abstime));
    if (!orr_waits_virtually())
        return pthread_cond_timedwait(&cond->u.posix, &mutex->u.posix, abstime);
    return wait_until(cond, mutex, date_of(abstime));
}

/* -- read-write locks --------------------------------- */

struct rw_waiter {
    struct orr_waiter waiter; /* first */
    bool writes;              /* the requested right */
};

struct rwlock {
    struct orr_context *writer;
    struct orr_waiters waiters;
    unsigned readers;
};

static_assert(sizeof(struct rwlock) <= 6 * sizeof(long),
              "a simulated lock must fit");

static struct rwlock *rwlock_of(starpu_pthread_rwlock_t *rwlock)
{
    return orr_object_record(rwlock->u.opaque);
}

int starpu_pthread_rwlock_init(starpu_pthread_rwlock_t *rwlock,
                               const starpu_pthread_rwlockattr_t *attr)
{
    memset(rwlock, 0, sizeof(*rwlock));
    return pthread_rwlock_init(&rwlock->u.posix, attr);
}

int starpu_pthread_rwlock_destroy(starpu_pthread_rwlock_t *rwlock)
{
    struct rwlock *rw = rwlock_of(rwlock);

    if (!orr_waits_virtually())
        return pthread_rwlock_destroy(&rwlock->u.posix);
    return rw->writer || rw->readers ? EBUSY : 0;
}

static bool rw_free_for(const struct rwlock *rw, bool writes)
{
    return !rw->writer && (!writes || rw->readers == 0);
}

static void rw_enter(struct rwlock *rw, struct orr_context *who, bool writes)
{
    if (writes)
        rw->writer = who;
    else
        rw->readers++;
}

/* No overtaking: a reader waits behind a waiting writer. */
static int rw_try(struct rwlock *rw, bool writes)
{
    if (rw->writer == orr_self)
        return EDEADLK;
    if (orr_waiters_first(&rw->waiters) || !rw_free_for(rw, writes))
        return EBUSY;
    rw_enter(rw, orr_self, writes);
    return 0;
}

static void rwlock_describe(const struct orr_awaited *awaited, char *text,
                            size_t size)
{
    const struct rwlock *rw = awaited->object;

    snprintf(text, size, "the reader-writer lock at %p, which %s%s has",
             (const void *)((const long *)rw - ORR_OBJECT_BEHIND - 1),
             rw->writer ? "" : "a reader",
             rw->writer && rw->writer->name ? rw->writer->name
             : rw->writer                   ? "another context"
                                            : "");
}

static int rw_lock(struct rwlock *rw, bool writes)
{
    const struct orr_awaited awaited = {.noun = "a reader-writer lock",
                                        .describe = rwlock_describe,
                                        .object = rw};
    struct rw_waiter self = {.writes = writes};
    int ret = rw_try(rw, writes);

    if (ret != EBUSY)
        return ret;
    orr_waiters_add(&rw->waiters, &self.waiter);
    orr_wait(&self.waiter, &awaited);
    return 0;
}

static int try_read(void *rwlock)
{
    return pthread_rwlock_tryrdlock(rwlock);
}

static int try_write(void *rwlock)
{
    return pthread_rwlock_trywrlock(rwlock);
}

static int rw_lock_in_kernel(pthread_rwlock_t *rwlock,
                             int (*try_it)(void *rwlock))
{
    return orr_lot_await(rwlock, "the reader-writer lock", try_it, rwlock);
}

int starpu_pthread_rwlock_rdlock(starpu_pthread_rwlock_t *rwlock)
{
    if (orr_lot_applies())
        return rw_lock_in_kernel(&rwlock->u.posix, try_read);
    if (!orr_waits_virtually())
        return pthread_rwlock_rdlock(&rwlock->u.posix);
    return rw_lock(rwlock_of(rwlock), false);
}

int starpu_pthread_rwlock_wrlock(starpu_pthread_rwlock_t *rwlock)
{
    if (orr_lot_applies())
        return rw_lock_in_kernel(&rwlock->u.posix, try_write);
    if (!orr_waits_virtually())
        return pthread_rwlock_wrlock(&rwlock->u.posix);
    return rw_lock(rwlock_of(rwlock), true);
}

int starpu_pthread_rwlock_tryrdlock(starpu_pthread_rwlock_t *rwlock)
{
    if (!orr_waits_virtually())
        return pthread_rwlock_tryrdlock(&rwlock->u.posix);
    return orr_poll_result(rw_try(rwlock_of(rwlock), false) ? EBUSY : 0);
}

int starpu_pthread_rwlock_trywrlock(starpu_pthread_rwlock_t *rwlock)
{
    if (!orr_waits_virtually())
        return pthread_rwlock_trywrlock(&rwlock->u.posix);
    return orr_poll_result(rw_try(rwlock_of(rwlock), true) ? EBUSY : 0);
}

int starpu_pthread_rwlock_unlock(starpu_pthread_rwlock_t *rwlock)
{
    struct rwlock *rw = rwlock_of(rwlock);
    struct rw_waiter *next;

    if (!orr_waits_virtually()) {
        int ret = pthread_rwlock_unlock(&rwlock->u.posix);

        orr_lot_wake(&rwlock->u.posix, UINT_MAX);
        return ret;
    }
    if (rw->writer == orr_self)
        rw->writer = NULL;
    else if (rw->readers > 0)
        rw->readers--;
    else
        return EPERM;
    while ((next = (struct rw_waiter *)orr_waiters_first(&rw->waiters)) &&
           rw_free_for(rw, next->writes)) {
        rw_enter(rw, next->waiter.context, next->writes);
        (void)orr_thread_release(&rw->waiters);
    }
    return 0;
}

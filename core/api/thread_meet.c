/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/thread_meet.c - barriers, spin locks, semaphores and queues of
 * starpu_thread.h. Barriers and semaphores are initialised before it is known
 * on which machine they will be used: a barrier's count is in both records, a
 * semaphore's value in the POSIX one on both machines.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <orrery.h>
#include <starpu.h>

#include "core/api/poll.h"
#include "core/api/thread.h"
#include "core/api/thread_lot.h"

/* -- barriers ------------------------------------------------------------- */

struct barrier {
    unsigned count, arrived;
    struct orr_waiters waiters;
};

static_assert(sizeof(pthread_barrier_t) <= ORR_OBJECT_BEHIND * sizeof(long) &&
                  sizeof(struct barrier) <= 6 * sizeof(long),
              "a barrier's two records must not overlap");

static struct barrier *barrier_of(starpu_pthread_barrier_t *barrier)
{
    return orr_object_record(barrier->u.opaque);
}

int starpu_pthread_barrier_init(starpu_pthread_barrier_t *barrier,
                                const starpu_pthread_barrierattr_t *attr,
                                unsigned count)
{
    int ret;

    memset(barrier, 0, sizeof(*barrier));
    ret = pthread_barrier_init(&barrier->u.posix, attr, count);
    if (ret == 0) /* for both: the machine may be opened later */
        barrier_of(barrier)->count = count;
    return ret;
}

int starpu_pthread_barrier_destroy(starpu_pthread_barrier_t *barrier)
{
    if (orr_waits_virtually() && barrier_of(barrier)->arrived > 0)
        return EBUSY;
    return pthread_barrier_destroy(&barrier->u.posix);
}

int starpu_pthread_barrier_wait(starpu_pthread_barrier_t *barrier)
{
    const struct orr_awaited awaited = {.noun = "the barrier",
                                        .describe = orr_awaited_write_address,
                                        .object = barrier};
    struct barrier *b = barrier_of(barrier);

    /* POSIX's knows nothing of kernels. */
    if (!orr_waits_virtually())
        return orr_lot_meet(b, &b->arrived, b->count)
                   ? STARPU_PTHREAD_BARRIER_SERIAL_THREAD
                   : 0;
    if (++b->arrived < b->count) {
        orr_thread_wait(&b->waiters, &awaited, ORR_FOREVER);
        return 0;
    }
    b->arrived = 0;
    while (orr_thread_release(&b->waiters))
        ;
    return STARPU_PTHREAD_BARRIER_SERIAL_THREAD;
}

/* -- spin locks ----------------------------------------------------------- */

int starpu_pthread_spin_init(starpu_pthread_spinlock_t *lock, int pshared)
{
    (void)pshared;
    lock->taken = 0;
    return 0;
}

int starpu_pthread_spin_destroy(starpu_pthread_spinlock_t *lock)
{
    return lock->taken ? EBUSY : 0;
}

/* The holder of a simulated lock runs only when time passes; the holder of a lock for
 * which a kernel waits may need that kernel's worker. In all other cases the caller
 * spins, as the application asked. */
static void let_holder_run(const starpu_pthread_spinlock_t *lock)
{
    const struct orr_awaited awaited = {.noun = "the spin lock",
                                        .describe = orr_awaited_write_address,
                                        .object = lock};

    if (orr_self && (orr_self->exec->one_thread || orr_self->suspends_at))
        orr_context_poll(&awaited, 1);
    else
        orr_spin();
}

static int try_spin(starpu_pthread_spinlock_t *lock)
{
    return __atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE) ? EBUSY : 0;
}

int starpu_pthread_spin_trylock(starpu_pthread_spinlock_t *lock)
{
    return orr_poll_result(try_spin(lock));
}

int starpu_pthread_spin_lock(starpu_pthread_spinlock_t *lock)
{
    while (try_spin(lock) != 0)
        let_holder_run(lock);
    return 0;
}

int starpu_pthread_spin_unlock(starpu_pthread_spinlock_t *lock)
{
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
    return 0;
}

/* -- semaphores ----------------------------------------------------------- */

static_assert(sizeof(sem_t) <= ORR_OBJECT_BEHIND * sizeof(long),
              "a semaphore's two records must not overlap");

static struct orr_waiters *sem_waiters(starpu_sem_t *sem)
{
    return orr_object_record(sem->u.opaque);
}

int starpu_sem_init(starpu_sem_t *sem, int pshared, unsigned value)
{
    memset(sem, 0, sizeof(*sem));
    return sem_init(&sem->u.posix, pshared, value);
}

int starpu_sem_destroy(starpu_sem_t *sem)
{
    return sem_destroy(&sem->u.posix);
}

int starpu_sem_getvalue(starpu_sem_t *sem, int *retval)
{
    return sem_getvalue(&sem->u.posix, retval);
}

/* Simulated, a unit goes to the first waiting context and is never counted. */
int starpu_sem_post(starpu_sem_t *sem)
{
    int ret;

    if (orr_waits_virtually() && orr_thread_release(sem_waiters(sem)))
        return 0;
    ret = sem_post(&sem->u.posix);
    orr_lot_wake(&sem->u.posix, 1);
    return ret;
}

static int semaphore_try_posix(void *sem)
{
    return sem_trywait(sem) ? EBUSY : 0;
}

int starpu_sem_trywait(starpu_sem_t *sem)
{
    int ret = sem_trywait(&sem->u.posix);

    if (ret != 0) {
        orr_poll();
        errno = EAGAIN;
    }
    return ret;
}

static struct orr_awaited semaphore(const starpu_sem_t *sem)
{
    return (struct orr_awaited){.noun = "the semaphore",
                                .describe = orr_awaited_write_address,
                                .object = sem};
}

int starpu_sem_wait(starpu_sem_t *sem)
{
    const struct orr_awaited awaited = semaphore(sem);
    int ret;

    if (orr_lot_applies()) {
        orr_lot_await(&sem->u.posix, awaited.noun, semaphore_try_posix,
                      &sem->u.posix);
        return 0;
    }
    if (orr_waits_virtually()) {
        if (sem_trywait(&sem->u.posix) != 0)
            orr_thread_wait(sem_waiters(sem), &awaited, ORR_FOREVER);
        return 0;
    }
    do
        ret = sem_wait(&sem->u.posix);
    while (ret != 0 && errno == EINTR);
    return ret;
}

static int wait_in_kernel_until(starpu_sem_t *sem, double date)
{
    struct orr_lot_waiter self;

    while (sem_trywait(&sem->u.posix) != 0) {
        if (starpu_timing_now() >= date)
            return -ETIMEDOUT;
        orr_lot_enter(&self, &sem->u.posix);
        if (sem_trywait(&sem->u.posix) == 0) {
            if (orr_lot_leave(&self))
                orr_lot_wake(&sem->u.posix, 1); /* the wake was meant for another one */
            return 0;
        }
        (void)orr_lot_wait(&self, "the semaphore", date);
    }
    return 0;
}

static int wait_in_thread_until(starpu_sem_t *sem, double date)
{
    double left = fmax(date - starpu_timing_now(), 0) * 1e-6;
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    left += (double)until.tv_nsec * 1e-9;
    until.tv_sec += (time_t)left;
    until.tv_nsec = (long)(fmod(left, 1) * 1e9);
    while (sem_clockwait(&sem->u.posix, CLOCK_MONOTONIC, &until) != 0)
        if (errno != EINTR)
            return -ETIMEDOUT;
    return 0;
}

int orrery_sem_wait_until(starpu_sem_t *sem, double date)
{
    const struct orr_awaited awaited = semaphore(sem);

    if (isinf(date))
        return starpu_sem_wait(sem);
    if (orr_lot_applies())
        return wait_in_kernel_until(sem, date);
    if (!orr_waits_virtually())
        return wait_in_thread_until(sem, date);
    if (sem_trywait(&sem->u.posix) == 0)
        return 0;
    return orr_thread_wait(sem_waiters(sem), &awaited, date) ? 0 : -ETIMEDOUT;
}

/* -- waiting for several queues at once ----------------------------------- */

/* Locks are taken queue first, then waiter. */

int starpu_pthread_queue_init(starpu_pthread_queue_t *q)
{
    memset(q, 0, sizeof(*q));
    return starpu_pthread_mutex_init(&q->mutex, NULL);
}

int starpu_pthread_queue_destroy(starpu_pthread_queue_t *q)
{
    free(q->queue);
    q->queue = NULL;
    q->nqueue = q->allocqueue = 0;
    return starpu_pthread_mutex_destroy(&q->mutex);
}

int starpu_pthread_wait_init(starpu_pthread_wait_t *w)
{
    int ret = starpu_pthread_mutex_init(&w->mutex, NULL);

    w->block = 1;
    return ret ? ret : starpu_pthread_cond_init(&w->cond, NULL);
}

int starpu_pthread_wait_destroy(starpu_pthread_wait_t *w)
{
    int ret = starpu_pthread_cond_destroy(&w->cond);

    return ret ? ret : starpu_pthread_mutex_destroy(&w->mutex);
}

static int append_locked(starpu_pthread_queue_t *q, starpu_pthread_wait_t *w)
{
    if (q->nqueue == q->allocqueue) {
        unsigned room = q->allocqueue ? 2 * q->allocqueue : 4;
        void *queue = realloc(q->queue, room * sizeof(q->queue[0]));

        if (!queue)
            return ENOMEM;
        q->queue = queue;
        q->allocqueue = room;
    }
    q->queue[q->nqueue++] = w;
    return 0;
}

int starpu_pthread_queue_register(starpu_pthread_wait_t *w,
                                  starpu_pthread_queue_t *q)
{
    int ret;

    starpu_pthread_mutex_lock(&q->mutex);
    ret = append_locked(q, w);
    starpu_pthread_mutex_unlock(&q->mutex);
    return ret;
}

int starpu_pthread_queue_unregister(starpu_pthread_wait_t *w,
                                    starpu_pthread_queue_t *q)
{
    unsigned i = 0;

    starpu_pthread_mutex_lock(&q->mutex);
    while (i < q->nqueue && q->queue[i] != w)
        i++;
    if (i < q->nqueue) {
        q->nqueue--;
        memmove(&q->queue[i], &q->queue[i + 1],
                (q->nqueue - i) * sizeof(q->queue[0]));
    }
    starpu_pthread_mutex_unlock(&q->mutex);
    return 0;
}

/* Ends the wait of w, present or next; false when it had ended already. */
static bool thread_wait_release(starpu_pthread_wait_t *w)
{
    bool blocked;

    starpu_pthread_mutex_lock(&w->mutex);
    blocked = w->block;
    w->block = 0;
    starpu_pthread_cond_signal(&w->cond);
    starpu_pthread_mutex_unlock(&w->mutex);
    return blocked;
}

int starpu_pthread_queue_signal(starpu_pthread_queue_t *q)
{
    unsigned i = 0;

    starpu_pthread_mutex_lock(&q->mutex);
    while (i < q->nqueue && !thread_wait_release(q->queue[i]))
        i++;
    starpu_pthread_mutex_unlock(&q->mutex);
    return 0;
}

int starpu_pthread_queue_broadcast(starpu_pthread_queue_t *q)
{
    starpu_pthread_mutex_lock(&q->mutex);
    for (unsigned i = 0; i < q->nqueue; i++)
        thread_wait_release(q->queue[i]);
    starpu_pthread_mutex_unlock(&q->mutex);
    return 0;
}

int starpu_pthread_wait_reset(starpu_pthread_wait_t *w)
{
    starpu_pthread_mutex_lock(&w->mutex);
    w->block = 1;
    starpu_pthread_mutex_unlock(&w->mutex);
    return 0;
}

int starpu_pthread_wait_wait(starpu_pthread_wait_t *w)
{
    starpu_pthread_mutex_lock(&w->mutex);
    while (w->block)
        starpu_pthread_cond_wait(&w->cond, &w->mutex);
    starpu_pthread_mutex_unlock(&w->mutex);
    return 0;
}

int starpu_pthread_wait_timedwait(starpu_pthread_wait_t *w,
                                  const struct timespec *abstime)
{
    int ret = 0;

    starpu_pthread_mutex_lock(&w->mutex);
    while (w->block && ret == 0)
        ret = starpu_pthread_cond_timedwait(&w->cond, &w->mutex, abstime);
    starpu_pthread_mutex_unlock(&w->mutex);
    return ret;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_thread.h - threads and locks that work on both machines. On the real
 * one they are the POSIX objects, on the simulated one they block in virtual
 * time. Use them, not pthread_*, wherever a simulated program may wait.
 *
 * Every function behaves as its POSIX namesake: 0 or a positive errno, except
 * semaphores, which return -1 and set errno.
 */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

#include <starpu_config.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A lock is the POSIX object or, when simulated, the library's own record in
 * the same place. Both read all-zero as "initialised, free". */
#define _ORR_THREAD_STORAGE(posix_type)                                        \
    union {                                                                    \
        posix_type posix;                                                      \
        long opaque[16];                                                       \
    } u

/* -- threads -- */

typedef pthread_t starpu_pthread_t;
typedef pthread_attr_t starpu_pthread_attr_t;

/* Non-zero: both numbers are of one thread. A number is valid until its thread was
 * joined, or has ended detached. */
int starpu_pthread_equal(starpu_pthread_t t1, starpu_pthread_t t2);
/* The calling thread's number. Simulated, workers and the main thread have one as
 * well, which can only be compared. */
starpu_pthread_t starpu_pthread_self(void);

/* Starts a thread; simulated, that is one more context of the simulated machine,
 * which costs no virtual time, and of *attr only the detach state counts. `arg` is
 * lent to the routine. *thread is set only if the result is 0; EAGAIN: no memory, or
 * no stack. */
int starpu_pthread_create(starpu_pthread_t *thread,
                          const starpu_pthread_attr_t *attr,
                          void *(*start_routine)(void *), void *arg);
/* Waits until the thread has ended; *retval, unless retval is NULL, is its result. A
 * thread is joined once, and not when it is detached: EINVAL. EDEADLK: the caller
 * itself. */
int starpu_pthread_join(starpu_pthread_t thread, void **retval);
/* Nobody will join the thread: what it has is freed when it ends. Simulated, EINVAL
 * for threads that starpu_pthread_create did not make. */
int starpu_pthread_detach(starpu_pthread_t thread);
/* Ends the calling thread with that result, after the destructors of its keys.
 * Simulated, a caller that starpu_pthread_create did not make (the main thread, a
 * kernel) ends the program with a message. */
void starpu_pthread_exit(void *retval) STARPU_ATTRIBUTE_NORETURN;
/* The attributes of POSIX, for starpu_pthread_create. A stack's size, in bytes,
 * counts on the real machine only. `destroy` is called once for each `init`; threads
 * made with the attributes are not changed by it. */
int starpu_pthread_attr_init(starpu_pthread_attr_t *attr);
int starpu_pthread_attr_destroy(starpu_pthread_attr_t *attr);
int starpu_pthread_attr_setdetachstate(starpu_pthread_attr_t *attr,
                                       int detachstate);
int starpu_pthread_attr_setstacksize(starpu_pthread_attr_t *attr,
                                     size_t stacksize);

/* The place where a thread should run is ignored. */
#define starpu_pthread_create_on(name, thread, attr, routine, arg, where)      \
    starpu_pthread_create(thread, attr, routine, arg)

/* Names the calling thread for debuggers and traces. */
int starpu_pthread_setname(const char *name);

/* -- mutexes -- */

typedef struct {
    _ORR_THREAD_STORAGE(pthread_mutex_t);
} starpu_pthread_mutex_t;
typedef pthread_mutexattr_t starpu_pthread_mutexattr_t;
#define STARPU_PTHREAD_MUTEX_INITIALIZER                                       \
    {                                                                          \
        {                                                                      \
            PTHREAD_MUTEX_INITIALIZER                                          \
        }                                                                      \
    }

/* Makes a free mutex; with NULL the default kind. Of the attributes the type counts
 * on both machines, all others on the real one only. A mutex, as a condition or a
 * lock below, is to be free while starpu_init or starpu_shutdown changes the
 * machine: what one of the machines has locked the other one does not see. */
int starpu_pthread_mutex_init(starpu_pthread_mutex_t *mutex,
                              const starpu_pthread_mutexattr_t *mutexattr);
/* The mutex's memory may be used for something else afterwards. EBUSY: it is
 * locked. */
int starpu_pthread_mutex_destroy(starpu_pthread_mutex_t *mutex);
/* `lock` waits, in virtual time where simulated; a kernel that waits leaves its
 * worker to other tasks on both machines. Simulated, waiters get the mutex in the
 * order of arrival; its owner gets EDEADLK if it locks a mutex that is not
 * recursive, and whoever unlocks a mutex of another one EPERM. `trylock` returns
 * EBUSY where it would have to wait; simulated, virtual time passes for a caller
 * that asks some ten thousand times in a row, so that a loop around it ends (not in
 * a callback). */
int starpu_pthread_mutex_lock(starpu_pthread_mutex_t *mutex);
int starpu_pthread_mutex_unlock(starpu_pthread_mutex_t *mutex);
int starpu_pthread_mutex_trylock(starpu_pthread_mutex_t *mutex);
/* The attributes of POSIX, for starpu_pthread_mutex_init; type is one of
 * PTHREAD_MUTEX_*. */
int starpu_pthread_mutexattr_gettype(const starpu_pthread_mutexattr_t *attr,
                                     int *type);
int starpu_pthread_mutexattr_settype(starpu_pthread_mutexattr_t *attr,
                                     int type);
int starpu_pthread_mutexattr_destroy(starpu_pthread_mutexattr_t *attr);
int starpu_pthread_mutexattr_init(starpu_pthread_mutexattr_t *attr);

/* The same for the lock that starpu_worker_get_sched_condition() gives. */
int starpu_pthread_mutex_lock_sched(starpu_pthread_mutex_t *mutex);
int starpu_pthread_mutex_unlock_sched(starpu_pthread_mutex_t *mutex);
int starpu_pthread_mutex_trylock_sched(starpu_pthread_mutex_t *mutex);
/* Ends the program if the mutex is such a lock, which is to be locked by the calls
 * above, with a message that names the place. With STARPU_DEBUG defined,
 * STARPU_PTHREAD_MUTEX_LOCK and its kin ask it. */
void starpu_pthread_mutex_check_sched(starpu_pthread_mutex_t *mutex, char *file,
                                      int line);

/* -- keys: one value per thread -- */

typedef pthread_key_t starpu_pthread_key_t;

/* Makes a key, which is the process's, on both machines. When a thread ends, the
 * function, unless it is NULL, is called with the thread's value if that is not
 * NULL. EAGAIN: no more than PTHREAD_KEYS_MAX keys. */
int starpu_pthread_key_create(starpu_pthread_key_t *key,
                              void (*destr_function)(void *));
/* Frees the key; the values of threads are the caller's to free, and no destructor
 * is called. */
int starpu_pthread_key_delete(starpu_pthread_key_t key);
/* The calling thread's value of a key: NULL before it was set. Simulated, each
 * context has values of its own (workers, the main thread, threads), and the main
 * thread does not see those that it had set before starpu_init. The value itself
 * belongs to the caller. */
int starpu_pthread_setspecific(starpu_pthread_key_t key, const void *pointer);
void *starpu_pthread_getspecific(starpu_pthread_key_t key);

/* -- conditions -- */

typedef struct {
    _ORR_THREAD_STORAGE(pthread_cond_t);
} starpu_pthread_cond_t;
typedef pthread_condattr_t starpu_pthread_condattr_t;
#define STARPU_PTHREAD_COND_INITIALIZER                                        \
    {                                                                          \
        {                                                                      \
            PTHREAD_COND_INITIALIZER                                           \
        }                                                                      \
    }

/* Makes a condition, with NULL as attributes the default one. `destroy` returns
 * EBUSY when simulated and somebody waits. */
int starpu_pthread_cond_init(starpu_pthread_cond_t *cond,
                             starpu_pthread_condattr_t *cond_attr);
/* Lets one waiter go on, or all; nothing is remembered where nobody waits. The
 * caller need not have the mutex. `signal` may let a kernel and a thread go on on
 * the real machine. */
int starpu_pthread_cond_signal(starpu_pthread_cond_t *cond);
int starpu_pthread_cond_broadcast(starpu_pthread_cond_t *cond);
/* Gives the mutex back, waits to be let go, and has the mutex when it returns. The
 * condition is to be tested in a loop, as with POSIX. Simulated, EPERM if the caller
 * does not have the mutex. */
int starpu_pthread_cond_wait(starpu_pthread_cond_t *cond,
                             starpu_pthread_mutex_t *mutex);
/* The same, until a date of CLOCK_REALTIME: ETIMEDOUT, with the mutex. Simulated,
 * what counts is how far away the date is now, to the millisecond: that much virtual
 * time. */
int starpu_pthread_cond_timedwait(starpu_pthread_cond_t *cond,
                                  starpu_pthread_mutex_t *mutex,
                                  const struct timespec *abstime);
int starpu_pthread_cond_destroy(starpu_pthread_cond_t *cond);

/* -- locks for many readers or one writer -- */

typedef struct {
    _ORR_THREAD_STORAGE(pthread_rwlock_t);
} starpu_pthread_rwlock_t;
typedef pthread_rwlockattr_t starpu_pthread_rwlockattr_t;
#define STARPU_PTHREAD_RWLOCK_INITIALIZER                                      \
    {                                                                          \
        {                                                                      \
            PTHREAD_RWLOCK_INITIALIZER                                         \
        }                                                                      \
    }

/* Makes a free lock, with NULL as attributes the default one; `destroy` returns
 * EBUSY when it is taken. */
int starpu_pthread_rwlock_init(starpu_pthread_rwlock_t *rwlock,
                               const starpu_pthread_rwlockattr_t *attr);
int starpu_pthread_rwlock_destroy(starpu_pthread_rwlock_t *rwlock);
/* Many readers have the lock at once, or one writer. `rdlock` and `wrlock` wait,
 * `try` returns EBUSY instead. Simulated, a reader waits behind a writer that waits,
 * in the order of arrival, and a writer that asks once more gets EDEADLK. */
int starpu_pthread_rwlock_rdlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_tryrdlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_wrlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_trywrlock(starpu_pthread_rwlock_t *rwlock);
/* Gives back what the caller has, as a reader or as the writer. Simulated, EPERM if
 * nobody has the lock. */
int starpu_pthread_rwlock_unlock(starpu_pthread_rwlock_t *rwlock);

/* -- barriers -- */

typedef struct {
    _ORR_THREAD_STORAGE(pthread_barrier_t);
} starpu_pthread_barrier_t;
typedef pthread_barrierattr_t starpu_pthread_barrierattr_t;
#define STARPU_PTHREAD_BARRIER_SERIAL_THREAD PTHREAD_BARRIER_SERIAL_THREAD

/* A barrier for `count` threads, 1 or more; attributes may be NULL. It may be met
 * any number of times, by kernels too. Simulated, `destroy` returns EBUSY while some
 * wait. */
int starpu_pthread_barrier_init(starpu_pthread_barrier_t *barrier,
                                const starpu_pthread_barrierattr_t *attr,
                                unsigned count);
int starpu_pthread_barrier_destroy(starpu_pthread_barrier_t *barrier);
/* Waits until `count` threads or kernels are there; one of them gets
 * STARPU_PTHREAD_BARRIER_SERIAL_THREAD, the others 0. Kernels leave their workers to
 * other tasks meanwhile. */
int starpu_pthread_barrier_wait(starpu_pthread_barrier_t *barrier);

/* -- spin locks -- */

typedef struct {
    unsigned taken;
} starpu_pthread_spinlock_t;

/* Makes a free lock, which is one word; pshared is ignored. `destroy` returns EBUSY
 * when it is taken. */
int starpu_pthread_spin_init(starpu_pthread_spinlock_t *lock, int pshared);
int starpu_pthread_spin_destroy(starpu_pthread_spinlock_t *lock);
/* `lock` tries until it has the lock: simulated, and in kernels, it lets the one
 * that has the lock go on in between. `trylock` returns EBUSY where it is taken.
 * Whoever unlocks it need not be the one that has locked it; nothing is checked. */
int starpu_pthread_spin_lock(starpu_pthread_spinlock_t *lock);
int starpu_pthread_spin_trylock(starpu_pthread_spinlock_t *lock);
int starpu_pthread_spin_unlock(starpu_pthread_spinlock_t *lock);

/* -- waiting for several queues at once -- */

typedef struct {
    starpu_pthread_mutex_t mutex;
    starpu_pthread_cond_t cond;
    unsigned block;
} starpu_pthread_wait_t;

typedef struct {
    starpu_pthread_mutex_t mutex;
    starpu_pthread_wait_t **queue;
    unsigned allocqueue;
    unsigned nqueue;
} starpu_pthread_queue_t;

/* A queue has the list of those that want to know of it; it is not the caller's to
 * read. `destroy` frees the list; nobody may be registered or waiting then. */
int starpu_pthread_queue_init(starpu_pthread_queue_t *q);
/* Lets the first of the registered waiters go on that was not let go before; if
 * there is none, nothing happens. */
int starpu_pthread_queue_signal(starpu_pthread_queue_t *q);
/* Lets all registered waiters go on. */
int starpu_pthread_queue_broadcast(starpu_pthread_queue_t *q);
int starpu_pthread_queue_destroy(starpu_pthread_queue_t *q);
/* A waiter is one thread that waits for one of several queues. It is to be
 * unregistered from all of them before it is destroyed. */
int starpu_pthread_wait_init(starpu_pthread_wait_t *w);
/* Enters the waiter in the queue's list, which has its address until `unregister`.
 * ENOMEM: no memory. A waiter that is not registered may be unregistered. */
int starpu_pthread_queue_register(starpu_pthread_wait_t *w,
                                  starpu_pthread_queue_t *q);
int starpu_pthread_queue_unregister(starpu_pthread_wait_t *w,
                                    starpu_pthread_queue_t *q);
/* To be called before the queues are looked at: a signal that comes after it lets
 * the next wait go on at once. */
int starpu_pthread_wait_reset(starpu_pthread_wait_t *w);
/* Waits for a signal or a broadcast of one of the queues since the last reset.
 * `timedwait`: ETIMEDOUT when it did not come until the date, as
 * starpu_pthread_cond_timedwait counts it. */
int starpu_pthread_wait_wait(starpu_pthread_wait_t *w);
int starpu_pthread_wait_timedwait(starpu_pthread_wait_t *w,
                                  const struct timespec *abstime);
/* The waiter's memory may be used for something else afterwards. Simulated, EBUSY if
 * it waits. */
int starpu_pthread_wait_destroy(starpu_pthread_wait_t *w);

/* -- semaphores -- */

typedef struct {
    _ORR_THREAD_STORAGE(sem_t);
} starpu_sem_t;

/* Nobody may wait for it then. */
int starpu_sem_destroy(starpu_sem_t *sem);
/* The number of units that may be had without waiting, in *retval. */
int starpu_sem_getvalue(starpu_sem_t *sem, int *retval);
/* A semaphore with that many units; pshared is for the real machine. */
int starpu_sem_init(starpu_sem_t *sem, int pshared, unsigned value);
/* Gives a unit; simulated, to the one that has waited longest. */
int starpu_sem_post(starpu_sem_t *sem);
/* Takes a unit, or returns -1 with EAGAIN where there is none; a loop around it ends
 * as one around starpu_pthread_mutex_trylock. */
int starpu_sem_trywait(starpu_sem_t *sem);
/* Takes a unit, which it waits for, in virtual time where simulated. A kernel leaves
 * its worker to other tasks meanwhile; signals do not end the wait. */
int starpu_sem_wait(starpu_sem_t *sem);

#ifdef __cplusplus
}
#endif

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

int starpu_pthread_equal(starpu_pthread_t t1, starpu_pthread_t t2);
starpu_pthread_t starpu_pthread_self(void);

/* Simulated, a thread is one more context of the simulated machine. */
int starpu_pthread_create(starpu_pthread_t *thread,
                          const starpu_pthread_attr_t *attr,
                          void *(*start_routine)(void *), void *arg);
int starpu_pthread_join(starpu_pthread_t thread, void **retval);
int starpu_pthread_detach(starpu_pthread_t thread);
void starpu_pthread_exit(void *retval) STARPU_ATTRIBUTE_NORETURN;
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

int starpu_pthread_mutex_init(starpu_pthread_mutex_t *mutex,
                              const starpu_pthread_mutexattr_t *mutexattr);
int starpu_pthread_mutex_destroy(starpu_pthread_mutex_t *mutex);
int starpu_pthread_mutex_lock(starpu_pthread_mutex_t *mutex);
int starpu_pthread_mutex_unlock(starpu_pthread_mutex_t *mutex);
int starpu_pthread_mutex_trylock(starpu_pthread_mutex_t *mutex);
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

int starpu_pthread_key_create(starpu_pthread_key_t *key,
                              void (*destr_function)(void *));
int starpu_pthread_key_delete(starpu_pthread_key_t key);
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

int starpu_pthread_cond_init(starpu_pthread_cond_t *cond,
                             starpu_pthread_condattr_t *cond_attr);
int starpu_pthread_cond_signal(starpu_pthread_cond_t *cond);
int starpu_pthread_cond_broadcast(starpu_pthread_cond_t *cond);
int starpu_pthread_cond_wait(starpu_pthread_cond_t *cond,
                             starpu_pthread_mutex_t *mutex);
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

int starpu_pthread_rwlock_init(starpu_pthread_rwlock_t *rwlock,
                               const starpu_pthread_rwlockattr_t *attr);
int starpu_pthread_rwlock_destroy(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_rdlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_tryrdlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_wrlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_trywrlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_unlock(starpu_pthread_rwlock_t *rwlock);

/* -- barriers -- */

typedef struct {
    _ORR_THREAD_STORAGE(pthread_barrier_t);
} starpu_pthread_barrier_t;
typedef pthread_barrierattr_t starpu_pthread_barrierattr_t;
#define STARPU_PTHREAD_BARRIER_SERIAL_THREAD PTHREAD_BARRIER_SERIAL_THREAD

int starpu_pthread_barrier_init(starpu_pthread_barrier_t *barrier,
                                const starpu_pthread_barrierattr_t *attr,
                                unsigned count);
int starpu_pthread_barrier_destroy(starpu_pthread_barrier_t *barrier);
int starpu_pthread_barrier_wait(starpu_pthread_barrier_t *barrier);

/* -- spin locks -- */

typedef struct {
    unsigned taken;
} starpu_pthread_spinlock_t;

int starpu_pthread_spin_init(starpu_pthread_spinlock_t *lock, int pshared);
int starpu_pthread_spin_destroy(starpu_pthread_spinlock_t *lock);
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

int starpu_pthread_queue_init(starpu_pthread_queue_t *q);
int starpu_pthread_queue_signal(starpu_pthread_queue_t *q);
int starpu_pthread_queue_broadcast(starpu_pthread_queue_t *q);
int starpu_pthread_queue_destroy(starpu_pthread_queue_t *q);
int starpu_pthread_wait_init(starpu_pthread_wait_t *w);
int starpu_pthread_queue_register(starpu_pthread_wait_t *w,
                                  starpu_pthread_queue_t *q);
int starpu_pthread_queue_unregister(starpu_pthread_wait_t *w,
                                    starpu_pthread_queue_t *q);
int starpu_pthread_wait_reset(starpu_pthread_wait_t *w);
int starpu_pthread_wait_wait(starpu_pthread_wait_t *w);
int starpu_pthread_wait_timedwait(starpu_pthread_wait_t *w,
                                  const struct timespec *abstime);
int starpu_pthread_wait_destroy(starpu_pthread_wait_t *w);

/* -- semaphores -- */

typedef struct {
    _ORR_THREAD_STORAGE(sem_t);
} starpu_sem_t;

int starpu_sem_destroy(starpu_sem_t *sem);
int starpu_sem_getvalue(starpu_sem_t *sem, int *retval);
int starpu_sem_init(starpu_sem_t *sem, int pshared, unsigned value);
int starpu_sem_post(starpu_sem_t *sem);
int starpu_sem_trywait(starpu_sem_t *sem);
int starpu_sem_wait(starpu_sem_t *sem);

#ifdef __cplusplus
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_thread_util.h - the calls of starpu_thread.h for callers that do not
 * expect them to fail: an error ends the program with the place of the call.
 * The TRY forms return what the call returned, and end the program on anything
 * but success and "busy".
 */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <starpu_thread.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the program when `error`, the result of the call named `what`, is not
 * 0. */
static __starpu_inline void _orr_thread_check(int error, const char *what,
                                              const char *file, int line)
{
    if (STARPU_LIKELY(!error))
        return;
    fprintf(stderr, "[starpu] %s:%d: %s failed: %s\n", file, line, what,
            strerror(error));
    STARPU_ABORT();
}

/* The same for a call that may find its object taken. */
static __starpu_inline int _orr_thread_check_try(int error, const char *what,
                                                 const char *file, int line)
{
    if (error != EBUSY)
        _orr_thread_check(error, what, file, line);
    return error;
}

#define _ORR_THREAD_DO(name, args)                                             \
    _orr_thread_check(name args, #name, __FILE__, __LINE__)

#define STARPU_PTHREAD_CREATE_ON(name, thread, attr, routine, arg, where)      \
    _ORR_THREAD_DO(starpu_pthread_create, (thread, attr, routine, arg))
#define STARPU_PTHREAD_CREATE(thread, attr, routine, arg)                      \
    _ORR_THREAD_DO(starpu_pthread_create, (thread, attr, routine, arg))
#define STARPU_PTHREAD_JOIN(thread, retval)                                    \
    _ORR_THREAD_DO(starpu_pthread_join, (thread, retval))

/* INIT0 is for objects that are known to be zero already. */
#define _STARPU_PTHREAD_MUTEX_INIT(mutex, attr)                                \
    _ORR_THREAD_DO(starpu_pthread_mutex_init, (mutex, attr))
#define STARPU_PTHREAD_MUTEX_INIT(mutex, attr)                                 \
    _STARPU_PTHREAD_MUTEX_INIT(mutex, attr)
#define STARPU_PTHREAD_MUTEX_INIT0(mutex, attr)                                \
    _STARPU_PTHREAD_MUTEX_INIT(mutex, attr)
#define STARPU_PTHREAD_MUTEX_DESTROY(mutex)                                    \
    _ORR_THREAD_DO(starpu_pthread_mutex_destroy, (mutex))
#ifdef STARPU_DEBUG
#    define _STARPU_CHECK_NOT_SCHED_MUTEX(mutex, file, line)                   \
        starpu_pthread_mutex_check_sched(mutex, file, line)
static __starpu_inline starpu_pthread_mutex_t *
_orr_not_sched(starpu_pthread_mutex_t *mutex, const char *file, int line)
{
    starpu_pthread_mutex_check_sched(mutex, (char *)(uintptr_t)file, line);
    return mutex;
}
#    define _ORR_NOT_SCHED(mutex) _orr_not_sched(mutex, __FILE__, __LINE__)
#else
#    define _STARPU_CHECK_NOT_SCHED_MUTEX(mutex, file, line) ((void)(mutex))
#    define _ORR_NOT_SCHED(mutex)                            (mutex)
#endif
#define STARPU_PTHREAD_MUTEX_LOCK(mutex)                                       \
    _ORR_THREAD_DO(starpu_pthread_mutex_lock, (_ORR_NOT_SCHED(mutex)))
#define STARPU_PTHREAD_MUTEX_LOCK_SCHED(mutex)                                 \
    _ORR_THREAD_DO(starpu_pthread_mutex_lock_sched, (mutex))
#define STARPU_PTHREAD_MUTEX_UNLOCK(mutex)                                     \
    _ORR_THREAD_DO(starpu_pthread_mutex_unlock, (_ORR_NOT_SCHED(mutex)))
#define STARPU_PTHREAD_MUTEX_UNLOCK_SCHED(mutex)                               \
    _ORR_THREAD_DO(starpu_pthread_mutex_unlock_sched, (mutex))

static __starpu_inline int
_starpu_pthread_mutex_trylock(starpu_pthread_mutex_t *mutex, const char *file,
                              int line)
{
    return _orr_thread_check_try(starpu_pthread_mutex_trylock(mutex),
                                 "starpu_pthread_mutex_trylock", file, line);
}
#define STARPU_PTHREAD_MUTEX_TRYLOCK(mutex)                                    \
    _starpu_pthread_mutex_trylock(_ORR_NOT_SCHED(mutex), __FILE__, __LINE__)

static __starpu_inline int
_starpu_pthread_mutex_trylock_sched(starpu_pthread_mutex_t *mutex,
                                    const char *file, int line)
{
    return _orr_thread_check_try(starpu_pthread_mutex_trylock_sched(mutex),
                                 "starpu_pthread_mutex_trylock_sched", file,
                                 line);
}
#define STARPU_PTHREAD_MUTEX_TRYLOCK_SCHED(mutex)                              \
    _starpu_pthread_mutex_trylock_sched(mutex, __FILE__, __LINE__)

#define STARPU_PTHREAD_KEY_CREATE(key, destr)                                  \
    _ORR_THREAD_DO(starpu_pthread_key_create, (key, destr))
#define STARPU_PTHREAD_KEY_DELETE(key)                                         \
    _ORR_THREAD_DO(starpu_pthread_key_delete, (key))
#define STARPU_PTHREAD_SETSPECIFIC(key, ptr)                                   \
    _ORR_THREAD_DO(starpu_pthread_setspecific, (key, ptr))
#define STARPU_PTHREAD_GETSPECIFIC(key) starpu_pthread_getspecific(key)

#define _STARPU_PTHREAD_RWLOCK_INIT(rwlock, attr)                              \
    _ORR_THREAD_DO(starpu_pthread_rwlock_init, (rwlock, attr))
#define STARPU_PTHREAD_RWLOCK_INIT(rwlock, attr)                               \
    _STARPU_PTHREAD_RWLOCK_INIT(rwlock, attr)
#define STARPU_PTHREAD_RWLOCK_INIT0(rwlock, attr)                              \
    _STARPU_PTHREAD_RWLOCK_INIT(rwlock, attr)
#define STARPU_PTHREAD_RWLOCK_RDLOCK(rwlock)                                   \
    _ORR_THREAD_DO(starpu_pthread_rwlock_rdlock, (rwlock))
#define STARPU_PTHREAD_RWLOCK_WRLOCK(rwlock)                                   \
    _ORR_THREAD_DO(starpu_pthread_rwlock_wrlock, (rwlock))
#define STARPU_PTHREAD_RWLOCK_UNLOCK(rwlock)                                   \
    _ORR_THREAD_DO(starpu_pthread_rwlock_unlock, (rwlock))
#define STARPU_PTHREAD_RWLOCK_DESTROY(rwlock)                                  \
    _ORR_THREAD_DO(starpu_pthread_rwlock_destroy, (rwlock))

static __starpu_inline int
_starpu_pthread_rwlock_tryrdlock(starpu_pthread_rwlock_t *rwlock,
                                 const char *file, int line)
{
    return _orr_thread_check_try(starpu_pthread_rwlock_tryrdlock(rwlock),
                                 "starpu_pthread_rwlock_tryrdlock", file, line);
}
#define STARPU_PTHREAD_RWLOCK_TRYRDLOCK(rwlock)                                \
    _starpu_pthread_rwlock_tryrdlock(rwlock, __FILE__, __LINE__)

static __starpu_inline int
_starpu_pthread_rwlock_trywrlock(starpu_pthread_rwlock_t *rwlock,
                                 const char *file, int line)
{
    return _orr_thread_check_try(starpu_pthread_rwlock_trywrlock(rwlock),
                                 "starpu_pthread_rwlock_trywrlock", file, line);
}
#define STARPU_PTHREAD_RWLOCK_TRYWRLOCK(rwlock)                                \
    _starpu_pthread_rwlock_trywrlock(rwlock, __FILE__, __LINE__)

#define _STARPU_PTHREAD_COND_INIT(cond, attr)                                  \
    _ORR_THREAD_DO(starpu_pthread_cond_init, (cond, attr))
#define STARPU_PTHREAD_COND_INIT(cond, attr)                                   \
    _STARPU_PTHREAD_COND_INIT(cond, attr)
#define STARPU_PTHREAD_COND_INIT0(cond, attr)                                  \
    _STARPU_PTHREAD_COND_INIT(cond, attr)
#define STARPU_PTHREAD_COND_DESTROY(cond)                                      \
    _ORR_THREAD_DO(starpu_pthread_cond_destroy, (cond))
#define STARPU_PTHREAD_COND_SIGNAL(cond)                                       \
    _ORR_THREAD_DO(starpu_pthread_cond_signal, (cond))
#define STARPU_PTHREAD_COND_BROADCAST(cond)                                    \
    _ORR_THREAD_DO(starpu_pthread_cond_broadcast, (cond))
#define STARPU_PTHREAD_COND_WAIT(cond, mutex)                                  \
    _ORR_THREAD_DO(starpu_pthread_cond_wait, (cond, mutex))

/* Returns 0 or ETIMEDOUT. */
static __starpu_inline int _starpu_pthread_cond_timedwait(
    starpu_pthread_cond_t *cond, starpu_pthread_mutex_t *mutex,
    const struct timespec *abstime, const char *file, int line)
{
    int error = starpu_pthread_cond_timedwait(cond, mutex, abstime);

    if (error != ETIMEDOUT)
        _orr_thread_check(error, "starpu_pthread_cond_timedwait", file, line);
    return error;
}
#define STARPU_PTHREAD_COND_TIMEDWAIT(cond, mutex, abstime)                    \
    _starpu_pthread_cond_timedwait(cond, mutex, abstime, __FILE__, __LINE__)

#define STARPU_PTHREAD_BARRIER_INIT(barrier, attr, count)                      \
    _ORR_THREAD_DO(starpu_pthread_barrier_init, (barrier, attr, count))
#define STARPU_PTHREAD_BARRIER_DESTROY(barrier)                                \
    _ORR_THREAD_DO(starpu_pthread_barrier_destroy, (barrier))
/* One of the threads gets PTHREAD_BARRIER_SERIAL_THREAD, which is no error. */
#define STARPU_PTHREAD_BARRIER_WAIT(barrier)                                   \
    do {                                                                       \
        int st_ret = starpu_pthread_barrier_wait(barrier);                     \
        if (st_ret != STARPU_PTHREAD_BARRIER_SERIAL_THREAD)                    \
            _orr_thread_check(st_ret, "starpu_pthread_barrier_wait", __FILE__, \
                              __LINE__);                                       \
    } while (0)

#ifdef __cplusplus
}
#endif

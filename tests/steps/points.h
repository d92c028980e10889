/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/steps/points.h - included first in every source of core that this test
 * compiles for itself (-include): other contexts may run before each atomic
 * operation and each lock, after each unlock and after stores that publish.
 * core/base/lock.h comes before, so that a lock is one step.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "core/base/lock.h"

/* Others may run here. `object` is for the printed trace. */
void step_point(const char *what, const char *object, const char *file,
                int line);
/* … and the caller goes on once the lock is free. */
void step_lock(struct orr_lock *lock, const char *object, const char *file,
               int line);

#define STEP_POINT(what, object) step_point(what, object, __FILE__, __LINE__)

#define orr_lock(lock)                                                         \
    (step_lock(lock, #lock, __FILE__, __LINE__), orr_lock(lock))
#define orr_lock_next(lock)                                                    \
    (step_lock(lock, #lock, __FILE__, __LINE__), orr_lock_next(lock))
#define orr_trylock(lock) (STEP_POINT("try", #lock), orr_trylock(lock))
#define orr_unlock(lock)  (orr_unlock(lock), STEP_POINT("unlocked", #lock))

/* What the compiler's own <stdatomic.h> makes of them, with steps. */
#if defined(__clang__)
#    define STEP_TYPE(p)           __typeof__(__c11_atomic_load(p, memory_order_relaxed))
#    define STEP_LOAD(p, o)        __c11_atomic_load(p, o)
#    define STEP_STORE(p, v, o)    __c11_atomic_store(p, v, o)
#    define STEP_EXCHANGE(p, v, o) __c11_atomic_exchange(p, v, o)
#    define STEP_CAS(p, e, v)                                                  \
        __c11_atomic_compare_exchange_strong(p, e, v, memory_order_seq_cst,    \
                                             memory_order_seq_cst)
#    define STEP_ADD(p, v, o) __c11_atomic_fetch_add(p, v, o)
#    define STEP_SUB(p, v, o) __c11_atomic_fetch_sub(p, v, o)
#    define STEP_OR(p, v, o)  __c11_atomic_fetch_or(p, v, o)
#    define STEP_AND(p, v, o) __c11_atomic_fetch_and(p, v, o)
#else
#    define STEP_TYPE(p) __typeof__((void)0, *(p))
#    define STEP_LOAD(p, o)                                                    \
        __extension__({                                                        \
            __auto_type step_p = (p);                                          \
            __typeof__((void)0, *step_p) step_v;                               \
            __atomic_load(step_p, &step_v, (o));                               \
            step_v;                                                            \
        })
#    define STEP_STORE(p, v, o)                                                \
        __extension__({                                                        \
            __auto_type step_p = (p);                                          \
            __typeof__((void)0, *step_p) step_v = (v);                         \
            __atomic_store(step_p, &step_v, (o));                              \
        })
#    define STEP_EXCHANGE(p, v, o)                                             \
        __extension__({                                                        \
            __auto_type step_p = (p);                                          \
            __typeof__((void)0, *step_p) step_v = (v), step_old;               \
            __atomic_exchange(step_p, &step_v, &step_old, (o));                \
            step_old;                                                          \
        })
#    define STEP_CAS(p, e, v)                                                  \
        __extension__({                                                        \
            __auto_type step_p = (p);                                          \
            __typeof__((void)0, *step_p) step_v = (v);                         \
            __atomic_compare_exchange(step_p, (e), &step_v, 0,                 \
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);     \
        })
#    define STEP_ADD(p, v, o) __atomic_fetch_add(p, v, o)
#    define STEP_SUB(p, v, o) __atomic_fetch_sub(p, v, o)
#    define STEP_OR(p, v, o)  __atomic_fetch_or(p, v, o)
#    define STEP_AND(p, v, o) __atomic_fetch_and(p, v, o)
#endif

/* Whoever sees what a releasing store says may be done with the object before
 * the storer goes on. */
#define STEP_PUBLISHED(order, object)                                          \
    ((order) == memory_order_relaxed ? (void)0 : STEP_POINT("stored", object))

#undef atomic_init
#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and
#undef atomic_fetch_and_explicit
#undef atomic_thread_fence

#define STEP_SC memory_order_seq_cst

#define atomic_init(p, v)          STEP_STORE(p, v, memory_order_relaxed)
#define atomic_load_explicit(p, o) (STEP_POINT("load", #p), STEP_LOAD(p, o))
#define atomic_load(p)             atomic_load_explicit(p, STEP_SC)
/* What is stored is known before the step. */
#define atomic_store_explicit(p, v, o)                                         \
    __extension__({                                                            \
        STEP_TYPE(p) step_value = (v);                                         \
        STEP_POINT("store", #p);                                               \
        STEP_STORE(p, step_value, o);                                          \
        STEP_PUBLISHED(o, #p);                                                 \
    })
#define atomic_store(p, v) atomic_store_explicit(p, v, STEP_SC)
#define atomic_exchange_explicit(p, v, o)                                      \
    (STEP_POINT("exchange", #p), STEP_EXCHANGE(p, v, o))
#define atomic_exchange(p, v) atomic_exchange_explicit(p, v, STEP_SC)
#define atomic_compare_exchange_strong(p, e, v)                                \
    (STEP_POINT("compare", #p), STEP_CAS(p, e, v))
#define atomic_fetch_add_explicit(p, v, o)                                     \
    (STEP_POINT("add", #p), STEP_ADD(p, v, o))
#define atomic_fetch_add(p, v) atomic_fetch_add_explicit(p, v, STEP_SC)
#define atomic_fetch_sub_explicit(p, v, o)                                     \
    (STEP_POINT("subtract", #p), STEP_SUB(p, v, o))
#define atomic_fetch_sub(p, v) atomic_fetch_sub_explicit(p, v, STEP_SC)
#define atomic_fetch_or_explicit(p, v, o)                                      \
    (STEP_POINT("or", #p), STEP_OR(p, v, o))
#define atomic_fetch_or(p, v) atomic_fetch_or_explicit(p, v, STEP_SC)
#define atomic_fetch_and_explicit(p, v, o)                                     \
    (STEP_POINT("and", #p), STEP_AND(p, v, o))
#define atomic_fetch_and(p, v) atomic_fetch_and_explicit(p, v, STEP_SC)
#define atomic_thread_fence(o) STEP_POINT("fence", "")

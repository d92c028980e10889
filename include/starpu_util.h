/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_util.h - attributes, assertions and atomic operations for
 * applications and policies. Everything here is header-only.
 */
#pragma once

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_config.h>

#ifdef __GLIBC__
#    include <execinfo.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* -- attributes and hints to the compiler -- */

#if defined(__GNUC__) && defined(__GNUC_MINOR__)
#    define STARPU_GNUC_PREREQ(maj, min)                                       \
        (__GNUC__ > (maj) || (__GNUC__ == (maj) && __GNUC_MINOR__ >= (min)))
#    define STARPU_UNLIKELY(expr)     (__builtin_expect(!!(expr), 0))
#    define STARPU_LIKELY(expr)       (__builtin_expect(!!(expr), 1))
#    define STARPU_ATTRIBUTE_UNUSED   __attribute__((unused))
#    define STARPU_ATTRIBUTE_NORETURN __attribute__((noreturn))
#    define STARPU_ATTRIBUTE_VISIBILITY_DEFAULT                                \
        __attribute__((visibility("default")))
#    define STARPU_VISIBILITY_PUSH_HIDDEN _Pragma("GCC visibility push(hidden)")
#    define STARPU_VISIBILITY_POP         _Pragma("GCC visibility pop")
#    define STARPU_ATTRIBUTE_MALLOC       __attribute__((malloc))
#    define STARPU_ATTRIBUTE_WARN_UNUSED_RESULT                                \
        __attribute__((warn_unused_result))
#    define STARPU_ATTRIBUTE_PURE          __attribute__((pure))
#    define STARPU_ATTRIBUTE_ALIGNED(size) __attribute__((aligned(size)))
#    define STARPU_ATTRIBUTE_FORMAT(type, string, first)                       \
        __attribute__((format(type, string, first)))
#    define STARPU_INLINE __inline__
#    define STARPU_ATTRIBUTE_CALLOC_SIZE(num, size)                            \
        __attribute__((alloc_size(num, size)))
#    define STARPU_ATTRIBUTE_ALLOC_SIZE(size) __attribute__((alloc_size(size)))
#    define STARPU_DEPRECATED                 __attribute__((deprecated))
#    define STARPU_WARN_UNUSED_RESULT         __attribute__((warn_unused_result))
#else
#    define STARPU_GNUC_PREREQ(maj, min) 0
#    define STARPU_UNLIKELY(expr)        (expr)
#    define STARPU_LIKELY(expr)          (expr)
#    define STARPU_ATTRIBUTE_UNUSED
#    define STARPU_ATTRIBUTE_NORETURN
#    define STARPU_ATTRIBUTE_VISIBILITY_DEFAULT
#    define STARPU_VISIBILITY_PUSH_HIDDEN
#    define STARPU_VISIBILITY_POP
#    define STARPU_ATTRIBUTE_MALLOC
#    define STARPU_ATTRIBUTE_WARN_UNUSED_RESULT
#    define STARPU_ATTRIBUTE_PURE
#    define STARPU_ATTRIBUTE_ALIGNED(size)
#    define STARPU_ATTRIBUTE_FORMAT(type, string, first)
#    define STARPU_INLINE inline
#    define STARPU_ATTRIBUTE_CALLOC_SIZE(num, size)
#    define STARPU_ATTRIBUTE_ALLOC_SIZE(size)
#    define STARPU_DEPRECATED
#    define STARPU_WARN_UNUSED_RESULT
#endif

/* Bytes that two threads should not write to side by side. */
#if defined(__powerpc64__) || (defined(__APPLE__) && defined(__aarch64__))
#    define STARPU_CACHELINE_SIZE 128
#elif defined(__s390x__)
#    define STARPU_CACHELINE_SIZE 256
#else
#    define STARPU_CACHELINE_SIZE 64
#endif

/* -- assertions; STARPU_NO_ASSERT turns the plain ones off -- */

/* Prints where the calling thread is, innermost frame first. */
#define STARPU_BACKTRACE_LENGTH 32
#ifdef __GLIBC__
#    define STARPU_DUMP_BACKTRACE()                                            \
        do {                                                                   \
            void *st_frames[STARPU_BACKTRACE_LENGTH];                          \
            int st_depth = backtrace(st_frames, STARPU_BACKTRACE_LENGTH);      \
            backtrace_symbols_fd(st_frames, st_depth, 2);                      \
        } while (0)
#else
#    define STARPU_DUMP_BACKTRACE()                                            \
        do {                                                                   \
        } while (0)
#endif

#define _starpu_abort() abort()

/* Ends the program at once with a message naming the place. */
#define STARPU_ABORT()                                                         \
    do {                                                                       \
        fprintf(stderr, "[starpu] %s:%d: %s gave up\n", __FILE__, __LINE__,    \
                __starpu_func__);                                              \
        STARPU_DUMP_BACKTRACE();                                               \
        _starpu_abort();                                                       \
    } while (0)

/* The same with a message, printf style; `msg` is a literal. */
#define STARPU_ABORT_MSG(msg, ...)                                             \
    do {                                                                       \
        fprintf(stderr, "[starpu] %s:%d: %s: " msg "\n", __FILE__, __LINE__,   \
                __starpu_func__, ##__VA_ARGS__);                               \
        STARPU_DUMP_BACKTRACE();                                               \
        _starpu_abort();                                                       \
    } while (0)

/* Checks that stay in every build. */
#define STARPU_ASSERT_MSG_ALWAYS(x, msg, ...)                                  \
    do {                                                                       \
        if (STARPU_UNLIKELY(!(x)))                                             \
            STARPU_ABORT_MSG("`%s' does not hold: " msg, #x, ##__VA_ARGS__);   \
    } while (0)

#ifdef STARPU_NO_ASSERT
#    define STARPU_ASSERT(x)                                                   \
        do {                                                                   \
            if (0) {                                                           \
                (void)(x);                                                     \
            }                                                                  \
        } while (0)
#    define STARPU_ASSERT_MSG(x, msg, ...) STARPU_ASSERT(x)
#    define STARPU_ASSERT_ACCESSIBLE(x)    STARPU_ASSERT(x)
#else
#    define STARPU_ASSERT(x)                                                   \
        do {                                                                   \
            if (STARPU_UNLIKELY(!(x)))                                         \
                STARPU_ABORT_MSG("`%s' does not hold", #x);                    \
        } while (0)
#    define STARPU_ASSERT_MSG(x, msg, ...)                                     \
        STARPU_ASSERT_MSG_ALWAYS(x, msg, ##__VA_ARGS__)
/* Reads one byte behind the pointer, so that a bad one fails here. */
#    define STARPU_ASSERT_ACCESSIBLE(x)                                        \
        do {                                                                   \
            char st_byte = *(const volatile char *)(x);                        \
            (void)st_byte;                                                     \
        } while (0)
#endif

/* A check that only StarPU's own simulation builds make. */
#define STARPU_SIMGRID_ASSERT(x)                                               \
    do {                                                                       \
    } while (0)

#ifdef __cplusplus
#    define STARPU_STATIC_ASSERT(x) static_assert(x, #    x)
#else
#    define STARPU_STATIC_ASSERT(x) _Static_assert(x, #    x)
#endif

/* Writes the message for errno value `errnum` to `buf`. */
#define starpu_strerror_r(errnum, buf, buflen)                                 \
    ((void)snprintf(buf, buflen, "%s", strerror(errnum)))

/* Ends the program when a call returned something else than 0, or than
 * `value`. `message` is a literal that names the call. */
#define STARPU_CHECK_RETURN_VALUE(err, message, ...)                           \
    STARPU_CHECK_RETURN_VALUE_IS(err, 0, message, ##__VA_ARGS__)

#define STARPU_CHECK_RETURN_VALUE_IS(err, value, message, ...)                 \
    do {                                                                       \
        int st_got = (int)(err), st_want = (int)(value);                       \
        if (STARPU_UNLIKELY(st_got != st_want)) {                              \
            char st_words[256];                                                \
            starpu_strerror_r(st_got < 0 ? -st_got : st_got, st_words,         \
                              sizeof(st_words));                               \
            fprintf(stderr,                                                    \
                    "[starpu] %s:%d: %s: " message                             \
                    " returned %d (%s), expected %d\n",                        \
                    __FILE__, __LINE__, __starpu_func__, ##__VA_ARGS__,        \
                    st_got, st_words, st_want);                                \
            STARPU_DUMP_BACKTRACE();                                           \
            _starpu_abort();                                                   \
        }                                                                      \
    } while (0)

/* -- atomic operations, all sequentially consistent -- */

/* Each compare-and-exchange returns the value found. */
#define STARPU_HAVE_CMPXCHG
#define STARPU_HAVE_XCHG
#define STARPU_HAVE_CMPXCHG32
#define STARPU_HAVE_XCHG32
#define STARPU_HAVE_CMPXCHGL
#define STARPU_HAVE_XCHGL
#define STARPU_HAVE_CMPXCHG64
#define STARPU_HAVE_XCHG64

static __starpu_inline unsigned _starpu_cmpxchg(unsigned *ptr, unsigned old,
                                                unsigned next)
{
    return __sync_val_compare_and_swap(ptr, old, next);
}

static __starpu_inline unsigned _starpu_xchg(unsigned *ptr, unsigned next)
{
    return __atomic_exchange_n(ptr, next, __ATOMIC_SEQ_CST);
}

static __starpu_inline uint32_t _starpu_cmpxchg32(uint32_t *ptr, uint32_t old,
                                                  uint32_t next)
{
    return __sync_val_compare_and_swap(ptr, old, next);
}

static __starpu_inline uint32_t _starpu_xchg32(uint32_t *ptr, uint32_t next)
{
    return __atomic_exchange_n(ptr, next, __ATOMIC_SEQ_CST);
}

static __starpu_inline unsigned long
_starpu_cmpxchgl(unsigned long *ptr, unsigned long old, unsigned long next)
{
    return __sync_val_compare_and_swap(ptr, old, next);
}

static __starpu_inline unsigned long _starpu_xchgl(unsigned long *ptr,
                                                   unsigned long next)
{
    return __atomic_exchange_n(ptr, next, __ATOMIC_SEQ_CST);
}

static __starpu_inline uint64_t _starpu_cmpxchg64(uint64_t *ptr, uint64_t old,
                                                  uint64_t next)
{
    return __sync_val_compare_and_swap(ptr, old, next);
}

static __starpu_inline uint64_t _starpu_xchg64(uint64_t *ptr, uint64_t next)
{
    return __atomic_exchange_n(ptr, next, __ATOMIC_SEQ_CST);
}

/* Defines starpu_atomic_<name>(ptr, value): replaces *ptr by `expr`, which may
 * name `old` and `value`, and returns what it wrote. */
#define _ORR_ATOMIC_SOMETHING(storage, name, expr, type, cmpxchg)              \
    storage type starpu_atomic_##name(type *ptr, type value)                   \
    {                                                                          \
        type old, next;                                                        \
        do {                                                                   \
            old = *(volatile type *)ptr;                                       \
            next = (expr);                                                     \
        } while (cmpxchg(ptr, old, next) != old);                              \
        return next;                                                           \
    }
#define STARPU_ATOMIC_SOMETHING(name, expr)                                    \
    _ORR_ATOMIC_SOMETHING(static __starpu_inline, name, expr, unsigned,        \
                          _starpu_cmpxchg)
#define STARPU_ATOMIC_SOMETHINGL(name, expr)                                   \
    _ORR_ATOMIC_SOMETHING(static __starpu_inline, name##l, expr,               \
                          unsigned long, _starpu_cmpxchgl)
#define STARPU_ATOMIC_SOMETHING64(name, expr)                                  \
    _ORR_ATOMIC_SOMETHING(static __starpu_inline, name##64, expr, uint64_t,    \
                          _starpu_cmpxchg64)

/* *ptr = *ptr + value, and *ptr | value; they return the new value. */
unsigned starpu_atomic_add(unsigned *ptr, unsigned value);
unsigned long starpu_atomic_addl(unsigned long *ptr, unsigned long value);
uint64_t starpu_atomic_add64(uint64_t *ptr, uint64_t value);
unsigned starpu_atomic_or(unsigned *ptr, unsigned value);
unsigned long starpu_atomic_orl(unsigned long *ptr, unsigned long value);
uint64_t starpu_atomic_or64(uint64_t *ptr, uint64_t value);
_ORR_ATOMIC_SOMETHING(_ORR_INLINE, add, old + value, unsigned,
                      __sync_val_compare_and_swap)
_ORR_ATOMIC_SOMETHING(_ORR_INLINE, addl, old + value, unsigned long,
                      __sync_val_compare_and_swap)
_ORR_ATOMIC_SOMETHING(_ORR_INLINE, add64, old + value, uint64_t,
                      __sync_val_compare_and_swap)
_ORR_ATOMIC_SOMETHING(_ORR_INLINE, or, old | value, unsigned,
                      __sync_val_compare_and_swap)
_ORR_ATOMIC_SOMETHING(_ORR_INLINE, orl, old | value, unsigned long,
                      __sync_val_compare_and_swap)
_ORR_ATOMIC_SOMETHING(_ORR_INLINE, or64, old | value, uint64_t,
                      __sync_val_compare_and_swap)

/* Additions return the new value, and evaluate `value` twice; unions of bits return the
 * old one. */
#define STARPU_ATOMIC_ADD(ptr, value)                                          \
    (__sync_fetch_and_add((ptr), (value)) + (value))
#define STARPU_ATOMIC_ADDL(ptr, value)                                         \
    (__sync_fetch_and_add((ptr), (value)) + (value))
#define STARPU_ATOMIC_ADD64(ptr, value)                                        \
    (__sync_fetch_and_add((ptr), (value)) + (value))
#define STARPU_ATOMIC_OR(ptr, value)   (__sync_fetch_and_or((ptr), (value)))
#define STARPU_ATOMIC_ORL(ptr, value)  (__sync_fetch_and_or((ptr), (value)))
#define STARPU_ATOMIC_OR64(ptr, value) (__sync_fetch_and_or((ptr), (value)))

/* *ptr becomes `value` if it is `old`. BOOL returns whether it was, VAL what it was. */
#define STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, value)                          \
    (__sync_bool_compare_and_swap((ptr), (old), (value)))
#define STARPU_BOOL_COMPARE_AND_SWAP32(ptr, old, value)                        \
    STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_BOOL_COMPARE_AND_SWAP64(ptr, old, value)                        \
    STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_BOOL_COMPARE_AND_SWAP_PTR(ptr, old, value)                      \
    STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_VAL_COMPARE_AND_SWAP(ptr, old, value)                           \
    (__sync_val_compare_and_swap((ptr), (old), (value)))
#define STARPU_VAL_COMPARE_AND_SWAP32(ptr, old, value)                         \
    STARPU_VAL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_VAL_COMPARE_AND_SWAP64(ptr, old, value)                         \
    STARPU_VAL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_VAL_COMPARE_AND_SWAP_PTR(ptr, old, value)                       \
    STARPU_VAL_COMPARE_AND_SWAP(ptr, old, value)
/* *ptr becomes `value`; returns what it was. */
#define STARPU_VAL_EXCHANGE(ptr, value)                                        \
    (__atomic_exchange_n((ptr), (value), __ATOMIC_SEQ_CST))
#define STARPU_VAL_EXCHANGEL(ptr, value)  STARPU_VAL_EXCHANGE(ptr, value)
#define STARPU_VAL_EXCHANGE32(ptr, value) STARPU_VAL_EXCHANGE(ptr, value)
#define STARPU_VAL_EXCHANGE64(ptr, value) STARPU_VAL_EXCHANGE(ptr, value)

/* A hand-made lock: the first returns the former value. */
#define STARPU_TEST_AND_SET(ptr, value)                                        \
    (__sync_lock_test_and_set((ptr), (value)))
#define STARPU_RELEASE(ptr) (__sync_lock_release((ptr)))

/* Fences: of all accesses, of those after a read, of those before a write. */
#define STARPU_SYNCHRONIZE() __sync_synchronize()
#define STARPU_RMB()         __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define STARPU_WMB()         __atomic_thread_fence(__ATOMIC_RELEASE)

#ifdef __cplusplus
}
#endif

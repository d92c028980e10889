/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/doacross.c - loops with ordered(n), as gcc and clang call the runtime for them:
 * iterations that wait for others (depend(sink)), and that may be waited for (depend(source)).
 * An iteration is told by a number made of those of its loops, of which a record knows only
 * whether two are equal. Any thread.
 */
#include "record/openmp/gomp.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long ull;

enum { MOST_DIMS = 32 };

/* Of the loop that this thread has come to. */
static __thread unsigned dims __attribute__((tls_model("initial-exec")));

static void keep_dims(unsigned n)
{
    if (n > MOST_DIMS) {
        fprintf(
            stderr,
            "orrery: error: ordered(%u): at most %d loops can be recorded\n", n,
            MOST_DIMS);
        exit(1);
    }
    dims = n;
}

static uint64_t iteration(const uint64_t *at)
{
    uint64_t number = 0;

    for (unsigned d = 0; d < dims; d++) {
        number = (number ^ at[d]) * UINT64_C(0x9e3779b97f4a7c15);
        number ^= number >> 29;
    }
    return number;
}

/* Before others may see it: what they do then has later dates. */
static void put_source(const uint64_t *at)
{
    if (orr_omp_on())
        orr_omp_put(ORR_OMP_SOURCE, 0, dims, iteration(at), at[0]);
}

static void put_wait(void)
{
    if (orr_omp_on())
        orr_omp_put(ORR_OMP_WAIT_BEGIN, 0, ORR_OMP_SINK, 0, 0);
}

static void put_sink(const uint64_t *at)
{
    if (orr_omp_on())
        orr_omp_put(ORR_OMP_WAIT_END, 0, ORR_OMP_SINK, iteration(at), 0);
}

/* --- clang --- */

PUBLIC void __kmpc_doacross_init(void *place, int32_t thread, int32_t n,
                                 const void *loops);

PUBLIC void __kmpc_doacross_init(void *place, int32_t thread, int32_t n,
                                 const void *loops)
{
    GOMP_REAL(__kmpc_doacross_init);
    keep_dims((unsigned)n);
    real___kmpc_doacross_init(place, thread, n, loops);
}

PUBLIC void __kmpc_doacross_wait(void *place, int32_t thread,
                                 const int64_t *at);

PUBLIC void __kmpc_doacross_wait(void *place, int32_t thread, const int64_t *at)
{
    GOMP_REAL(__kmpc_doacross_wait);
    put_wait();
    real___kmpc_doacross_wait(place, thread, at);
    put_sink((const uint64_t *)at);
}

PUBLIC void __kmpc_doacross_post(void *place, int32_t thread,
                                 const int64_t *at);

PUBLIC void __kmpc_doacross_post(void *place, int32_t thread, const int64_t *at)
{
    GOMP_REAL(__kmpc_doacross_post);
    put_source((const uint64_t *)at);
    real___kmpc_doacross_post(place, thread, at);
}

/* --- gcc: how loops begin --- */

/* As gomp_loops.c has it; the first of the counts is that of the loop that is dealt out. */
static void put_loop(unsigned n)
{
    keep_dims(n);
    if (gomp_on())
        orr_omp_put(ORR_OMP_LOOP_BEGIN, 0, 0, 0, 0);
}

#define START(name, type)                                                      \
    PUBLIC bool name(unsigned n, const type *counts, type chunk, type *first,  \
                     type *end);                                               \
    PUBLIC bool name(unsigned n, const type *counts, type chunk, type *first,  \
                     type *end)                                                \
    {                                                                          \
        GOMP_REAL(name);                                                       \
        put_loop(n);                                                           \
        return real_##name(n, counts, chunk, first, end);                      \
    }

#define START_RUNTIME(name, type)                                              \
    PUBLIC bool name(unsigned n, const type *counts, type *first, type *end);  \
    PUBLIC bool name(unsigned n, const type *counts, type *first, type *end)   \
    {                                                                          \
        GOMP_REAL(name);                                                       \
        put_loop(n);                                                           \
        return real_##name(n, counts, first, end);                             \
    }

/* With reductions of tasks, or memory of their own. */
#define START_LONG(name, type)                                                 \
    PUBLIC bool name(unsigned n, const type *counts, long schedule,            \
                     type chunk, type *first, type *end,                       \
                     uintptr_t *reductions, void **memory);                    \
    PUBLIC bool name(unsigned n, const type *counts, long schedule,            \
                     type chunk, type *first, type *end,                       \
                     uintptr_t *reductions, void **memory)                     \
    {                                                                          \
        GOMP_REAL(name);                                                       \
        put_loop(n);                                                           \
        return real_##name(n, counts, schedule, chunk, first, end, reductions, \
                           memory);                                            \
    }

START(GOMP_loop_doacross_static_start, long)
START(GOMP_loop_doacross_dynamic_start, long)
START(GOMP_loop_doacross_guided_start, long)
START(GOMP_loop_ull_doacross_static_start, ull)
START(GOMP_loop_ull_doacross_dynamic_start, ull)
START(GOMP_loop_ull_doacross_guided_start, ull)
START_RUNTIME(GOMP_loop_doacross_runtime_start, long)
START_RUNTIME(GOMP_loop_ull_doacross_runtime_start, ull)
START_LONG(GOMP_loop_doacross_start, long)
START_LONG(GOMP_loop_ull_doacross_start, ull)

/* --- gcc: iterations --- */

#define POST(name, type)                                                       \
    PUBLIC void name(const type *at);                                          \
    PUBLIC void name(const type *at)                                           \
    {                                                                          \
        GOMP_REAL(name);                                                       \
        put_source((const uint64_t *)at);                                      \
        real_##name(at);                                                       \
    }

/* How many arguments there are the runtime knows from the loop's beginning: more do no harm. */
#define WAIT(name, type)                                                       \
    PUBLIC void name(type first, ...);                                         \
    PUBLIC void name(type first, ...)                                          \
    {                                                                          \
        type at[MOST_DIMS] = {first};                                          \
        va_list rest;                                                          \
                                                                               \
        GOMP_REAL(name);                                                       \
        va_start(rest, first);                                                 \
        for (unsigned d = 1; d < dims; d++)                                    \
            at[d] = va_arg(rest, type);                                        \
        va_end(rest);                                                          \
        put_wait();                                                            \
        real_##name(at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7],    \
                    at[8], at[9], at[10], at[11], at[12], at[13], at[14],      \
                    at[15], at[16], at[17], at[18], at[19], at[20], at[21],    \
                    at[22], at[23], at[24], at[25], at[26], at[27], at[28],    \
                    at[29], at[30], at[31]);                                   \
        put_sink((const uint64_t *)at);                                        \
    }

POST(GOMP_doacross_post, long)
POST(GOMP_doacross_ull_post, ull)
WAIT(GOMP_doacross_wait, long)
WAIT(GOMP_doacross_ull_wait, ull)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/gomp_loops.c - see gomp.h: worksharing loops and sections. Each has
 * functions that begin it, give a thread its next iterations, and end it. Static loops
 * call none of them: programs cut these themselves.
 */
#include "record/openmp/gomp.h"

#include <stddef.h>

typedef unsigned long long ull;

static void put_loop(bool free)
{
    if (gomp_on())
        orr_omp_put(ORR_OMP_LOOP_BEGIN, 0, free, 0, 0);
}

/* The iterations that a thread was given, if it was given some. */
static bool put_chunk(bool any, uint64_t span, uint64_t step)
{
    if (any && gomp_on())
        orr_omp_put(ORR_OMP_LOOP_CHUNK, 0, 0, step ? (span + step - 1) / step : span, 0);
    return any;
}

/* How far it is between the two, for the steps of the loop: those of its last beginning. */
static __thread uint64_t loop_step __attribute__((tls_model("initial-exec")));

void gomp_keep_step(long step)
{
    loop_step = step < 0 ? -(uint64_t)step : (uint64_t)step;
}

static bool give(bool any, const long *first, const long *end)
{
    return put_chunk(any,
                     !any             ? 0
                     : *end > *first ? (uint64_t)*end - (uint64_t)*first
                                     : (uint64_t)*first - (uint64_t)*end,
                     loop_step);
}

static bool give_ull(bool any, const ull *first, const ull *end)
{
    return put_chunk(any, !any ? 0 : *end > *first ? *end - *first : *first - *end, loop_step);
}

/* --- beginnings: with a chunk's size, and without --- */

#define START(name, free)                                                                          \
    PUBLIC bool name(long from, long to, long step, long chunk, long *first, long *end);           \
    PUBLIC bool name(long from, long to, long step, long chunk, long *first, long *end)            \
    {                                                                                              \
        GOMP_REAL(name);                                                                           \
        put_loop(free);                                                                            \
        gomp_keep_step(step);                                                                           \
        return give(real_##name(from, to, step, chunk, first, end), first, end);                   \
    }

#define START_RUNTIME(name, free)                                                                  \
    PUBLIC bool name(long from, long to, long step, long *first, long *end);                       \
    PUBLIC bool name(long from, long to, long step, long *first, long *end)                        \
    {                                                                                              \
        GOMP_REAL(name);                                                                           \
        put_loop(free);                                                                            \
        gomp_keep_step(step);                                                                           \
        return give(real_##name(from, to, step, first, end), first, end);                          \
    }

#define START_ULL(name, free)                                                                      \
    PUBLIC bool name(bool up, ull from, ull to, ull step, ull chunk, ull *first, ull *end);        \
    PUBLIC bool name(bool up, ull from, ull to, ull step, ull chunk, ull *first, ull *end)         \
    {                                                                                              \
        GOMP_REAL(name);                                                                           \
        put_loop(free);                                                                            \
        gomp_keep_step((long)step);                                                                     \
        return give_ull(real_##name(up, from, to, step, chunk, first, end), first, end);           \
    }

#define START_ULL_RUNTIME(name, free)                                                              \
    PUBLIC bool name(bool up, ull from, ull to, ull step, ull *first, ull *end);                   \
    PUBLIC bool name(bool up, ull from, ull to, ull step, ull *first, ull *end)                    \
    {                                                                                              \
        GOMP_REAL(name);                                                                           \
        put_loop(free);                                                                            \
        gomp_keep_step((long)step);                                                                     \
        return give_ull(real_##name(up, from, to, step, first, end), first, end);                  \
    }

START(GOMP_loop_static_start, true)
START(GOMP_loop_dynamic_start, true)
START(GOMP_loop_guided_start, true)
START(GOMP_loop_nonmonotonic_dynamic_start, true)
START(GOMP_loop_nonmonotonic_guided_start, true)
START(GOMP_loop_ordered_static_start, false)
START(GOMP_loop_ordered_dynamic_start, false)
START(GOMP_loop_ordered_guided_start, false)
START_RUNTIME(GOMP_loop_runtime_start, true)
START_RUNTIME(GOMP_loop_nonmonotonic_runtime_start, true)
START_RUNTIME(GOMP_loop_maybe_nonmonotonic_runtime_start, true)
START_RUNTIME(GOMP_loop_ordered_runtime_start, false)
START_ULL(GOMP_loop_ull_static_start, true)
START_ULL(GOMP_loop_ull_dynamic_start, true)
START_ULL(GOMP_loop_ull_guided_start, true)
START_ULL(GOMP_loop_ull_nonmonotonic_dynamic_start, true)
START_ULL(GOMP_loop_ull_nonmonotonic_guided_start, true)
START_ULL(GOMP_loop_ull_ordered_static_start, false)
START_ULL(GOMP_loop_ull_ordered_dynamic_start, false)
START_ULL(GOMP_loop_ull_ordered_guided_start, false)
START_ULL_RUNTIME(GOMP_loop_ull_runtime_start, true)
START_ULL_RUNTIME(GOMP_loop_ull_nonmonotonic_runtime_start, true)
START_ULL_RUNTIME(GOMP_loop_ull_maybe_nonmonotonic_runtime_start, true)
START_ULL_RUNTIME(GOMP_loop_ull_ordered_runtime_start, false)

/* Loops with reductions of tasks, or memory of their own; `first` may be NULL. */

#define START_LONG(name, free)                                                                     \
    PUBLIC bool name(long from, long to, long step, long schedule, long chunk, long *first,        \
                     long *end, uintptr_t *reductions, void **memory);                             \
    PUBLIC bool name(long from, long to, long step, long schedule, long chunk, long *first,        \
                     long *end, uintptr_t *reductions, void **memory)                              \
    {                                                                                              \
        bool any;                                                                                  \
                                                                                                   \
        GOMP_REAL(name);                                                                           \
        if (first)                                                                                 \
            put_loop(free);                                                                        \
        gomp_keep_step(step);                                                                           \
        any = real_##name(from, to, step, schedule, chunk, first, end, reductions, memory);        \
        return first ? give(any, first, end) : any;                                                \
    }

#define START_ULL_LONG(name, free)                                                                 \
    PUBLIC bool name(bool up, ull from, ull to, ull step, long schedule, ull chunk, ull *first,    \
                     ull *end, uintptr_t *reductions, void **memory);                              \
    PUBLIC bool name(bool up, ull from, ull to, ull step, long schedule, ull chunk, ull *first,    \
                     ull *end, uintptr_t *reductions, void **memory)                               \
    {                                                                                              \
        bool any;                                                                                  \
                                                                                                   \
        GOMP_REAL(name);                                                                           \
        if (first)                                                                                 \
            put_loop(free);                                                                        \
        gomp_keep_step((long)step);                                                                     \
        any = real_##name(up, from, to, step, schedule, chunk, first, end, reductions, memory);    \
        return first ? give_ull(any, first, end) : any;                                            \
    }

START_LONG(GOMP_loop_start, true)
START_LONG(GOMP_loop_ordered_start, false)
START_ULL_LONG(GOMP_loop_ull_start, true)
START_ULL_LONG(GOMP_loop_ull_ordered_start, false)

/* --- what comes next --- */

#define NEXT(name)                                                                                 \
    PUBLIC bool name(long *first, long *end);                                                      \
    PUBLIC bool name(long *first, long *end)                                                       \
    {                                                                                              \
        GOMP_REAL(name);                                                                           \
        return give(real_##name(first, end), first, end);                                          \
    }

#define NEXT_ULL(name)                                                                             \
    PUBLIC bool name(ull *first, ull *end);                                                        \
    PUBLIC bool name(ull *first, ull *end)                                                         \
    {                                                                                              \
        GOMP_REAL(name);                                                                           \
        return give_ull(real_##name(first, end), first, end);                                      \
    }

NEXT(GOMP_loop_static_next)
NEXT(GOMP_loop_dynamic_next)
NEXT(GOMP_loop_guided_next)
NEXT(GOMP_loop_runtime_next)
NEXT(GOMP_loop_nonmonotonic_dynamic_next)
NEXT(GOMP_loop_nonmonotonic_guided_next)
NEXT(GOMP_loop_nonmonotonic_runtime_next)
NEXT(GOMP_loop_maybe_nonmonotonic_runtime_next)
NEXT(GOMP_loop_ordered_static_next)
NEXT(GOMP_loop_ordered_dynamic_next)
NEXT(GOMP_loop_ordered_guided_next)
NEXT(GOMP_loop_ordered_runtime_next)
NEXT_ULL(GOMP_loop_ull_static_next)
NEXT_ULL(GOMP_loop_ull_dynamic_next)
NEXT_ULL(GOMP_loop_ull_guided_next)
NEXT_ULL(GOMP_loop_ull_runtime_next)
NEXT_ULL(GOMP_loop_ull_nonmonotonic_dynamic_next)
NEXT_ULL(GOMP_loop_ull_nonmonotonic_guided_next)
NEXT_ULL(GOMP_loop_ull_nonmonotonic_runtime_next)
NEXT_ULL(GOMP_loop_ull_maybe_nonmonotonic_runtime_next)
NEXT_ULL(GOMP_loop_ull_ordered_static_next)
NEXT_ULL(GOMP_loop_ull_ordered_dynamic_next)
NEXT_ULL(GOMP_loop_ull_ordered_guided_next)
NEXT_ULL(GOMP_loop_ull_ordered_runtime_next)

/* --- sections: iterations without an order --- */

PUBLIC unsigned GOMP_sections_start(unsigned count);

PUBLIC unsigned GOMP_sections_start(unsigned count)
{
    unsigned which;

    GOMP_REAL(GOMP_sections_start);
    put_loop(true);
    which = real_GOMP_sections_start(count);
    put_chunk(which > 0, 1, 1);
    return which;
}

PUBLIC unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory);

PUBLIC unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
    unsigned which;

    GOMP_REAL(GOMP_sections2_start);
    put_loop(true);
    which = real_GOMP_sections2_start(count, reductions, memory);
    put_chunk(which > 0, 1, 1);
    return which;
}

PUBLIC unsigned GOMP_sections_next(void);

PUBLIC unsigned GOMP_sections_next(void)
{
    unsigned which;

    GOMP_REAL(GOMP_sections_next);
    which = real_GOMP_sections_next();
    put_chunk(which > 0, 1, 1);
    return which;
}

/* --- ends: with a barrier, and without --- */

#define END(name)                                                                                  \
    PUBLIC void name(void);                                                                        \
    PUBLIC void name(void)                                                                         \
    {                                                                                              \
        GOMP_REAL(name);                                                                           \
        if (!gomp_on()) {                                                                          \
            real_##name();                                                                         \
            return;                                                                                \
        }                                                                                          \
        orr_omp_put(ORR_OMP_LOOP_END, 0, 0, 0, 0);                                                 \
        gomp_wait_begin(ORR_OMP_BARRIER);                                                          \
        real_##name();                                                                             \
        gomp_wait_end(ORR_OMP_BARRIER);                                                            \
    }

#define END_CANCEL(name)                                                                           \
    PUBLIC bool name(void);                                                                        \
    PUBLIC bool name(void)                                                                         \
    {                                                                                              \
        bool result;                                                                               \
                                                                                                   \
        GOMP_REAL(name);                                                                           \
        if (!gomp_on())                                                                            \
            return real_##name();                                                                  \
        orr_omp_put(ORR_OMP_LOOP_END, 0, 0, 0, 0);                                                 \
        gomp_wait_begin(ORR_OMP_BARRIER);                                                          \
        result = real_##name();                                                                    \
        gomp_wait_end(ORR_OMP_BARRIER);                                                            \
        return result;                                                                             \
    }

#define END_NOWAIT(name)                                                                           \
    PUBLIC void name(void);                                                                        \
    PUBLIC void name(void)                                                                         \
    {                                                                                              \
        GOMP_REAL(name);                                                                           \
        if (gomp_on())                                                                             \
            orr_omp_put(ORR_OMP_LOOP_END, 0, 0, 0, 0);                                             \
        real_##name();                                                                             \
    }

END(GOMP_loop_end)
END(GOMP_sections_end)
END_CANCEL(GOMP_loop_end_cancel)
END_CANCEL(GOMP_sections_end_cancel)
END_NOWAIT(GOMP_loop_end_nowait)
END_NOWAIT(GOMP_sections_end_nowait)

/* --- regions that are a loop --- */

#define PARALLEL_LOOP(name)                                                                        \
    PUBLIC void name(void (*fn)(void *), void *data, unsigned threads, long from, long to,         \
                     long step, long chunk, unsigned flags);                                       \
    PUBLIC void name(void (*fn)(void *), void *data, unsigned threads, long from, long to,         \
                     long step, long chunk, unsigned flags)                                        \
    {                                                                                              \
        struct gomp_region region = {.loops = true, .step = step};                                 \
                                                                                                   \
        GOMP_REAL(name);                                                                           \
        if (!gomp_on()) {                                                                          \
            real_##name(fn, data, threads, from, to, step, chunk, flags);                          \
            return;                                                                                \
        }                                                                                          \
        gomp_region_begin(&region, fn, data, threads);                                             \
        real_##name(gomp_region_main, &region, threads, from, to, step, chunk, flags);             \
        gomp_region_end(&region);                                                                  \
    }

#define PARALLEL_LOOP_RUNTIME(name)                                                                \
    PUBLIC void name(void (*fn)(void *), void *data, unsigned threads, long from, long to,         \
                     long step, unsigned flags);                                                   \
    PUBLIC void name(void (*fn)(void *), void *data, unsigned threads, long from, long to,         \
                     long step, unsigned flags)                                                    \
    {                                                                                              \
        struct gomp_region region = {.loops = true, .step = step};                                 \
                                                                                                   \
        GOMP_REAL(name);                                                                           \
        if (!gomp_on()) {                                                                          \
            real_##name(fn, data, threads, from, to, step, flags);                                 \
            return;                                                                                \
        }                                                                                          \
        gomp_region_begin(&region, fn, data, threads);                                             \
        real_##name(gomp_region_main, &region, threads, from, to, step, flags);                    \
        gomp_region_end(&region);                                                                  \
    }

PARALLEL_LOOP(GOMP_parallel_loop_static)
PARALLEL_LOOP(GOMP_parallel_loop_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_guided)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

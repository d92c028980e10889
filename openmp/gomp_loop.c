/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/gomp_loop.c - gcc's entries of loops and sections. Which schedule a loop has is in
 * an entry's name; the entries of one kind differ in nothing else.
 */
#include <stdarg.h>

#include "openmp/doacross.h"
#include "openmp/gomp.h"
#include "openmp/reductions.h"

typedef unsigned long long ull;

enum {
    STATIC = starpu_omp_sched_static,
    DYNAMIC = starpu_omp_sched_dynamic,
    GUIDED = starpu_omp_sched_guided,
    RUNTIME = starpu_omp_sched_runtime
};

/* -- what they do -- */

static bool begin_signed(long first, long end, long step, int schedule, long chunk,
                         bool ordered, long *ret_begin, long *ret_end)
{
    uint64_t begin, stop;
    uint64_t n =
        openmp_count((uint64_t)first, (uint64_t)end, (uint64_t)step, true, step > 0);
    bool any;

    openmp_enter("for");
    any = openmp_loop_begin((uint64_t)first, (uint64_t)end, (uint64_t)step, n, schedule,
                            (uint64_t)chunk, ordered, &begin, &stop);
    if (any) {
        *ret_begin = (long)begin;
        *ret_end = (long)stop;
    }
    return any;
}

static bool next_signed(long *ret_begin, long *ret_end)
{
    uint64_t begin, end;

    if (!openmp_loop_next(&begin, &end))
        return false;
    *ret_begin = (long)begin;
    *ret_end = (long)end;
    return true;
}

static bool begin_ull(bool up, ull first, ull end, ull step, int schedule, ull chunk,
                      bool ordered, ull *ret_begin, ull *ret_end)
{
    uint64_t begin, stop;
    bool any;

    openmp_enter("for");
    any = openmp_loop_begin(first, end, step, openmp_count(first, end, step, false, up),
                            schedule, chunk, ordered, &begin, &stop);
    if (any) {
        *ret_begin = begin;
        *ret_end = stop;
    }
    return any;
}

static bool next_ull(ull *ret_begin, ull *ret_end)
{
    uint64_t begin, end;

    if (!openmp_loop_next(&begin, &end))
        return false;
    *ret_begin = begin;
    *ret_end = end;
    return true;
}

/* -- their names -- */

#define BEGIN(name, schedule, ordered)                                                 \
    ENTRY bool GOMP_loop_##name##_start(long first, long end, long step, long chunk,   \
                                        long *ret_begin, long *ret_end)                \
    {                                                                                  \
        return begin_signed(first, end, step, schedule, chunk, ordered, ret_begin,     \
                            ret_end);                                                  \
    }                                                                                  \
    ENTRY bool GOMP_loop_ull_##name##_start(bool up, ull first, ull end, ull step,     \
                                            ull chunk, ull *ret_begin, ull *ret_end)   \
    {                                                                                  \
        return begin_ull(up, first, end, step, schedule, chunk, ordered, ret_begin,    \
                         ret_end);                                                     \
    }
/* The schedule is the environment's. */
#define BEGIN_RUNTIME(name, ordered)                                                   \
    ENTRY bool GOMP_loop_##name##_start(long first, long end, long step,               \
                                        long *ret_begin, long *ret_end)                \
    {                                                                                  \
        return begin_signed(first, end, step, RUNTIME, 0, ordered, ret_begin,          \
                            ret_end);                                                  \
    }                                                                                  \
    ENTRY bool GOMP_loop_ull_##name##_start(bool up, ull first, ull end, ull step,     \
                                            ull *ret_begin, ull *ret_end)              \
    {                                                                                  \
        return begin_ull(up, first, end, step, RUNTIME, 0, ordered, ret_begin,         \
                         ret_end);                                                     \
    }
#define NEXT(name)                                                                     \
    ENTRY bool GOMP_loop_##name##_next(long *ret_begin, long *ret_end)                 \
    {                                                                                  \
        return next_signed(ret_begin, ret_end);                                        \
    }                                                                                  \
    ENTRY bool GOMP_loop_ull_##name##_next(ull *ret_begin, ull *ret_end)               \
    {                                                                                  \
        return next_ull(ret_begin, ret_end);                                           \
    }

BEGIN(static, STATIC, false)
BEGIN(dynamic, DYNAMIC, false)
BEGIN(guided, GUIDED, false)
BEGIN(nonmonotonic_dynamic, DYNAMIC, false)
BEGIN(nonmonotonic_guided, GUIDED, false)
BEGIN(ordered_static, STATIC, true)
BEGIN(ordered_dynamic, DYNAMIC, true)
BEGIN(ordered_guided, GUIDED, true)
BEGIN_RUNTIME(runtime, false)
BEGIN_RUNTIME(nonmonotonic_runtime, false)
BEGIN_RUNTIME(maybe_nonmonotonic_runtime, false)
BEGIN_RUNTIME(ordered_runtime, true)
NEXT(static)
NEXT(dynamic)
NEXT(guided)
NEXT(runtime)
NEXT(nonmonotonic_dynamic)
NEXT(nonmonotonic_guided)
NEXT(nonmonotonic_runtime)
NEXT(maybe_nonmonotonic_runtime)
NEXT(ordered_static)
NEXT(ordered_dynamic)
NEXT(ordered_guided)
NEXT(ordered_runtime)

#define PARALLEL(name, schedule)                                                       \
    ENTRY void GOMP_parallel_loop_##name(void (*code)(void *), void *data,             \
                                         unsigned nthreads, long first, long end,      \
                                         long step, long chunk, unsigned flags)        \
    {                                                                                  \
        (void)flags;                                                                   \
        openmp_gomp_parallel_loop(code, data, nthreads, (uint64_t)first,               \
                                  (uint64_t)end, (uint64_t)step, schedule,             \
                                  (uint64_t)chunk);                                    \
    }
#define PARALLEL_RUNTIME(name)                                                         \
    ENTRY void GOMP_parallel_loop_##name(void (*code)(void *), void *data,             \
                                         unsigned nthreads, long first, long end,      \
                                         long step, unsigned flags)                    \
    {                                                                                  \
        (void)flags;                                                                   \
        openmp_gomp_parallel_loop(code, data, nthreads, (uint64_t)first,               \
                                  (uint64_t)end, (uint64_t)step, RUNTIME, 0);          \
    }

PARALLEL(static, STATIC)
PARALLEL(dynamic, DYNAMIC)
PARALLEL(guided, GUIDED)
PARALLEL(nonmonotonic_dynamic, DYNAMIC)
PARALLEL(nonmonotonic_guided, GUIDED)
PARALLEL_RUNTIME(runtime)
PARALLEL_RUNTIME(nonmonotonic_runtime)
PARALLEL_RUNTIME(maybe_nonmonotonic_runtime)

/* -- with reductions over tasks, and memory for the team -- */

/* gcc's numbers of schedules, and a bit that says in which order chunks come. */
static int schedule_of(long number)
{
    static const int schedules[] = {RUNTIME, STATIC, DYNAMIC, GUIDED, STATIC};
    unsigned long kind = (unsigned long)number & 0x7fffffff;

    if (kind >= sizeof(schedules) / sizeof(*schedules))
        openmp_refuse("for", "has a schedule that is not known here: was the program "
                             "compiled by a newer gcc?");
    return schedules[kind];
}

/* Each thread brings a description of its own; the first one's has the memory. */
static void share_reductions(uintptr_t *reductions)
{
    uintptr_t **first;
    void *memory;
    struct orr_openmp_shared *shared = orr_openmp_share(sizeof(*first), &memory);

    first = memory;
    if (starpu_omp_single_inline()) {
        openmp_reduction_register(reductions);
        *first = reductions;
    }
    starpu_omp_barrier();
    if (*first != reductions)
        openmp_reduction_share(reductions, *first);
    orr_openmp_leave(shared);
}

/* *memory has how many bytes the team needs; it gets where they are, zeroed. */
static void share_memory(void **memory)
{
    openmp_kept()->memory = orr_openmp_share((size_t)*memory, memory);
}

static void share(uintptr_t *reductions, void **memory)
{
    openmp_enter("for");
    if (reductions)
        share_reductions(reductions);
    if (memory)
        share_memory(memory);
}

/* Without places for a chunk the compiler deals the iterations out itself. */
static bool start_with(long first, long end, long step, long schedule, long chunk,
                       bool ordered, long *ret_begin, long *ret_end, uintptr_t *reductions,
                       void **memory)
{
    share(reductions, memory);
    return !ret_begin || begin_signed(first, end, step, schedule_of(schedule), chunk,
                                      ordered, ret_begin, ret_end);
}

static bool start_ull_with(bool up, ull first, ull end, ull step, long schedule, ull chunk,
                           bool ordered, ull *ret_begin, ull *ret_end,
                           uintptr_t *reductions, void **memory)
{
    share(reductions, memory);
    return !ret_begin || begin_ull(up, first, end, step, schedule_of(schedule), chunk,
                                   ordered, ret_begin, ret_end);
}

#define START(name, ordered)                                                           \
    ENTRY bool GOMP_loop_##name(long first, long end, long step, long schedule,        \
                                long chunk, long *ret_begin, long *ret_end,            \
                                uintptr_t *reductions, void **memory)                  \
    {                                                                                  \
        return start_with(first, end, step, schedule, chunk, ordered, ret_begin,       \
                          ret_end, reductions, memory);                                \
    }                                                                                  \
    ENTRY bool GOMP_loop_ull_##name(bool up, ull first, ull end, ull step,             \
                                    long schedule, ull chunk, ull *ret_begin,          \
                                    ull *ret_end, uintptr_t *reductions,               \
                                    void **memory)                                     \
    {                                                                                  \
        return start_ull_with(up, first, end, step, schedule, chunk, ordered,          \
                              ret_begin, ret_end, reductions, memory);                 \
    }

START(start, false)
START(ordered_start, true)

ENTRY void GOMP_scope_start(uintptr_t *reductions)
{
    share(reductions, NULL);
}

/* Only one description has memory of its own: the others say so by the same number. */
ENTRY void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
    void **inherited = orr_openmp_inherited();
    uintptr_t *own = *inherited;
    bool mine;

    if (!cancelled)
        starpu_omp_barrier();
    mine = starpu_omp_single_inline();
    *inherited = (void *)own[4];
    if (mine)
        openmp_reduction_unregister(own);
}

/* -- their ends -- */

static void leave(void)
{
    struct openmp_kept *kept = openmp_kept();

    orr_openmp_leave_loop();
    openmp_doacross_end();
    if (kept->memory)
        orr_openmp_leave(kept->memory);
    kept->memory = NULL;
}

ENTRY void GOMP_loop_end_nowait(void)
{
    leave();
}

ENTRY void GOMP_loop_end(void)
{
    leave();
    starpu_omp_barrier();
}

ENTRY bool GOMP_loop_end_cancel(void)
{
    leave();
    return orr_openmp_barrier();
}

/* -- sections: numbers from 1 on; 0: none is left -- */

ENTRY unsigned GOMP_sections_next(void)
{
    uint64_t begin, end;

    return openmp_loop_next(&begin, &end) ? (unsigned)begin : 0;
}

ENTRY unsigned GOMP_sections_start(unsigned count)
{
    uint64_t begin, end;

    openmp_enter("sections");
    return openmp_loop_begin(1, (uint64_t)count + 1, 1, count, DYNAMIC, 1, false, &begin,
                             &end)
               ? (unsigned)begin
               : 0;
}

ENTRY unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
    share(reductions, memory);
    return GOMP_sections_start(count);
}

ENTRY void GOMP_sections_end_nowait(void)
{
    leave();
}

ENTRY void GOMP_sections_end(void)
{
    leave();
    starpu_omp_barrier();
}

ENTRY bool GOMP_sections_end_cancel(void)
{
    leave();
    return orr_openmp_barrier();
}

/* -- ordered(n): the outermost loop is dealt out -- */

static bool begin_doacross(unsigned ndims, const uint64_t *counts, int schedule,
                           uint64_t chunk, uint64_t *ret_begin, uint64_t *ret_end)
{
    openmp_enter("for");
    openmp_doacross_begin(ndims, counts);
    return openmp_loop_begin(0, counts[0], 1, counts[0], schedule, chunk, false, ret_begin,
                             ret_end);
}

#define DOACROSS(name, schedule)                                                       \
    ENTRY bool GOMP_loop_doacross_##name##_start(unsigned ndims, const long *counts,   \
                                                 long chunk, long *ret_begin,          \
                                                 long *ret_end)                        \
    {                                                                                  \
        return begin_doacross(ndims, (const uint64_t *)counts, schedule,               \
                              (uint64_t)chunk, (uint64_t *)ret_begin,                  \
                              (uint64_t *)ret_end);                                    \
    }                                                                                  \
    ENTRY bool GOMP_loop_ull_doacross_##name##_start(unsigned ndims,                   \
                                                     const ull *counts, ull chunk,     \
                                                     ull *ret_begin, ull *ret_end)     \
    {                                                                                  \
        return begin_doacross(ndims, (const uint64_t *)counts, schedule, chunk,        \
                              (uint64_t *)ret_begin, (uint64_t *)ret_end);             \
    }

DOACROSS(static, STATIC)
DOACROSS(dynamic, DYNAMIC)
DOACROSS(guided, GUIDED)

ENTRY bool GOMP_loop_doacross_runtime_start(unsigned ndims, const long *counts,
                                            long *ret_begin, long *ret_end)
{
    return begin_doacross(ndims, (const uint64_t *)counts, RUNTIME, 0,
                          (uint64_t *)ret_begin, (uint64_t *)ret_end);
}

ENTRY bool GOMP_loop_ull_doacross_runtime_start(unsigned ndims, const ull *counts,
                                                ull *ret_begin, ull *ret_end)
{
    return begin_doacross(ndims, (const uint64_t *)counts, RUNTIME, 0,
                          (uint64_t *)ret_begin, (uint64_t *)ret_end);
}

ENTRY bool GOMP_loop_doacross_start(unsigned ndims, const long *counts, long schedule,
                                    long chunk, long *ret_begin, long *ret_end,
                                    uintptr_t *reductions, void **memory)
{
    share(reductions, memory);
    return begin_doacross(ndims, (const uint64_t *)counts, schedule_of(schedule),
                          (uint64_t)chunk, (uint64_t *)ret_begin, (uint64_t *)ret_end);
}

ENTRY bool GOMP_loop_ull_doacross_start(unsigned ndims, const ull *counts, long schedule,
                                        ull chunk, ull *ret_begin, ull *ret_end,
                                        uintptr_t *reductions, void **memory)
{
    share(reductions, memory);
    return begin_doacross(ndims, (const uint64_t *)counts, schedule_of(schedule), chunk,
                          (uint64_t *)ret_begin, (uint64_t *)ret_end);
}

ENTRY void GOMP_doacross_post(const long *at)
{
    openmp_doacross_post((const uint64_t *)at);
}

ENTRY void GOMP_doacross_ull_post(const ull *at)
{
    openmp_doacross_post((const uint64_t *)at);
}

#define WAIT(name, type)                                                               \
    ENTRY void name(type first, ...)                                                   \
    {                                                                                  \
        unsigned ndims = openmp_doacross_dims();                                       \
        uint64_t at[OPENMP_MOST_DIMS];                                                 \
        va_list rest;                                                                  \
                                                                                       \
        at[0] = (uint64_t)first;                                                       \
        va_start(rest, first);                                                         \
        for (unsigned i = 1; i < ndims; i++)                                           \
            at[i] = (uint64_t)va_arg(rest, type);                                      \
        va_end(rest);                                                                  \
        openmp_doacross_wait(at);                                                      \
    }

WAIT(GOMP_doacross_wait, long)
WAIT(GOMP_doacross_ull_wait, ull)

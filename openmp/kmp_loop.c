/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/kmp_loop.c - LLVM's entries of loops, of four kinds of numbers each. Numbers are
 * 64 bits wide here, and their last one is the loop's last, not the one behind it.
 */
#include "openmp/doacross.h"
#include "openmp/kmp.h"

/* LLVM's numbers of schedules; ordered loops have these plus 32; two more bits say in which
 * order chunks come. */
enum {
    CHUNKED = 33,
    STATIC = 34,
    DYNAMIC = 35,
    GUIDED = 36,
    RUNTIME = 37,
    AUTO = 38,
    TRAPEZOIDAL = 39,
    BALANCED = 45,
    GUIDED_SIMD = 46,
    RUNTIME_SIMD = 47,
    ORDERED = 32,
    DISTRIBUTE_CHUNKED = 91,
    DISTRIBUTE = 92,
    ORDER_BITS = 3 << 29
};

struct numbers {
    uint64_t first, last, step;
    uint64_t n;
};

static struct numbers numbers_of(uint64_t first, uint64_t last, uint64_t step, bool is_signed)
{
    bool up = !is_signed || (int64_t)step > 0;
    struct numbers loop = {.first = first, .last = last, .step = step};
    bool any = is_signed ? up ? (int64_t)first <= (int64_t)last : (int64_t)first >= (int64_t)last
                         : first <= last;

    if (step == 0)
        openmp_refuse("for", "has a step of 0");
    if (any)
        loop.n = (up ? last - first : first - last) / (up ? step : -step) + 1;
    return loop;
}

/* -- iterations that each thread knows without asking -- */

/* The first chunk of the thread, its first and last number; the numbers from one of its
 * chunks to the next; whether the loop's last iteration is in it. */
struct dealt {
    uint64_t first, last, stride;
    bool has_last;
};

static struct dealt deal_blocks(const struct numbers *loop, uint64_t nthreads, uint64_t thread)
{
    uint64_t each = loop->n / nthreads, more = loop->n % nthreads;
    uint64_t begin = thread * each + (thread < more ? thread : more);
    uint64_t n = each + (thread < more);

    return (struct dealt){
        .first = loop->first + begin * loop->step,
        .last = loop->first + (begin + n - 1) * loop->step,
        .stride = loop->n * loop->step,
        .has_last = n > 0 && begin + n == loop->n,
    };
}

static struct dealt deal_chunks(const struct numbers *loop, uint64_t nthreads, uint64_t thread,
                                uint64_t chunk)
{
    return (struct dealt){
        .first = loop->first + thread * chunk * loop->step,
        .last = loop->first + (thread * chunk + chunk - 1) * loop->step,
        .stride = nthreads * chunk * loop->step,
        .has_last = loop->n > 0 && (loop->n - 1) / chunk % nthreads == thread,
    };
}

static struct dealt deal(const struct numbers *loop, int32_t schedule, uint64_t chunk)
{
    uint64_t nthreads, thread;

    schedule &= ~ORDER_BITS;
    openmp_enter("for");
    /* There is one team, which has all iterations that teams deal out. */
    nthreads = schedule >= DISTRIBUTE_CHUNKED ? 1 : (uint64_t)starpu_omp_get_num_threads();
    thread = schedule >= DISTRIBUTE_CHUNKED ? 0 : (uint64_t)starpu_omp_get_thread_num();
    if (schedule == CHUNKED || schedule == CHUNKED + ORDERED || schedule == BALANCED)
        return deal_chunks(loop, nthreads, thread, chunk ? chunk : 1);
    return deal_blocks(loop, nthreads, thread);
}

/* A thread without iterations gets a first number behind the last one; of chunks, the
 * program takes the smaller one of their last number and the loop's. */
#define STATIC_INIT(suffix, type, stype, is_signed)                                       \
    ENTRY void __kmpc_for_static_init_##suffix(                                        \
        kmp_place *place, int32_t thread, int32_t schedule, int32_t *last, type *lower,  \
        type *upper, stype *stride, stype step, stype chunk)                           \
    {                                                                                  \
        struct numbers loop =                                                          \
            numbers_of((uint64_t)*lower, (uint64_t)*upper, (uint64_t)(int64_t)step,    \
                       is_signed);                                                     \
        struct dealt dealt;                                                            \
                                                                                       \
        (void)place;                                                                   \
        (void)thread;                                                                  \
        if (loop.n == 0) {                                                             \
            if (last)                                                                  \
                *last = 0;                                                             \
            *stride = step;                                                            \
            return;                                                                    \
        }                                                                              \
        dealt = deal(&loop, schedule, (uint64_t)chunk);                                \
        if (last)                                                                      \
            *last = dealt.has_last;                                                    \
        *lower = (type)dealt.first;                                                    \
        *upper = (type)dealt.last;                                                     \
        *stride = (stype)dealt.stride;                                                 \
    }                                                                                  \
    /* Iterations of teams, of which there is one, and of its threads. */              \
    ENTRY void __kmpc_dist_for_static_init_##suffix(                                   \
        kmp_place *place, int32_t thread, int32_t schedule, int32_t *last, type *lower,  \
        type *upper, type *upper_team, stype *stride, stype step, stype chunk)         \
    {                                                                                  \
        *upper_team = *upper;                                                          \
        __kmpc_for_static_init_##suffix(place, thread, schedule, last, lower, upper,   \
                                        stride, step, chunk);                          \
    }                                                                                  \
    ENTRY void __kmpc_team_static_init_##suffix(kmp_place *place, int32_t thread,      \
                                                int32_t *last, type *lower, type *upper,  \
                                                stype *stride, stype step, stype chunk)  \
    {                                                                                  \
        __kmpc_for_static_init_##suffix(place, thread, DISTRIBUTE, last, lower, upper,   \
                                        stride, step, chunk);                          \
    }

STATIC_INIT(4, int32_t, int32_t, true)
STATIC_INIT(4u, uint32_t, int32_t, false)
STATIC_INIT(8, int64_t, int64_t, true)
STATIC_INIT(8u, uint64_t, int64_t, false)

ENTRY void __kmpc_for_static_fini(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
}

/* -- iterations for which a thread asks -- */

static int schedule_of(int32_t schedule, uint64_t *chunk)
{
    switch (schedule) {
    case CHUNKED:
    case BALANCED:
        return starpu_omp_sched_static;
    case STATIC:
    case AUTO:
        *chunk = 0;
        return starpu_omp_sched_static;
    case DYNAMIC:
        return starpu_omp_sched_dynamic;
    case GUIDED:
    case GUIDED_SIMD:
    case TRAPEZOIDAL:
        return starpu_omp_sched_guided;
    case RUNTIME:
    case RUNTIME_SIMD:
        return starpu_omp_sched_runtime;
    default:
        openmp_refuse("for", "has a schedule that is not known here: was the program "
                             "compiled by a newer clang?");
    }
}

/* The first call of `next` begins the loop: one without iterations is met by all as well. */
static void dispatch_init(int32_t schedule, const struct numbers *loop, uint64_t chunk)
{
    struct openmp_kept *kept;

    openmp_enter("for");
    schedule &= ~ORDER_BITS;
    kept = openmp_kept();
    kept->ordered = schedule > 64 && schedule < DISTRIBUTE_CHUNKED;
    if (kept->ordered)
        schedule -= ORDERED;
    kept->schedule = schedule_of(schedule, &chunk);
    kept->chunk = chunk;
    kept->first = loop->first;
    kept->step = loop->step;
    kept->n = loop->n;
    kept->end = loop->first + loop->n * loop->step;
    kept->begins = true;
}

static bool dispatch_next(int32_t *last, uint64_t *ret_first, uint64_t *ret_last,
                          uint64_t *ret_step)
{
    uint64_t begin, end;

    if (!openmp_loop_next(&begin, &end))
        return false;
    *ret_step = openmp_kept()->step;
    *ret_first = begin;
    *ret_last = end - *ret_step;
    if (last)
        *last = openmp_loop_is_last(end);
    return true;
}

#define DISPATCH(suffix, type, stype, is_signed)                                          \
    ENTRY void __kmpc_dispatch_init_##suffix(kmp_place *place, int32_t thread,         \
                                             int32_t schedule, type lower, type upper,   \
                                             stype step, stype chunk)                  \
    {                                                                                  \
        struct numbers loop = numbers_of((uint64_t)lower, (uint64_t)upper,             \
                                         (uint64_t)(int64_t)step, is_signed);          \
                                                                                       \
        (void)place;                                                                   \
        (void)thread;                                                                  \
        dispatch_init(schedule, &loop, (uint64_t)chunk);                               \
    }                                                                                  \
    ENTRY void __kmpc_dist_dispatch_init_##suffix(                                     \
        kmp_place *place, int32_t thread, int32_t schedule, int32_t *last, type lower,   \
        type upper, stype step, stype chunk)                                           \
    {                                                                                  \
        if (last)                                                                      \
            *last = 1;                                                                 \
        __kmpc_dispatch_init_##suffix(place, thread, schedule, lower, upper, step,     \
                                      chunk);                                          \
    }                                                                                  \
    ENTRY int __kmpc_dispatch_next_##suffix(kmp_place *place, int32_t thread,          \
                                            int32_t *last, type *lower, type *upper,   \
                                            stype *step)                               \
    {                                                                                  \
        uint64_t first, end, stride;                                                   \
                                                                                       \
        (void)place;                                                                   \
        (void)thread;                                                                  \
        if (!dispatch_next(last, &first, &end, &stride))                               \
            return 0;                                                                  \
        *lower = (type)first;                                                          \
        *upper = (type)end;                                                            \
        *step = (stype)stride;                                                         \
        return 1;                                                                      \
    }                                                                                  \
    /* An iteration of an ordered loop is over: its ordered part has said so. */       \
    ENTRY void __kmpc_dispatch_fini_##suffix(kmp_place *place, int32_t thread)         \
    {                                                                                  \
        (void)place;                                                                   \
        (void)thread;                                                                  \
    }

DISPATCH(4, int32_t, int32_t, true)
DISPATCH(4u, uint32_t, int32_t, false)
DISPATCH(8, int64_t, int64_t, true)
DISPATCH(8u, uint64_t, int64_t, false)

/* -- ordered(n) -- */

struct kmp_dimension {
    int64_t lower, upper, step;
};

/* Numbers come counted from 0, by steps of 1. clang says as the upper bound, which is meant to
 * be the last number, how many there are: waits for that one are for none. */
ENTRY void __kmpc_doacross_init(kmp_place *place, int32_t thread, int32_t ndims,
                                const struct kmp_dimension *dims)
{
    uint64_t counts[OPENMP_MOST_DIMS];

    (void)place;
    (void)thread;
    openmp_enter("for");
    if (ndims > OPENMP_MOST_DIMS)
        openmp_refuse("a loop with ordered(n)", "has more than 32 loops");
    for (int i = 0; i < ndims; i++)
        counts[i] = (uint64_t)dims[i].upper;
    openmp_doacross_begin((unsigned)ndims, counts);
}

/* Before the first number, far behind the last one without its sign, is no iteration. */
ENTRY void __kmpc_doacross_wait(kmp_place *place, int32_t thread, const int64_t *numbers)
{
    (void)place;
    (void)thread;
    openmp_doacross_wait((const uint64_t *)numbers);
}

ENTRY void __kmpc_doacross_post(kmp_place *place, int32_t thread, const int64_t *numbers)
{
    (void)place;
    (void)thread;
    openmp_doacross_post((const uint64_t *)numbers);
}

ENTRY void __kmpc_doacross_fini(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    openmp_doacross_end();
}

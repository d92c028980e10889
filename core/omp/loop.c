/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/loop.c - worksharing loops, and sections, which are a dynamic loop over
 * their numbers. A thread gets iterations chunk by chunk. In an ordered loop a
 * chunk's ordered parts come after those of all earlier iterations: within a chunk
 * the thread's own order does the rest, also where an iteration has no such part.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/exec/runtime.h"
#include "core/omp/entries.h"
#include "core/omp/omp.h"
#include "core/omp/self.h"
#include "core/omp/share.h"

/* -- which thread gets which iterations -- */

static unsigned long long iteration_min(unsigned long long a,
                                        unsigned long long b)
{
    return a < b ? a : b;
}

/* One block for each thread, the first n mod T one longer. */
static bool first_block(const struct orr_omp_task *thread,
                        struct orr_omp_loop *loop)
{
    unsigned long long each = loop->n / thread->team->nthreads;
    unsigned long long longer = loop->n % thread->team->nthreads;
    unsigned long long rank = thread->thread;

    loop->begin = rank * each + iteration_min(rank, longer);
    loop->end = loop->begin + each + (rank < longer);
    return loop->begin < loop->end;
}

/* A thread's chunks are T chunks apart. Nothing overflows. */
static bool skip_chunks(struct orr_omp_loop *loop, unsigned long long nchunks)
{
    unsigned long long left = loop->n - loop->begin;

    if (nchunks > left / loop->chunk)
        return false;
    loop->begin += nchunks * loop->chunk;
    loop->end = loop->begin + iteration_min(loop->chunk, loop->n - loop->begin);
    return loop->begin < loop->end;
}

static bool first_static(const struct orr_omp_task *thread,
                         struct orr_omp_loop *loop)
{
    if (loop->chunk == 0)
        return first_block(thread, loop);
    loop->begin = 0;
    return skip_chunks(loop, thread->thread);
}

static bool next_static(const struct orr_omp_task *thread,
                        struct orr_omp_loop *loop)
{
    return loop->chunk > 0 && skip_chunks(loop, thread->team->nthreads);
}

/* How many iterations the next chunk has, of the `left` that remain. */
static unsigned long long next_chunk(const struct orr_omp_task *thread,
                                     const struct orr_omp_loop *loop,
                                     unsigned long long left)
{
    unsigned long long chunk = loop->chunk ? loop->chunk : 1;

    if (loop->schedule == starpu_omp_sched_guided &&
        left / thread->team->nthreads > chunk)
        chunk = left / thread->team->nthreads;
    return iteration_min(chunk, left);
}

/* First come, first served: chunks of equal size, by one counter, which each thread
 * takes beyond n twice at most. */
static bool next_equal(struct orr_omp_loop *loop)
{
    loop->begin = atomic_fetch_add_explicit(&loop->share->first, loop->chunk,
                                            memory_order_relaxed);
    if (loop->begin >= loop->n)
        return false;
    loop->end = loop->begin + iteration_min(loop->chunk, loop->n - loop->begin);
    return true;
}

/* The next chunk of a dynamic or guided loop. */
static bool next_dynamic(const struct orr_omp_task *thread,
                         struct orr_omp_loop *loop)
{
    atomic_ullong *first = &loop->share->first;

    if (loop->equal)
        return next_equal(loop);

    loop->begin = atomic_load_explicit(first, memory_order_relaxed);
    do {
        if (loop->begin >= loop->n)
            return false;
        loop->end =
            loop->begin + next_chunk(thread, loop, loop->n - loop->begin);
    } while (!atomic_compare_exchange_weak_explicit(
        first, &loop->begin, loop->end, memory_order_relaxed,
        memory_order_relaxed));
    return true;
}

/* Notes the schedule and the chunk's length, which is n at most; `runtime` stands for
 * those of the environment. */
static void choose_schedule(const struct orr_omp_task *thread,
                            struct orr_omp_loop *loop, int schedule,
                            unsigned long long chunk)
{
    loop->schedule = (enum starpu_omp_sched_value)schedule;
    loop->chunk = chunk;
    if (schedule == starpu_omp_sched_runtime) {
        loop->schedule = thread->icvs.schedule;
        loop->chunk = thread->icvs.chunk;
    }
    if (loop->schedule == starpu_omp_sched_auto ||
        loop->schedule == starpu_omp_sched_undefined) {
        loop->schedule = starpu_omp_sched_static;
        loop->chunk = 0;
    }
    if (loop->schedule != starpu_omp_sched_static &&
        loop->schedule != starpu_omp_sched_dynamic &&
        loop->schedule != starpu_omp_sched_guided) {
        orr_log_error("starpu_omp_for: there is no schedule %d: use enum "
                      "starpu_omp_sched_value",
                      schedule);
        abort();
    }
}

/* Dynamic chunks are of one length; unless adding it might overflow. */
static void choose_step(const struct orr_omp_task *thread,
                        struct orr_omp_loop *loop)
{
    if (loop->schedule != starpu_omp_sched_dynamic)
        return;
    if (loop->chunk == 0)
        loop->chunk = 1;
    loop->equal = loop->chunk <=
                  (ULLONG_MAX - loop->n) / (2ull * thread->team->nthreads + 1);
}

/* -- ordered parts -- */

/* A thread that waits until it is the turn of an iteration. */
struct turn_waiter {
    struct orr_waiter waiter; /* first */
    unsigned long long turn;
};

/* Takes the thread whose turn it is out of the list; NULL: it has not come yet. With
 * the team's lock. */
static struct orr_waiter *take_next_locked(struct orr_omp_share *share)
{
    struct orr_waiter *found = NULL;

    orr_waiters_foreach (waiter, &share->waiters)
        if (((struct turn_waiter *)waiter)->turn == share->ordered)
            found = waiter;
    if (found)
        (void)orr_waiters_remove(&share->waiters, found);
    return found;
}

static void ordered_describe_turn(const struct orr_awaited *awaited, char *text,
                                  size_t size)
{
    snprintf(text, size, "the ordered part of iterations before number %llu",
             awaited->number);
}

/* Waits until all earlier iterations are over. */
static void wait_for_turn(struct orr_omp_task *thread,
                          struct orr_omp_loop *loop)
{
    struct orr_omp_share *share = loop->share;
    const struct orr_awaited awaited = {.noun = "the turn of an iteration",
                                        .describe = ordered_describe_turn,
                                        .number = loop->begin};
    struct turn_waiter self = {.turn = loop->begin};
    bool waits;

    orr_lock(&thread->team->lock);
    waits = share->ordered != loop->begin;
    if (waits)
        orr_waiters_add(&share->waiters, &self.waiter);
    orr_unlock(&thread->team->lock);
    if (waits)
        orr_wait(&self.waiter, &awaited);
}

/* Ends the chunk's ordered parts, and wakes the thread whose turn is next. */
static void pass_turn(struct orr_omp_task *thread, struct orr_omp_loop *loop)
{
    struct orr_omp_share *share = loop->share;
    struct orr_waiter *next;

    orr_lock(&thread->team->lock);
    share->ordered = loop->end;
    next = take_next_locked(share);
    orr_unlock(&thread->team->lock);
    if (next)
        orr_waiter_release(next);
}

/* The thread has executed its chunk: those after it need not wait for ordered
 * parts that it did not have. */
static void end_chunk(struct orr_omp_task *thread, struct orr_omp_loop *loop)
{
    if (!loop->ordered || loop->nordered == loop->end - loop->begin)
        return;
    wait_for_turn(thread, loop);
    pass_turn(thread, loop);
}

static struct orr_omp_task *in_ordered_loop(const char *call)
{
    struct orr_omp_task *thread = orr_omp_thread_need(call);

    if (thread->loop.share && thread->loop.ordered)
        return thread;
    orr_log_error("%s: called outside of a loop with `ordered'", call);
    abort();
}

void starpu_omp_ordered_inline_begin(void)
{
    struct orr_omp_task *thread = in_ordered_loop(__func__);

    if (!orr_may_block(__func__))
        abort();
    if (thread->loop.nordered == 0)
        wait_for_turn(thread, &thread->loop);
}

void starpu_omp_ordered_inline_end(void)
{
    struct orr_omp_task *thread = in_ordered_loop(__func__);
    struct orr_omp_loop *loop = &thread->loop;

    if (++loop->nordered == loop->end - loop->begin)
        pass_turn(thread, loop);
}

void starpu_omp_ordered(void (*f)(void *arg), void *arg)
{
    starpu_omp_ordered_inline_begin();
    f(arg);
    starpu_omp_ordered_inline_end();
}

/* -- the loop -- */

static bool begin_loop(struct orr_omp_task *thread, unsigned long long n,
                       unsigned long long chunk, int schedule, bool ordered)
{
    struct orr_omp_loop *loop = &thread->loop;

    *loop = (struct orr_omp_loop){
        .share = orr_omp_share_enter(thread), .n = n, .ordered = ordered};
    choose_schedule(thread, loop, schedule, chunk);
    choose_step(thread, loop);
    return loop->schedule == starpu_omp_sched_static
               ? first_static(thread, loop)
               : next_dynamic(thread, loop);
}

static bool next_of_loop(struct orr_omp_task *thread)
{
    struct orr_omp_loop *loop = &thread->loop;

    end_chunk(thread, loop);
    loop->nordered = 0;
    if (orr_omp_loop_is_cancelled(thread->team))
        return false;
    return loop->schedule == starpu_omp_sched_static
               ? next_static(thread, loop)
               : next_dynamic(thread, loop);
}

/* Returns the chunk; without `more` the thread has none left, and leaves the loop. */
static int loop_return_chunk(struct orr_omp_task *thread, bool more,
                             unsigned long long *ret_begin,
                             unsigned long long *ret_end)
{
    if (more) {
        *ret_begin = thread->loop.begin;
        *ret_end = thread->loop.end;
        return 1;
    }
    orr_omp_share_leave(thread, thread->loop.share);
    thread->loop.share = NULL;
    thread->loop.equal = false;
    return 0;
}

int starpu_omp_for_inline_first_alt(unsigned long long nb_iterations,
                                    unsigned long long chunk, int schedule,
                                    int ordered, unsigned long long *_begin_i,
                                    unsigned long long *_end_i)
{
    struct orr_omp_task *thread = orr_omp_thread_here(__func__);

    return loop_return_chunk(
        thread, begin_loop(thread, nb_iterations, chunk, schedule, ordered),
        _begin_i, _end_i);
}

/* The next chunk of any loop. Not inlined, so that its callers, which mostly do without,
 * save no registers. */
__attribute__((noinline)) static int next_of_any(struct orr_omp_task *thread,
                                                 const char *call,
                                                 unsigned long long *ret_begin,
                                                 unsigned long long *ret_end)
{
    if (!thread->loop.share) {
        orr_log_error("%s: the thread is in no loop, or has executed all of "
                      "its iterations",
                      call);
        abort();
    }
    return loop_return_chunk(thread, next_of_loop(thread), ret_begin, ret_end);
}

int starpu_omp_for_inline_next_alt(unsigned long long nb_iterations,
                                   unsigned long long chunk, int schedule,
                                   int ordered, unsigned long long *_begin_i,
                                   unsigned long long *_end_i)
{
    struct orr_omp_task *thread = orr_omp_thread_here(__func__);
    struct orr_omp_loop *loop = &thread->loop;

    (void)nb_iterations; /* the loop that the thread is in knows them */
    (void)chunk;
    (void)schedule;
    (void)ordered;
    if (loop->equal && !loop->ordered && !thread->omp->env.cancellation &&
        next_equal(loop)) {
        *_begin_i = loop->begin;
        *_end_i = loop->end;
        return 1;
    }
    return next_of_any(thread, __func__, _begin_i, _end_i);
}

void orr_openmp_leave_loop(void)
{
    struct orr_omp_task *thread = orr_omp_thread_need("the end of a loop");
    unsigned long long begin, end;

    if (thread->loop.share)
        (void)loop_return_chunk(thread, false, &begin, &end);
}

int starpu_omp_for_inline_first(unsigned long long nb_iterations,
                                unsigned long long chunk, int schedule,
                                int ordered, unsigned long long *_first_i,
                                unsigned long long *_nb_i)
{
    unsigned long long end;

    if (!starpu_omp_for_inline_first_alt(nb_iterations, chunk, schedule,
                                         ordered, _first_i, &end))
        return 0;
    *_nb_i = end - *_first_i;
    return 1;
}

int starpu_omp_for_inline_next(unsigned long long nb_iterations,
                               unsigned long long chunk, int schedule,
                               int ordered, unsigned long long *_first_i,
                               unsigned long long *_nb_i)
{
    unsigned long long end;

    if (!starpu_omp_for_inline_next_alt(nb_iterations, chunk, schedule, ordered,
                                        _first_i, &end))
        return 0;
    *_nb_i = end - *_first_i;
    return 1;
}

static void meet_unless(int nowait)
{
    if (!nowait)
        starpu_omp_barrier();
}

void starpu_omp_for(void (*f)(unsigned long long first, unsigned long long n,
                              void *arg),
                    void *arg, unsigned long long nb_iterations,
                    unsigned long long chunk, int schedule, int ordered,
                    int nowait)
{
    unsigned long long first, n;

    if (starpu_omp_for_inline_first(nb_iterations, chunk, schedule, ordered,
                                    &first, &n))
        do
            f(first, n, arg);
        while (starpu_omp_for_inline_next(nb_iterations, chunk, schedule,
                                          ordered, &first, &n));
    meet_unless(nowait);
}

void starpu_omp_for_alt(void (*f)(unsigned long long begin,
                                  unsigned long long end, void *arg),
                        void *arg, unsigned long long nb_iterations,
                        unsigned long long chunk, int schedule, int ordered,
                        int nowait)
{
    unsigned long long begin, end;

    if (starpu_omp_for_inline_first_alt(nb_iterations, chunk, schedule, ordered,
                                        &begin, &end))
        do
            f(begin, end, arg);
        while (starpu_omp_for_inline_next_alt(nb_iterations, chunk, schedule,
                                              ordered, &begin, &end));
    meet_unless(nowait);
}

/* -- sections -- */

void starpu_omp_sections(unsigned long long nb_sections,
                         void (**section_f)(void *arg), void **section_arg,
                         int nowait)
{
    unsigned long long i, n;

    if (starpu_omp_for_inline_first(nb_sections, 1, starpu_omp_sched_dynamic, 0,
                                    &i, &n))
        do
            section_f[i](section_arg[i]);
        while (starpu_omp_for_inline_next(nb_sections, 1,
                                          starpu_omp_sched_dynamic, 0, &i, &n));
    meet_unless(nowait);
}

void starpu_omp_sections_combined(unsigned long long nb_sections,
                                  void (*section_f)(unsigned long long number,
                                                    void *arg),
                                  void *section_arg, int nowait)
{
    unsigned long long i, n;

    if (starpu_omp_for_inline_first(nb_sections, 1, starpu_omp_sched_dynamic, 0,
                                    &i, &n))
        do
            section_f(i, section_arg);
        while (starpu_omp_for_inline_next(nb_sections, 1,
                                          starpu_omp_sched_dynamic, 0, &i, &n));
    meet_unless(nowait);
}

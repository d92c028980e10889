/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/job/count.h - how many tasks are under way, and waiting until few are.
 *
 * Every task is counted five times, and the sums are hardly ever asked for. Therefore
 * each context that has caches of its own (core/base/slab.h) counts in a line of its
 * own, which no other one writes; all other contexts share one. Each scheduling context
 * has such lines, and the waiters for its tasks.
 *
 * A context that waits until `n` are unfinished does not look at every end either. Say
 * `left` more tasks must end, and there are k counters: then one of them has to grow by
 * left / k first, rounded up. It is told at which value of its own it has to add all of
 * them up again (looks_at). Nothing is missed: it looks at the very end that lets a
 * waiter go, since before it none had reached its value.
 *
 * A task that waits for a number of tasks counts neither itself nor those around it;
 * nor others that wait so at the same time, since these would wait for each other:
 * their number is added to `n`. Of several that need not wait any longer the innermost
 * goes on, and the others count it from then on.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "core/exec/runtime.h"
#include "core/job/tasks.h"

/* What is counted. */
enum orr_count {
    ORR_SUBMITTED,
    ORR_ENDED,
    ORR_PUSHED, /* ready tasks, to policies … */
    ORR_POPPED, /* … from them … */
    ORR_RAN,    /* … and whose kernels have ended */
    ORR_NCOUNTS
};

struct orr_nest;

struct orr_counter {
    atomic_ulong n[ORR_NCOUNTS];
    _Atomic double flops;  /* of tasks pushed, less of those that ran */
    atomic_ulong looks_at; /* value of n[ORR_ENDED] at which to look for waiters,
                            * ULONG_MAX: none waits */
    unsigned long seen;    /* [runtime's lock] value of n[ORR_ENDED] when they were
                            * added up last */
    char pad[128 - (ORR_NCOUNTS + 2) * sizeof(unsigned long) - sizeof(double)];
};

/* Counters for the contexts with caches 1 to n and for all others together, of
 * scheduling context 0. Errors: -ENOMEM. */
int orr_counters_new(unsigned n, struct orr_runtime *rt);
void orr_counters_free(struct orr_runtime *rt);

/* The same for another scheduling context, if it has none yet: they stay until the run
 * ends, since the context that counts the last end may still look at them when the
 * scheduling context is gone. One caller at a time. Errors: -ENOMEM. */
int orr_counters_add(struct orr_runtime *rt, unsigned sched_ctx);

/* The calling context's. */
static inline struct orr_counter *orr_counter_own(struct orr_runtime *rt,
                                                  unsigned sched_ctx)
{
    return &rt->tasks->counts[sched_ctx].counters[orr_self->cache];
}

/* Counts one more: the first counter is shared, the others have one writer. A reader
 * that sees a pop sees its push. */
static inline void orr_count_one(atomic_ulong *n)
{
    if (orr_self->cache)
        atomic_store_explicit(n,
                              atomic_load_explicit(n, memory_order_relaxed) + 1,
                              memory_order_release);
    else
        atomic_fetch_add_explicit(n, 1, memory_order_release);
}

/* These count one task that is submitted; is handed to a policy; was got by a worker;
 * whose kernel has ended. */
static inline void orr_count_submitted(struct orr_runtime *rt,
                                       unsigned sched_ctx)
{
    orr_count_one(&orr_counter_own(rt, sched_ctx)->n[ORR_SUBMITTED]);
}

/* Most tasks name no number of operations. */
static inline void orr_count_flops(struct orr_counter *counter, double flops)
{
    double before = atomic_load_explicit(&counter->flops, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(
        &counter->flops, &before, before + flops, memory_order_relaxed,
        memory_order_relaxed)) {
    }
}

static inline void orr_count_pushed(struct orr_runtime *rt, unsigned sched_ctx,
                                    double flops)
{
    struct orr_counter *counter = orr_counter_own(rt, sched_ctx);

    if (flops != 0)
        orr_count_flops(counter, flops);
    orr_count_one(&counter->n[ORR_PUSHED]);
}

static inline void orr_count_popped(struct orr_runtime *rt, unsigned sched_ctx)
{
    orr_count_one(&orr_counter_own(rt, sched_ctx)->n[ORR_POPPED]);
}

static inline void orr_count_ran(struct orr_runtime *rt, unsigned sched_ctx,
                                 double flops)
{
    struct orr_counter *counter = orr_counter_own(rt, sched_ctx);

    if (flops != 0)
        orr_count_flops(counter, -flops);
    orr_count_one(&counter->n[ORR_RAN]);
}

/* Wakes those who need not wait any more for tasks of the context to end. No lock
 * held. */
void orr_count_look(struct orr_runtime *rt, unsigned sched_ctx);

/* One submitted task has ended. The same. */
static inline void orr_count_ended(struct orr_runtime *rt, unsigned sched_ctx)
{
    struct orr_counter *counter = orr_counter_own(rt, sched_ctx);
    unsigned long n;

    ORR_TELL(rt, ORR_TOLD_TASK_ENDED);
    n = atomic_fetch_add(&counter->n[ORR_ENDED], 1) + 1; /* before it reads the other */
    if (n >= atomic_load(&counter->looks_at))
        orr_count_look(rt, sched_ctx);
}

/* How many tasks are submitted and have not ended; are ready and not popped; are ready
 * and not ended, and their flops. What is counted meanwhile may be missing, but an end
 * never counts without its beginning. */
unsigned long orr_count_unfinished_in(struct orr_runtime *rt,
                                      unsigned sched_ctx);
unsigned long orr_count_ready_in(struct orr_runtime *rt, unsigned sched_ctx);
unsigned long orr_count_live_in(struct orr_runtime *rt, unsigned sched_ctx);
double orr_count_flops_in(struct orr_runtime *rt, unsigned sched_ctx);

/* The same in all scheduling contexts. */
unsigned long orr_count_unfinished(struct orr_runtime *rt);
unsigned long orr_count_all_ended(struct orr_runtime *rt);
unsigned long orr_count_ready(struct orr_runtime *rt);

/* Whether at most n of them are unfinished, but for the task of the nest (NULL: none) and
 * others that do not count for such waits. */
bool orr_count_is_met(struct orr_runtime *rt, const struct orr_nest *nest,
                      unsigned n);

/* Writes `before` and how much work is under way outside of tasks (core/job/outside.h), in
 * the word of the layer above; nothing if there is none. Any thread. */
void orr_count_write_outside(const struct orr_runtime *rt, const char *before,
                             char *text, size_t size);

/* Blocks until at most n submitted tasks of a scheduling context are
 * unfinished. -EDEADLK in a callback. */
int orr_wait_for_n_in(struct orr_runtime *rt, const char *call,
                      unsigned sched_ctx, unsigned n);

/* The same for each scheduling context in turn; with n = 0 until none has unfinished
 * tasks. */
int orr_wait_for_n(struct orr_runtime *rt, const char *call, unsigned n);

/* Blocks the caller, which stops the run, until no task is unfinished, or none can
 * start any more (orr_drop_left). */
void orr_wait_at_end(struct orr_runtime *rt);

/* Called when all contexts wait and nothing goes on any more. If the run is being
 * stopped, and only tasks are left that have not become ready, or have run,
 * orr_wait_at_end returns; else this returns false, and nothing has happened. */
bool orr_drop_left(struct orr_runtime *rt);

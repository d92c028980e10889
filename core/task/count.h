/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/count.h - how many tasks are under way, and waiting until few are.
 *
 * Every task is counted four times, and hardly anybody asks for the sums.
 * Therefore each context that has caches of its own (core/base/slab.h) counts in
 * a line of its own, which no other one writes; all other contexts share one.
 *
 * Who waits until `n` are unfinished does not look at every end either. Say
 * `left` more tasks must end, and there are k counters: then one of them has to
 * grow by left / k first, rounded up. It is told at which value of its own it
 * has to add all of them up again (looks_at). Nothing is missed: it looks at the
 * very end that lets a waiter go, since before it none had reached its value.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "core/runtime.h"

/* A context that waits until at most `n` tasks are unfinished. */
struct orr_count_waiter {
    struct orr_count_waiter *next;
    struct orr_context *context;
    unsigned long n;
    atomic_bool met;
};

struct orr_counter {
    atomic_ulong submitted, ended; /* tasks */
    atomic_ulong pushed, popped;   /* ready tasks, to and from policies */
    atomic_ulong looks_at; /* value of `ended` at which to look for waiters,
                            * ULONG_MAX: nobody waits */
    unsigned long seen;    /* [runtime's lock] value of `ended` when they were
                            * added up last */
    char pad[128 - 6 * sizeof(unsigned long)];
};

/* For contexts with caches 1 to n, and all others. Errors: -ENOMEM. */
int orr_counters_new(unsigned n, struct orr_runtime *rt);
void orr_counters_free(struct orr_runtime *rt);

/* The calling context's. */
static inline struct orr_counter *orr_counter_own(struct orr_runtime *rt)
{
    return &rt->counters[orr_self->cache];
}

/* One more: the first counter is shared, the others have one writer. Who sees a
 * pop sees its push. */
static inline void orr_count_one(atomic_ulong *n)
{
    if (orr_self->cache)
        atomic_store_explicit(n,
                              atomic_load_explicit(n, memory_order_relaxed) + 1,
                              memory_order_release);
    else
        atomic_fetch_add_explicit(n, 1, memory_order_release);
}

/* One task is submitted; it is handed to a policy; a worker has got it. */
static inline void orr_count_submitted(struct orr_runtime *rt)
{
    orr_count_one(&orr_counter_own(rt)->submitted);
}

static inline void orr_count_pushed(struct orr_runtime *rt)
{
    orr_count_one(&orr_counter_own(rt)->pushed);
}

static inline void orr_count_popped(struct orr_runtime *rt)
{
    orr_count_one(&orr_counter_own(rt)->popped);
}

/* One submitted task has ended: wakes those who wait for that. No lock held. */
void orr_count_ended(struct orr_runtime *rt);

/* Tasks that are submitted and have not ended; ready and not popped. What is
 * counted meanwhile may be missing, but never an end without its beginning. */
unsigned long orr_count_unfinished(struct orr_runtime *rt);
unsigned long orr_count_all_ended(struct orr_runtime *rt);
unsigned long orr_count_ready(struct orr_runtime *rt);

/* Blocks until at most n submitted tasks are unfinished. -EDEADLK in a task
 * or callback. */
int orr_wait_for_n(struct orr_runtime *rt, unsigned n);

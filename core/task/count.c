/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/task/count.c - see count.h. */
#include "core/task/count.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "core/base/lock.h"
#include "core/runtime.h"

int orr_counters_new(unsigned n, struct orr_runtime *rt)
{
    rt->ncounters = n + 1;
    return orr_counters_add(rt, 0);
}

int orr_counters_add(struct orr_runtime *rt, unsigned sched_ctx)
{
    struct orr_counter *counters;

    if (rt->counts[sched_ctx].counters)
        return 0;
    counters = calloc(rt->ncounters, sizeof(*counters));
    if (!counters)
        return -ENOMEM;
    for (unsigned i = 0; i < rt->ncounters; i++)
        atomic_init(&counters[i].looks_at, ULONG_MAX);
    atomic_store_explicit(&rt->counts[sched_ctx].counters, counters,
                          memory_order_release);
    return 0;
}

void orr_counters_free(struct orr_runtime *rt)
{
    for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS; c++) {
        free(rt->counts[c].counters);
        rt->counts[c].counters = NULL;
    }
}

/* --- adding up --- */

/* Ends are added up before beginnings: the result may be too large for one
 * moment, never too small. */
static unsigned long difference(struct orr_runtime *rt, unsigned sched_ctx,
                                enum orr_count beginning, enum orr_count end)
{
    struct orr_counter *counters = rt->counts[sched_ctx].counters;
    unsigned long n = 0;

    if (!counters)
        return 0;
    for (unsigned i = 0; i < rt->ncounters; i++)
        n -= atomic_load(&counters[i].n[end]);
    for (unsigned i = 0; i < rt->ncounters; i++)
        n += atomic_load(&counters[i].n[beginning]);
    return n;
}

unsigned long orr_count_unfinished_in(struct orr_runtime *rt,
                                      unsigned sched_ctx)
{
    return difference(rt, sched_ctx, ORR_SUBMITTED, ORR_ENDED);
}

unsigned long orr_count_ready_in(struct orr_runtime *rt, unsigned sched_ctx)
{
    return difference(rt, sched_ctx, ORR_PUSHED, ORR_POPPED);
}

unsigned long orr_count_live_in(struct orr_runtime *rt, unsigned sched_ctx)
{
    return difference(rt, sched_ctx, ORR_PUSHED, ORR_RAN);
}

double orr_count_flops_in(struct orr_runtime *rt, unsigned sched_ctx)
{
    struct orr_counter *counters = rt->counts[sched_ctx].counters;
    double flops = 0;

    for (unsigned i = 0; counters && i < rt->ncounters; i++)
        flops += atomic_load(&counters[i].flops);
    return flops;
}

unsigned long orr_count_unfinished(struct orr_runtime *rt)
{
    unsigned long n = 0;

    for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS; c++)
        n += orr_count_unfinished_in(rt, c);
    return n;
}

unsigned long orr_count_all_ended(struct orr_runtime *rt)
{
    unsigned long n = 0;

    for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS; c++) {
        struct orr_counter *counters = rt->counts[c].counters;

        for (unsigned i = 0; counters && i < rt->ncounters; i++)
            n += atomic_load(&counters[i].n[ORR_ENDED]);
    }
    return n;
}

unsigned long orr_count_ready(struct orr_runtime *rt)
{
    unsigned long n = 0;

    for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS; c++)
        n += orr_count_ready_in(rt, c);
    return n;
}

/* --- waiting --- */

/* Adds up, as above. From now on who counts an end that is not in it looks, and
 * waits for the lock: it counts, then reads looks_at; here that is written, then
 * the count read. */
static unsigned long add_up_locked(struct orr_runtime *rt,
                                   struct orr_counts *counts)
    ORR_REQUIRES(rt->lock)
{
    unsigned long n = 0;

    for (unsigned i = 0; i < rt->ncounters; i++) {
        struct orr_counter *counter = &counts->counters[i];

        atomic_store(&counter->looks_at, 0);
        counter->seen = atomic_load(&counter->n[ORR_ENDED]);
        n -= counter->seen;
    }
    for (unsigned i = 0; i < rt->ncounters; i++)
        n += atomic_load(&counts->counters[i].n[ORR_SUBMITTED]);
    return n;
}

/* Takes out those who need not wait any more. *ret_more: so many more ends let
 * the next one go, ULONG_MAX: there is none. */
static struct orr_count_waiter *take_met_locked(struct orr_counts *counts,
                                                unsigned long left,
                                                unsigned long *ret_more)
{
    struct orr_count_waiter **link, *met = NULL;

    *ret_more = ULONG_MAX;
    for (link = &counts->waiters; *link;) {
        struct orr_count_waiter *waiter = *link;

        if (left > waiter->n) {
            if (left - waiter->n < *ret_more)
                *ret_more = left - waiter->n;
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        waiter->next = met;
        met = waiter;
    }
    return met;
}

/* Looks who need not wait any more, and says when to look again. */
static struct orr_count_waiter *look_locked(struct orr_runtime *rt,
                                            struct orr_counts *counts)
    ORR_REQUIRES(rt->lock)
{
    unsigned long more;
    struct orr_count_waiter *met =
        take_met_locked(counts, add_up_locked(rt, counts), &more);
    unsigned long each = (more - 1) / rt->ncounters + 1;

    for (unsigned i = 0; i < rt->ncounters; i++) {
        struct orr_counter *counter = &counts->counters[i];

        atomic_store_explicit(&counter->looks_at,
                              more == ULONG_MAX ? ULONG_MAX
                                                : counter->seen + each,
                              memory_order_relaxed);
    }
    return met;
}

/* Their stacks may be gone once they see `met`. */
static void let_go(struct orr_runtime *rt, struct orr_count_waiter *met)
{
    while (met) {
        struct orr_count_waiter *next = met->next;
        struct orr_context *context = met->context;

        atomic_store_explicit(&met->met, true, memory_order_release);
        if (context != orr_self)
            rt->exec->ops->wake(rt->exec, context);
        met = next;
    }
}

void orr_count_ended(struct orr_runtime *rt, unsigned sched_ctx)
{
    struct orr_counter *counter = orr_counter_own(rt, sched_ctx);
    struct orr_count_waiter *met;
    unsigned long n;

    orr_runtime_trace_count(rt, ORR_TRACE_NSUBMITTED, -1);
    n = atomic_fetch_add(&counter->n[ORR_ENDED], 1) + 1;
    if (n < atomic_load(&counter->looks_at))
        return;
    orr_lock(&rt->lock);
    met = look_locked(rt, &rt->counts[sched_ctx]);
    orr_unlock(&rt->lock);
    let_go(rt, met);
}

int orr_wait_for_n_in(struct orr_runtime *rt, unsigned sched_ctx, unsigned n)
{
    struct orr_counts *counts = &rt->counts[sched_ctx];
    struct orr_context *self = orr_self;
    struct orr_count_waiter waiter = {.context = self, .n = n}, *met;

    if (!orr_may_block("starpu_task_wait_for_all"))
        return -EDEADLK;
    orr_pay();
    atomic_init(&waiter.met, false);
    orr_lock(&rt->lock);
    waiter.next = counts->waiters;
    counts->waiters = &waiter;
    met = look_locked(rt, counts);
    orr_unlock(&rt->lock);
    let_go(rt, met);
    self->waits_for = "the submitted tasks";
    while (!atomic_load_explicit(&waiter.met, memory_order_acquire))
        rt->exec->ops->park(rt->exec, ORR_FOREVER);
    self->waits_for = NULL;
    return 0;
}

int orr_wait_for_n(struct orr_runtime *rt, unsigned n)
{
    int err = 0;

    do
        for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS && !err; c++)
            if (rt->counts[c].counters)
                err = orr_wait_for_n_in(rt, c, n);
    while (!err && n == 0 && orr_count_unfinished(rt) > 0);
    return err;
}

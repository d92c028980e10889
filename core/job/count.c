/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/job/count.c - see count.h. */
#include "core/job/count.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/lock.h"
#include "core/exec/await.h"
#include "core/exec/runtime.h"
#include "core/job/inside.h"
#include "core/job/tasks.h"
#include "core/remote_ops.h"

int orr_counters_new(unsigned n, struct orr_runtime *rt)
{
    rt->tasks->ncounters = n + 1;
    return orr_counters_add(rt, 0);
}

int orr_counters_add(struct orr_runtime *rt, unsigned sched_ctx)
{
    struct orr_counter *counters;

    if (rt->tasks->counts[sched_ctx].counters)
        return 0;
    counters = calloc(rt->tasks->ncounters, sizeof(*counters));
    if (!counters)
        return -ENOMEM;
    for (unsigned i = 0; i < rt->tasks->ncounters; i++)
        atomic_init(&counters[i].looks_at, ULONG_MAX);
    atomic_store_explicit(&rt->tasks->counts[sched_ctx].counters, counters,
                          memory_order_release);
    return 0;
}

void orr_counters_free(struct orr_runtime *rt)
{
    for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS; c++) {
        free(rt->tasks->counts[c].counters);
        rt->tasks->counts[c].counters = NULL;
    }
}

/* --- adding up --- */

/* Ends are added up before beginnings: the result may be too large for one
 * moment, never too small. */
static unsigned long difference(struct orr_runtime *rt, unsigned sched_ctx,
                                enum orr_count beginning, enum orr_count end)
{
    struct orr_counter *counters = rt->tasks->counts[sched_ctx].counters;
    unsigned long n = 0;

    if (!counters)
        return 0;
    for (unsigned i = 0; i < rt->tasks->ncounters; i++)
        n -= atomic_load(&counters[i].n[end]);
    for (unsigned i = 0; i < rt->tasks->ncounters; i++)
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
    struct orr_counter *counters = rt->tasks->counts[sched_ctx].counters;
    double flops = 0;

    for (unsigned i = 0; counters && i < rt->tasks->ncounters; i++)
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
        struct orr_counter *counters = rt->tasks->counts[c].counters;

        for (unsigned i = 0; counters && i < rt->tasks->ncounters; i++)
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

/* A context that waits until at most `n` tasks of a scheduling context are
 * unfinished. */
struct count_waiter {
    struct orr_waiter waiter; /* first */
    struct orr_nest *nest;    /* of the task that waits, or NULL */
    unsigned long n;
    bool leaves; /* it stops the run: what is left may be dropped */
};

static struct count_waiter *count_waiter_of(struct orr_waiter *waiter)
{
    return (struct count_waiter *)waiter;
}

/* Adds up, as above. From now on a context that counts an end that is not in the sum
 * looks, and waits for the lock: it counts, then reads looks_at; here looks_at is
 * written, then the count read. */
static unsigned long add_up_locked(struct orr_runtime *rt,
                                   struct orr_counts *counts)
    ORR_REQUIRES(rt->lock)
{
    unsigned long n = 0;

    for (unsigned i = 0; i < rt->tasks->ncounters; i++) {
        struct orr_counter *counter = &counts->counters[i];

        atomic_store(&counter->looks_at, 0);
        counter->seen = atomic_load(&counter->n[ORR_ENDED]);
        n -= counter->seen;
    }
    for (unsigned i = 0; i < rt->tasks->ncounters; i++)
        n += atomic_load(&counts->counters[i].n[ORR_SUBMITTED]);
    return n;
}

/* How many may be unfinished. */
static unsigned long allowed_locked(struct orr_runtime *rt, unsigned sched_ctx,
                                    const struct orr_nest *nest,
                                    unsigned long n)
    ORR_REQUIRES(rt->lock)
{
    if (!nest)
        return n;
    return n + rt->tasks->counts[sched_ctx].nwaiting +
           orr_nest_count_around(rt, nest, sched_ctx);
}

static unsigned count_waiter_depth(const struct count_waiter *waiter)
{
    return waiter->nest ? waiter->nest->depth : 0;
}

/* The innermost of the waiters that need not wait any more, of equal ones the last that
 * came, or NULL. *ret_more: how many more ends let the next one go, ULONG_MAX: there is
 * none. */
static struct count_waiter *
find_met_locked(struct orr_runtime *rt, unsigned sched_ctx, unsigned long left,
                unsigned long *ret_more) ORR_REQUIRES(rt->lock)
{
    struct count_waiter *found = NULL;

    *ret_more = ULONG_MAX;
    orr_waiters_foreach (link, &rt->tasks->counts[sched_ctx].waiters) {
        struct count_waiter *waiter = count_waiter_of(link);
        unsigned long n =
            allowed_locked(rt, sched_ctx, waiter->nest, waiter->n);

        if (left <= n &&
            (!found || count_waiter_depth(waiter) >= count_waiter_depth(found)))
            found = waiter;
        if (left > n && left - n < *ret_more)
            *ret_more = left - n;
    }
    return found;
}

/* Its task waits for others by their number, or not any more. */
static void set_counts_locked(struct orr_runtime *rt, struct orr_nest *nest,
                              bool counts) ORR_REQUIRES(rt->lock)
{
    if (!nest || nest->counts == counts)
        return;
    nest->counts = counts;
    rt->tasks->counts[nest->sched_ctx].nwaiting += counts ? 1UL : -1UL;
}

/* Takes out those that need not wait any more. *ret_more as above. */
static struct orr_waiters
take_met_locked(struct orr_runtime *rt, unsigned sched_ctx, unsigned long left,
                unsigned long *ret_more) ORR_REQUIRES(rt->lock)
{
    struct orr_waiters met = {NULL};
    struct count_waiter *waiter;

    while ((waiter = find_met_locked(rt, sched_ctx, left, ret_more)) != NULL) {
        (void)orr_waiters_remove(&rt->tasks->counts[sched_ctx].waiters,
                                 &waiter->waiter);
        orr_waiters_prepend(&met, &waiter->waiter);
        set_counts_locked(rt, waiter->nest, false);
    }
    return met;
}

/* Finds the contexts that need not wait any more, and says when to look next. */
static struct orr_waiters look_locked(struct orr_runtime *rt,
                                      unsigned sched_ctx) ORR_REQUIRES(rt->lock)
{
    struct orr_counts *counts = &rt->tasks->counts[sched_ctx];
    unsigned long more;
    struct orr_waiters met =
        take_met_locked(rt, sched_ctx, add_up_locked(rt, counts), &more);
    unsigned long each = (more - 1) / rt->tasks->ncounters + 1;

    for (unsigned i = 0; i < rt->tasks->ncounters; i++) {
        struct orr_counter *counter = &counts->counters[i];

        atomic_store_explicit(&counter->looks_at,
                              more == ULONG_MAX ? ULONG_MAX
                                                : counter->seen + each,
                              memory_order_relaxed);
    }
    return met;
}

void orr_count_look(struct orr_runtime *rt, unsigned sched_ctx)
{
    struct orr_waiters met;

    orr_lock(&rt->lock);
    met = look_locked(rt, sched_ctx);
    orr_unlock(&rt->lock);
    orr_waiters_release(met);
}

/* One more task waits until a number of tasks is left. It is not among the tasks that
 * the others wait for, so these are looked at. */
static void look_everywhere(struct orr_runtime *rt)
{
    for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS; c++) {
        struct orr_waiters met = {NULL};

        orr_lock(&rt->lock);
        if (orr_waiters_first(&rt->tasks->counts[c].waiters))
            met = look_locked(rt, c);
        orr_unlock(&rt->lock);
        orr_waiters_release(met);
    }
}

void orr_count_write_outside(const struct orr_runtime *rt, const char *before,
                             char *text, size_t size)
{
    unsigned long n = atomic_load(&rt->tasks->outside.n);

    if (n > 0)
        snprintf(text, size, "%s%lu %s", before, n,
                 rt->remote ? rt->remote->noun : "operations outside of tasks");
}

/* What a wait for the tasks of a scheduling context waits for. */
struct awaited_count {
    struct orr_awaited awaited; /* first */
    struct orr_runtime *rt;
    unsigned sched_ctx, n;
};

static void count_describe_awaited(const struct orr_awaited *awaited,
                                   char *text, size_t size)
{
    const struct awaited_count *a = (const struct awaited_count *)awaited;
    unsigned long left = orr_count_unfinished_in(a->rt, a->sched_ctx);
    int at = a->n ? snprintf(text, size, "at most %u of %lu unfinished tasks",
                             a->n, left)
                  : snprintf(text, size, "%lu submitted task%s", left,
                             left == 1 ? "" : "s");

    if (a->sched_ctx && at > 0 && (size_t)at < size)
        at += snprintf(text + at, size - (size_t)at, " of scheduling context %u",
                       a->sched_ctx);
    if (at > 0 && (size_t)at < size)
        orr_count_write_outside(a->rt, ", and ", text + at, size - (size_t)at);
}

static void wait_in(struct orr_runtime *rt, unsigned sched_ctx,
                    struct orr_nest *nest, unsigned n, bool leaves)
{
    const struct awaited_count what = {
        .awaited = {.noun = "submitted tasks",
                    .describe = count_describe_awaited},
        .rt = rt,
        .sched_ctx = sched_ctx,
        .n = n};
    struct count_waiter waiter = {.nest = nest, .n = n, .leaves = leaves};
    struct orr_waiters met = {NULL};

    orr_lock(&rt->lock);
    set_counts_locked(rt, nest, true);
    orr_waiters_add(&rt->tasks->counts[sched_ctx].waiters, &waiter.waiter);
    if (!nest)
        met = look_locked(rt, sched_ctx);
    orr_unlock(&rt->lock);
    orr_waiters_release(met);
    if (nest)
        look_everywhere(rt);
    orr_await(rt, &waiter.waiter, &what.awaited);
}

bool orr_count_is_met(struct orr_runtime *rt, const struct orr_nest *nest,
                      unsigned n)
{
    bool met = true;

    for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS && met; c++) {
        if (!rt->tasks->counts[c].counters)
            continue;
        orr_lock(&rt->lock);
        met = orr_count_unfinished_in(rt, c) <= allowed_locked(rt, c, nest, n);
        orr_unlock(&rt->lock);
    }
    return met;
}

int orr_wait_for_n_in(struct orr_runtime *rt, const char *call,
                      unsigned sched_ctx, unsigned n)
{
    if (!orr_may_block(call))
        return -EDEADLK;
    orr_pay();
    wait_in(rt, sched_ctx, orr_nest_here(rt), n, false);
    return 0;
}

static int wait_everywhere(struct orr_runtime *rt, const char *call, unsigned n,
                           bool leaves)
{
    struct orr_nest *nest;

    if (!orr_may_block(call))
        return -EDEADLK;
    orr_pay();
    nest = orr_nest_here(rt);
    do
        for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS; c++)
            if (rt->tasks->counts[c].counters &&
                !atomic_load(&rt->tasks->drops))
                wait_in(rt, c, nest, n, leaves);
    while (n == 0 && !orr_count_is_met(rt, nest, 0) && !atomic_load(&rt->tasks->drops));
    return 0;
}

int orr_wait_for_n(struct orr_runtime *rt, const char *call, unsigned n)
{
    return wait_everywhere(rt, call, n, false);
}

void orr_wait_at_end(struct orr_runtime *rt)
{
    (void)wait_everywhere(rt, "starpu_shutdown", 0, true);
}

/* Takes out the one that stops the run; NULL: it does not wait. */
static struct orr_waiter *take_leaver(struct orr_runtime *rt)
{
    struct orr_waiter *leaver = NULL;

    orr_lock(&rt->lock);
    for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS && !leaver; c++) {
        struct orr_waiters *waiters = &rt->tasks->counts[c].waiters;

        orr_waiters_foreach (waiter, waiters)
            if (count_waiter_of(waiter)->leaves)
                leaver = waiter;
        if (leaver)
            (void)orr_waiters_remove(waiters, leaver);
    }
    orr_unlock(&rt->lock);
    return leaver;
}

bool orr_drop_left(struct orr_runtime *rt)
{
    struct orr_waiter *leaver;
    unsigned long live = 0;

    if (orr_count_unfinished(rt) == 0)
        return false;
    for (unsigned c = 0; c < STARPU_NMAX_SCHED_CTXS; c++)
        if (rt->tasks->counts[c].counters)
            live += orr_count_live_in(rt, c);
    if (live > 0)
        return false;
    leaver = take_leaver(rt);
    if (!leaver)
        return false;
    atomic_store(&rt->tasks->drops, true);
    orr_waiter_release(leaver);
    return true;
}

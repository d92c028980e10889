/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/recalibrate.c - see recalibrate.h. What schedulers read is atomic;
 * decisions are made under the budget's lock, which is one for all rows since
 * they are rare.
 */
#include "core/cost/recalibrate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/cost/row.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"

#define NIMPL STARPU_MAXIMPLEMENTATIONS

void orr_recal_budget_init(struct orr_recal_budget *budget, double now)
{
    *budget = (struct orr_recal_budget){.start = now};
    orr_lock_init(&budget->lock, ORR_RANK_RUNTIME);
}

int orr_recal_new(const struct orr_runtime *rt, struct orr_recal_budget *budget,
                  struct orr_recal **ret)
{
    size_t n = (size_t)rt->workers->nclasses * NIMPL;
    /* One block: the bits of classes lie behind the pairs. */
    struct orr_recal *recal =
        calloc(1, sizeof(*recal) + n * sizeof(recal->pairs[0]) +
                      2 * rt->workers->nclasses * sizeof(*recal->uncalibrated));
    double now;

    if (!recal)
        return -ENOMEM;
    now = orr_exec_now(rt->exec);
    recal->runtime = rt;
    recal->budget = budget;
    recal->uncalibrated = (_Atomic uint8_t *)&recal->pairs[n];
    recal->suspicious = recal->uncalibrated + rt->workers->nclasses;
    atomic_init(&recal->look_at, INFINITY);
    for (size_t i = 0; i < n; i++)
        atomic_init(&recal->pairs[i].last, now);
    *ret = recal;
    return 0;
}

static struct orr_recal_pair *pair_of(struct orr_recal *recal,
                                      unsigned class_id, unsigned impl)
{
    return &recal->pairs[class_id * NIMPL + impl];
}

static void recal_set_next_look(struct orr_recal *recal, double date)
{
    atomic_store_explicit(&recal->look_at, date, memory_order_relaxed);
}

void orr_recal_begin_with(struct orr_recal *recal, unsigned class_id,
                          unsigned impl, uint32_t n)
{
    struct orr_recal_pair *pair = pair_of(recal, class_id, impl);

    atomic_store_explicit(&pair->runs, n, memory_order_relaxed);
    atomic_store_explicit(&pair->begun, n, memory_order_relaxed);
}

/* --- what is uncalibrated --- */

static bool are_siblings(const struct orr_worker_class *a,
                         const struct orr_worker_class *b)
{
    return a->type == b->type && a->comb != b->comb;
}

static bool is_suspicious(const struct orr_runtime *rt,
                          const struct orr_cost_row *row, unsigned class_id,
                          unsigned impl)
{
    double us = orr_cost_length(row, class_id, impl);

    for (unsigned k = 0; us > 0 && k < rt->workers->nclasses; k++) {
        double sibling;

        if (!(row->able[k] >> impl & 1) ||
            !are_siblings(&rt->workers->classes[k],
                          &rt->workers->classes[class_id]))
            continue;
        sibling = orr_cost_length(row, k, impl);
        if (sibling > 0 && us > ORR_RECAL_SUSPICIOUS * sibling)
            return true;
    }
    return false;
}

static bool recal_is_suspicious(const struct orr_recal *recal,
                                unsigned class_id, unsigned impl)
{
    return atomic_load_explicit(&recal->suspicious[class_id],
                                memory_order_relaxed) >>
               impl &
           1;
}

static bool is_confirmed(const struct orr_recal_pair *pair)
{
    return atomic_load_explicit(&pair->runs, memory_order_relaxed) >=
           ORR_RECAL_RUNS;
}

static void note_uncalibrated_locked(struct orr_recal *recal)
    ORR_REQUIRES(recal->budget->lock)
{
    bool any = false;

    for (unsigned k = 0; k < recal->runtime->workers->nclasses; k++)
        any = any || orr_recal_uncalibrated(recal, k);
    atomic_store_explicit(&recal->any_uncalibrated, any, memory_order_relaxed);
}

/* Returns those that are suspicious and uncalibrated. */
static unsigned refresh_class_locked(struct orr_recal *recal,
                                     const struct orr_cost_row *row,
                                     unsigned class_id)
    ORR_REQUIRES(recal->budget->lock)
{
    unsigned uncalibrated = 0, suspicious = 0;

    for (unsigned i = 0; row->able[class_id] >> i; i++) {
        struct orr_recal_pair *pair = pair_of(recal, class_id, i);

        if (!(row->able[class_id] >> i & 1))
            continue;
        if (isnan(orr_cost_length(row, class_id, i)))
            uncalibrated |= 1U << i;
        if (!is_suspicious(recal->runtime, row, class_id, i)) {
            pair->gap = pair->due = 0;
            continue;
        }
        suspicious |= 1U << i;
        if (!is_confirmed(pair))
            uncalibrated |= 1U << i;
    }
    atomic_store_explicit(&recal->uncalibrated[class_id], (uint8_t)uncalibrated,
                          memory_order_relaxed);
    note_uncalibrated_locked(recal);
    atomic_store_explicit(&recal->suspicious[class_id], (uint8_t)suspicious,
                          memory_order_relaxed);
    return uncalibrated & suspicious;
}

bool orr_recal_refresh(struct orr_recal *recal, const struct orr_cost_row *row,
                       bool measured, unsigned *ret_class, unsigned *ret_impl)
{
    bool any = false;

    orr_lock(&recal->budget->lock);
    atomic_store_explicit(&recal->measured, measured, memory_order_relaxed);
    for (unsigned k = 0; k < recal->runtime->workers->nclasses; k++) {
        unsigned bits = refresh_class_locked(recal, row, k);

        if (any || !bits)
            continue;
        any = true;
        *ret_class = k;
        *ret_impl = (unsigned)__builtin_ctz(bits);
    }
    recal_set_next_look(recal, -INFINITY);
    orr_unlock(&recal->budget->lock);
    return any;
}

/* --- measures --- */

/* The gap to the recalibration run after this one. */
static void postpone_locked(struct orr_recal_pair *pair, double length,
                            bool recalibrates, double now)
{
    if (!(pair->gap > 0))
        pair->gap = length;
    else if (recalibrates)
        pair->gap = fmin(2 * pair->gap, length / ORR_RECAL_SHARE);
    pair->due = now + pair->gap;
}

static bool check_locked(struct orr_recal *recal,
                         const struct orr_cost_row *row, unsigned class_id,
                         unsigned impl, double us, double now)
    ORR_REQUIRES(recal->budget->lock)
{
    struct orr_recal_pair *pair = pair_of(recal, class_id, impl);
    double length = orr_cost_length(row, class_id, impl);
    bool recalibrates =
        atomic_load_explicit(&pair->under_way, memory_order_relaxed);
    bool wrong, confirmed;

    if (recalibrates) {
        atomic_store_explicit(&pair->under_way, false, memory_order_relaxed);
        if (!isnan(us)) /* its real cost */
            recal->budget->spent += fmax(us - length, -pair->charged);
        pair->hurry = us * ORR_RECAL_CONTRADICTS < length;
        recal_set_next_look(recal, -INFINITY);
    }
    if (!recal_is_suspicious(recal, class_id, impl))
        return false;
    wrong = us * ORR_RECAL_CONTRADICTS < length;
    confirmed = is_confirmed(pair);
    if (wrong && confirmed)
        atomic_store_explicit(&pair->runs, ORR_RECAL_RUNS - ORR_RECAL_RERUNS,
                              memory_order_relaxed);
    else if (!wrong && confirmed)
        postpone_locked(pair, length, recalibrates, now);
    else if (!wrong && !isnan(us) && pair->gap > 0)
        recal->budget->spent += us;
    refresh_class_locked(recal, row, class_id);
    return wrong;
}

bool orr_recal_measured(struct orr_recal *recal, const struct orr_cost_row *row,
                        unsigned class_id, unsigned impl, double us, double now)
{
    struct orr_recal_pair *pair = pair_of(recal, class_id, impl);
    const memory_order relaxed = memory_order_relaxed;
    bool settled = !atomic_load_explicit(&pair->under_way, relaxed) &&
                   !recal_is_suspicious(recal, class_id, impl);
    bool wrong;

    if (settled && !atomic_load_explicit(&recal->measured, relaxed))
        return false;
    if (!isnan(us)) {
        /* If two count at once one is lost: then there is a run more. */
        uint32_t runs = atomic_load_explicit(&pair->runs, relaxed);

        atomic_store_explicit(&pair->last, now, relaxed);
        atomic_store_explicit(&pair->runs, runs + 1, relaxed);
    }
    if (settled)
        return false;
    orr_lock(&recal->budget->lock);
    wrong = check_locked(recal, row, class_id, impl, us, now);
    orr_unlock(&recal->budget->lock);
    return wrong;
}

/* --- recalibration runs --- */

/* When the pair's recalibration is due; INFINITY if it has none. */
static double due_locked(struct orr_recal *recal,
                         const struct orr_cost_row *row, unsigned class_id,
                         unsigned impl) ORR_REQUIRES(recal->budget->lock)
{
    struct orr_recal_pair *pair = pair_of(recal, class_id, impl);
    double length = orr_cost_length(row, class_id, impl);
    double stale = INFINITY;

    if (!(length > 0) ||
        atomic_load_explicit(&pair->under_way, memory_order_relaxed) ||
        orr_recal_uncalibrated(recal, class_id) >> impl & 1)
        return INFINITY;
    if (pair->hurry)
        return 0;
    if (atomic_load_explicit(&recal->measured, memory_order_relaxed))
        stale = atomic_load_explicit(&pair->last, memory_order_relaxed) +
                fmax(ORR_RECAL_STALE * length, ORR_RECAL_STALE_US);
    if (recal_is_suspicious(recal, class_id, impl))
        return fmin(pair->due, stale);
    return stale;
}

/* When what has been spent is no more than the share. */
static double affordable_locked(const struct orr_recal *recal)
    ORR_REQUIRES(recal->budget->lock)
{
    return recal->budget->start + recal->budget->spent / ORR_RECAL_SHARE;
}

static double row_fastest_us(const struct orr_runtime *rt,
                             const struct orr_cost_row *row)
{
    double least = INFINITY;

    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        for (unsigned i = 0; row->able[k] >> i; i++)
            if (row->able[k] >> i & 1 && orr_cost_length(row, k, i) > 0)
                least = fmin(least, orr_cost_length(row, k, i));
    return least;
}

/* The pair due first among `able`; *ret_next: the first date of all. */
static bool find_due_locked(struct orr_recal *recal,
                            const struct orr_cost_row *row, const uint8_t *able,
                            double now, unsigned *ret_class, unsigned *ret_impl,
                            double *ret_next) ORR_REQUIRES(recal->budget->lock)
{
    double first = INFINITY;

    *ret_next = INFINITY;
    for (unsigned k = 0; k < recal->runtime->workers->nclasses; k++) {
        for (unsigned i = 0; row->able[k] >> i; i++) {
            double due;

            if (!(row->able[k] >> i & 1))
                continue;
            due = due_locked(recal, row, k, i);
            *ret_next = fmin(*ret_next, due);
            if (due > now || !(due < first) || !(able[k] >> i & 1))
                continue;
            first = due;
            *ret_class = k;
            *ret_impl = i;
        }
    }
    return isfinite(first);
}

bool orr_recal_take(struct orr_recal *recal, const struct orr_cost_row *row,
                    const uint8_t *able, double now, unsigned *ret_class,
                    unsigned *ret_impl)
{
    struct orr_recal_budget *budget = recal->budget;
    double next, affordable;
    bool found;

    orr_lock(&recal->budget->lock);
    found = find_due_locked(recal, row, able, now, ret_class, ret_impl, &next);
    affordable = affordable_locked(recal);
    if (found && affordable <= now) {
        struct orr_recal_pair *pair = pair_of(recal, *ret_class, *ret_impl);

        pair->charged = orr_cost_length(row, *ret_class, *ret_impl) -
                        row_fastest_us(recal->runtime, row);
        budget->spent += pair->charged;
        atomic_store_explicit(&pair->under_way, true, memory_order_relaxed);
    } else {
        found = false;
        recal_set_next_look(recal, fmax(next, affordable));
    }
    orr_unlock(&recal->budget->lock);
    return found;
}

void orr_recal_give_back(struct orr_recal *recal, unsigned class_id,
                         unsigned impl)
{
    struct orr_recal_pair *pair = pair_of(recal, class_id, impl);

    orr_lock(&recal->budget->lock);
    recal->budget->spent -= pair->charged;
    atomic_store_explicit(&pair->under_way, false, memory_order_relaxed);
    recal_set_next_look(recal, -INFINITY);
    orr_unlock(&recal->budget->lock);
}

/* --- implementations --- */

unsigned orr_recal_least_run(const struct orr_recal *recal, unsigned class_id,
                             unsigned bits)
{
    const struct orr_recal_pair *pairs = &recal->pairs[class_id * NIMPL];
    unsigned best = (unsigned)__builtin_ctz(bits);
    uint32_t least =
        atomic_load_explicit(&pairs[best].begun, memory_order_relaxed);

    for (unsigned i = best + 1; bits >> i; i++) {
        uint32_t n =
            atomic_load_explicit(&pairs[i].begun, memory_order_relaxed);

        if (!(bits >> i & 1) || n >= least)
            continue;
        best = i;
        least = n;
    }
    return best;
}

static unsigned fastest_of(const struct orr_cost_row *row, unsigned class_id,
                           unsigned bits)
{
    unsigned best = (unsigned)__builtin_ctz(bits);
    double least = INFINITY;

    for (unsigned i = best; bits >> i; i++) {
        double us = orr_cost_length(row, class_id, i);

        if (!(bits >> i & 1) || !(us < least))
            continue;
        best = i;
        least = us;
    }
    return best;
}

uint8_t orr_recal_pick_measured(struct orr_recal *recal,
                                const struct orr_cost_row *row,
                                unsigned class_id, unsigned bits)
{
    unsigned uncalibrated = orr_recal_uncalibrated(recal, class_id) & bits,
             impl;

    if (!uncalibrated)
        return (uint8_t)fastest_of(row, class_id, bits);
    impl = orr_recal_least_run(recal, class_id, uncalibrated);
    orr_recal_begin_run(recal, class_id, impl);
    return (uint8_t)impl;
}

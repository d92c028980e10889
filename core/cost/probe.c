/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/probe.c - see probe.h. What schedulers read is atomic; decisions
 * are made under the budget's lock, which is one for all rows since they are
 * rare.
 */
#include "core/cost/probe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/cost/row.h"
#include "core/runtime.h"

#define NIMPL STARPU_MAXIMPLEMENTATIONS

void orr_probe_budget_init(struct orr_probe_budget *budget, double now)
{
    *budget = (struct orr_probe_budget){.start = now};
    orr_lock_init(&budget->lock, ORR_RANK_RUNTIME);
}

int orr_probes_new(const struct orr_runtime *rt,
                   struct orr_probe_budget *budget, struct orr_probes **ret)
{
    size_t n = (size_t)rt->nclasses * NIMPL;
    /* One block: the bits of classes lie behind the pairs. */
    struct orr_probes *probes =
        calloc(1, sizeof(*probes) + n * sizeof(probes->pairs[0]) +
                      2 * rt->nclasses * sizeof(*probes->trial));
    double now;

    if (!probes)
        return -ENOMEM;
    now = orr_exec_now(rt->exec);
    probes->runtime = rt;
    probes->budget = budget;
    probes->trial = (_Atomic uint8_t *)&probes->pairs[n];
    probes->suspicious = probes->trial + rt->nclasses;
    atomic_init(&probes->look_at, INFINITY);
    for (size_t i = 0; i < n; i++)
        atomic_init(&probes->pairs[i].last, now);
    *ret = probes;
    return 0;
}

static struct orr_probe_pair *pair_of(struct orr_probes *probes,
                                      unsigned class_id, unsigned impl)
{
    return &probes->pairs[class_id * NIMPL + impl];
}

static void look_at(struct orr_probes *probes, double date)
{
    atomic_store_explicit(&probes->look_at, date, memory_order_relaxed);
}

void orr_probes_begin_with(struct orr_probes *probes, unsigned class_id,
                           unsigned impl, uint32_t n)
{
    struct orr_probe_pair *pair = pair_of(probes, class_id, impl);

    atomic_store_explicit(&pair->runs, n, memory_order_relaxed);
    atomic_store_explicit(&pair->begun, n, memory_order_relaxed);
}

/* --- what is on trial --- */

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

    for (unsigned k = 0; us > 0 && k < rt->nclasses; k++) {
        double sibling;

        if (!(row->able[k] >> impl & 1) ||
            !are_siblings(&rt->classes[k], &rt->classes[class_id]))
            continue;
        sibling = orr_cost_length(row, k, impl);
        if (sibling > 0 && us > ORR_PROBE_SUSPICIOUS * sibling)
            return true;
    }
    return false;
}

static bool suspects(const struct orr_probes *probes, unsigned class_id,
                     unsigned impl)
{
    return atomic_load_explicit(&probes->suspicious[class_id],
                                memory_order_relaxed) >>
               impl &
           1;
}

static bool is_confirmed(const struct orr_probe_pair *pair)
{
    return atomic_load_explicit(&pair->runs, memory_order_relaxed) >=
           ORR_PROBE_TRIALS;
}

static void note_trials_locked(struct orr_probes *probes)
{
    bool any = false;

    for (unsigned k = 0; k < probes->runtime->nclasses; k++)
        any = any || orr_probes_trials(probes, k);
    atomic_store_explicit(&probes->any_trial, any, memory_order_relaxed);
}

/* Returns the suspicious ones on trial. */
static unsigned refresh_class_locked(struct orr_probes *probes,
                                     const struct orr_cost_row *row,
                                     unsigned class_id)
{
    unsigned trial = 0, suspicious = 0;

    for (unsigned i = 0; row->able[class_id] >> i; i++) {
        struct orr_probe_pair *pair = pair_of(probes, class_id, i);

        if (!(row->able[class_id] >> i & 1))
            continue;
        if (isnan(orr_cost_length(row, class_id, i)))
            trial |= 1U << i;
        if (!is_suspicious(probes->runtime, row, class_id, i)) {
            pair->gap = pair->due = 0;
            continue;
        }
        suspicious |= 1U << i;
        if (!is_confirmed(pair))
            trial |= 1U << i;
    }
    atomic_store_explicit(&probes->trial[class_id], (uint8_t)trial,
                          memory_order_relaxed);
    note_trials_locked(probes);
    atomic_store_explicit(&probes->suspicious[class_id], (uint8_t)suspicious,
                          memory_order_relaxed);
    return trial & suspicious;
}

bool orr_probes_refresh(struct orr_probes *probes,
                        const struct orr_cost_row *row, bool measured,
                        unsigned *ret_class, unsigned *ret_impl)
{
    bool any = false;

    orr_lock(&probes->budget->lock);
    atomic_store_explicit(&probes->measured, measured, memory_order_relaxed);
    for (unsigned k = 0; k < probes->runtime->nclasses; k++) {
        unsigned bits = refresh_class_locked(probes, row, k);

        if (any || !bits)
            continue;
        any = true;
        *ret_class = k;
        *ret_impl = (unsigned)__builtin_ctz(bits);
    }
    look_at(probes, -INFINITY);
    orr_unlock(&probes->budget->lock);
    return any;
}

/* --- measures --- */

/* The gap to the probe after this one. */
static void postpone_locked(struct orr_probe_pair *pair, double length,
                            bool probe, double now)
{
    if (!(pair->gap > 0))
        pair->gap = length;
    else if (probe)
        pair->gap = fmin(2 * pair->gap, length / ORR_PROBE_SHARE);
    pair->due = now + pair->gap;
}

static bool judge_locked(struct orr_probes *probes,
                         const struct orr_cost_row *row, unsigned class_id,
                         unsigned impl, double us, double now)
{
    struct orr_probe_pair *pair = pair_of(probes, class_id, impl);
    double length = orr_cost_length(row, class_id, impl);
    bool probe = atomic_load_explicit(&pair->out, memory_order_relaxed);
    bool wrong, confirmed;

    if (probe) {
        atomic_store_explicit(&pair->out, false, memory_order_relaxed);
        if (!isnan(us)) /* what it really cost */
            probes->budget->spent += fmax(us - length, -pair->charged);
        pair->hurry = us * ORR_PROBE_CONTRADICTS < length;
        look_at(probes, -INFINITY);
    }
    if (!suspects(probes, class_id, impl))
        return false;
    wrong = us * ORR_PROBE_CONTRADICTS < length;
    confirmed = is_confirmed(pair);
    if (wrong && confirmed)
        atomic_store_explicit(&pair->runs,
                              ORR_PROBE_TRIALS - ORR_PROBE_RETRIALS,
                              memory_order_relaxed);
    else if (!wrong && confirmed)
        postpone_locked(pair, length, probe, now);
    else if (!wrong && !isnan(us) && pair->gap > 0)
        probes->budget->spent += us;
    refresh_class_locked(probes, row, class_id);
    return wrong;
}

bool orr_probes_measured(struct orr_probes *probes,
                         const struct orr_cost_row *row, unsigned class_id,
                         unsigned impl, double us, double now)
{
    struct orr_probe_pair *pair = pair_of(probes, class_id, impl);
    const memory_order relaxed = memory_order_relaxed;
    bool settled = !atomic_load_explicit(&pair->out, relaxed) &&
                   !suspects(probes, class_id, impl);
    bool wrong;

    if (settled && !atomic_load_explicit(&probes->measured, relaxed))
        return false;
    if (!isnan(us)) {
        /* If two count at once one is lost: then there is a trial more. */
        uint32_t runs = atomic_load_explicit(&pair->runs, relaxed);

        atomic_store_explicit(&pair->last, now, relaxed);
        atomic_store_explicit(&pair->runs, runs + 1, relaxed);
    }
    if (settled)
        return false;
    orr_lock(&probes->budget->lock);
    wrong = judge_locked(probes, row, class_id, impl, us, now);
    orr_unlock(&probes->budget->lock);
    return wrong;
}

/* --- probes --- */

/* When the pair's probe is due; INFINITY if nothing is to be looked at. */
static double due_locked(struct orr_probes *probes,
                         const struct orr_cost_row *row, unsigned class_id,
                         unsigned impl)
{
    struct orr_probe_pair *pair = pair_of(probes, class_id, impl);
    double length = orr_cost_length(row, class_id, impl);
    double stale = INFINITY;

    if (!(length > 0) ||
        atomic_load_explicit(&pair->out, memory_order_relaxed) ||
        orr_probes_trials(probes, class_id) >> impl & 1)
        return INFINITY;
    if (pair->hurry)
        return 0;
    if (atomic_load_explicit(&probes->measured, memory_order_relaxed))
        stale = atomic_load_explicit(&pair->last, memory_order_relaxed) +
                fmax(ORR_PROBE_STALE * length, ORR_PROBE_STALE_US);
    if (suspects(probes, class_id, impl))
        return fmin(pair->due, stale);
    return stale;
}

/* When what has been spent is no more than the share. */
static double affordable_locked(const struct orr_probe_budget *budget)
{
    return budget->start + budget->spent / ORR_PROBE_SHARE;
}

static double fastest(const struct orr_runtime *rt,
                      const struct orr_cost_row *row)
{
    double least = INFINITY;

    for (unsigned k = 0; k < rt->nclasses; k++)
        for (unsigned i = 0; row->able[k] >> i; i++)
            if (row->able[k] >> i & 1 && orr_cost_length(row, k, i) > 0)
                least = fmin(least, orr_cost_length(row, k, i));
    return least;
}

/* The pair due first among `able`; *ret_next: the first date of all. */
static bool find_due_locked(struct orr_probes *probes,
                            const struct orr_cost_row *row, const uint8_t *able,
                            double now, unsigned *ret_class, unsigned *ret_impl,
                            double *ret_next)
{
    double first = INFINITY;

    *ret_next = INFINITY;
    for (unsigned k = 0; k < probes->runtime->nclasses; k++) {
        for (unsigned i = 0; row->able[k] >> i; i++) {
            double due;

            if (!(row->able[k] >> i & 1))
                continue;
            due = due_locked(probes, row, k, i);
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

bool orr_probes_take(struct orr_probes *probes, const struct orr_cost_row *row,
                     const uint8_t *able, double now, unsigned *ret_class,
                     unsigned *ret_impl)
{
    struct orr_probe_budget *budget = probes->budget;
    double next, affordable;
    bool found;

    orr_lock(&budget->lock);
    found = find_due_locked(probes, row, able, now, ret_class, ret_impl, &next);
    affordable = affordable_locked(budget);
    if (found && affordable <= now) {
        struct orr_probe_pair *pair = pair_of(probes, *ret_class, *ret_impl);

        pair->charged = orr_cost_length(row, *ret_class, *ret_impl) -
                        fastest(probes->runtime, row);
        budget->spent += pair->charged;
        atomic_store_explicit(&pair->out, true, memory_order_relaxed);
    } else {
        found = false;
        look_at(probes, fmax(next, affordable));
    }
    orr_unlock(&budget->lock);
    return found;
}

void orr_probes_give_back(struct orr_probes *probes, unsigned class_id,
                          unsigned impl)
{
    struct orr_probe_pair *pair = pair_of(probes, class_id, impl);

    orr_lock(&probes->budget->lock);
    probes->budget->spent -= pair->charged;
    atomic_store_explicit(&pair->out, false, memory_order_relaxed);
    look_at(probes, -INFINITY);
    orr_unlock(&probes->budget->lock);
}

/* --- implementations --- */

unsigned orr_probes_least_tried(const struct orr_probes *probes,
                                unsigned class_id, unsigned bits)
{
    const struct orr_probe_pair *pairs = &probes->pairs[class_id * NIMPL];
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

uint8_t orr_probes_pick_measured(struct orr_probes *probes,
                                 const struct orr_cost_row *row,
                                 unsigned class_id, unsigned bits)
{
    unsigned trials = orr_probes_trials(probes, class_id) & bits, impl;

    if (!trials)
        return (uint8_t)fastest_of(row, class_id, bits);
    impl = orr_probes_least_tried(probes, class_id, trials);
    orr_probes_try(probes, class_id, impl);
    return (uint8_t)impl;
}

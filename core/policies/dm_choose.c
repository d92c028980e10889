/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/dm_choose.c - on which worker a job ends first, transfers included. The
 * rule walks over workers by number and over implementations within; the first best one
 * wins. Workers of a class differ by their queues alone, so only the first of those
 * that are free earliest is looked at: the decision is the same, in a time that hardly
 * depends on their number.
 */
#include <math.h>

#include "core/job/tasks.h"
#include "core/policies/dm.h"
#include "core/worker/workers.h"

/* --- the rule --- */

static unsigned able_bits(const struct orr_dm *dm,
                          const struct orr_dm_offer *offer, unsigned worker)
{
    unsigned class_id = dm->workers[worker].class_id;

    if (offer->uniform_class[class_id])
        return offer->able[class_id];
    return offer->able_worker[worker];
}

/* When a job ends that finds the worker free at `dm_worker_free_at`, its data there at
 * `reach`. */
static double job_end_on_worker(double free_at, double reach, double length)
{
    return (free_at > reach ? free_at : reach) + length;
}

static double dm_fitness(const struct orr_dm *dm, double end, double min_end,
                         double transfer, double joules)
{
    return dm->alpha * (end - min_end) + dm->beta * transfer +
           dm->gamma * joules;
}

static double offer_length(const struct orr_dm_offer *offer, unsigned class_id,
                           unsigned impl)
{
    return offer->has_lengths ? offer->length[class_id][impl]
                              : orr_cost_length(offer->row, class_id, impl);
}

static double offer_energy(const struct orr_dm_offer *offer, unsigned class_id,
                           unsigned impl)
{
    return offer->has_energy ? offer->energy[class_id][impl] : 0;
}

/* An approximation: idle energy until the last worker ends. */
static double idle_fitness(const struct orr_dm *dm, double end,
                           double max_end_workers)
{
    if (!(end > max_end_workers))
        return 0;
    return dm->gamma * dm->idle_power * (end - max_end_workers) / 1e6;
}

static struct orr_dm_choice dm_make_choice(const struct orr_dm *dm,
                                           const struct orr_dm_offer *offer,
                                           unsigned worker, unsigned impl)
{
    unsigned class_id = dm->workers[worker].class_id;

    return (struct orr_dm_choice){
        .worker = worker,
        .impl = impl,
        .length = orr_dm_own_length(dm, offer, class_id, impl),
        .transfer = offer->transfer[class_id],
    };
}

/* --- a decision without knowing the lengths --- */

static double dm_worker_load(const struct orr_dm *dm,
                             const struct orr_dm_offer *offer, unsigned worker)
{
    struct orr_dm_worker *w = &dm->workers[worker];
    double speedup =
        dm->runtime->workers->classes[w->class_id].relative_speedup;
    unsigned njobs;

    orr_lock(&w->lock);
    if (dm->variant->sorted_decision)
        njobs = orr_prioq_ahead(&w->jobs, offer->job->priority);
    else
        njobs = w->jobs.njobs + w->pipeline_ntasks;
    orr_unlock(&w->lock);
    return njobs / speedup;
}

/* The least loaded worker; those without a length for the job come first, so
 * that they get one. */
static struct orr_dm_choice dm_choose_greedy(struct orr_dm *dm,
                                             const struct orr_dm_offer *offer)
{
    struct orr_dm_choice best = {.length = 0};
    bool found = false, uncalibrated = false;
    double least = 0;

    for (unsigned w = 0, n = dm->runtime->workers->n; w < n; w++) {
        unsigned bits = able_bits(dm, offer, w);
        unsigned class_id = dm->workers[w].class_id;
        double load = bits ? dm_worker_load(dm, offer, w) : 0;

        for (unsigned i = 0; bits >> i; i++) {
            bool none, better;

            if (!(bits >> i & 1))
                continue;
            none = isnan(orr_cost_length(offer->row, class_id, i));
            better = uncalibrated ? none && load < least : none || load < least;
            uncalibrated = uncalibrated || none;
            if (found && !better)
                continue;
            found = true;
            least = load;
            best.worker = w;
            best.impl = i;
        }
    }
    return best;
}

/* --- a decision by walking over all workers --- */

unsigned orr_dm_normalised(const struct orr_dm *dm, int priority)
{
    int range = dm->max_priority - dm->min_priority;

    if (priority <= dm->min_priority || range <= 0)
        return 0;
    if (priority > dm->max_priority)
        priority = dm->max_priority;
    return (unsigned)((dm->npriorities - 1) / range *
                      (priority - dm->min_priority));
}

/* The time of the queued jobs with at least this priority. */
static double length_ahead_locked(const struct orr_dm *dm,
                                  const struct orr_dm_worker *w, int priority,
                                  unsigned impl) ORR_REQUIRES(w->lock)
{
    const struct orr_prioq *q = &w->jobs;
    double length = w->pipeline_len;

    if (w->ahead)
        return w->ahead[orr_dm_normalised(dm, priority)];
    if (!orr_prioq_empty(q) && q->slots[0].priority >= priority)
        return w->exp_len;
    orr_prioq_foreach_slot(slot, q)
    {
        if (q->slots[slot].priority < priority)
            break;
        orr_list_foreach (link, &q->slots[slot].level->jobs) {
            const struct orr_job *job = orr_job_of_link(link);
            double one = orr_cost_length(job->costs, w->class_id, impl);

            if (one > 0)
                length += one;
        }
    }
    return length;
}

/* When the worker will have done what comes before the job. */
static double dm_worker_free_at(const struct orr_dm *dm,
                                const struct orr_dm_offer *offer,
                                unsigned worker, unsigned impl, double now)
{
    struct orr_dm_worker *w = &dm->workers[worker];
    double start, length;

    orr_lock(&w->lock);
    start = w->exp_start > now ? w->exp_start : now;
    if (!dm->variant->sorted_decision)
        length = w->exp_len;
    else
        length = length_ahead_locked(dm, w, offer->job->priority, impl);
    orr_unlock(&w->lock);
    return start + length;
}

/* Fills dm->ends; returns the earliest one. */
static double scan_ends(struct orr_dm *dm, const struct orr_dm_offer *offer,
                        double now, double *ret_max_free)
{
    double min_end = INFINITY;

    *ret_max_free = -INFINITY;
    for (unsigned w = 0, n = dm->runtime->workers->n; w < n; w++) {
        unsigned bits = able_bits(dm, offer, w);
        unsigned class_id = dm->workers[w].class_id;

        for (unsigned i = 0; bits >> i; i++) {
            double *end = &dm->ends[w * STARPU_MAXIMPLEMENTATIONS + i];
            double begin;

            if (!(bits >> i & 1))
                continue;
            begin = dm_worker_free_at(dm, offer, w, i, now);
            *end = job_end_on_worker(begin, now + offer->transfer[class_id],
                                     offer_length(offer, class_id, i));
            if (begin > *ret_max_free)
                *ret_max_free = begin;
            if (*end < min_end)
                min_end = *end;
        }
    }
    return min_end;
}

/* The least fitness of the worker's implementations; INFINITY: it has none. */
static double scan_worker(const struct orr_dm *dm, const struct orr_dm_offer *offer,
                          unsigned worker, double min_end, double max_free, unsigned *ret_impl)
{
    unsigned bits = able_bits(dm, offer, worker);
    unsigned class_id = dm->workers[worker].class_id;
    double transfer = offer->transfer[class_id], least = INFINITY;

    for (unsigned i = 0; bits >> i; i++) {
        double end = dm->ends[worker * STARPU_MAXIMPLEMENTATIONS + i];
        double f;

        if (!(bits >> i & 1))
            continue;
        f = dm_fitness(dm, end, min_end, transfer, offer_energy(offer, class_id, i)) +
            idle_fitness(dm, end, max_free);
        if (f < least) {
            least = f;
            *ret_impl = i;
        }
    }
    return least;
}

void orr_dm_compare(struct orr_sched *sched, struct orr_job *job, struct orr_expected ret[])
{
    struct orr_dm *dm = sched->data;
    struct orr_runtime *rt = dm->runtime;
    struct orr_dm_offer offer;
    double min_end, max_free;

    for (unsigned w = 0; w < rt->workers->n; w++)
        ret[w] = (struct orr_expected){NAN, NAN};
    if (orr_dm_evaluate(dm, job, &offer) != 0 || offer.unknown || offer.uncalibrated)
        return;
    orr_lock(&dm->lock);
    min_end = scan_ends(dm, &offer, orr_exec_now(rt->exec), &max_free);
    for (unsigned w = 0; w < rt->workers->n; w++) {
        unsigned impl = 0;
        double cost = scan_worker(dm, &offer, w, min_end, max_free, &impl);

        if (isfinite(cost))
            ret[w] = (struct orr_expected){dm->ends[w * STARPU_MAXIMPLEMENTATIONS + impl], cost};
    }
    orr_unlock(&dm->lock);
}

struct orr_dm_choice orr_dm_choose_scan(struct orr_dm *dm,
                                        const struct orr_dm_offer *offer,
                                        double now)
{
    double least = INFINITY, max_free;
    double min_end = scan_ends(dm, offer, now, &max_free);
    unsigned worker = UINT32_MAX, impl = 0;

    for (unsigned w = 0, n = dm->runtime->workers->n; w < n; w++) {
        unsigned best = 0;
        double f = scan_worker(dm, offer, w, min_end, max_free, &best);

        if (f < least) {
            least = f;
            worker = w;
            impl = best;
        }
    }
    /* Infinite and NaN values compare false. */
    if (worker == UINT32_MAX)
        return dm_choose_greedy(dm, offer);
    return dm_make_choice(dm, offer, worker, impl);
}

/* --- the same by classes --- */

/* One worker class and one implementation. */
struct pair {
    unsigned class_id, impl;
    double reach, length, transfer, energy;
    double end;     /* on the worker that is free first … */
    double fitness; /* … and its fitness */
};

/* All of them that the job can have. */
struct pairs {
    const struct orr_dm *dm;
    double min_end;           /* of all pairs … */
    double least;             /* … and the least fitness */
    const struct pair *asked; /* by is_winner */
    unsigned n;
    struct pair at[ORR_DM_MAXCLASSES * STARPU_MAXIMPLEMENTATIONS];
};

static inline double pair_fitness(const struct pairs *pairs,
                                  const struct pair *pair, double end)
{
    return dm_fitness(pairs->dm, end, pairs->min_end, pair->transfer,
                      pair->energy);
}

static bool is_winner(double free_at, const void *arg)
{
    const struct pairs *pairs = arg;
    const struct pair *pair = pairs->asked;
    double end = job_end_on_worker(free_at, pair->reach, pair->length);

    return pair_fitness(pairs, pair, end) <= pairs->least;
}

static inline void pairs_add_class(struct pairs *pairs, unsigned class_id,
                                   const struct orr_dm_offer *offer, double now)
{
    struct orr_dm_load *load = &pairs->dm->loads[class_id];
    double transfer = offer->transfer[class_id], free_at;

    orr_dm_load_settle(load, now);
    free_at = orr_dm_load_free(load, now);
    for (unsigned bits = offer->able[class_id]; bits; bits &= bits - 1) {
        unsigned impl = (unsigned)__builtin_ctz(bits);
        struct pair *pair = &pairs->at[pairs->n++];

        pair->class_id = class_id;
        pair->impl = impl;
        pair->reach = now + transfer;
        pair->length = offer_length(offer, class_id, impl);
        pair->transfer = transfer;
        pair->energy = offer_energy(offer, class_id, impl);
        pair->end = job_end_on_worker(free_at, pair->reach, pair->length);
        if (pair->end < pairs->min_end)
            pairs->min_end = pair->end;
    }
}

static inline void pairs_find_least(struct pairs *pairs)
{
    for (struct pair *pair = pairs->at; pair < pairs->at + pairs->n; pair++) {
        pair->fitness = pair_fitness(pairs, pair, pair->end);
        if (pair->fitness < pairs->least)
            pairs->least = pair->fitness;
    }
}

/* Takes over what workers have changed since the last decision. */
static void refresh_loads(struct orr_dm *dm, double now)
{
    for (unsigned i = 0, n = dm->runtime->workers->n; i * 64 < n; i++) {
        uint64_t bits = 0;

        if (atomic_load_explicit(&dm->changed[i], memory_order_relaxed))
            bits = atomic_exchange_explicit(&dm->changed[i], 0,
                                            memory_order_acquire);
        for (; bits; bits &= bits - 1) {
            struct orr_dm_worker *w =
                &dm->workers[i * 64 + (unsigned)__builtin_ctzll(bits)];
            double start, length;

            orr_lock(&w->lock);
            start = w->exp_start;
            length = w->exp_len;
            orr_unlock(&w->lock);
            orr_dm_load_set(&dm->loads[w->class_id], w->place, start, length,
                            now);
        }
    }
}

/* Fitness grows with the end of a job, rounding included, so that the least
 * one of a class is that of the worker free earliest. Of all workers that
 * reach it, the lowest number is what a walk would have found first. */
static struct orr_dm_choice
choose_by_class(struct orr_dm *dm, const struct orr_dm_offer *offer, double now)
{
    const struct orr_workers *workers = dm->runtime->workers;
    unsigned worker = UINT32_MAX, impl = 0;
    struct pairs pairs;

    pairs.dm = dm;
    pairs.min_end = pairs.least = INFINITY;
    pairs.n = 0;
    refresh_loads(dm, now);
    for (unsigned k = 0; k < workers->nclasses; k++)
        if (offer->able[k])
            pairs_add_class(&pairs, k, offer, now);
    pairs_find_least(&pairs);
    for (unsigned i = 0; i < pairs.n; i++) {
        const struct pair *pair = &pairs.at[i];
        unsigned place, w;

        if (!(pair->fitness <= pairs.least))
            continue;
        pairs.asked = pair;
        place = orr_dm_load_first(&dm->loads[pair->class_id], now, is_winner,
                                  &pairs);
        w = workers->classes[pair->class_id].members[place];
        if (w < worker) {
            worker = w;
            impl = pair->impl;
        }
    }
    /* Infinite and NaN values compare false. */
    if (worker == UINT32_MAX)
        return dm_choose_greedy(dm, offer);
    return dm_make_choice(dm, offer, worker, impl);
}

bool orr_dm_choose_in_class(struct orr_dm *dm, const struct orr_dm_offer *offer,
                            unsigned class_id, unsigned impl, double now,
                            struct orr_dm_choice *ret)
{
    const struct orr_worker_class *k = &dm->runtime->workers->classes[class_id];
    double earliest = INFINITY;

    for (unsigned i = 0; i < k->nworkers; i++) {
        double start;

        if (!(able_bits(dm, offer, k->members[i]) >> impl & 1))
            continue;
        start = dm_worker_free_at(dm, offer, k->members[i], impl, now);
        if (!(start < earliest))
            continue;
        earliest = start;
        *ret = dm_make_choice(dm, offer, k->members[i], impl);
    }
    return isfinite(earliest);
}

struct orr_dm_choice orr_dm_choose(struct orr_dm *dm,
                                   const struct orr_dm_offer *offer, double now)
{
    if (dm->runtime->tasks->breaks)
        orr_runtime_break(dm->runtime, ORR_BREAK_SCHED, offer->job->id);
    if (offer->unknown)
        return dm_choose_greedy(dm, offer);
    if (offer->uniform && !dm->variant->sorted_decision && dm->alpha >= 0 &&
        dm->gamma * dm->idle_power == 0)
        return choose_by_class(dm, offer, now);
    return orr_dm_choose_scan(dm, offer, now);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/pheft.c - pheft: where a job ends first, on one worker or on several
 * at once. The rule is dmda's (dm_choose.c) with combined workers among the
 * candidates, after the others: one is free when the last of its members is. While
 * some candidate has no length the least loaded one takes the job, those without a
 * length first. What was decided for a worker waits in its own list. The policy's one
 * lock is for all expected times.
 *
 * As in StarPU a job's predicted time is what it adds to the end of its worker's
 * queue, so that waiting for data, or for the other members, is in it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/cost/cost.h"
#include "core/cost/power.h"
#include "core/data/handle.h"
#include "core/job/tasks.h"
#include "core/policies/parallel.h"
#include "core/policies/policies.h"
#include "core/sched/gang.h"
#include "core/sched/sched.h"
#include "core/sched/toolbox.h"
#include "core/worker/workers.h"

/* µs, all [lock]. */
struct load {
    double start;    /* when what is queued can start */
    double length;   /* how long that takes */
    unsigned ntasks; /* queued, not started */
};

struct pheft {
    double alpha, beta, gamma, idle_power; /* [lock] */
    bool prefetch;                         /* [const] */
    struct orr_lock lock;                  /* rank ORR_RANK_SCHED */
    struct load loads[];                   /* per worker */
};

/* One worker, or a combined one, that can run the job. */
struct candidate {
    const struct orr_combined *combined; /* NULL: the worker `first` */
    unsigned first;                      /* it, or the first member */
    unsigned bits;                       /* implementations */
    double transfer;                     /* µs */
    double length[STARPU_MAXIMPLEMENTATIONS]; /* µs, NaN: not known */
    double energy[STARPU_MAXIMPLEMENTATIONS]; /* J */
};

struct offer {
    struct orr_job *job;
    unsigned n;
    struct candidate all[STARPU_NMAXWORKERS];
};

struct choice {
    const struct candidate *candidate;
    unsigned impl;
    double end; /* µs, NaN: not known */
};

/* --- before the lock --- */

static double candidate_length(struct orr_runtime *rt, struct orr_job *job,
                               const struct orr_cost_row *row,
                               const struct candidate *c, unsigned impl)
{
    unsigned class_id = rt->workers->at[c->first].class_id;

    if (!c->combined)
        return orr_cost_length(row, class_id, impl);
    return orr_cost_wide(rt, job, class_id, c->combined->size, impl).us;
}

static void candidate_fill(struct orr_runtime *rt, struct orr_job *job,
                           const struct orr_cost_row *row, struct candidate *c)
{
    unsigned id = c->combined ? c->combined->id : c->first;

    c->transfer = orr_sched_transfer_time(
        rt, job, rt->workers->classes[rt->workers->at[c->first].class_id].node);
    for (unsigned i = 0; c->bits >> i; i++) {
        double joules = 0;

        if (!(c->bits >> i & 1))
            continue;
        c->length[i] = candidate_length(rt, job, row, c, i);
        if (orr_cost_weighs_energy(rt, row->cl))
            joules = starpu_task_worker_expected_energy(job->task, id, 0, i);
        c->energy[i] = joules > 0 ? joules : 0;
    }
}

static void add_candidate(struct orr_runtime *rt, struct offer *offer,
                          const struct orr_cost_row *row,
                          struct candidate candidate)
{
    if (!candidate.bits)
        return;
    offer->all[offer->n] = candidate;
    candidate_fill(rt, offer->job, row, &offer->all[offer->n]);
    offer->n++;
}

static void pheft_evaluate_offer(struct orr_sched *sched, struct orr_job *job,
                                 struct offer *ret)
{
    struct orr_runtime *rt = sched->runtime;
    const struct orr_cost_row *row = orr_job_costs(rt, job);

    ret->job = job;
    ret->n = 0;
    for (unsigned w = 0; w < rt->workers->n; w++)
        add_candidate(rt, ret, row,
                      (struct candidate){
                          .first = w, .bits = orr_job_able(rt, job, row, w)});
    if (row->cl->type == STARPU_SEQ)
        return;
    for (unsigned i = 0; i < orr_combined_count(rt); i++) {
        const struct orr_combined *combined = orr_parallel_at(sched, i);

        if (combined)
            add_candidate(rt, ret, row,
                          (struct candidate){
                              .combined = combined,
                              .first = (unsigned)combined->members[0],
                              .bits = orr_parallel_able(sched, job, row,
                                                        combined)});
    }
}

/* --- the rule; the lock is held --- */

static unsigned candidate_nmembers(const struct candidate *c)
{
    return c->combined ? c->combined->size : 1;
}

static unsigned candidate_member(const struct candidate *c, unsigned i)
{
    return c->combined ? (unsigned)c->combined->members[i] : c->first;
}

static double pheft_worker_free_at(const struct pheft *pheft, unsigned worker,
                                   double now)
{
    const struct load *load = &pheft->loads[worker];

    return (load->start > now ? load->start : now) + load->length;
}

/* When all of the members are. */
static double all_free_at(const struct pheft *pheft, const struct candidate *c,
                          double now)
{
    double latest = -INFINITY;

    for (unsigned i = 0; i < candidate_nmembers(c); i++)
        latest = fmax(latest,
                      pheft_worker_free_at(pheft, candidate_member(c, i), now));
    return latest;
}

static double candidate_end(const struct pheft *pheft,
                            const struct candidate *c, unsigned impl,
                            double now)
{
    return fmax(all_free_at(pheft, c, now), now + c->transfer) +
           c->length[impl];
}

/* Tasks ahead of the job, at most those of one member. */
static double candidate_load(const struct orr_runtime *rt,
                             const struct pheft *pheft,
                             const struct candidate *c)
{
    double most = 0;

    for (unsigned i = 0; i < candidate_nmembers(c); i++) {
        unsigned w = candidate_member(c, i);

        most = fmax(most, pheft->loads[w].ntasks /
                              rt->workers->classes[rt->workers->at[w].class_id]
                                  .relative_speedup);
    }
    return most;
}

/* The next pair of a candidate and an implementation, from (0, -1) on. */
static bool candidate_next_pair(const struct offer *offer, unsigned *at,
                                unsigned *impl)
{
    for (; *at < offer->n; ++*at, *impl = UINT32_MAX)
        while (offer->all[*at].bits >> ++*impl)
            if (offer->all[*at].bits >> *impl & 1)
                return true;
    return false;
}

/* Without knowing all lengths. */
static struct choice pheft_choose_greedy(const struct orr_runtime *rt,
                                         const struct pheft *pheft,
                                         const struct offer *offer)
{
    struct choice best = {.end = NAN};
    bool uncalibrated = false;
    double least = 0;

    for (unsigned at = 0, i = UINT32_MAX;
         candidate_next_pair(offer, &at, &i);) {
        const struct candidate *c = &offer->all[at];
        double load = candidate_load(rt, pheft, c);
        bool none = isnan(c->length[i]);
        bool better = uncalibrated ? none && load < least
                                   : none || load < least;

        uncalibrated = uncalibrated || none;
        if (best.candidate && !better)
            continue;
        best.candidate = c;
        best.impl = i;
        least = load;
    }
    return best;
}

static bool offer_has_unknown(const struct offer *offer)
{
    for (unsigned at = 0, i = UINT32_MAX; candidate_next_pair(offer, &at, &i);)
        if (!(offer->all[at].length[i] > 0))
            return true;
    return false;
}

static struct choice pheft_choose(const struct orr_runtime *rt,
                                  const struct pheft *pheft,
                                  const struct offer *offer, double now)
{
    double min_end = INFINITY, max_free = -INFINITY, least = INFINITY;
    struct choice best = {.end = NAN};

    if (offer_has_unknown(offer))
        return pheft_choose_greedy(rt, pheft, offer);
    for (unsigned at = 0, i = UINT32_MAX;
         candidate_next_pair(offer, &at, &i);) {
        const struct candidate *c = &offer->all[at];

        min_end = fmin(min_end, candidate_end(pheft, c, i, now));
        max_free = fmax(max_free, all_free_at(pheft, c, now));
    }
    for (unsigned at = 0, i = UINT32_MAX;
         candidate_next_pair(offer, &at, &i);) {
        const struct candidate *c = &offer->all[at];
        double end = candidate_end(pheft, c, i, now);
        double fitness = pheft->alpha * (end - min_end) +
                         pheft->beta * c->transfer +
                         pheft->gamma * c->energy[i];

        if (end > max_free)
            fitness +=
                pheft->gamma * pheft->idle_power * (end - max_free) / 1e6;
        if (fitness >= least)
            continue;
        least = fitness;
        best = (struct choice){c, i, end};
    }
    /* Infinite and NaN values compare false. */
    return best.candidate ? best : pheft_choose_greedy(rt, pheft, offer);
}

/* --- pushing --- */

/* The worker gets a job that is to end at `end`; returns how many µs that adds to its
 * queue. */
static double pheft_add_job(struct pheft *pheft, unsigned worker, double end,
                            double now)
{
    struct load *load = &pheft->loads[worker];
    double before = pheft_worker_free_at(pheft, worker, now);
    double added = end > before ? end - before : 0;

    load->start = fmax(load->start, now);
    load->length += added;
    load->ntasks++;
    return added;
}

/* The time that a job adds to the queue of each member, in the members' order. */
struct added {
    double us[STARPU_NMAXWORKERS];
    unsigned next;
};

static void note_all(struct pheft *pheft, const struct choice *choice,
                     double now, struct added *ret)
{
    const struct candidate *c = choice->candidate;

    ret->next = 0;
    for (unsigned i = 0; i < candidate_nmembers(c); i++)
        ret->us[i] =
            pheft_add_job(pheft, candidate_member(c, i), choice->end, now);
}

static void take_back(struct pheft *pheft, const struct candidate *c,
                      const struct added *added)
{
    orr_lock(&pheft->lock);
    for (unsigned i = 0; i < candidate_nmembers(c); i++) {
        pheft->loads[candidate_member(c, i)].length -= added->us[i];
        pheft->loads[candidate_member(c, i)].ntasks--;
    }
    orr_unlock(&pheft->lock);
}

static void predict_alias(struct orr_job *alias, struct orr_worker *worker,
                          void *arg)
{
    struct added *added = arg;

    (void)worker;
    alias->predicted = added->us[added->next++];
    alias->task->predicted = alias->predicted;
}

static int push_to_gang(struct orr_sched *sched, struct orr_job *job,
                        const struct candidate *c, struct added *added)
{
    int err = orr_gang_push_combined(sched->runtime, job, c->combined,
                                     predict_alias, added);

    if (err)
        take_back(sched->data, c, added);
    return err;
}

static int pheft_push(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_runtime *rt = sched->runtime;
    struct pheft *pheft = sched->data;
    double now = orr_exec_now(rt->exec);
    const struct candidate *c;
    struct choice choice;
    struct added added;
    struct offer offer;

    pheft_evaluate_offer(sched, job, &offer);
    if (offer.n == 0)
        return -ENODEV;
    orr_lock(&pheft->lock);
    choice = pheft_choose(rt, pheft, &offer, now);
    note_all(pheft, &choice, now, &added);
    orr_unlock(&pheft->lock);
    if (rt->tasks->breaks)
        orr_runtime_break(rt, ORR_BREAK_SCHED, job->id);
    c = choice.candidate;
    job->implementation = (uint8_t)choice.impl;
    job->predicted = added.us[0];
    job->task->predicted = job->predicted;
    job->task->predicted_transfer = c->transfer;
    if (pheft->prefetch)
        orr_job_prefetch(rt, job, rt->workers->at[c->first].desc->node,
                         ORR_PREFETCH);
    if (c->combined)
        return push_to_gang(sched, job, c, &added);
    orr_worker_push_local(&rt->workers->at[c->first], job, true);
    return 0;
}

/* Local lists are looked at before. */
static struct orr_job *pheft_pop(struct orr_sched *sched,
                                 struct orr_worker *worker)
{
    (void)sched;
    (void)worker;
    return NULL;
}

/* --- what becomes of them --- */

/* A job has come to this worker without a push: it names the worker, or is an alias of
 * a parallel job. */
static void pheft_push_notify(struct orr_sched *sched, struct orr_job *job,
                              struct orr_worker *worker)
{
    struct orr_runtime *rt = sched->runtime;
    struct pheft *pheft = sched->data;
    double now = orr_exec_now(rt->exec), us;

    if (orr_job_gang(job))
        us = orr_cost_wide(rt, job, worker->class_id, orr_job_gang(job)->size,
                           job->implementation)
                 .us;
    else
        us = orr_cost_length(orr_job_costs(rt, job), worker->class_id,
                             job->implementation);
    orr_lock(&pheft->lock);
    job->predicted = pheft_add_job(
        pheft, worker->id,
        pheft_worker_free_at(pheft, worker->id, now) + (us > 0 ? us : 0), now);
    orr_unlock(&pheft->lock);
}

static void pheft_pre_exec(struct orr_sched *sched, struct orr_job *job,
                           struct orr_worker *worker)
{
    struct pheft *pheft = sched->data;
    struct load *load = &pheft->loads[worker->id];
    double now = orr_exec_now(sched->runtime->exec);

    orr_lock(&pheft->lock);
    load->length -= job->predicted;
    load->start = now + job->predicted;
    load->ntasks--;
    orr_unlock(&pheft->lock);
}

static void pheft_post_exec(struct orr_sched *sched, struct orr_job *job,
                            struct orr_worker *worker)
{
    struct pheft *pheft = sched->data;

    (void)job;
    orr_lock(&pheft->lock);
    pheft->loads[worker->id].start = orr_exec_now(sched->runtime->exec);
    orr_unlock(&pheft->lock);
}

/* --- beginning and end --- */

static double *weight_at(struct pheft *pheft, enum orr_weight weight)
{
    switch (weight) {
    case ORR_WEIGHT_ALPHA:
        return &pheft->alpha;
    case ORR_WEIGHT_BETA:
        return &pheft->beta;
    case ORR_WEIGHT_GAMMA:
        return &pheft->gamma;
    default:
        return &pheft->idle_power;
    }
}

static double pheft_weigh(struct orr_sched *sched, enum orr_weight weight,
                          const double *set)
{
    struct pheft *pheft = sched->data;
    double value;

    orr_lock(&pheft->lock);
    if (set)
        *weight_at(pheft, weight) = *set;
    value = *weight_at(pheft, weight);
    orr_unlock(&pheft->lock);
    return value;
}

static int pheft_init(struct orr_sched *sched, struct orr_error *err)
{
    struct orr_runtime *rt = sched->runtime;
    double now = orr_exec_now(rt->exec);
    struct pheft *pheft =
        calloc(1, sizeof(*pheft) + rt->workers->n * sizeof(pheft->loads[0]));

    if (!pheft)
        return orr_fail(err, -ENOMEM, "pheft: out of memory");
    orr_lock_init(&pheft->lock, ORR_RANK_SCHED);
    pheft->alpha = orr_sched_weight(rt, ORR_CFG_SCHED_ALPHA, 1);
    pheft->beta = orr_sched_weight(rt, ORR_CFG_SCHED_BETA, 1);
    pheft->gamma = orr_sched_weight(rt, ORR_CFG_SCHED_GAMMA, 1000);
    pheft->idle_power = orr_sched_idle_power(rt);
    pheft->prefetch = orr_config_bool(&rt->config, ORR_CFG_PREFETCH);
    for (unsigned w = 0; w < rt->workers->n; w++)
        pheft->loads[w].start = now;
    sched->data = pheft;
    return 0;
}

static void pheft_deinit(struct orr_sched *sched)
{
    free(sched->data);
}

const struct orr_sched_ops orr_sched_pheft = {
    .name = "pheft",
    .help = "as dmda, also on several processors at once",
    .most_priority = 1,
    .by_priority = true,
    .combines = true,
    .prefetches = true,
    .init = pheft_init,
    .deinit = pheft_deinit,
    .add_workers = orr_parallel_add_workers,
    .push = pheft_push,
    .pop = pheft_pop,
    .push_notify = pheft_push_notify,
    .pre_exec = pheft_pre_exec,
    .post_exec = pheft_post_exec,
    .weigh = pheft_weigh,
};

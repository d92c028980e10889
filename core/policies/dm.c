/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/dm.c - the dm family: each ready job goes to the queue of the
 * worker that is expected to end it first. This file keeps the queues and the
 * expected times of the workers, which each guards by a lock of its own. A decision
 * reads them all, and changes those of one: decisions have a lock, so that none
 * misses what the one before has promised. A worker that runs its jobs takes its own
 * lock only, and leaves a bit that says to the next decision that it has changed.
 *
 * The expected times of a worker, in µs: exp_len is the length of its queued
 * jobs, with the part of their transfers that is not overlapped; pipeline_len
 * that of the jobs that it popped and has not ended; exp_start when the queued
 * ones can start. A job moves its transfer, then its length from the first to
 * the second.
 *
 * Jobs that cannot be placed since lengths have to be measured wait in a queue
 * of their own: dm_calibrate.c.
 */
#include "core/policies/dm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/sched/ctxs.h"
#include "core/worker/workers.h"

/* --- expected times --- */

static double later_us(double a, double b)
{
    return a > b ? a : b;
}

static double dm_now(const struct orr_dm *dm)
{
    return orr_exec_now(dm->runtime->exec);
}

/* Adds `us` of queued work of that priority; takes it off if negative. */
static void add_length(struct orr_dm *dm, struct orr_dm_worker *w, int priority,
                       double us)
{
    w->exp_len += us;
    if (!w->ahead)
        return;
    for (unsigned p = 0; p <= orr_dm_normalised(dm, priority); p++)
        w->ahead[p] += us;
}

/* To be called after every change of these, without the lock: the next decision
 * looks at the worker. A bit that is still there need not be set again: the
 * context that takes it takes the worker's lock afterwards, and finds what was
 * changed. */
static void dm_publish_worker(struct orr_dm *dm, const struct orr_dm_worker *w)
{
    unsigned id = (unsigned)(w - dm->workers);
    _Atomic uint64_t *word = &dm->changed[id / 64];
    uint64_t bit = UINT64_C(1) << id % 64;

    if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
        atomic_fetch_or_explicit(word, bit, memory_order_release);
}

/* The part of a transfer that begins now and is not overlapped by queued
 * work. */
static double not_hidden(const struct orr_dm_worker *w, double transfer,
                         double now)
{
    double end = w->exp_start + w->exp_len;

    return now + transfer < end ? 0 : now + transfer - end;
}

static void set_prediction(struct orr_job *job, double length, double transfer)
{
    job->predicted = length;
    job->predicted_transfer = transfer;
    job->task->predicted = length;
    job->task->predicted_transfer = transfer;
}

/* A job enters the worker without having been in its queue. It never passes
 * pop, where its transfer would leave exp_len, so the transfer is put straight
 * into pipeline_len. */
static void dm_enter_job(struct orr_dm *dm, struct orr_dm_worker *w,
                         struct orr_job *job, double length, double transfer)
{
    double now;

    orr_lock(&w->lock);
    now = dm_now(dm);
    w->pipeline_ntasks++;
    w->exp_start = later_us(w->exp_start, now);
    transfer = not_hidden(w, transfer, now);
    set_prediction(job, length, transfer);
    add_length(dm, w, job->priority, length);
    w->pipeline_len += transfer;
    orr_unlock(&w->lock);
    dm_publish_worker(dm, w);
}

/* --- push --- */

/* Errors: -ENOMEM; then the worker has been promised nothing. */
static int dm_queue_locked(struct orr_dm *dm, struct orr_dm_worker *w,
                           struct orr_job *job) ORR_REQUIRES(w->lock)
{
    int err =
        orr_prioq_push(&w->jobs, job, dm->variant->sorted ? job->priority : 0);

    if (err) {
        w->pipeline_ntasks--;
        add_length(dm, w, job->priority,
                   -(job->predicted_transfer + job->predicted));
    }
    return err;
}

/* Decisions are locked, so the next decision need not be told. If the job is queued as
 * well it may run and be gone on return. */
static int dm_commit_choice(struct orr_dm *dm, struct orr_job *job,
                            const struct orr_dm_choice *choice, double now,
                            bool queues)
{
    struct orr_dm_worker *w = &dm->workers[choice->worker];
    double transfer;
    int err;

    orr_lock(&w->lock);
    w->pipeline_ntasks++;
    w->exp_start = later_us(w->exp_start, now);
    transfer = not_hidden(w, choice->transfer, now);
    add_length(dm, w, job->priority, transfer + choice->length);
    set_prediction(job, choice->length, transfer);
    job->implementation = (uint8_t)choice->impl;
    err = queues ? dm_queue_locked(dm, w, job) : 0;
    orr_dm_load_set(&dm->loads[w->class_id], w->place, w->exp_start, w->exp_len,
                    now);
    orr_unlock(&w->lock);
    return err;
}

/* Makes the job a recalibration run, if one is due of its kind. */
static bool choose_recal(struct orr_dm *dm, const struct orr_dm_offer *offer,
                         double now, struct orr_dm_choice *ret)
{
    struct orr_recal *recal = offer->row->recal;
    unsigned class_id, impl;

    if (!orr_recal_take(recal, offer->row, offer->able, now, &class_id, &impl))
        return false;
    if (orr_dm_choose_in_class(dm, offer, class_id, impl, now, ret)) {
        ret->recalibrates = true;
        return true;
    }
    orr_recal_give_back(recal, class_id, impl);
    return false;
}

static struct orr_dm_choice
dm_decide(struct orr_dm *dm, const struct orr_dm_offer *offer, double now)
{
    struct orr_dm_choice choice;

    if (orr_recal_maybe_due(offer->row->recal, now) && !offer->unknown &&
        choose_recal(dm, offer, now, &choice))
        return choice;
    return orr_dm_choose(dm, offer, now);
}

/* The job may run and be gone on return. */
static int dm_insert(struct orr_dm *dm, struct orr_dm_worker *w,
                     struct orr_job *job)
{
    int err;

    orr_lock(&w->lock);
    err = dm_queue_locked(dm, w, job);
    orr_unlock(&w->lock);
    if (err)
        dm_publish_worker(dm, w);
    return err;
}

/* Decides about the job and queues it; in between its data are prefetched, if it has
 * any, which takes locks of its own. */
static int dm_place_job(struct orr_dm *dm, const struct orr_dm_offer *offer)
{
    struct orr_runtime *rt = dm->runtime;
    struct orr_job *job = offer->job;
    bool prefetches = dm->prefetch && job->naccesses > 0;
    struct orr_dm_choice choice;
    struct orr_dm_worker *w;
    double now;
    int err;

    orr_lock(&dm->lock);
    now = dm_now(dm);
    choice = dm_decide(dm, offer, now);
    err = dm_commit_choice(dm, job, &choice, now, !prefetches);
    orr_unlock(&dm->lock);
    w = &dm->workers[choice.worker];
    if (prefetches) {
        orr_job_prefetch(rt, job, rt->workers->classes[w->class_id].node,
                         ORR_PREFETCH);
        err = dm_insert(dm, w, job);
    }
    if (!err)
        orr_sched_wake(&rt->workers->at[choice.worker]);
    else if (choice.recalibrates)
        orr_recal_give_back(offer->row->recal, w->class_id, choice.impl);
    return err;
}

static int dm_push(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_dm *dm = sched->data;
    struct orr_dm_offer offer;
    int err = orr_dm_evaluate(dm, job, &offer);

    if (err)
        return err;
    if (offer.uncalibrated)
        return orr_dm_defer(dm, &offer);
    return dm_place_job(dm, &offer);
}

/* A job has come to the worker without a push. */
static void dm_push_notify(struct orr_sched *sched, struct orr_job *job,
                           struct orr_worker *worker)
{
    struct orr_dm *dm = sched->data;
    struct orr_dm_worker *w = &dm->workers[worker->id];
    const struct orr_cost_row *row = orr_job_costs(dm->runtime, job);
    double length = orr_cost_length(row, w->class_id, job->implementation);
    double transfer = 0;

    if (!(length > 0))
        length = 0;
    if (dm->variant->transfers)
        transfer = orr_job_transfer_time(
            dm->runtime, job, dm->runtime->workers->classes[w->class_id].node);
    if (!isfinite(transfer))
        transfer = 0;
    dm_enter_job(dm, w, job, length, transfer);
}

/* --- from queue to end --- */

static struct orr_job *pop_own(struct orr_dm *dm, struct orr_dm_worker *w)
{
    struct orr_job *job;
    double now;

    orr_lock(&w->lock);
    if (dm->variant->ready)
        job = orr_prioq_pop_ready(
            &w->jobs, dm->runtime->workers->classes[w->class_id].node);
    else
        job = orr_prioq_pop(&w->jobs);
    if (job) {
        now = dm_now(dm);
        add_length(dm, w, job->priority, -job->predicted_transfer);
        w->pipeline_len += job->predicted_transfer;
        w->exp_start = now + w->pipeline_len;
    }
    orr_unlock(&w->lock);
    if (job)
        dm_publish_worker(dm, w);
    return job;
}

/* Whether the first job that waits for a decision comes before the worker's
 * own. */
static bool undecided_first(struct orr_dm *dm, struct orr_dm_worker *w)
{
    bool empty;
    int priority = 0;
    uint64_t id = 0;

    orr_lock(&w->lock);
    empty = orr_prioq_empty(&w->jobs);
    if (!empty) {
        const struct orr_prioq_slot *best = &w->jobs.slots[w->jobs.nslots - 1];

        priority = best->priority;
        id = orr_job_of_link(best->level->jobs.next)->id;
    }
    orr_unlock(&w->lock);
    return empty || orr_queue_is_before(&dm->undecided, priority, id);
}

/* The worker runs the job although not all of its lengths are known, or
 * although there is no memory to queue it. */
static void run_undecided(struct orr_dm *dm, const struct orr_dm_offer *offer,
                          struct orr_worker *worker)
{
    struct orr_job *job = offer->job;
    double length =
        orr_cost_length(offer->row, worker->class_id, job->implementation);

    dm_enter_job(dm, &dm->workers[worker->id], job, length > 0 ? length : 0,
                 offer->transfer[worker->class_id]);
    orr_dm_begin_calibration(dm, job, worker);
}

/* Takes one of the jobs that wait for a decision. Jobs that can be decided by now go to
 * the queue of the chosen worker, which may be the caller's own. */
static struct orr_job *pop_undecided(struct orr_dm *dm,
                                     struct orr_worker *worker)
{
    struct orr_dm_offer offer;
    struct orr_job *job;

    while ((job = orr_dm_take_undecided(dm, worker))) {
        uint8_t impl = job->implementation;

        if (orr_dm_evaluate(dm, job, &offer) == 0 && !offer.uncalibrated &&
            dm_place_job(dm, &offer) == 0)
            continue;
        job->implementation = impl;
        run_undecided(dm, &offer, worker);
        return job;
    }
    return NULL;
}

static struct orr_job *dm_pop(struct orr_sched *sched,
                              struct orr_worker *worker)
{
    struct orr_dm *dm = sched->data;
    struct orr_dm_worker *w = &dm->workers[worker->id];

    if (!orr_queue_empty(&dm->undecided) && undecided_first(dm, w)) {
        struct orr_job *job = pop_undecided(dm, worker);

        if (job)
            return job;
    }
    return pop_own(dm, w);
}

static void dm_pre_exec(struct orr_sched *sched, struct orr_job *job,
                        struct orr_worker *worker)
{
    struct orr_dm *dm = sched->data;
    struct orr_dm_worker *w = &dm->workers[worker->id];
    double now;

    orr_lock(&w->lock);
    now = dm_now(dm);
    w->pipeline_len -= job->predicted_transfer;
    add_length(dm, w, job->priority, -job->predicted);
    w->pipeline_len += job->predicted;
    w->exp_start = now + w->pipeline_len;
    orr_unlock(&w->lock);
    dm_publish_worker(dm, w);
}

static void dm_post_exec(struct orr_sched *sched, struct orr_job *job,
                         struct orr_worker *worker)
{
    struct orr_dm *dm = sched->data;
    struct orr_dm_worker *w = &dm->workers[worker->id];
    double now;

    orr_lock(&w->lock);
    now = dm_now(dm);
    w->pipeline_len -= job->predicted;
    w->pipeline_ntasks--;
    w->exp_start = later_us(now + w->pipeline_len, w->exp_start);
    orr_unlock(&w->lock);
    dm_publish_worker(dm, w);
    if (atomic_load_explicit(&w->calibrating, memory_order_relaxed) == job)
        atomic_store_explicit(&w->calibrating, NULL, memory_order_relaxed);
    orr_dm_look_for_takers(dm);
}

/* --- beginning and end --- */

static void dm_free(struct orr_dm *dm)
{
    for (unsigned i = 0; dm->workers && i < dm->runtime->workers->n; i++) {
        orr_prioq_done(&dm->workers[i].jobs);
        free(dm->workers[i].ahead);
    }
    orr_queue_done(&dm->undecided);
    for (unsigned k = 0; dm->loads && k < dm->runtime->workers->nclasses; k++)
        orr_dm_load_done(&dm->loads[k]);
    free(dm->workers);
    free(dm->loads);
    free(dm->ends);
    free(dm);
}

static void dm_deinit(struct orr_sched *sched)
{
    dm_free(sched->data);
}

static void read_weights(struct orr_dm *dm)
{
    struct orr_runtime *rt = dm->runtime;

    dm->prefetch = orr_config_int(&rt->config, ORR_CFG_PREFETCH) != 0;
    dm->alpha = 1;
    dm->quantile = orr_config_double(&rt->config, ORR_CFG_ROBUST_QUANTILE);
    if (!dm->variant->transfers)
        return;
    dm->alpha = orr_sched_weight(rt, ORR_CFG_SCHED_ALPHA, 1);
    dm->beta = orr_sched_weight(rt, ORR_CFG_SCHED_BETA, 1);
    dm->gamma = orr_sched_weight(rt, ORR_CFG_SCHED_GAMMA, 1000);
    dm->idle_power = orr_sched_idle_power(rt);
}

/* Room for the length of every priority, if they are known and few. */
static int init_ahead(struct orr_dm *dm, const struct orr_sched *sched)
{
    const int64_t most = 1 << 16;
    int64_t n = (int64_t)sched->max_priority - sched->min_priority + 1;

    if (!dm->variant->sorted_decision || !sched->min_given ||
        !sched->max_given || n < 1 ||
        n > most)
        return 0;
    dm->npriorities = (int)n;
    dm->min_priority = sched->min_priority;
    dm->max_priority = sched->max_priority;
    for (unsigned i = 0; i < dm->runtime->workers->n; i++) {
        dm->workers[i].ahead = calloc((size_t)n, sizeof(double));
        if (!dm->workers[i].ahead)
            return -ENOMEM;
    }
    return 0;
}

static int init_workers(struct orr_dm *dm)
{
    struct orr_runtime *rt = dm->runtime;
    double now = dm_now(dm);

    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        const struct orr_worker_class *class = &rt->workers->classes[k];
        int err = orr_dm_load_init(&dm->loads[k], class->nworkers);

        if (err)
            return err;
        for (unsigned i = 0; i < class->nworkers; i++) {
            struct orr_dm_worker *w = &dm->workers[class->members[i]];

            orr_lock_init(&w->lock, ORR_RANK_WORKER);
            w->jobs.digests = dm->variant->ready;
            w->class_id = k;
            w->place = i;
            w->exp_start = now;
            dm_publish_worker(dm, w);
        }
    }
    return 0;
}

static int dm_new(struct orr_sched *sched, struct orr_dm **ret)
{
    struct orr_runtime *rt = sched->runtime;
    struct orr_dm *dm = calloc(1, sizeof(*dm));
    int err = -ENOMEM;

    if (!dm)
        return err;
    dm->variant = (const struct orr_dm_variant *)sched->ops;
    dm->runtime = rt;
    dm->members = &rt->workers->members[sched->id];
    orr_lock_init(&dm->lock, ORR_RANK_SCHED);
    orr_queue_init(&dm->undecided, dm->variant->sorted);
    dm->workers = calloc(rt->workers->n, sizeof(*dm->workers));
    dm->loads = calloc(rt->workers->nclasses, sizeof(*dm->loads));
    dm->ends =
        calloc(rt->workers->n * STARPU_MAXIMPLEMENTATIONS, sizeof(double));
    if (!dm->workers || !dm->loads || !dm->ends)
        goto free_dm;
    err = init_workers(dm);
    if (!err)
        err = init_ahead(dm, sched);
    if (err)
        goto free_dm;
    read_weights(dm);
    *ret = dm;
    return 0;

free_dm:
    dm_free(dm);
    return err;
}

static int dm_init(struct orr_sched *sched, struct orr_error *err)
{
    struct orr_runtime *rt = sched->runtime;
    const char *name = sched->ops->name;
    double quantile = orr_config_double(&rt->config, ORR_CFG_ROBUST_QUANTILE);
    struct orr_dm *dm;

    if (((const struct orr_dm_variant *)sched->ops)->cautious &&
        !(quantile > 0 && quantile < 1))
        return orr_fail(err, -EINVAL,
                        "%s=%g is no quantile; give a number between 0 and 1, "
                        "such as 0.9",
                        orr_config_name(ORR_CFG_ROBUST_QUANTILE), quantile);
    if (rt->workers->nclasses > ORR_DM_MAXCLASSES ||
        rt->workers->n > STARPU_NMAXWORKERS)
        return orr_fail(
            err, -EINVAL,
            "%s: %u workers of %u classes are more than the supported %d of "
            "%d; use fewer devices",
            name, rt->workers->n, rt->workers->nclasses, STARPU_NMAXWORKERS,
            ORR_DM_MAXCLASSES);
    if (dm_new(sched, &dm))
        return orr_fail(err, -ENOMEM, "%s: out of memory", name);
    sched->data = dm;
    if (!dm->variant->ready &&
        !atomic_exchange(&rt->sched_ctxs->recommended, true))
        orr_log_warning("the policy %s takes queued tasks in order even while "
                        "their data are in transfer; dmdas (or dmdar, without "
                        "priorities) is faster: it starts with those whose "
                        "data are present",
                        name);
    return 0;
}

static double dm_weigh(struct orr_sched *sched, enum orr_weight weight,
                       const double *set)
{
    struct orr_dm *dm = sched->data;
    double *weights[] = {
        [ORR_WEIGHT_ALPHA] = &dm->alpha,
        [ORR_WEIGHT_BETA] = &dm->beta,
        [ORR_WEIGHT_GAMMA] = &dm->gamma,
        [ORR_WEIGHT_IDLE_POWER] = &dm->idle_power,
    };
    double value;

    orr_lock(&dm->lock);
    if (set)
        *weights[weight] = *set;
    value = *weights[weight];
    orr_unlock(&dm->lock);
    return value;
}

/* --- the members of the family --- */

#define DM_OPS(name_, help_, sorted_)                                          \
    {                                                                          \
        .name = name_, .help = help_, .unbounded_priorities = sorted_,         \
        .by_priority = sorted_, .prefetches = true, .init = dm_init,           \
        .deinit = dm_deinit, .push = dm_push, .pop = dm_pop,                   \
        .push_notify = dm_push_notify, .pre_exec = dm_pre_exec,                \
        .post_exec = dm_post_exec, .compare = orr_dm_compare,                  \
        .weigh = dm_weigh                                                      \
    }

const struct orr_dm_variant orr_sched_dm = {
    .ops = DM_OPS("dm", "earliest end by the models, transfers ignored", false),
};

const struct orr_dm_variant orr_sched_dmda = {
    .ops = DM_OPS("dmda", "earliest end, transfers included", false),
    .transfers = true,
};

const struct orr_dm_variant orr_sched_dmdap = {
    .ops = DM_OPS("dmdap", "like dmda, queues by priority", true),
    .transfers = true,
    .sorted = true,
};

const struct orr_dm_variant orr_sched_dmdar = {
    .ops =
        DM_OPS("dmdar", "like dmda, tasks whose data are there first", false),
    .transfers = true,
    .ready = true,
};

const struct orr_dm_variant orr_sched_dmdas = {
    .ops = DM_OPS("dmdas", "like dmdar, queues by priority", true),
    .transfers = true,
    .sorted = true,
    .ready = true,
};

const struct orr_dm_variant orr_sched_dmdasd = {
    .ops =
        DM_OPS("dmdasd",
               "like dmdas, deciding by the tasks of no less priority", true),
    .transfers = true,
    .sorted = true,
    .ready = true,
    .sorted_decision = true,
};

const struct orr_dm_variant orr_sched_robust = {
    .ops = DM_OPS("robust",
                  "like dmdas, by a time that tasks seldom exceed", true),
    .transfers = true,
    .sorted = true,
    .ready = true,
    .cautious = true,
};

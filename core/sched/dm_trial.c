/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/dm_trial.c - jobs that nobody can place by their lengths yet,
 * because some able worker class has a figure on trial (cost/probe.h). They
 * wait in one queue, from which workers take them when their own is not before
 * it, so that no job stands behind a device that may be bad, and no worker is
 * idle that could find something out:
 *
 * - A worker whose figure is on trial takes one such job at a time, and the
 *   implementation that was tried least.
 * - A worker whose figure is known takes a job if its class is the fastest of
 *   those known, or would end it before the fastest has worked off the queue.
 * - A job whose figures have become known meanwhile is decided as if it were
 *   pushed now.
 *
 * Nothing is forgotten there: of a job in the queue some class is the fastest
 * known, or all are on trial, and those take it whenever they look. They look
 * when they have nothing else, and asleep they are woken when a job comes and
 * when a kernel ends - the only events that change what has been said here.
 */
#include <math.h>

#include "core/cost/probe.h"
#include "core/sched/dm.h"

/* The fastest known length of a class, NaN if it has none. */
static double known_length(const struct orr_cost_row *row, unsigned class_id,
                           unsigned bits)
{
    double least = NAN;

    bits &= ~orr_probes_trials(row->probes, class_id);
    for (unsigned i = 0; bits >> i; i++) {
        double us = orr_cost_length(row, class_id, i);

        if (bits >> i & 1 && us > 0 && !(us >= least))
            least = us;
    }
    return least;
}

/* What the figures of a waiting job say. */
struct verdict {
    bool known;       /* nothing is on trial */
    unsigned fastest; /* class, if any length is known */
    double length;    /* there; NaN: none is known */
};

static struct verdict judge(const struct orr_dm *dm, const struct orr_job *job)
{
    const struct orr_cost_row *row = job->costs;
    struct verdict v = {.known = true, .length = NAN};

    for (unsigned k = 0; k < dm->runtime->nclasses; k++) {
        double us;

        if (!(job->able_classes >> k & 1))
            continue;
        if (orr_probes_trials(row->probes, k) & row->able[k])
            v.known = false;
        us = known_length(row, k, row->able[k]);
        if (!(us > 0) || us >= v.length)
            continue;
        v.length = us;
        v.fastest = k;
    }
    return v;
}

/* Whether a class that takes `length` helps those of the fastest class with the
 * `njobs` jobs that wait. Without a length anybody helps. */
static bool helps(const struct orr_dm *dm, const struct verdict *v,
                  unsigned class_id, double length, unsigned njobs)
{
    const struct orr_worker_class *fastest = &dm->runtime->classes[v->fastest];

    if (isnan(v->length) || class_id == v->fastest)
        return true;
    return length <= v->length * (1 + (double)njobs / fastest->nworkers);
}

/* --- waking --- */

static bool class_takes(const struct orr_dm *dm, const struct orr_job *job,
                        const struct verdict *v, unsigned class_id)
{
    const struct orr_cost_row *row = job->costs;
    unsigned njobs =
        atomic_load_explicit(&dm->undecided.njobs, memory_order_relaxed);

    if (!(job->able_classes >> class_id & 1))
        return false;
    return v->known ||
           orr_probes_trials(row->probes, class_id) & row->able[class_id] ||
           helps(dm, v, class_id,
                 known_length(row, class_id, row->able[class_id]), njobs);
}

/* One of those that sleep; all, when they may differ. The task itself is not
 * looked at: its job may have been taken meanwhile, and have ended. */
static void wake_member(struct orr_dm *dm, const struct orr_job *job,
                        const struct orr_worker_class *class)
{
    for (unsigned i = 0; i < class->nworkers; i++) {
        unsigned w = class->members[i];

        if (atomic_load_explicit(&dm->workers[w].trial, memory_order_relaxed))
            continue;
        if (orr_sched_wake(&dm->runtime->workers[w]) && !job->differ)
            return;
    }
}

/* Wakes a worker of each class that would take the job. The caller holds a
 * reference. */
static void wake_takers(struct orr_dm *dm, const struct orr_job *job)
{
    struct verdict v;

    /* Before we look who has a trial under way: he who has just ended one and
     * falls asleep sees what we did, or we see that. */
    orr_sched_after_queueing(dm->runtime);
    v = judge(dm, job);
    for (unsigned k = 0; k < dm->runtime->nclasses; k++)
        if (class_takes(dm, job, &v, k))
            wake_member(dm, job, &dm->runtime->classes[k]);
}

/* --- the queue --- */

int orr_dm_defer(struct orr_dm *dm, const struct orr_dm_offer *offer)
{
    struct orr_job *job = offer->job;
    int err;

    job->able_classes = 0;
    job->differ = !offer->uniform;
    for (unsigned k = 0; k < dm->runtime->nclasses; k++)
        if (offer->able[k])
            job->able_classes |= UINT64_C(1) << k;
    orr_job_ref(job);
    err = orr_queue_push(&dm->undecided, job,
                         dm->variant->sorted ? job->priority : 0);
    if (!err)
        wake_takers(dm, job);
    orr_job_unref(dm->runtime, job);
    return err;
}

void orr_dm_look_for_takers(struct orr_dm *dm)
{
    struct orr_job *job;

    if (orr_queue_empty(&dm->undecided))
        return;
    job = orr_queue_peek(&dm->undecided);
    if (!job)
        return;
    wake_takers(dm, job);
    orr_job_unref(dm->runtime, job);
}

struct taker {
    struct orr_dm *dm;
    unsigned class_id;
};

/* The implementation, as a bit, with which the worker takes the job; 0: it
 * does not. */
static unsigned accept(struct orr_job *job, unsigned bits, unsigned njobs,
                       void *arg)
{
    const struct taker *taker = arg;
    const struct orr_cost_row *row = job->costs;
    struct verdict v = judge(taker->dm, job);
    unsigned trials = orr_probes_trials(row->probes, taker->class_id) & bits;
    double length;

    if (v.known)
        return bits & -bits;
    if (trials)
        return 1U << orr_probes_least_tried(row->probes, taker->class_id,
                                            trials);
    length = known_length(row, taker->class_id, bits);
    if (!helps(taker->dm, &v, taker->class_id, length, njobs))
        return 0;
    for (unsigned i = 0; bits >> i; i++)
        if (bits >> i & 1 && orr_cost_length(row, taker->class_id, i) == length)
            return 1U << i;
    return bits & -bits;
}

struct orr_job *orr_dm_take_undecided(struct orr_dm *dm,
                                      struct orr_worker *worker)
{
    struct taker taker = {dm, worker->class_id};

    /* One at a time: who has a trial under way finds out nothing more. */
    if (atomic_load_explicit(&dm->workers[worker->id].trial,
                             memory_order_relaxed))
        return NULL;
    return orr_queue_take_if(&dm->undecided, worker, accept, &taker);
}

void orr_dm_begin_trial(struct orr_dm *dm, struct orr_job *job,
                        struct orr_worker *worker)
{
    struct orr_probes *probes = job->costs->probes;

    if (!(orr_probes_trials(probes, worker->class_id) >> job->implementation &
          1))
        return;
    orr_probes_try(probes, worker->class_id, job->implementation);
    atomic_store_explicit(&dm->workers[worker->id].trial, job,
                          memory_order_relaxed);
}

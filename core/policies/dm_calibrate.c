/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/dm_calibrate.c - jobs that cannot be placed by their lengths yet,
 * because some able pair is uncalibrated (cost/recalibrate.h). They wait in one
 * queue, from which workers take them when their own is not before it, so that
 * no job waits behind a device that may be slow, and no worker is idle that
 * could measure something:
 *
 * - A worker whose pair is uncalibrated takes one such job at a time, with the
 *   implementation that has fewest runs.
 * - A worker whose length is known takes a job if its class is the fastest of
 *   those known, or would end it before the fastest has worked off the queue.
 * - A job whose lengths have become known meanwhile is placed as if it were
 *   pushed now.
 *
 * No job is forgotten there: either some class is the fastest known, or all are
 * uncalibrated, and those take it whenever they look. They look when they have
 * nothing else, and sleeping ones are woken when a job comes and when a kernel
 * ends, the only events that change the conditions above.
 */
#include <math.h>

#include "core/cost/recalibrate.h"
#include "core/policies/dm.h"
#include "core/worker/workers.h"

/* The fastest known length of a class, NaN if it has none. */
static double known_length(const struct orr_cost_row *row, unsigned class_id,
                           unsigned bits)
{
    double least = NAN;

    bits &= ~orr_recal_uncalibrated(row->recal, class_id);
    for (unsigned i = 0; bits >> i; i++) {
        double us = orr_cost_length(row, class_id, i);

        if (bits >> i & 1 && us > 0 && !(us >= least))
            least = us;
    }
    return least;
}

/* What is known of the lengths of a waiting job. */
struct estimate {
    bool known;       /* nothing is uncalibrated */
    unsigned fastest; /* class, if any length is known */
    double length;    /* there; NaN: none is known */
};

static struct estimate dm_estimate_job(const struct orr_dm *dm,
                                       const struct orr_job *job)
{
    const struct orr_cost_row *row = job->costs;
    struct estimate e = {.known = true, .length = NAN};

    for (unsigned k = 0; k < dm->runtime->workers->nclasses; k++) {
        double us;

        if (!(job->able_classes >> k & 1))
            continue;
        if (orr_recal_uncalibrated(row->recal, k) & row->able[k])
            e.known = false;
        us = known_length(row, k, row->able[k]);
        if (!(us > 0) || us >= e.length)
            continue;
        e.length = us;
        e.fastest = k;
    }
    return e;
}

/* How many workers of the class take tasks of the context; 1 if there are none any
 * more. */
static unsigned takers_of(const struct orr_dm *dm,
                          const struct orr_worker_class *class)
{
    unsigned n = 0;

    for (unsigned i = 0; i < class->nworkers; i++)
        n += orr_members_has(dm->members, class->members[i]);
    return n ? n : 1;
}

/* Whether a class that takes `length` helps the fastest class with the `njobs` jobs
 * that wait. A class without a known duration always helps. */
static bool class_helps_fastest(const struct orr_dm *dm,
                                const struct estimate *e, unsigned class_id,
                                double length, unsigned njobs)
{
    const struct orr_worker_class *fastest =
        &dm->runtime->workers->classes[e->fastest];

    if (isnan(e->length) || class_id == e->fastest)
        return true;
    return length <=
           e->length * (1 + (double)njobs / takers_of(dm, fastest));
}

/* --- waking --- */

static bool class_takes(const struct orr_dm *dm, const struct orr_job *job,
                        const struct estimate *e, unsigned class_id)
{
    const struct orr_cost_row *row = job->costs;
    unsigned njobs =
        atomic_load_explicit(&dm->undecided.njobs, memory_order_relaxed);

    if (!(job->able_classes >> class_id & 1))
        return false;
    return e->known ||
           orr_recal_uncalibrated(row->recal, class_id) & row->able[class_id] ||
           class_helps_fastest(dm, e, class_id,
                               known_length(row, class_id, row->able[class_id]),
                               njobs);
}

/* Wakes one of the class's workers that sleep; all, if can_execute may answer
 * differently for them. The task itself is not looked at: its job may have been taken
 * meanwhile, and have ended. */
static void wake_member(struct orr_dm *dm, const struct orr_job *job,
                        const struct orr_worker_class *class)
{
    for (unsigned i = 0; i < class->nworkers; i++) {
        unsigned w = class->members[i];

        if (atomic_load_explicit(&dm->workers[w].calibrating,
                                 memory_order_relaxed))
            continue;
        if (orr_sched_wake(&dm->runtime->workers->at[w]) && !job->differ)
            return;
    }
}

/* Wakes a worker of each class that would take the job. The caller holds a
 * reference. */
static void dm_wake_takers(struct orr_dm *dm, const struct orr_job *job)
{
    struct estimate e;

    /* Stands between queueing the job and looking for calibration runs under way: a
     * worker that has just ended such a run and falls asleep sees the job, or else this
     * context sees the run's end. */
    orr_sched_after_queueing(dm->runtime);
    e = dm_estimate_job(dm, job);
    for (unsigned k = 0; k < dm->runtime->workers->nclasses; k++)
        if (class_takes(dm, job, &e, k))
            wake_member(dm, job, &dm->runtime->workers->classes[k]);
}

/* --- the queue --- */

int orr_dm_defer(struct orr_dm *dm, const struct orr_dm_offer *offer)
{
    struct orr_job *job = offer->job;
    int err;

    job->able_classes = 0;
    job->differ = !offer->uniform;
    for (unsigned k = 0; k < dm->runtime->workers->nclasses; k++)
        if (offer->able[k])
            job->able_classes |= UINT64_C(1) << k;
    orr_job_ref(job);
    err = orr_queue_push(&dm->undecided, job);
    if (!err)
        dm_wake_takers(dm, job);
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
    dm_wake_takers(dm, job);
    orr_job_unref(dm->runtime, job);
}

struct taker {
    struct orr_dm *dm;
    unsigned class_id;
};

/* The implementation, as a bit, with which the worker takes the job; 0: it
 * does not. */
static unsigned dm_accept_uncalibrated(struct orr_job *job, unsigned bits,
                                       unsigned njobs, void *arg)
{
    const struct taker *taker = arg;
    const struct orr_cost_row *row = job->costs;
    struct estimate e = dm_estimate_job(taker->dm, job);
    unsigned uncalibrated =
        orr_recal_uncalibrated(row->recal, taker->class_id) & bits;
    double length;

    if (e.known)
        return bits & -bits;
    if (uncalibrated)
        return 1U << orr_recal_least_run(row->recal, taker->class_id,
                                         uncalibrated);
    length = known_length(row, taker->class_id, bits);
    if (!class_helps_fastest(taker->dm, &e, taker->class_id, length, njobs))
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

    /* One at a time: a second run would measure nothing more. */
    if (atomic_load_explicit(&dm->workers[worker->id].calibrating,
                             memory_order_relaxed))
        return NULL;
    return orr_queue_take_if(&dm->undecided, worker, dm_accept_uncalibrated,
                             &taker);
}

void orr_dm_begin_calibration(struct orr_dm *dm, struct orr_job *job,
                              struct orr_worker *worker)
{
    struct orr_recal *recal = job->costs->recal;

    if (!(orr_recal_uncalibrated(recal, worker->class_id) >>
              job->implementation &
          1))
        return;
    orr_recal_begin_run(recal, worker->class_id, job->implementation);
    atomic_store_explicit(&dm->workers[worker->id].calibrating, job,
                          memory_order_relaxed);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/dm_evaluate.c - what the dm family asks about a job before it
 * decides: which workers can run it, for how long, when its data could be
 * there. No lock is held.
 */
#include <errno.h>
#include <math.h>

#include "core/cost/power.h"
#include "core/cost/recalibrate.h"
#include "core/data/handle.h"
#include "core/policies/dm.h"
#include "core/sched/bundle.h"
#include "core/worker/workers.h"

double orr_dm_own_length(const struct orr_dm *dm,
                         const struct orr_dm_offer *offer, unsigned class_id,
                         unsigned impl)
{
    if (!dm->variant->cautious)
        return orr_cost_length(offer->row, class_id, impl);
    return orr_cost_quantile(dm->runtime, offer->row, class_id, impl,
                             dm->quantile);
}

static unsigned ask_each(struct orr_dm *dm, struct orr_dm_offer *offer,
                         const struct orr_worker_class *class)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < class->nworkers; i++) {
        unsigned w = class->members[i];

        offer->able_worker[w] =
            (uint8_t)orr_job_able(dm->runtime, offer->job, offer->row, w);
        bits |= offer->able_worker[w];
    }
    return bits;
}

static bool row_has_unknown_length(const struct orr_cost_row *row,
                                   unsigned class_id, unsigned bits)
{
    for (; bits; bits &= bits - 1)
        if (!(orr_cost_length(row, class_id, (unsigned)__builtin_ctz(bits)) >
              0))
            return true;
    return false;
}

static bool has_uncalibrated(const struct orr_dm_offer *offer,
                             unsigned nclasses)
{
    for (unsigned k = 0; k < nclasses; k++)
        if (orr_recal_uncalibrated(offer->row->recal, k) & offer->able[k])
            return true;
    return false;
}

/* Unknown energy counts as none. */
static void ask_energy(const struct orr_dm *dm, struct orr_dm_offer *offer)
{
    for (unsigned k = 0; k < dm->runtime->workers->nclasses; k++) {
        unsigned worker = dm->runtime->workers->classes[k].members[0];

        for (unsigned i = 0; offer->able[k] >> i; i++) {
            double joules = 0;

            if (offer->able[k] >> i & 1)
                joules = starpu_task_worker_expected_energy(offer->job->task,
                                                            worker, 0, i);
            offer->energy[k][i] = joules > 0 ? joules : 0;
        }
    }
}

/* Its length on one class with one implementation: bundle.h */
struct placed {
    struct orr_runtime *rt;
    unsigned class_id, impl;
};

static double length_there(struct starpu_task *task, void *arg)
{
    const struct placed *placed = arg;
    unsigned worker = placed->rt->workers->classes[placed->class_id].members[0];

    return starpu_task_worker_expected_length(task, worker, 0, placed->impl);
}

/* The job stands for all of its bundle that are still to be placed. */
static void ask_bundle(const struct orr_dm *dm, struct orr_dm_offer *offer)
{
    starpu_task_bundle_t bundle = offer->job->task->bundle;
    struct placed placed = {.rt = dm->runtime};

    for (unsigned k = 0; k < dm->runtime->workers->nclasses; k++) {
        placed.class_id = k;
        for (unsigned i = 0; offer->able[k] >> i; i++) {
            placed.impl = i;
            if (offer->able[k] >> i & 1)
                offer->length[k][i] =
                    orr_bundle_sum(bundle, true, length_there, &placed) +
                    orr_dm_own_length(dm, offer, k, i);
        }
        if (offer->able[k] && dm->variant->transfers)
            offer->transfer[k] = orr_bundle_transfer_time(
                bundle, dm->runtime->workers->classes[k].node,
                offer->job->task);
    }
}

/* The lengths by which the variant "robust" decides. */
static void ask_quantiles(const struct orr_dm *dm, struct orr_dm_offer *offer)
{
    for (unsigned k = 0; k < dm->runtime->workers->nclasses; k++)
        for (unsigned i = 0; offer->able[k] >> i; i++)
            if (offer->able[k] >> i & 1)
                offer->length[k][i] = orr_dm_own_length(dm, offer, k, i);
}

/* Which implementations each class has for the job, and whether one of these has no
 * length. Returns the nodes (bits) of the classes that have some. */
static uint64_t ask_able(struct orr_dm *dm, struct orr_dm_offer *offer)
{
    struct orr_runtime *rt = dm->runtime;
    const struct orr_worker_class *class = rt->workers->classes;
    bool as_row = orr_job_able_as_row(rt, offer->job, offer->row);
    uint64_t nodes = 0;

    offer->uniform = true;
    offer->unknown = false;
    for (unsigned k = 0; k < rt->workers->nclasses; k++, class++) {
        unsigned bits = offer->row->able[k];

        offer->uniform_class[k] = true;
        if (!as_row)
            bits = orr_job_able_class(rt, offer->job, offer->row, k,
                                      &offer->uniform_class[k]);
        if (!offer->uniform_class[k]) {
            bits = ask_each(dm, offer, class);
            offer->uniform = false;
        }
        offer->able[k] = (uint8_t)bits;
        if (!bits)
            continue;
        nodes |= UINT64_C(1) << class->node;
        offer->unknown =
            offer->unknown || row_has_unknown_length(offer->row, k, bits);
    }
    return nodes;
}

/* When the job's data could be at each class; `nodes`: of those that are able. */
static void ask_transfers(const struct orr_dm *dm, struct orr_dm_offer *offer,
                          uint64_t nodes)
{
    struct orr_runtime *rt = dm->runtime;
    const struct orr_worker_class *classes = rt->workers->classes;
    double us[STARPU_MAXNODES];

    nodes &= dm->variant->transfers ? orr_job_absent(offer->job) : 0;
    if (nodes)
        orr_sched_transfer_times(rt, offer->job, nodes, us);
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        offer->transfer[k] =
            nodes >> classes[k].node & 1 ? us[classes[k].node] : 0;
}

int orr_dm_evaluate(struct orr_dm *dm, struct orr_job *job,
                    struct orr_dm_offer *ret)
{
    struct orr_runtime *rt = dm->runtime;
    uint64_t nodes;

    ret->job = job;
    ret->row = orr_job_costs(rt, job);
    ret->has_energy =
        dm->variant->transfers && orr_cost_weighs_energy(rt, job->task->cl);
    nodes = ask_able(dm, ret);
    ask_transfers(dm, ret, nodes);
    ret->uncalibrated = orr_recal_any_uncalibrated(ret->row->recal) &&
                        has_uncalibrated(ret, rt->workers->nclasses);
    if (ret->has_energy)
        ask_energy(dm, ret);
    ret->has_lengths = job->task->bundle || dm->variant->cautious;
    if (job->task->bundle)
        ask_bundle(dm, ret);
    else if (ret->has_lengths)
        ask_quantiles(dm, ret);
    return nodes ? 0 : -ENODEV;
}

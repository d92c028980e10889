/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/random.c - each job goes to a worker drawn with a probability
 * proportional to its speed, and stays there. The drawing has its own lock.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/base/splitmix.h"
#include "core/cost/cost.h"
#include "core/cost/recalibrate.h"
#include "core/policies/policies.h"
#include "core/sched/sched.h"
#include "core/sched/toolbox.h"
#include "core/worker/workers.h"

struct lottery {
    struct orr_lock lock; /* rank ORR_RANK_SCHED */
    uint64_t state;       /* [lock] of core/base/splitmix.h */
};

/* Between 0 and 1, 1 excluded. */
static double lottery_draw(struct lottery *lottery)
{
    double unit;

    orr_lock(&lottery->lock);
    unit = orr_splitmix_unit(&lottery->state);
    orr_unlock(&lottery->lock);
    return unit;
}

static int random_init(struct orr_sched *sched, struct orr_error *err)
{
    struct orr_runtime *rt = sched->runtime;
    int seed = orr_config_int(&rt->config, ORR_CFG_RAND_SEED);
    struct lottery *lottery = malloc(sizeof(*lottery));

    if (!lottery)
        return orr_fail(err, -ENOMEM, "%s: out of memory", sched->ops->name);
    orr_lock_init(&lottery->lock, ORR_RANK_SCHED);
    if (seed >= 0)
        lottery->state = (uint64_t)seed;
    else
        lottery->state =
            rt->exec->virtual_time ? 0 : (uint64_t)orr_exec_now(rt->exec);
    sched->data = lottery;
    return 0;
}

static void random_deinit(struct orr_sched *sched)
{
    free(sched->data);
}

static double worker_relative_speedup(struct orr_runtime *rt, unsigned worker)
{
    return rt->workers->classes[rt->workers->at[worker].class_id]
        .relative_speedup;
}

static int random_policy_push(struct orr_sched *sched, struct orr_job *job)
{
    struct orr_runtime *rt = sched->runtime;
    const struct orr_cost_row *row = orr_job_row(rt, job);
    unsigned chosen = 0, chosen_bits = 0;
    double sum = 0;

    /* One pass: the new worker replaces the one before with probability
     * its speed / the sum so far. */
    for (unsigned w = 0; w < rt->workers->n; w++) {
        unsigned bits = orr_job_able(rt, job, row, w);

        if (!bits)
            continue;
        sum += worker_relative_speedup(rt, w);
        if (chosen_bits &&
            lottery_draw(sched->data) * sum >= worker_relative_speedup(rt, w))
            continue;
        chosen = w;
        chosen_bits = bits;
    }
    if (!chosen_bits)
        return -ENODEV;
    job->implementation = orr_recal_pick(
        row->recal, row, rt->workers->at[chosen].class_id, chosen_bits);
    orr_worker_push_local(&rt->workers->at[chosen], job, true);
    return 0;
}

/* Local lists are looked at before the policy. */
static struct orr_job *random_pop(struct orr_sched *sched,
                                  struct orr_worker *worker)
{
    (void)sched;
    (void)worker;
    return NULL;
}

const struct orr_sched_ops orr_sched_random = {
    .name = "random",
    .help = "random workers, faster ones more often",
    .init = random_init,
    .deinit = random_deinit,
    .push = random_policy_push,
    .pop = random_pop,
};

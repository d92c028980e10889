/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/parallel.h - what policies that use combined workers share. Those of a
 * scheduling context are in its collection of workers.
 */
#pragma once

#include "core/sched/ctx.h"
#include "core/worker/combined.h"
#include "core/worker/workers.h"

/* The add_workers of such a policy: makes the machine's combined workers, the first
 * time, and takes those whose members are all in the context. */
void orr_parallel_add_workers(struct orr_sched *sched, int *ids, unsigned n);

/* The i-th combined worker of the machine if the context has it, else NULL. */
static inline const struct orr_combined *
orr_parallel_at(const struct orr_sched *sched, unsigned i)
{
    const struct orr_runtime *rt = sched->runtime;
    unsigned id = rt->workers->n + i;

    return sched->said->workers.present[id] ? orr_combined_at(rt, id) : NULL;
}

/* Implementations with which the combined worker can execute the job, as bits;
 * simulated, only those whose duration there is known. */
unsigned orr_parallel_able(struct orr_sched *sched, struct orr_job *job,
                           const struct orr_cost_row *row,
                           const struct orr_combined *combined);

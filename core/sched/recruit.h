/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/sched/recruit.h - tasks that take several processors of one memory node, or memory
 * there beside their data, or both (orrery_task_submit_on_host). The policy gives such a
 * task to one worker, as any other. That worker makes a gang of it (gang.h), which has no
 * members yet, and puts it into a list by priority. Workers of processors that look for a
 * job look there first:
 *
 *   a gang forms on the worker's node -> it joins that one; the first to join is its leader
 *   else the first gang that the worker can run, and for which its node has memory left,
 *   forms there
 *
 * So a gang is formed where the policy has put it unless there is no memory for it; then on
 * the first node that has some, and tasks that need less go past it. Where one forms, tasks
 * that come later wait until it has its processors. No deadlock: one gang forms on a node at
 * a time, and whoever has not joined it executes something that ends. What a worker has in
 * its own list it takes before it joins, and what gang.h says holds for that: an alias that it
 * gave back may be there, and nobody is twice in one gang.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/exec/runtime.h"
#include "core/job/tasks.h"

struct orr_gang;
struct orr_job;
struct orr_worker;

/* The task is about to be submitted, and takes so many processors and bytes of a node. It
 * avoids the nodes that have less. Errors: -ENODEV, with a message: no node has so much;
 * -ENOMEM. */
int orr_recruit_prepare(struct orr_runtime *rt, struct orr_job *job,
                        unsigned ncores, size_t memory);

/* The worker has popped a job that is no alias, and which the policy counts as its: true
 * if it is in the list now. False: the worker is to execute it as any other, as it takes
 * nothing, or the worker is a device's. The worker, no lock held. */
bool orr_recruit_for(struct orr_runtime *rt, struct orr_worker *worker,
                     struct orr_job *job);

/* The alias by which the worker joins a gang; NULL: there is none for it. The worker, no lock
 * held. */
struct orr_job *orr_recruit_alias(struct orr_runtime *rt,
                                  struct orr_worker *worker);

/* What the gang, which has ended, has taken is free again. No lock held. */
void orr_recruit_release(struct orr_runtime *rt, const struct orr_gang *gang);

/* Whether any gang is in the list. */
static inline bool orr_recruit_waits(struct orr_runtime *rt)
{
    return atomic_load_explicit(&rt->tasks->nrecruiting,
                                memory_order_acquire) != 0;
}

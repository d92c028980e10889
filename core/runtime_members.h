/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/runtime_members.h - the memory of a runtime and of its members, in one piece.
 * For core/open.c, and for tests that bring a runtime of their own.
 */
#pragma once

#include "core/cost/estimates.h"
#include "core/data/nodes.h"
#include "core/data/registry.h"
#include "core/exec/runtime.h"
#include "core/job/tasks.h"
#include "core/observe/views.h"
#include "core/sched/ctxs.h"
#include "core/slab_set.h"
#include "core/worker/workers.h"

struct orr_runtime_members {
    struct orr_workers workers;
    struct orr_nodes nodes;
    struct orr_data data;
    struct orr_sched_ctxs sched_ctxs;
    struct orr_tasks tasks;
    struct orr_slabs slabs;
    struct orr_estimates estimates;
    struct orr_views views;
};

/* The runtime, all zero, gets these members, all zero, which are initialised here. */
static inline void orr_runtime_set_members(struct orr_runtime *rt,
                                           struct orr_runtime_members *members)
{
    rt->workers = &members->workers;
    rt->nodes = &members->nodes;
    rt->data = &members->data;
    rt->sched_ctxs = &members->sched_ctxs;
    rt->tasks = &members->tasks;
    rt->slabs = &members->slabs;
    rt->estimates = &members->estimates;
    rt->views = &members->views;
    orr_lock_init(&rt->lock, ORR_RANK_RUNTIME);
    orr_lock_init(&rt->data->plans_lock, ORR_RANK_PLANS);
    orr_lock_init(&rt->tasks->gangs_lock, ORR_RANK_SCHED);
    orr_lock_init(&rt->tasks->nests_lock, ORR_RANK_NESTS);
    orr_list_init(&rt->tasks->recruiting);
    orr_list_init(&rt->data->handles);
    orr_list_init(&rt->data->dead);
    atomic_init(&rt->tasks->limit_max, -1);
    atomic_init(&rt->tasks->limit_min, -1);
    atomic_init(&rt->views->first_submit, -1);
    rt->data->default_sequential = true;
    atomic_init(&rt->rank, -1);
}

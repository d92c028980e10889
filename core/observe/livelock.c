/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/livelock.c - see livelock.h. Nothing else runs meanwhile: takes no
 * locks. An eviction costs a division; the tasks that have ended are counted at
 * every 1,000th one of a handle.
 */
#include "core/observe/livelock.h"

#include <stdio.h>

#include "core/base/log.h"
#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/observe/views.h"
#include "core/slab_set.h"

enum { MANY = 1000 };

/* The oldest job that has not begun. */
struct search {
    const struct orr_job *found;
};

static bool job_waits_for_data(const struct orr_job *job)
{
    switch (orr_job_state(job)) {
    case ORR_JOB_BLOCKED:
    case ORR_JOB_CLAIMING:
    case ORR_JOB_READY:
    case ORR_JOB_FETCHING:
        return job->task && job->id;
    default:
        return false;
    }
}

static void visit(void *object, void *arg)
{
    const struct orr_job *job = object;
    struct search *search = arg;

    if (atomic_load(&job->refs) && job_waits_for_data(job) &&
        (!search->found || job->id < search->found->id))
        search->found = job;
}

/* The first task that waits for memory of the node; if there is none, one that waits
 * for the datum; else one that waits for anything. NULL: none waits. */
static const struct orr_job *find_waiting(struct orr_handle *handle,
                                          struct orr_node *node,
                                          const char **ret_what)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_heap_link *first = node->admission.urgent.first;
    struct search search = {NULL};

    *ret_what = " waits for memory there";
    if (first && job_waits_for_data(
                     orr_container(first, struct orr_job_memory, link)->job))
        return orr_container(first, struct orr_job_memory, link)->job;
    *ret_what = ", which needs it, waits";
    orr_turns_foreach(
        access,
        &handle->turns) if (job_waits_for_data(access->job)) return access->job;
    *ret_what = " waits";
    for (unsigned i = 0; i < ORR_JOB_SLABS; i++)
        orr_slab_each(rt->slabs->jobs[i], visit, &search);
    return search.found;
}

static void livelock_say(struct orr_handle *handle, struct orr_node *node)
{
    struct orr_runtime *rt = handle->runtime;
    const char *what;
    const struct orr_job *job = find_waiting(handle, node, &what);
    double now_s = orr_exec_now(rt->exec) / 1e6;
    char task[160];

    if (job)
        snprintf(task, sizeof(task), "task `%s' (number %llu)%s",
                 orr_job_name(job), (unsigned long long)job->id, what);
    else
        snprintf(task, sizeof(task), "those that have begun go on");
    orr_log_warning(
        "no task ends, but data come and go: %s left %s (memory node "
        "%u) for other data 1,000 times while %s; --break-at %.6fs "
        "(ORRERY_BREAK_AT) tells what each worker does and each task "
        "waits for, Ctrl-C keeps what is recorded",
        orr_handle_label(handle).text, rt->machine->nodes[node->id].name,
        node->id, task, now_s);
}

static void livelock_evicted(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_handle *handle = told->evicted.handle;
    struct orr_traffic *traffic = &handle->traffic;
    unsigned long ended;
    bool stands;

    if (atomic_load(&traffic->nevictions) % MANY != 0)
        return;
    ended = orr_count_all_ended(rt);
    stands = traffic->ended == (uint32_t)ended;
    traffic->ended = (uint32_t)ended;
    if (!stands || rt->views->livelock_at == ended + 1 ||
        !orr_count_unfinished(rt))
        return;
    rt->views->livelock_at = ended + 1;
    livelock_say(handle, &rt->nodes->at[told->evicted.node]);
}

static const struct orr_observer livelock_observer = {{
    [ORR_TOLD_EVICTED] = livelock_evicted,
}};

void orr_livelock_observe(struct orr_runtime *rt)
{
    orr_observers_add(&rt->observers, &livelock_observer);
    orr_observers_want(&rt->observers, &livelock_observer, ORR_TOLD_ALL, true);
}

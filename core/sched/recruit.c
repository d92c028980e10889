/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/sched/recruit.c - see recruit.h. */
#include "core/sched/recruit.h"

#include <errno.h>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/job/job.h"
#include "core/sched/ctx.h"
#include "core/sched/ctxs.h"
#include "core/sched/gang.h"
#include "core/sched/sched.h"
#include "core/worker/members.h"
#include "core/worker/workers.h"

/* --- submission --- */

/* Whether it is a processor: its memory is main memory. */
static bool is_processor(const struct orr_runtime *rt,
                         const struct orr_worker *worker)
{
    return orr_node_is_main(&rt->machine->nodes[worker->desc->node]);
}

/* How many processors of the node execute tasks. */
static unsigned count_cores(const struct orr_runtime *rt, unsigned node)
{
    unsigned n = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        n += rt->workers->at[w].desc->node == node &&
             is_processor(rt, &rt->workers->at[w]);
    return n;
}

/* The most that a node has of each. */
struct most {
    unsigned cores;
    size_t memory; /* SIZE_MAX: some node states none */
};

/* The nodes with processors that have too few of these, or too little memory. */
static uint64_t find_small_nodes(const struct orr_runtime *rt, unsigned ncores,
                                 size_t memory, struct most *ret)
{
    uint64_t small = 0;

    for (unsigned node = 0; node < rt->machine->nnodes; node++) {
        unsigned cores = count_cores(rt, node);
        size_t has = rt->machine->nodes[node].task_memory;

        if (cores == 0)
            continue;
        has = has ? has : SIZE_MAX;
        ret->cores = cores > ret->cores ? cores : ret->cores;
        ret->memory = has > ret->memory ? has : ret->memory;
        if (cores < ncores || has < memory)
            small |= UINT64_C(1) << node;
    }
    return small;
}

int orr_recruit_prepare(struct orr_runtime *rt, struct orr_job *job,
                        unsigned ncores, size_t memory)
{
    struct orr_job_rare *rare = orr_job_make_rare(job);
    struct most most = {0, 0};
    uint64_t small;

    if (!rare)
        return -ENOMEM;
    small = find_small_nodes(rt, ncores, memory, &most);
    rare->ncores = (uint16_t)ncores;
    rare->own_memory = most.memory == SIZE_MAX && !small ? 0 : memory;
    if (!small)
        return 0;
    if (orr_job_may_avoid(rt, job, small)) {
        orr_job_avoid(rt, job, small);
        return 0;
    }
    if (ncores > most.cores)
        orr_log_error("task `%s' takes %u cores of one memory node, and this "
                      "machine has at most %u on one",
                      orr_job_name(job), ncores, most.cores);
    else
        orr_log_error(
            "task `%s' takes %u cores and %.4g GB of one memory node, and no "
            "node of this machine has both: the most are %u cores, %.4g GB",
            orr_job_name(job), ncores, (double)memory / 1e9, most.cores,
            (double)most.memory / 1e9);
    return -ENODEV;
}

/* --- the list --- */

static void wake_all(struct orr_runtime *rt)
{
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (is_processor(rt, &rt->workers->at[w]))
            orr_worker_wake(&rt->workers->at[w]);
}

/* The policy has counted the job as this worker's: it is not, others may join before. */
static void tell_policy_that_it_left(struct orr_sched *sched,
                                     struct orr_job *job,
                                     struct orr_worker *worker)
{
    if (sched->ops->pre_exec)
        sched->ops->pre_exec(sched, job, worker);
    if (sched->ops->post_exec)
        sched->ops->post_exec(sched, job, worker);
}

/* Behind those of the same priority. */
static void insert_gang(struct orr_runtime *rt, struct orr_gang *gang)
{
    struct orr_list *before;

    orr_lock(&rt->tasks->gangs_lock);
    before = &rt->tasks->recruiting;
    orr_list_foreach (link, &rt->tasks->recruiting)
        if (orr_container(link, struct orr_gang, queue)->job->priority <
            gang->job->priority) {
            before = link;
            break;
        }
    orr_list_append(before, &gang->queue);
    atomic_fetch_add(&rt->tasks->nrecruiting, 1);
    orr_unlock(&rt->tasks->gangs_lock);
}

bool orr_recruit_for(struct orr_runtime *rt, struct orr_worker *worker,
                     struct orr_job *job)
{
    struct orr_gang_request request = {.size = orr_job_ncores(job),
                                       .joins = true};
    size_t memory = orr_job_own_memory(job);
    struct orr_gang *gang;

    if ((request.size <= 1 && !memory) || !is_processor(rt, worker))
        return false;
    gang = orr_gang_new(rt, job, &request);
    while (gang && orr_gang_alias(gang)) {
    }
    if (!gang || gang->nmade < request.size) {
        orr_log_warning("out of memory for a gang: task `%s' runs on one "
                        "core, and its memory does not count",
                        orr_job_name(job));
        if (gang)
            orr_gang_unmake(gang);
        return false;
    }
    gang->memory = memory;
    tell_policy_that_it_left(orr_sched_of(rt, job), job, worker);
    insert_gang(rt, gang);
    wake_all(rt);
    return true;
}

static bool has_memory_left(const struct orr_runtime *rt, unsigned node,
                            size_t memory) ORR_REQUIRES(rt->tasks->gangs_lock)
{
    size_t has = rt->machine->nodes[node].task_memory;

    return !has || rt->tasks->taken[node] + memory <= has;
}

/* Whether the worker may execute the gang's task. */
static bool may_run(const struct orr_runtime *rt, struct orr_worker *worker,
                    const struct orr_gang *gang)
{
    struct orr_job *job = gang->job;
    bool ask;

    return orr_job_maybe_able(rt, job, job->costs, worker->id, &ask) >>
               job->implementation &
           1;
}

/* The gang that forms on the worker's node, else one that can, which does from now on. */
static struct orr_gang *choose_gang_locked(struct orr_runtime *rt,
                                           struct orr_worker *worker)
    ORR_REQUIRES(rt->tasks->gangs_lock)
{
    unsigned node = worker->desc->node;
    struct orr_gang *first = NULL;

    orr_list_foreach (link, &rt->tasks->recruiting) {
        struct orr_gang *gang = orr_container(link, struct orr_gang, queue);

        if (gang->ngiven ? gang->node != node
                         : first || !has_memory_left(rt, node, gang->memory))
            continue;
        if (gang->ngiven)
            return may_run(rt, worker, gang) ? gang : NULL;
        if (may_run(rt, worker, gang))
            first = gang;
    }
    if (first) {
        first->node = node;
        rt->tasks->taken[node] += first->memory;
    }
    return first;
}

struct orr_job *orr_recruit_alias(struct orr_runtime *rt,
                                  struct orr_worker *worker)
{
    struct orr_job *alias = NULL;
    struct orr_sched *sched;
    struct orr_gang *gang;
    bool whole = false;

    if (!is_processor(rt, worker) || orr_worker_is_blocked(worker))
        return NULL;
    orr_lock(&rt->tasks->gangs_lock);
    gang = choose_gang_locked(rt, worker);
    if (gang) {
        alias = gang->places[gang->ngiven++].alias;
        whole = gang->ngiven == gang->size;
    }
    if (whole) {
        orr_list_remove(&gang->queue);
        atomic_fetch_sub(&rt->tasks->nrecruiting, 1);
    }
    orr_unlock(&rt->tasks->gangs_lock);
    if (!alias)
        return NULL;
    sched = orr_sched_of(rt, alias);
    if (sched->ops->push_notify)
        sched->ops->push_notify(sched, alias, worker);
    if (whole && orr_recruit_waits(rt))
        wake_all(rt); /* the next one's turn */
    return alias;
}

void orr_recruit_release(struct orr_runtime *rt, const struct orr_gang *gang)
{
    if (!gang->memory)
        return;
    orr_lock(&rt->tasks->gangs_lock);
    rt->tasks->taken[gang->node] -= gang->memory;
    orr_unlock(&rt->tasks->gangs_lock);
    if (orr_recruit_waits(rt)) {
        wake_all(rt);
        if (orr_self->worker)
            orr_self->worker->again = true;
    }
}

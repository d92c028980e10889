/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/holders.c - the report when memory is full and nothing goes on any more:
 * which jobs wait for how much memory of which node, and what holds it. It is made
 * once, when no context runs: takes no locks, need not be fast.
 */
#include <stdio.h>

#include "core/base/log.h"
#include "core/data/label.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/pending.h"
#include "core/data/plan.h"
#include "core/data/registry.h"
#include "core/data/request.h"
#include "core/device/kind_settings.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/slab_set.h"

enum { MAX_HOLDERS = 5 };

struct message {
    char text[160];
};

static struct message data_of(const struct orr_handle *handle)
{
    struct message message;

    if (handle->name)
        snprintf(message.text, sizeof(message.text), "data `%s'", handle->name);
    else
        snprintf(message.text, sizeof(message.text), "data number %llu",
                 (unsigned long long)handle->id);
    return message;
}

static struct message job_name(const struct orr_job *job)
{
    struct message message;

    if (job->task)
        snprintf(message.text, sizeof(message.text), "task `%s' (number %llu)",
                 orr_job_name(job), (unsigned long long)job->id);
    else if (orr_job_is_switch(job))
        snprintf(message.text, sizeof(message.text),
                 "the switch between %.110s and its planned parts",
                 data_of(job->accesses[0].handle).text);
    else
        snprintf(message.text, sizeof(message.text), "%s %.130s",
                 ORR_JOB_IS(job, acquire)   ? "the acquisition of"
                 : ORR_JOB_IS(job, message) ? "a message of"
                                            : "the library's use of",
                 data_of(job->accesses[0].handle).text);
    return message;
}

const char *orr_memory_limit(const struct orr_runtime *rt, unsigned node)
{
    enum orr_config_id limit =
        orr_kind_settings(
            orr_device_kind_of_memory(rt->machine->nodes[node].kind))
            ->limit;

    if (node < rt->nodes->nram && rt->nodes->nram > 1)
        return orr_config_name(ORR_CFG_LIMIT_CPU_NUMA_MEM);
    return limit == ORR_CFG_COUNT ? "the device's memory"
                                  : orr_config_name(limit);
}

/* --- what holds memory --- */

struct user {
    const struct orr_handle *handle;
    unsigned node;
    const struct orr_job *job;
};

static void find_user(void *object, void *arg)
{
    const struct orr_job *job = object;
    struct user *user = arg;

    if (atomic_load(&job->refs) == 0 || orr_job_state(job) == ORR_JOB_DONE)
        return;
    for (unsigned i = 0; i < job->naccesses; i++)
        if (job->accesses[i].pinned && job->accesses[i].node == user->node &&
            job->accesses[i].handle == user->handle)
            user->job = job;
}

static const struct orr_job *
user_of(struct orr_runtime *rt, const struct orr_handle *handle, unsigned node)
{
    struct user user = {handle, node, NULL};

    for (unsigned i = 0; i < ORR_JOB_SLABS; i++)
        orr_slab_each(rt->slabs->jobs[i], find_user, &user);
    return user.job;
}

/* Plans pin their whole's memory in its base. The plans lock may be held. */
static bool is_planned(const struct orr_handle *handle, unsigned node)
    ORR_UNCHECKED
{
    return handle->family && !orr_list_empty(&handle->family->plans) &&
           orr_handle_base(handle) == node;
}

/* A copy from there that found no memory where it goes, or NULL. */
static const struct orr_request *
starving_copy(const struct orr_handle *handle, unsigned node) ORR_UNCHECKED
{
    for (unsigned i = 0; i < handle->nnodes; i++) {
        const struct orr_request *request = handle->replicates[i].request;

        if (request && request->src == node && request->starves)
            return request;
    }
    return NULL;
}

/* Why a replicate cannot leave its block. */
static struct message why_stays(struct orr_runtime *rt,
                                const struct orr_handle *handle, unsigned node)
{
    const struct orr_job *user = user_of(rt, handle, node);
    const struct orr_request *starving = starving_copy(handle, node);
    struct message message;

    if (handle->partitioned && handle->replicates[node].refs > 0)
        snprintf(message.text, sizeof(message.text),
                 "partitioned (starpu_data_unpartition)");
    else if (user && ORR_JOB_IS(user, acquire) &&
             orr_job_state(user) == ORR_JOB_RUNNING)
        snprintf(message.text, sizeof(message.text),
                 "acquired and not released (starpu_data_release)");
    else if (user)
        snprintf(message.text, sizeof(message.text), "used by %.140s",
                 job_name(user).text);
    else if (handle->replicates[node].refs > 0 && is_planned(handle, node))
        snprintf(message.text, sizeof(message.text),
                 "planned parts meet there, since their places in other memory "
                 "are not known (starpu_data_partition_clean)");
    else if (handle->replicates[node].refs > 0 && starving)
        snprintf(message.text, sizeof(message.text),
                 "to be copied to memory node %u, which has no room for it",
                 starving->dst);
    else if (handle->replicates[node].refs > 0)
        snprintf(message.text, sizeof(message.text), "being copied");
    else if (orr_handle_keeps(handle, node))
        snprintf(message.text, sizeof(message.text),
                 "kept there (starpu_data_set_wt_mask)");
    else if (handle->valid != UINT64_C(1) << node)
        snprintf(message.text, sizeof(message.text), "could be evicted");
    else if (orr_handle_base(handle) == node)
        snprintf(message.text, sizeof(message.text),
                 "the only copy, and no other memory to bring it to");
    else
        snprintf(message.text, sizeof(message.text),
                 "the only copy, which memory node %u has no room for",
                 orr_handle_base(handle));
    return message;
}

static bool stays(const struct orr_replicate *replicate)
{
    return replicate->refs > 0 ||
           orr_handle_keeps(replicate->handle, replicate->node) ||
           replicate->handle->valid == UINT64_C(1) << replicate->node;
}

/* Why the handle's block cannot leave the node: the reason of its first replicate that
 * cannot. */
static struct message reason_of(struct orr_runtime *rt,
                                const struct orr_handle *handle, unsigned node)
{
    orr_block_foreach(
        replicate,
        handle->replicates[node]
            .block) if (stays(replicate)) return why_stays(rt,
                                                           replicate->handle,
                                                           node);
    return why_stays(rt, handle, node);
}

/* Pieces live in the block of the whole. */
static bool owns_block(const struct orr_handle *handle, unsigned node)
{
    const struct orr_replicate *replicate = &handle->replicates[node];

    return replicate->block && replicate->block->owner == replicate;
}

/* The largest block on the node after *last: of equal ones that of the handle
 * registered first. NULL: none. */
static const struct orr_handle *next_holder(struct orr_runtime *rt,
                                            unsigned node,
                                            const struct orr_handle *last)
{
    const struct orr_handle *best = NULL;

    orr_list_foreach (link, &rt->data->handles) {
        const struct orr_handle *handle =
            orr_container(link, struct orr_handle, all);

        if (!owns_block(handle, node))
            continue;
        if (last && (handle->size > last->size ||
                     (handle->size == last->size && handle->id <= last->id)))
            continue;
        if (!best || handle->size > best->size ||
            (handle->size == best->size && handle->id < best->id))
            best = handle;
    }
    return best;
}

static void say_holders(struct orr_runtime *rt, const struct orr_node *node)
{
    const struct orr_handle *holder = NULL;
    size_t blocks = 0, used = atomic_load(&node->used);
    unsigned n = 0;

    while ((holder = next_holder(rt, node->id, holder))) {
        blocks += holder->size;
        if (n++ < MAX_HOLDERS)
            orr_log_error("    %s: %zu bytes, %s", data_of(holder).text,
                          holder->size, reason_of(rt, holder, node->id).text);
    }
    if (n > MAX_HOLDERS)
        orr_log_error("    and %u more data", n - MAX_HOLDERS);
    blocks += atomic_load(&node->reserved);
    if (used > blocks)
        orr_log_error("    scratch buffers and memory that the application "
                      "allocated: %zu bytes",
                      used - blocks);
}

/* --- what waits for memory --- */

static void say_job(const struct orr_job *job)
{
    orr_log_error("  %s waits for %zu bytes", job_name(job).text,
                  orr_job_memory(job)->lacks);
}

/* Requests of some node's queues that lack memory of this one. Returns their
 * number. */
static unsigned say_requests(struct orr_runtime *rt,
                             const struct orr_node *node)
{
    unsigned n = 0;

    for (unsigned driver = 0; driver < rt->nodes->n; driver++)
        orr_list_foreach (link, &rt->nodes->at[driver].queues[ORR_FETCH]) {
            const struct orr_request *request =
                orr_container(link, struct orr_request, link);
            const struct orr_handle *handle = request->handle;

            if (request->dst != node->id ||
                handle->replicates[node->id].allocated || n++ > 0)
                continue;
            if (request->src == ORR_NO_NODE)
                orr_log_error("  a new value of %s waits for %zu bytes",
                              data_of(handle).text, handle->size);
            else
                orr_log_error("  a copy of %s from memory node %u waits for "
                              "%zu bytes",
                              data_of(handle).text, request->src, handle->size);
        }
    if (n > 1)
        orr_log_error("  and %u more copies", n - 1);
    return n;
}

/* The least number of bytes that a job lacks there; SIZE_MAX: none lacks any. */
static size_t least_lacking(struct orr_runtime *rt, const struct orr_node *node)
{
    struct orr_heap_link *first = node->admission.urgent.first;
    size_t least =
        first ? orr_container(first, struct orr_job_memory, link)->lacks
              : SIZE_MAX;

    for (unsigned driver = 0; driver < rt->nodes->n; driver++)
        orr_list_foreach (link, &rt->nodes->at[driver].queues[ORR_FETCH]) {
            const struct orr_request *request =
                orr_container(link, struct orr_request, link);
            const struct orr_handle *handle = request->handle;

            if (request->dst == node->id && handle->size < least &&
                !handle->replicates[node->id].allocated)
                least = handle->size;
        }
    return least;
}

/* Others may have what is not in use: another process, or the application. */
static void say_refuses(struct orr_runtime *rt, const struct orr_node *node)
{
    orr_log_error("memory node %u (%s) allocates no more, although %zu of %zu "
                  "bytes are in use, and nothing that goes on can free any",
                  node->id, rt->machine->nodes[node->id].name,
                  atomic_load(&node->used), node->capacity);
}

static void say_full(struct orr_runtime *rt, const struct orr_node *node)
{
    orr_log_error("memory node %u (%s) is full, and nothing that goes on can "
                  "free any: limit %zu bytes, in use %zu",
                  node->id, rt->machine->nodes[node->id].name, node->capacity,
                  atomic_load(&node->used));
}

static bool explain(struct orr_runtime *rt, struct orr_node *node)
{
    struct orr_heap_link *first = node->admission.urgent.first;
    unsigned njobs = atomic_load(&node->admission.nwaiting);
    size_t least = least_lacking(rt, node);
    bool refuses;

    if (node->capacity == 0 || least == SIZE_MAX)
        return false;
    refuses = least <= node->capacity &&
              atomic_load(&node->used) <= node->capacity - least;
    if (refuses)
        say_refuses(rt, node);
    else
        say_full(rt, node);
    if (first)
        say_job(orr_container(first, struct orr_job_memory, link)->job);
    if (njobs > 1)
        orr_log_error("  and %u more", njobs - 1);
    (void)say_requests(rt, node);
    orr_log_error("  who has it:");
    say_holders(rt, node);
    if (refuses)
        orr_log_error("  Free what others have there, lower %s, or give the "
                      "tasks other workers as well.",
                      orr_memory_limit(rt, node->id));
    else
        orr_log_error("  Raise %s, unregister or release data earlier, or use "
                      "fewer workers.",
                      orr_memory_limit(rt, node->id));
    return true;
}

bool orr_memory_explain(struct orr_runtime *rt)
{
    bool any = false;

    for (unsigned node = 0; node < rt->nodes->n; node++)
        any |= explain(rt, &rt->nodes->at[node]);
    return any;
}

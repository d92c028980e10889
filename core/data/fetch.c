/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/fetch.c - a job's data: fetched before its kernel, prefetched when
 * it was scheduled, and how long that would take.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/data/node.h"
#include "core/data/request.h"
#include "core/runtime.h"
#include "core/task/job.h"

static _Noreturn void cannot_fetch(struct orr_runtime *rt,
                                   const struct orr_job *job,
                                   const struct orr_access *access, int err)
{
    const char *name = access->handle->name ? access->handle->name : "";

    if (err == -ENODATA)
        orr_log_error("`%s' reads buffer %u (data %s #%llu), which has no "
                      "value: it was registered without a home node and never "
                      "written. Submit a task that writes it first, or "
                      "register it with its memory.",
                      orr_job_name(job), access->index, name,
                      (unsigned long long)access->handle->id);
    else
        orr_log_error("`%s': no memory for buffer %u (%zu bytes)",
                      orr_job_name(job), access->index, access->handle->size);
    orr_runtime_fail(rt);
}

static void pin(struct orr_runtime *rt, struct orr_access *access,
                unsigned node)
{
    struct orr_replicate *replicate = &access->handle->replicates[node];

    replicate->refs++;
    orr_node_retain(&rt->nodes[node], replicate);
    access->pinned = 1;
    access->node = (uint16_t)node;
}

/* Returns whether the datum is there. */
static bool fetch_one(struct orr_runtime *rt, struct orr_job *job,
                      struct orr_access *access, unsigned node, uint64_t *wake)
{
    struct orr_handle *handle = access->handle;
    int there;

    orr_lock(&handle->lock);
    pin(rt, access, node);
    atomic_fetch_add_explicit(&job->pending, 1, memory_order_relaxed);
    there = orr_request_need(rt, handle, node, access->mode & STARPU_R,
                             ORR_FETCH, access, wake);
    orr_unlock(&handle->lock);
    if (there < 0)
        cannot_fetch(rt, job, access, there);
    if (there)
        atomic_fetch_sub_explicit(&job->pending, 1, memory_order_relaxed);
    return there;
}

bool orr_job_fetch(struct orr_runtime *rt, struct orr_job *job, unsigned node)
{
    uint64_t wake = 0;

    /* One more until all have been asked for. */
    atomic_store_explicit(&job->pending, 1, memory_order_relaxed);
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];

        if (access->duplicate || access->mode & STARPU_SCRATCH)
            continue;
        fetch_one(rt, job, access, node, &wake);
    }
    orr_nodes_kick(rt, wake);
    return atomic_fetch_sub_explicit(&job->pending, 1, memory_order_acq_rel) ==
           1;
}

void orr_handle_prefetch(struct orr_runtime *rt, struct orr_handle *handle,
                         unsigned node, enum orr_fetch_level level)
{
    uint64_t wake = 0;

    orr_lock(&handle->lock);
    (void)orr_request_need(rt, handle, node, true, level, NULL, &wake);
    orr_unlock(&handle->lock);
    orr_nodes_kick(rt, wake);
}

void orr_job_prefetch(struct orr_runtime *rt, struct orr_job *job,
                      unsigned node, enum orr_fetch_level level)
{
    uint64_t bit = UINT64_C(1) << node;

    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];
        struct orr_handle *handle = access->handle;

        if (access->duplicate || !(access->mode & STARPU_R) ||
            access->mode & STARPU_SCRATCH)
            continue;
        if ((atomic_load_explicit(&handle->valid, memory_order_relaxed) |
             atomic_load_explicit(&handle->loading, memory_order_relaxed)) &
            bit)
            continue;
        orr_handle_prefetch(rt, handle, node, level);
    }
}

static double from_best_source(struct orr_runtime *rt, uint64_t valid,
                               unsigned node, size_t size)
{
    const bool *direct = rt->machine->direct;
    double best = -1;

    for (uint64_t left = valid; left; left &= left - 1) {
        unsigned src = (unsigned)__builtin_ctzll(left);
        double time;

        if (direct[src * rt->nnodes + node])
            time = orr_transfer_predict(rt, src, node, size);
        else
            time = orr_transfer_predict(rt, src, 0, size) +
                   orr_transfer_predict(rt, 0, node, size);
        if (best < 0 || time < best)
            best = time;
    }
    return best < 0 ? 0 : best;
}

double orr_handle_transfer_time(struct orr_runtime *rt,
                                const struct orr_handle *handle, unsigned node,
                                uint32_t mode)
{
    uint64_t bit = UINT64_C(1) << node;
    uint64_t valid = atomic_load_explicit(&handle->valid, memory_order_relaxed);
    double time;

    if (!(mode & STARPU_R) || handle->size == 0)
        return 0;
    if ((valid | atomic_load_explicit(&handle->loading, memory_order_relaxed)) &
        bit)
        return 0;
    time = from_best_source(rt, valid, node, handle->size);
    if (rt->count_write_back && mode & STARPU_W && handle->home_node >= 0)
        time += orr_transfer_predict(rt, node, (unsigned)handle->home_node,
                                     handle->size);
    return time;
}

uint64_t orr_job_absent(const struct orr_job *job)
{
    uint64_t absent = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        const struct orr_handle *handle = access->handle;

        if (access->mode & STARPU_R && !(access->mode & STARPU_SCRATCH))
            absent |=
                ~(atomic_load_explicit(&handle->valid, memory_order_relaxed) |
                  atomic_load_explicit(&handle->loading, memory_order_relaxed));
    }
    return absent;
}

double orr_job_transfer_time(struct orr_runtime *rt, const struct orr_job *job,
                             unsigned node)
{
    double sum = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (!access->duplicate && !(access->mode & STARPU_SCRATCH))
            sum += orr_handle_transfer_time(rt, access->handle, node,
                                            access->mode);
    }
    return sum;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/undo.c - what a job has done to its data is undone, since the device has
 * failed. A writer makes the copies of the old value elsewhere invalid, but their
 * memory holds it still until it is freed (orr_handle.former): they become the value
 * again. No job has seen the new one, since this one has not ended.
 */
#include "core/data/lost.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/reduction.h"
#include "core/job/job.h"

static bool reads(const struct orr_access *access)
{
    return access->mode & STARPU_R || access->mode & STARPU_REDUX;
}

/* Whether the value is what it was. A partial without contributions had none. */
static bool undo_locked(struct orr_handle *handle,
                        const struct orr_access *access, bool begun)
    ORR_REQUIRES(handle->lock)
{
    const struct orr_runtime *rt = handle->runtime;
    uint64_t here = UINT64_C(1) << access->at;
    uint64_t lost =
        atomic_load_explicit(&rt->nodes->lost, memory_order_relaxed);
    uint64_t values = handle->former & ~here & ~lost;
    bool had_none = access->mode & STARPU_REDUX && !handle->former;

    if (!begun && reads(access) && !had_none && !(lost & here))
        return true;
    if (reads(access) && !had_none && !values)
        return false;
    /* These nodes have the value, and are used now. */
    orr_handle_outdate_locked(handle, values);
    for (uint64_t left = values; left; left &= left - 1)
        if (handle->replicates[__builtin_ctzll(left)].block)
            orr_node_touch(handle, (unsigned)__builtin_ctzll(left));
    return true;
}

/* Whether the job has written the datum, or its kernel may have. Of several accesses to a
 * datum the first one counts. */
static bool has_written(const struct orr_access *access)
{
    bool writes = access->writes ||
                  (access->job->data.flat && access->mode & STARPU_W);

    return writes && !access->duplicate && !(access->mode & STARPU_SCRATCH);
}

const struct orr_access *orr_job_undo_data(struct orr_runtime *rt,
                                           struct orr_job *job, bool begun)
{
    (void)rt;
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];
        struct orr_handle *handle = orr_access_datum(access);
        bool first = false, done;

        if (!has_written(access))
            continue;
        orr_lock(&handle->lock);
        done = undo_locked(handle, access, begun);
        first = access->mode & STARPU_REDUX && !handle->valid;
        orr_unlock(&handle->lock);
        if (!done)
            return access;
        if (first)
            orr_handle_uncount_partial(access->handle);
    }
    return NULL;
}

void orr_job_forget_data(struct orr_runtime *rt, struct orr_job *job)
{
    orr_job_drop_data(rt, job);
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct orr_access *access = &job->accesses[i];

        orr_lock(&access->handle->lock);
        access->used = 0;
        orr_unlock(&access->handle->lock);
        access->begins = 0;
    }
    job->converts = 0;
    job->asked = job->left = 0;
    atomic_store_explicit(&job->data.broken, ORR_NOT_BROKEN,
                          memory_order_relaxed);
}

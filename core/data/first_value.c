/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/first_value.c - the first value of data that are read before they are
 * written: the init codelet, as a task that takes its place in the order before
 * the reader. Of several threads that submit readers one submits it; the others
 * wait until it has its place, which takes no longer than a submission. A writer
 * of another thread may come in between: then the data have a value when it is the
 * task's turn, and what it makes is thrown away (fetch.c).
 *
 * Readers without order have no such place: they find out when they claim the data
 * (claim.c).
 */
#include <errno.h>

#include "core/data/plan.h"
#include "core/data/reduction.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/task/task.h"

void orr_handle_forget_beginning(struct orr_handle *handle)
{
    if (handle->reduction)
        atomic_store_explicit(&handle->reduction->beginning, ORR_BEGINNING_NONE,
                              memory_order_release);
    orr_parts_inherit_beginning(handle);
}

/* Whether the caller has to submit the init codelet. */
static bool takes_turn(struct orr_handle *handle)
{
    struct orr_reduction *reduction = handle->reduction;
    unsigned char state = ORR_BEGINNING_NONE;

    if (!reduction->init)
        return false;
    while (!atomic_compare_exchange_weak(&reduction->beginning, &state,
                                         ORR_BEGINNING_COMING)) {
        if (state == ORR_BEGINNING_MADE ||
            (state == ORR_BEGINNING_INHERITED && orr_whole_has_begun(handle)))
            return false;
        if (state == ORR_BEGINNING_INHERITED)
            continue;
        if (state == ORR_BEGINNING_COMING)
            orr_spin(); /* another context is submitting it */
        state = ORR_BEGINNING_NONE;
    }
    return true;
}

static int submit_init(struct orr_runtime *rt, struct orr_handle *handle)
{
    struct starpu_task *task = orr_task_new(rt);
    struct orr_job *job;
    int err = -ENOMEM;

    if (!task)
        return -ENOMEM;
    task->cl = handle->reduction->init;
    task->cl_arg = handle->reduction->init_arg;
    STARPU_TASK_SET_HANDLE(task, orr_handle_public(handle), 0);
    job = orr_job_get(rt, task);
    if (job) {
        job->data.first = 1;
        err = orr_task_submit_own(rt, task, false);
    }
    if (err)
        orr_task_free(rt, task);
    return err;
}

int orr_handle_begin(struct orr_runtime *rt, struct orr_handle *handle)
{
    int err;

    if (!handle->reduction || !takes_turn(handle))
        return 0;
    err = submit_init(rt, handle);
    if (err)
        orr_handle_forget_beginning(handle);
    return err;
}

int orr_job_begin_data(struct orr_runtime *rt, struct orr_job *job)
{
    int err = 0;

    for (unsigned i = 0; !err && i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (access->wants_order && !access->duplicate &&
            access->mode & STARPU_R && !(access->mode & STARPU_SCRATCH))
            err = orr_handle_begin(rt, access->handle);
    }
    return err;
}

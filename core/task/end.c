/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/end.c - end dependencies: a task whose kernel is over does not count as
 * ended until certain other tasks have ended, or the application has said so.
 */
#include <errno.h>

#include "core/data/release.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/task/end.h"

void orr_job_let_end(struct orr_runtime *rt, struct orr_job *job)
{
    if (orr_count_off(&job->ending, ORR_END_ASKED))
        orr_job_complete(rt, job);
}

static void let_end(void *arg)
{
    struct orr_runtime *rt = orr_self->runtime;

    orr_job_end(rt, arg);
    orr_job_unref_n(rt, arg, 1);
}

int orr_job_end_after(struct orr_runtime *rt, struct orr_job *job, unsigned n,
                      struct orr_job *const *before)
{
    struct orr_job *event = orr_job_new(rt, &orr_job_after, 0);

    if (!event)
        return -ENOMEM;
    orr_job_own(event)->callback = let_end;
    orr_job_own(event)->arg = job;
    orr_job_ref(job); /* its task may be destroyed without being submitted */
    orr_job_set_state(event, ORR_JOB_BLOCKED);
    orr_job_end_later(job, 1);
    for (unsigned i = 0; i < n; i++)
        if (orr_job_add_dep(rt, event, before[i]) == -ENOMEM)
            return -ENOMEM;
    orr_job_release(rt, event);
    return 0;
}

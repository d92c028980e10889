/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/task_end.c - what the end of a task waits for beside its kernel.
 * To be called before the task has ended.
 */
#include <stdarg.h>
#include <stdlib.h>

#include <starpu.h>

#include "core/api/api.h"
#include "core/base/log.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/observe/calls.h"
#include "core/observe/views.h"
#include "core/task/end.h"

static struct orr_job *job_of(struct orr_runtime *rt, const char *call,
                              struct starpu_task *task)
{
    struct orr_job *job = task ? orr_job_get(rt, task) : NULL;

    if (job)
        return job;
    orr_log_error("%s: %s", call, task ? "out of memory" : "the task is NULL");
    abort();
}

/* The task's job; that of its next run if the last run is over. */
static struct orr_job *next_job_of(struct orr_runtime *rt, const char *call,
                                   struct starpu_task *task)
{
    struct orr_job *job = task ? orr_job_get_next(rt, task) : NULL;

    if (job)
        return job;
    orr_log_error("%s: %s", call, task ? "out of memory" : "the task is NULL");
    abort();
}

void starpu_task_declare_end_deps_array(struct starpu_task *task,
                                        unsigned ndeps,
                                        struct starpu_task *task_array[])
{
    static const char call[] = "starpu_task_declare_end_deps_array";
    ORR_API(rt, call);
    struct orr_job *job = next_job_of(rt, call, task);

    orr_api_array(call, task_array, ndeps, "tasks");
    ORR_RECORD_ABOUT(
        rt, ORR_ABOUT(.task = task, .before = task_array, .n = ndeps),
        END_DEPEND);
    for (unsigned i = 0; i < ndeps; i++) {
        struct orr_job *before = job_of(rt, call, task_array[i]);

        if (task_array[i] == task) {
            orr_log_error("%s: task `%s': a task cannot end after itself", call,
                          orr_job_name(job));
            abort();
        }
        if (orr_job_end_after(rt, job, 1, &before) != 0) {
            orr_log_error("%s: out of memory", call);
            abort();
        }
    }
}

void starpu_task_declare_end_deps(struct starpu_task *task, unsigned ndeps, ...)
{
    va_list args;

    va_start(args, ndeps);
    for (unsigned i = 0; i < ndeps; i++) {
        struct starpu_task *before = va_arg(args, struct starpu_task *);

        starpu_task_declare_end_deps_array(task, 1, &before);
    }
    va_end(args);
}

void starpu_task_end_dep_add(struct starpu_task *t, int nb_deps)
{
    ORR_API(rt, __func__);

    ORR_RECORD_ABOUT(rt, ORR_ABOUT(.task = t), END_HOLD,
                     .value = (uint64_t)nb_deps);
    orr_job_end_later(next_job_of(rt, __func__, t), nb_deps);
}

/* Until the task is ready its own execution counts as one of the ends awaited; the
 * application must not release that one. */
static void expect_held(const char *call, const struct orr_job *job)
{
    int ending = atomic_load_explicit(&job->ending, memory_order_acquire);
    enum orr_job_state state = orr_job_state(job); /* not earlier */

    if (state != ORR_JOB_DONE && (state >= ORR_JOB_READY || ending > 1))
        return;
    orr_log_error("%s: task `%s' %s: call starpu_task_end_dep_add for each "
                  "release",
                  call, orr_job_name(job),
                  state == ORR_JOB_DONE ? "has ended"
                                        : "is not held back by anything more");
    abort();
}

void orr_api_end_dep_release(const char *call, struct starpu_task *t)
{
    ORR_API(rt, call);

    expect_held(call, job_of(rt, call, t));
    ORR_RECORD_ABOUT(rt, ORR_ABOUT(.task = t), END_RELEASE);
    orr_job_end(rt, job_of(rt, call, t));
}

void starpu_task_end_dep_release(struct starpu_task *t)
{
    orr_api_end_dep_release(__func__, t);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/task_dep.c - dependencies between tasks. Any thread. */
#include <stdarg.h>

#include "core/api/api.h"
#include "core/observe/graph_record.h"
#include "core/task/job.h"

static struct orr_job *job_of(const char *call, struct starpu_task *task)
{
    struct orr_job *job = NULL;

    if (task)
        job = orr_job_get(orr_runtime_need(call), task);
    if (job)
        return job;
    orr_log_error("%s: %s", call, task ? "out of memory" : "the task is NULL");
    abort();
}

/* That of the next run, if the last one is over. */
static struct orr_job *next_job_of(const char *call, struct starpu_task *task)
{
    struct orr_job *job = job_of(call, task);

    if (orr_job_state(job) != ORR_JOB_DONE)
        return job;
    job = orr_job_get_next(orr_runtime_need(call), task);
    if (job)
        return job;
    orr_log_error("%s: out of memory", call);
    abort();
}

static void add_dep(struct starpu_task *task, struct starpu_task *before)
{
    static const char call[] = "starpu_task_declare_deps";
    struct orr_runtime *rt = orr_runtime_need(call);
    struct orr_job *job = next_job_of(call, task);
    const char *trouble = NULL;

    if (orr_job_state(job) != ORR_JOB_NEW)
        trouble = "the task was submitted already; declare its dependencies "
                  "before";
    else if (task == before)
        trouble = "a task cannot wait for itself";
    else if (orr_job_add_dep(rt, job, job_of(call, before)) < 0)
        trouble = "out of memory";
    else if (orr_runtime_graph(rt))
        orr_graph_record_dep(orr_runtime_graph(rt), job, job_of(call, before));
    if (!trouble)
        return;
    orr_log_error("%s: task `%s': %s", call, orr_job_name(job), trouble);
    abort();
}

void starpu_task_declare_deps_array(struct starpu_task *task, unsigned ndeps,
                                    struct starpu_task **task_array)
{
    for (unsigned i = 0; i < ndeps; i++)
        add_dep(task, task_array[i]);
}

void starpu_task_declare_deps(struct starpu_task *task, unsigned ndeps, ...)
{
    va_list args;

    va_start(args, ndeps);
    for (unsigned i = 0; i < ndeps; i++)
        add_dep(task, va_arg(args, struct starpu_task *));
    va_end(args);
}

/* Those tasks that wait for this one and have got at least as far as `state`,
 * as many as fit; returns how many there are. */
static int collect(const char *call, struct starpu_task *task, unsigned ndeps,
                   struct starpu_task **task_array, enum orr_job_state state)
{
    struct orr_job *job = job_of(call, task);
    unsigned n = 0;

    orr_lock(&job->lock);
    for (struct orr_edge *edge = job->successors; edge; edge = edge->next) {
        if (!edge->job->task || orr_job_state(edge->job) < state)
            continue;
        if (n < ndeps)
            task_array[n] = edge->job->task;
        n++;
    }
    orr_unlock(&job->lock);
    return (int)n;
}

int starpu_task_get_task_succs(struct starpu_task *task, unsigned ndeps,
                               struct starpu_task **task_array)
{
    return collect(__func__, task, ndeps, task_array, ORR_JOB_NEW);
}

int starpu_task_get_task_scheduled_succs(struct starpu_task *task,
                                         unsigned ndeps,
                                         struct starpu_task **task_array)
{
    return collect(__func__, task, ndeps, task_array, ORR_JOB_READY);
}

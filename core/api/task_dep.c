/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/task_dep.c - dependencies between tasks. Any thread. */
#include <stdarg.h>

#include "core/api/api.h"
#include "core/api/early.h"
#include "core/job/job.h"
#include "core/observe/views.h"
#include "core/task/task.h"

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

/* The task's job; that of its next run if the last run is over. */
static struct orr_job *next_job_of(const char *call, struct starpu_task *task)
{
    struct orr_job *job =
        task ? orr_job_get_next(orr_runtime_need(call), task) : NULL;

    if (job)
        return job;
    orr_log_error("%s: %s", call, task ? "out of memory" : "the task is NULL");
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
    else
        ORR_TELL(rt, ORR_TOLD_DEPENDENCY, .job = job,
                 .before = job_of(call, before));
    if (!trouble)
        return;
    orr_log_error("%s: task `%s': %s", call, orr_job_name(job), trouble);
    abort();
}

static void early_dep(uint64_t task, unsigned one, uint64_t *before)
{
    struct starpu_task *other = (struct starpu_task *)(uintptr_t)*before;

    starpu_task_declare_deps_array((struct starpu_task *)(uintptr_t)task, one,
                                   &other);
}

void starpu_task_declare_deps_array(struct starpu_task *task, unsigned ndeps,
                                    struct starpu_task **task_array)
{
    ORR_API_IF(rt, "starpu_task_declare_deps");

    orr_api_array(__func__, task_array, ndeps, "tasks");
    /* One by one: some may be destroyed before the run. */
    for (unsigned i = 0; !rt && i < ndeps; i++)
        orr_early_keep(__func__, early_dep, (uintptr_t)task, 1,
                       &(uint64_t){(uintptr_t)task_array[i]});
    if (!rt)
        return;
    for (unsigned i = 0; i < ndeps; i++)
        if (task_array[i] && orr_task_has_ended_before(task_array[i])) {
            starpu_task_declare_deps_array(task, i, task_array);
            starpu_task_declare_deps_array(task, ndeps - i - 1,
                                           task_array + i + 1);
            return;
        }
    ORR_RECORD_ABOUT(
        rt, ORR_ABOUT(.task = task, .before = task_array, .n = ndeps), DEPEND);
    for (unsigned i = 0; i < ndeps; i++)
        add_dep(task, task_array[i]);
}

void starpu_task_declare_deps(struct starpu_task *task, unsigned ndeps, ...)
{
    va_list args;

    va_start(args, ndeps);
    for (unsigned i = 0; i < ndeps; i++) {
        struct starpu_task *before = va_arg(args, struct starpu_task *);

        starpu_task_declare_deps_array(task, 1, &before);
    }
    va_end(args);
}

/* --- successors --- */

struct successors {
    struct starpu_task **tasks;
    unsigned n, room;
};

/* Whether a policy will get the task. */
static bool is_scheduled(const struct starpu_task *task)
{
    return task->cl && task->where != STARPU_NOWHERE &&
           task->cl->where != STARPU_NOWHERE &&
           !task->execute_on_a_specific_worker;
}

static void add_task(struct successors *ret, const struct orr_job *job,
                     bool scheduled)
{
    struct starpu_task *task = job->task;

    if (!task || (scheduled && !is_scheduled(task)))
        return;
    for (unsigned i = 0; i < ret->n && i < ret->room; i++)
        if (ret->tasks[i] == task)
            return;
    if (ret->n < ret->room)
        ret->tasks[ret->n] = task;
    ret->n++;
}

static void add_declared(struct successors *ret, struct orr_job *job,
                         bool scheduled)
{
    orr_lock(&job->lock);
    for (const struct orr_edge *edge = job->successors; edge; edge = edge->next)
        add_task(ret, edge->job, scheduled);
    orr_unlock(&job->lock);
}

/* Adds the tasks that come next in the order of the access's handle. */
static void add_ordered(struct successors *ret, struct orr_access *access,
                        bool scheduled)
{
    struct orr_handle *handle = access->handle;

    orr_lock(&handle->lock);
    for (const struct orr_access *next =
             orr_turns_behind(&handle->turns, access);
         next; next = orr_turns_mate(&handle->turns, next))
        add_task(ret, next->job, scheduled);
    orr_unlock(&handle->lock);
}

/* Writes as many successors of the task as there is room for; returns how many there
 * are. */
static int collect(const char *call, struct starpu_task *task, unsigned ndeps,
                   struct starpu_task **task_array, bool scheduled)
{
    struct orr_job *job = job_of(call, task);
    struct successors ret = {.tasks = task_array, .room = ndeps};

    orr_api_array(call, task_array, ndeps, "tasks");
    add_declared(&ret, job, scheduled);
    for (unsigned i = 0;
         orr_job_state(job) != ORR_JOB_NEW && i < job->naccesses; i++)
        add_ordered(&ret, &job->accesses[i], scheduled);
    return (int)ret.n;
}

int starpu_task_get_task_succs(struct starpu_task *task, unsigned ndeps,
                               struct starpu_task **task_array)
{
    ORR_QUESTION();
    return collect(__func__, task, ndeps, task_array, false);
}

int starpu_task_get_task_scheduled_succs(struct starpu_task *task,
                                         unsigned ndeps,
                                         struct starpu_task **task_array)
{
    ORR_QUESTION();
    return collect(__func__, task, ndeps, task_array, true);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/task_ft.c - tasks that may fail: one that never computes ("meta")
 * holds the data and the dependencies, others try in its place until one has
 * succeeded. In the contexts of prologues, kernels and callbacks.
 */
#include <stdlib.h>
#include <string.h>

#include "core/api/api.h"
#include "core/cost/cost.h"
#include "core/job/job.h"

static _Noreturn void task_ft_refuse(const char *call,
                                     const struct starpu_task *task,
                                     const char *why)
{
    orr_log_error("%s: task `%s' %s", call,
                  orr_job_of(task) ? orr_job_name(orr_job_of(task)) : "?", why);
    abort();
}

/* Notes that the next try is not to go where the template has failed, if it can go
 * elsewhere. */
static void mark_try(struct orr_runtime *rt, struct orr_job *job,
                     struct orr_job *before)
{
    struct orr_job_rare *rare = orr_job_make_rare(job);

    if (!rare)
        task_ft_refuse("starpu_task_ft_create_retry", job->task,
                       "cannot be tried: out of memory");
    rare->may_fail = true;
    if (before && orr_job_avoided(before) && orr_job_may_avoid(rt, before, 0))
        orr_job_avoid(rt, job, orr_job_avoided(before));
}

struct starpu_task *
starpu_task_ft_create_retry(const struct starpu_task *meta_task,
                            const struct starpu_task *template_task,
                            void (*check_ft)(void *))
{
    struct orr_runtime *rt = orr_runtime_need(__func__);
    struct starpu_task *task;
    struct orr_job *job;

    if (meta_task->callback_func)
        task_ft_refuse(
            __func__, meta_task,
            "has a callback, which each try would need for the check: leave "
            "it out");
    if (meta_task->cl_arg_free || meta_task->prologue_callback_pop_arg_free)
        task_ft_refuse(
            __func__, meta_task,
            "owns arguments that its tries use: give cl_arg with "
            "STARPU_CL_ARGS_NFREE, and arguments of callbacks likewise");
    task = orr_api_task_copy(template_task);
    if (!task)
        task_ft_refuse(__func__, meta_task, "cannot be tried: out of memory");
    task->prologue_callback_func = NULL;
    task->prologue_callback_arg = NULL;
    task->callback_func = check_ft;
    task->callback_arg = (void *)(uintptr_t)meta_task;
    task->detach = task->destroy = 1;
    task->use_tag = task->synchronous = task->regenerate = 0;
    task->failed = 0;
    job = orr_job_get(rt, task);
    if (!job)
        task_ft_refuse(__func__, meta_task, "cannot be tried: out of memory");
    mark_try(rt, job, orr_job_of(template_task));
    return task;
}

static void check_for_ever(void *arg);

static void try_task(struct starpu_task *meta,
                     const struct starpu_task *template_task,
                     void (*check)(void *))
{
    struct starpu_task *task =
        starpu_task_ft_create_retry(meta, template_task, check);

    if (starpu_task_submit_nodeps(task) != 0)
        task_ft_refuse("starpu_task_ft_prologue", meta,
                       "cannot be submitted again");
}

/* The callback of a try without a check of its own. */
static void check_for_ever(void *arg)
{
    struct starpu_task *meta = arg, *task = starpu_task_get_current();

    if (task->failed)
        try_task(meta, task, check_for_ever);
    else
        starpu_task_ft_success(meta);
}

/* The try comes first: it is to have the meta task's codelet and place. */
void starpu_task_ft_prologue(void *check_ft)
{
    struct starpu_task *meta = starpu_task_get_current();
    void (*check)(void *) = check_for_ever;

    if (!meta) {
        orr_log_error("%s: there is no present task: use it as prologue "
                      "callback (task->prologue_callback_func)",
                      __func__);
        abort();
    }
    if (check_ft)
        memcpy(&check, &check_ft, sizeof(check));
    starpu_task_end_dep_add(meta, 1);
    try_task(meta, meta, check);
    meta->where = STARPU_NOWHERE;
}

void starpu_task_ft_failed(struct starpu_task *task)
{
    if (!task) {
        orr_log_error("%s: the task is NULL: call it from the kernel of a try, "
                      "with starpu_task_get_current()",
                      __func__);
        abort();
    }
    for (unsigned i = 0; task->cl && i < STARPU_TASK_GET_NBUFFERS(task); i++) {
        enum starpu_data_access_mode mode = STARPU_TASK_GET_MODE(task, i);

        if (mode != STARPU_R && mode != STARPU_W)
            task_ft_refuse(
                __func__, task,
                "has a buffer that is neither STARPU_R nor STARPU_W: what a "
                "failed try left in it cannot be undone");
    }
    task->failed = 1;
}

void starpu_task_ft_success(struct starpu_task *meta_task)
{
    orr_api_end_dep_release(__func__, meta_task);
}

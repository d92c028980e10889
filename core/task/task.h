/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/task.h - tasks as the application hands them in: allocation,
 * submission, waiting.
 */
#pragma once

#include <starpu.h>

#include "core/job/job.h"

struct orr_slab;

/* Memory of tasks, which is the process's: tasks may be made before a run, and end after
 * it. `alone`: for a run whose threads use it beside those of other runs; it is nobody
 * else's until it is returned (NULL: nothing). Any thread. Errors: -ENOMEM. */
int orr_task_slab(bool alone, struct orr_slab **ret);
void orr_task_slab_return(const struct orr_slab *slab);

/* What a task is marked with that lies in that memory: by its address, so that one that
 * the application has allocated has no such mark, be it a copy of such a task. */
static inline unsigned orr_task_mark_of(const struct starpu_task *task)
{
    uint64_t bits = (uint64_t)(uintptr_t)task * UINT64_C(0x9e3779b97f4a7c15);

    return (unsigned)(bits >> 32) | 1;
}

static inline void orr_task_mark(struct starpu_task *task)
{
    task->nb_termination_call_required = orr_task_mark_of(task);
}

static inline bool orr_task_is_ours(const struct starpu_task *task)
{
    return task->nb_termination_call_required == orr_task_mark_of(task);
}

/* Gives the memory of a task back to the slab, or to it what malloc has made. */
void orr_task_put(struct orr_slab *slab, struct starpu_task *task);

/* As orr_slab_get_zeroed and orr_task_put of it, by a thread that belongs to no run. */
struct starpu_task *orr_task_take_outside(void);
void orr_task_put_outside(struct starpu_task *task);

/* A task with default fields, to be freed by orr_task_free; NULL when memory
 * is out. No run (rt is NULL): any thread. */
struct starpu_task *orr_task_new(struct orr_runtime *rt);

/* Frees a task of orr_task_new and what it owns (cl_arg with cl_arg_free …);
 * it is not submitted, or done. No run (rt is NULL): its job went with its run. */
void orr_task_free(struct orr_runtime *rt, struct starpu_task *task);

/* The same for a task whose job has ended: the task's reference on the job becomes the
 * caller's. */
void orr_task_free_ended(struct orr_runtime *rt, struct starpu_task *task);

/* The same for one that is plain (orr_job_is_plain): it owns nothing. */
void orr_task_free_plain(struct orr_runtime *rt, struct starpu_task *task);

/* The run is over, and no context looks at its tasks any more: frees what the jobs own
 * that the application has never destroyed or that have not ended, and the tasks that
 * were to be freed at their end. Others are left to the application, without job. */
void orr_tasks_drop(struct orr_runtime *rt);

/* The run was left where it was, and none of its contexts goes on: the memory of the
 * tasks that it had submitted is the process's again. */
void orr_tasks_abandon(struct orr_runtime *rt);

/* Whether it was freed, and its memory is no other task's yet. */
extern struct starpu_codelet orr_task_freed;
static inline bool orr_task_is_freed(const struct starpu_task *task)
{
    return task->cl == &orr_task_freed;
}

/* Whether the application's task has ended in an earlier run, with which its job went: it
 * was not submitted in this one. */
static inline bool orr_task_has_ended_before(const struct starpu_task *task)
{
    return !orr_job_of(task) && task->status == STARPU_TASK_FINISHED;
}

/* Frees what the task owns, but not the task: starpu_task_clean. After the end of
 * the runtime (rt is NULL), with which its job went, too. */
void orr_task_clean(struct orr_runtime *rt, struct starpu_task *task);

/* Submits. Errors: -EINVAL with a message, -ENODEV no worker can run it, -ENOMEM; then
 * the task stays the caller's. Blocks while virtual time passes, for a synchronous task
 * until it is done, and with `called` until its function has returned. `implicit` false
 * leaves out the implicit dependencies. */
int orr_task_submit(struct orr_runtime *rt, struct starpu_task *task,
                    bool implicit, bool called);

/* The same for a task whose kernel is launched with others (enum orr_in_graph). */
int orr_task_submit_in_graph(struct orr_runtime *rt, struct starpu_task *task,
                             unsigned in_graph);

/* The same for a task that takes several processors of one memory node, and memory there
 * (core/sched/recruit.h), and names no worker. */
int orr_task_submit_on_host(struct orr_runtime *rt, struct starpu_task *task,
                            unsigned ncores, size_t memory);

/* Submits a task that has ended and regenerates. Does not block. */
void orr_task_regenerate(struct orr_runtime *rt, struct starpu_task *task);

/* Submits a task of the runtime's own, whose codelet the application gave. With `lent`,
 * the job that holds its data lends them to it: they are neither ordered nor claimed,
 * and only declared dependencies hold the task back. Errors: -ENODEV, -ENOMEM; then the
 * task stays the caller's. Does not block. */
int orr_task_submit_own(struct orr_runtime *rt, struct starpu_task *task,
                        bool lent);

/* Submits a task that goes past the policy (core/sched/direct.h): its codelet has a
 * function for processors and nothing else, its data are ordered, none of them is
 * scratch, reduced or planned. Errors: -EINVAL, with a message, -ENOMEM; then the
 * task stays the caller's. Does not block. */
int orr_task_submit_direct(struct orr_runtime *rt, struct starpu_task *task);

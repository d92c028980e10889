/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/again.h - tasks that run more than once: submitted again by the
 * application when they have ended, or by themselves (regenerate).
 *
 * A job is one run of a task, and the next run has a job of its own. What lasts
 * are the dependencies between tasks that were declared: each predecessor must
 * end once more for each run, counted from the end of the run before. Only tasks
 * whose structure outlives its run (destroy = 0) have that, and their successors.
 * All of it is behind one lock (rank ORR_RANK_SUBMIT): few programs use it.
 */
#pragma once

#include <stdbool.h>

#include <starpu_task.h>

struct orr_agains;
struct orr_edge;
struct orr_job;
struct orr_runtime;

/* The tasks of a runtime that may run more than once. Errors: -ENOMEM. NULL may be
 * freed. */
int orr_agains_new(struct orr_agains **ret);
void orr_agains_free(struct orr_agains *agains);

/* What becomes of a task that has ended. */
enum orr_fate {
    ORR_FATE_NONE, /* it is the application's; it may run again already */
    ORR_FATE_FREE,
    ORR_FATE_REGENERATE,
};

/* A job for the next run of a task whose last run has ended, as far as the task's
 * status says so. It replaces the task's last job, unless another thread has replaced
 * that meanwhile: then the other thread's job is returned. NULL without memory. */
struct orr_job *orr_again_job(struct orr_runtime *rt, struct starpu_task *task);

/* The job of the task, with a reference for the caller, so that it stays whatever
 * becomes of the task; NULL: it has none. */
struct orr_job *orr_again_ref(struct orr_runtime *rt, struct starpu_task *task);

/* The job is over, and its task may run once more: jobs that waited for it are
 * remembered, and jobs that wait for a further run of the task are added to *edges if
 * nothing else holds them back. No lock held. */
void orr_again_over(struct orr_runtime *rt, struct orr_job *job,
                    struct orr_edge **edges);

/* µs, 0: there was none. */
struct orr_callback_times {
    double start, end;
};

/* What the fields of a task say becomes of it, which has ended. */
enum orr_fate orr_task_fate_further(struct orr_runtime *rt,
                                    const struct starpu_task *task);
static inline enum orr_fate orr_task_fate(struct orr_runtime *rt,
                                          const struct starpu_task *task)
{
    if (task->regenerate)
        return orr_task_fate_further(rt, task);
    return task->destroy && task->detach && !task->synchronous ? ORR_FATE_FREE
                                                                : ORR_FATE_NONE;
}

/* The callback has returned: decides what becomes of the task, and notes when that was
 * in its profile. From then on only a caller that got more than ORR_FATE_NONE may touch
 * it. */
enum orr_fate orr_again_decide(struct orr_runtime *rt, struct orr_job *job,
                               const struct orr_callback_times *times);

/* The task is to be freed when it has ended. Returns true if it has: the caller
 * does it then. */
bool orr_again_set_destroy(struct orr_runtime *rt, struct starpu_task *task);

/* Makes the job of the next run of a task that regenerates. It waits for the ends of
 * the tasks that the last run released, but those that stay behind. NULL without
 * memory. */
struct orr_job *orr_again_regenerate(struct orr_runtime *rt,
                                     struct starpu_task *task);

/* Whether the task has ended, with its callbacks: a task that was submitted anew in
 * them has not. No lock held. */
bool orr_again_has_ended(struct orr_runtime *rt, struct starpu_task *task);

/* Visits the jobs that wait for runs of tasks, with the job, the task, and whether the
 * task's run is under way. If `back`, the job is a further run of a task that
 * regenerates, which waits for the ends of the tasks that its last run released. For
 * reports when nothing goes on any more: no lock is taken. */
void orr_agains_each_missing(struct orr_runtime *rt,
                             void (*visit)(const struct orr_job *job,
                                           const struct starpu_task *before,
                                           bool underway, bool back, void *arg),
                             void *arg);

/* The task is freed or cleaned: jobs do not wait for its further runs any more. Only
 * for jobs that have `again`. */
void orr_again_forget(struct orr_runtime *rt, struct orr_job *job);

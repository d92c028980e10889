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

/* All of a runtime. Errors: -ENOMEM. NULL may be freed. */
int orr_agains_new(struct orr_agains **ret);
void orr_agains_free(struct orr_agains *agains);

/* What becomes of a task that has ended. */
enum orr_fate {
    ORR_FATE_NONE, /* it is the application's; it may run again already */
    ORR_FATE_FREE,
    ORR_FATE_REGENERATE,
};

/* A job for the next run of a task whose last one has ended, as far as its
 * status says so: it takes that one's place, unless another thread has put one there
 * meanwhile, which is returned then. NULL without memory. */
struct orr_job *orr_again_job(struct orr_runtime *rt, struct starpu_task *task);

/* The job of the task with a reference for the caller, whatever becomes of the
 * task meanwhile; NULL: it has none. */
struct orr_job *orr_again_ref(struct orr_runtime *rt, struct starpu_task *task);

/* The job is over, and its structure may run again: those that wait for it are
 * remembered, and those that wait for a further run of it are added to *edges if
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

/* The callback has returned: decides what becomes of the task, and notes when
 * that was in its profile. From then on only who got more than ORR_FATE_NONE may
 * touch it. */
enum orr_fate orr_again_decide(struct orr_runtime *rt, struct orr_job *job,
                               const struct orr_callback_times *times);

/* The task is to be freed when it has ended. Returns true if it has: the caller
 * does it then. */
bool orr_again_set_destroy(struct orr_runtime *rt, struct starpu_task *task);

/* Makes the job of the next run of a task that regenerates. It waits for those
 * that the last one let go and that do not stay behind. NULL without memory. */
struct orr_job *orr_again_regenerate(struct orr_runtime *rt,
                                     struct starpu_task *task);

/* Whether the task has ended, its callbacks, too: one that was submitted again in them
 * has not. No lock held. */
bool orr_again_has_ended(struct orr_runtime *rt, struct starpu_task *task);

/* Visits the jobs that wait for runs of tasks: the job, the task, and whether
 * the task's run is under way; or, if `back`, the job is a further run of a
 * task that regenerates, and waits for the ends of the tasks that its last run
 * released. For reports: no lock is taken, nothing goes on any more. */
void orr_agains_each_missing(struct orr_runtime *rt,
                             void (*visit)(const struct orr_job *job,
                                           const struct starpu_task *before,
                                           bool underway, bool back, void *arg),
                             void *arg);

/* The task is no more, or is cleaned: what it let wait waits no longer for its
 * runs to come. Only for jobs that have `again`. */
void orr_again_forget(struct orr_runtime *rt, struct orr_job *job);

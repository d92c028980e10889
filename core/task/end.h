/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/end.h - the end of a job, and what comes next.
 */
#pragma once

#include "core/job/job.h"

/* The job is ready and has no kernel, or is to do without: it ends, unless its
 * end waits for others. No lock held. May run user callbacks; does not block. */
void orr_job_skip(struct orr_runtime *rt, struct orr_job *job);

/* The job has ended: frees its data, successors, waiters; callbacks. No lock
 * held. May run user callbacks; does not block. */
void orr_job_complete(struct orr_runtime *rt, struct orr_job *job);

/* Nobody asks about the job any more, whose end has waited for that
 * (orr_job_end_later with ORR_END_ASKED). */
void orr_job_let_end(struct orr_runtime *rt, struct orr_job *job);

/* The job's end waits for that of n others. Errors: -ENOMEM. */
int orr_job_end_after(struct orr_runtime *rt, struct orr_job *job, unsigned n,
                      struct orr_job *const *before);

/* The job starts and takes job->predicted µs: those that wait for nothing else are
 * told to who registered for it (rt->tasks->ready_soon). No lock held. */
void orr_job_tell_soon(struct orr_runtime *rt, struct orr_job *job);

/* Calls visit for the tasks, 64 at most, that were submitted and wait for the job,
 * which has not begun and which nobody else can begin meanwhile: those that it
 * releases, and those that come next in the order of its data. No lock held. */
void orr_job_each_successor(struct orr_job *job,
                            void (*visit)(struct orr_job *successor, void *arg),
                            void *arg);

/* The kernel has ended, or one of what else the job's end waits for: the last
 * one completes it. */
static inline void orr_job_end(struct orr_runtime *rt, struct orr_job *job)
{
    if (orr_count_off(&job->ending, 1))
        orr_job_complete(rt, job);
}

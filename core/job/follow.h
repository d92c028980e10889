/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/job/follow.h - jobs that follow others in the queue of a device. A queue serves
 * kernels in order, so that one may be put into it before what it depends on has ended:
 * nobody waits on the host in between. Such a job is its worker's, up to the end of its
 * kernel, while it still counts as waiting; it ends when it does not any more.
 * core/sched/follow.h says which jobs follow.
 *
 * Two contexts settle each of two questions by the bits of one byte, which they only
 * add to: whether a job follows, or is ready as others are, says who comes first, the
 * one that finds its predecessors in the queue or the one that releases it; and of the
 * end of its kernel and its release the second one hands it to its worker to be ended.
 */
#pragma once

#include "core/job/job.h"

static inline unsigned orr_job_follow(const struct orr_job *job)
{
    return atomic_load_explicit(&job->data.follow, memory_order_acquire);
}

/* Whether its worker has it, or has had it, before what it waits for has ended. */
static inline bool orr_job_follows(const struct orr_job *job)
{
    return orr_job_follow(job) & ORR_FOLLOWS;
}

/* Whether that is so now. */
static inline bool orr_job_follows_still(const struct orr_job *job)
{
    return (orr_job_follow(job) & (ORR_FOLLOWS | ORR_FOLLOW_RELEASED)) ==
           ORR_FOLLOWS;
}

/* The worker in whose queue the job is to be: of a task that names none only if it follows
 * others. */
static inline unsigned orr_job_follow_worker(const struct orr_job *job)
{
    return job->task->execute_on_a_specific_worker
               ? job->task->workerid
               : atomic_load(&job->data.follow_at);
}

/* Adds a bit; returns those that there were. */
static inline unsigned orr_job_add_follow(struct orr_job *job, unsigned bit)
{
    return atomic_fetch_or(&job->data.follow, (unsigned char)bit);
}

/* Takes bits away; returns those that there were. */
static inline unsigned orr_job_clear_follow(struct orr_job *job, unsigned bits)
{
    return atomic_fetch_and(&job->data.follow, (unsigned char)~bits);
}

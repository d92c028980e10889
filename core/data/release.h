/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/release.h - jobs go on for which others have made way: those that waited for a
 * job, or for data that it had. They claim their own data first.
 */
#pragma once

#include "core/base/heap.h"
#include "core/job/follow.h"
#include "core/job/job.h"

struct orr_released;
struct orr_runtime;

/* The job has no predecessors left: it claims its data (claim.c), and is ready when it has
 * them: type->ready. No lock held. Does not block. */
void orr_job_claim(struct orr_runtime *rt, struct orr_job *job);

/* The job, which has no predecessors left, may have followed them in a queue: it goes on
 * as it does, and has ended if its kernel has; a worker is told of that. No lock held. */
bool orr_job_was_ahead(struct orr_runtime *rt, struct orr_job *job);
static inline bool orr_job_went_ahead(struct orr_runtime *rt,
                                      struct orr_job *job)
{
    return orr_job_follow(job) & ORR_MAY_FOLLOW && orr_job_was_ahead(rt, job);
}

/* One predecessor less; what they wrote is released, and all of it is acquired at the
 * last. */
static inline void orr_job_release(struct orr_runtime *rt, struct orr_job *job)
{
    if (orr_count_off(&job->waiting, 1) && !orr_job_went_ahead(rt, job))
        orr_job_claim(rt, job);
}

/* Jobs that lose a predecessor at the same moment. Zeroed: none. */
struct orr_releases {
    struct orr_heap claimants; /* have none left, and data to claim */
};

/* The same for one of several, which orr_releases_end ends: of those that have to
 * claim data, and come one after the other, the most urgent one does so first. */
void orr_job_release_among(struct orr_runtime *rt, struct orr_job *job,
                           struct orr_releases *releases);
void orr_releases_end(struct orr_runtime *rt, struct orr_releases *releases);

/* Those that have declared to wait for a job that has ended, which are freed with their
 * edges, and those whose accesses were granted when it, or another one, left; of both who
 * was submitted first comes first. Then come those that have claimed what it gave back. No
 * lock held. May run user callbacks; does not block. */
void orr_jobs_release(struct orr_runtime *rt, struct orr_edge *edges,
                      struct orr_released *released);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/within.h - copies within a memory node, which take time in a simulation. */
#pragma once

#include "core/job/job.h"

/* One copy of `bytes` within the node orr_job_own(job)->node: `perform`, which is not called
 * where kernels are skipped, moves them, then comes `then`. Both are called with no
 * lock held, in this call or, simulated, once the time has passed. What is copied
 * stays pinned until then. Does not block. */
void orr_copy_within(struct orr_runtime *rt, struct orr_job *job, size_t bytes,
                     void (*perform)(struct orr_runtime *, struct orr_job *),
                     void (*then)(struct orr_runtime *, struct orr_job *));

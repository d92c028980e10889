/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/within.h - copies within a memory node, which take time in a simulation. */
#pragma once

#include "core/job/job.h"

/* One copy of `bytes` within the node: `perform`, which is not called where kernels are
 * skipped and may be NULL, moves them, then comes `then`. Both get arg, and are called with
 * no lock held, in this call or, simulated, once the time has passed. What is copied
 * stays pinned until then. `fresh` bytes go where nobody has been. Does not block. */
void orr_copy_within(struct orr_runtime *rt, unsigned node, size_t bytes,
                     size_t fresh,
                     void (*perform)(struct orr_runtime *, void *arg),
                     void (*then)(struct orr_runtime *, void *arg), void *arg);

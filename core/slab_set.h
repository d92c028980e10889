/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/slab_set.h - the slabs of a run: one for each size of objects that come and go
 * with tasks.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "core/base/slab.h"

enum { ORR_HANDLE_SLABS = 24, ORR_JOB_SLABS = 5 };

struct orr_slabs {
    struct orr_slab *jobs[ORR_JOB_SLABS]; /* for 0, 1, 2, 3, 4 accesses; more: malloc */
    bool jobs_have_memory; /* [const] these have a struct orr_job_memory */
    struct orr_slab *edges, *requests;
    struct orr_slab *tasks; /* the process's: core/task/memory.c */
    /* Of handles, by their size in steps: core/data/handle.c. NULL: there was none of
     * that size. */
    bool pools_handles; /* [const] they come from there */
    _Atomic(struct orr_slab *) handle_slabs[ORR_HANDLE_SLABS];
};

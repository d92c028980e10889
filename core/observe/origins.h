/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/origins.h - where the times of the tasks of a record come from, for
 * trace files. One thread.
 */
#pragma once

#include <stddef.h>

#include "core/observe/timeline.h"

struct orr_out;

/* Of which tasks times come from where. Begins as zeros, borrows from the record. */
struct orr_origins {
    struct orr_origin_group *all;   /* owned; some several times */
    struct orr_origin_group *memos; /* owned: those added last */
    size_t n;
};

/* Adds those of the tasks of that part of a timeline. Errors: -ENOMEM. */
int orr_origins_add(struct orr_origins *origins, const struct orr_trace *trace,
                    const struct orr_timeline *part);
void orr_origins_done(struct orr_origins *origins);

/* Writes a line, behind `begin`, for each task type and type of worker, by name,
 * footprint and worker: "gemm" c0ffee12 on CUDA: derived. Nothing of tasks whose
 * times have no origin: they are real. */
void orr_origins_write(struct orr_origins *origins, const char *begin,
                       struct orr_out *out);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/origins.h - where the times of the tasks of a record come from, for
 * trace files. One thread.
 */
#pragma once

#include <stdio.h>

#include "core/observe/timeline.h"

/* Writes a line, behind `begin`, for each task type and type of worker, by name,
 * footprint and worker: "gemm" c0ffee12 on CUDA: derived. Nothing of tasks whose
 * times have no origin: they are real. Errors: -ENOMEM. */
int orr_origins_write(const struct orr_trace *trace,
                      const struct orr_timeline *line, const char *begin,
                      FILE *file);

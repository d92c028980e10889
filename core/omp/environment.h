/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/environment.h - the variables OMP_*, read when OpenMP starts. The
 * environment itself stays as it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <starpu.h>

#include "core/base/config.h"

/* Levels for which a list may have an entry, and places. */
#define ORR_OMP_LEVELS 16
#define ORR_OMP_PLACES 256

struct orr_omp_environment {
    unsigned nthreads_count; /* of OMP_NUM_THREADS */
    int nthreads[ORR_OMP_LEVELS];
    enum starpu_omp_sched_value schedule;
    unsigned long long chunk;
    size_t stack_bytes;                  /* that a task may need; 0: not set */
    int max_active_levels, thread_limit; /* 0: no limit */
    unsigned nbinds;
    enum starpu_omp_proc_bind_value binds[ORR_OMP_LEVELS];
    unsigned nplaces;   /* explicit ones */
    const char *places; /* as they were written, lent by the configuration */
    int default_device, max_task_priority;
    bool dynamic, nested, cancellation;
    bool active; /* OMP_WAIT_POLICY */
    bool
        looks; /* threads look for a moment before they wait: not passive */
    enum { ORR_OMP_QUIET, ORR_OMP_DISPLAY, ORR_OMP_VERBOSE } display;
};

/* Reads the variables. A wrong value ends the program with a message. In a list it ends
 * the list: a message says so, and the entries before it count. */
void orr_omp_environment_read(struct orr_omp_environment *env,
                              const struct orr_config *config, unsigned nprocs);

/* What OMP_DISPLAY_ENV asks for. */
void orr_omp_environment_print(const struct orr_omp_environment *env,
                               FILE *out);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/record.h - the tasks that ran, for the area bound: tasks counted in
 * pools of one codelet and footprint, and the problem that is made of them. The
 * caller serialises all calls on one record; a problem is constant.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "core/base/error.h"

/* Tasks that are not distinguished. */
struct orr_bound_pool {
    const void *codelet; /* or its substitute; identity only */
    uint32_t footprint;
    char *symbol;            /* owned; the model's, for display */
    unsigned long count;     /* tasks */
    double *duration_ms;     /* owned, per worker; NaN: unknown */
    unsigned long *executed; /* owned, per worker: tasks of the codelet that it
                              * has executed so far, for a comment; or NULL */
};

/* The problem: how many tasks of which pool each worker does, so that the last
 * worker ends early. Transfers, memory and dependencies are ignored. */
struct orr_bound_problem {
    unsigned nworkers, npools;
    char **worker_names;          /* owned */
    struct orr_bound_pool *pools; /* owned, the latest made first */
};

struct orr_bound_record;

/* Makes an empty record, owned by the caller. Errors: -ENOMEM. */
int orr_bound_record_new(struct orr_bound_record **ret);
void orr_bound_record_free(struct orr_bound_record *record);

/* Counts a task; `symbol` is copied when its pool is new. Errors: -ENOMEM, the
 * record is as before. */
int orr_bound_record_task(struct orr_bound_record *record, const void *codelet,
                          uint32_t footprint, const char *symbol);

/* The workers and durations, from the caller; all entries are called while the
 * problem is made, by the same thread. */
struct orr_bound_source {
    unsigned nworkers;
    const char *(*worker_name)(unsigned worker, void *arg);
    /* Milliseconds of one task, NaN: unknown. */
    double (*duration_ms)(const void *codelet, uint32_t footprint,
                          unsigned worker, void *arg);
    /* NULL: not known, no comment is written. */
    unsigned long (*executed)(const void *codelet, unsigned worker, void *arg);
    void *arg;
};

/* Makes the problem of all tasks counted so far, owned by the caller. Errors:
 * -ENOMEM. */
int orr_bound_record_problem(const struct orr_bound_record *record,
                             const struct orr_bound_source *source,
                             struct orr_bound_problem **ret);
void orr_bound_problem_free(struct orr_bound_problem *problem);

/* Writes the linear program for lp_solve, and as fixed MPS; pairs of unknown
 * duration are left out. Numbers in the C locale. Errors: -EIO, -ENOMEM. */
int orr_bound_print_lp(const struct orr_bound_problem *problem, FILE *f);
int orr_bound_print_mps(const struct orr_bound_problem *problem, FILE *f);

/* Writes a solution: the bound, and per pool the counts of all workers
 * (npools × nworkers, pool first). Errors as above. */
int orr_bound_print_solution(const struct orr_bound_problem *problem,
                             double bound_ms, const double *counts, FILE *f);

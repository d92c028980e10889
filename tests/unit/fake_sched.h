/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/fake_sched.h - a runtime with workers that do nothing and a clock
 * that the test sets: as much as scheduling policies need. One thread.
 *
 * core/cost/able.c and core/base/ are the real ones; cost rows, transfers,
 * prefetches, wakes and local lists are the test's.
 */
#pragma once

#include "core/cost/cost.h"
#include "core/job/job.h"
#include "core/runtime_members.h"
#include "core/sched/sched.h"

#define FAKE_WORKERS 32
#define FAKE_CLASSES 4

struct fake {
    struct orr_runtime rt;
    struct orr_runtime_members members; /* its */
    double now;
    double transfer[FAKE_CLASSES]; /* µs to node k, of every job */
    double energy[FAKE_CLASSES];   /* J on class k, with an energy model */
    unsigned prefetched;           /* node of the last prefetch */
    unsigned nprefetches;
    unsigned woken; /* bits of workers, cleared by the test */
    int references; /* of jobs, taken minus given back */
    double margin[2]; /* per class, µs: quantiles above the mean */
    double wide[FAKE_WORKERS + 1]; /* µs of every job on so many processors */
    unsigned gang;                 /* number of the combined worker that got the
                                    * last gang, 0: none did */
    struct orr_job *aliases[FAKE_WORKERS]; /* its members' aliases */
    int gang_error;                        /* what making one returns */
};

extern struct fake fake;

/* Starts anew: worker i is of class classes[i], class k computes in node k.
 * Class 0 are CPU workers, the others CUDA devices; relative speedup 1.
 * Variables of the environment are ignored. */
void fake_start(const unsigned *classes, unsigned nworkers);

/* Makes the policy the runtime's; it must not fail. */
void fake_policy(const struct orr_sched_ops *ops);

/* Frees policy and jobs. */
void fake_stop(void);

/* A row with one implementation for the classes whose length is not 0; give
 * -1 for a length of 0 and NAN for an unknown one. Freed by fake_stop. */
struct orr_cost_row *fake_row(const double *lengths);

/* Puts the row into recalibration, refreshed with its present lengths. */
struct orr_recal *fake_recal(struct orr_cost_row *row);

/* Reads the row's lengths again. */
void fake_refresh(struct orr_cost_row *row);

/* A ready job without data, that `row` applies to. */
struct orr_job *fake_job(struct orr_cost_row *row, int priority);

/* Gives it one more datum: of that size, valid, on its way, and allocated on
 * the nodes of these bits. At most 4. */
void fake_datum(struct orr_job *job, unsigned mode, size_t size, uint64_t valid,
                uint64_t loading, uint64_t allocated);

/* A combined worker of these, ascending, which the policy's context has; returns its
 * number. */
unsigned fake_combined(int *members, unsigned n);

/* Pushes to and pops from the policy. */
int fake_push(struct orr_job *job);
struct orr_job *fake_pop(unsigned worker);

/* The calling context is that worker, or main if -1. */
void fake_be(int worker);

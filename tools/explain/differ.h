/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/differ.h - why two runs of a program differ, from their traces. Times
 * are ms since the first submission of each. One thread.
 */
#pragma once

#include <jansson.h>

#include "tools/common/rank_bounds.h"
#include "tools/common/trace_csv.h"

#define DIFFER_NONE SIZE_MAX

enum { DIFFER_A, DIFFER_B, DIFFER_SIDES };

/* The stages in which a task may differ, in the order in which it passes
 * them. */
enum differ_stage {
    DIFFER_SUBMITTED,
    DIFFER_READY,
    DIFFER_WORKER,
    DIFFER_TAKEN,
    DIFFER_STARTED,
    DIFFER_LENGTH,
    DIFFER_NSTAGES
};

/* The first moment at which a task fares differently. */
struct differ_first {
    size_t tasks[DIFFER_SIDES]; /* indices; DIFFER_NONE: there is none */
    enum differ_stage stage;
    double at;
    double times[DIFFER_SIDES]; /* of that stage; of LENGTH the lengths */
};

/* The first choice that differs: a worker's next task. */
struct differ_choice {
    const char *worker; /* its name; borrowed */
    double at;
    /* The tasks that it executed in A and in B, as indices in both runs: [A][B]
     * is the index in B of what it executed in A. DIFFER_NONE: it did not. */
    size_t tasks[DIFFER_SIDES][DIFFER_SIDES];
    bool found;
    /* Whether both tasks were ready in both runs when one was taken: then it was
     * the policy's choice. */
    bool free;
};

/* Sums of one run. */
struct differ_sums {
    double length, busy, wait; /* wait: of tasks, ready until taken */
    double copied, last_submission;
    size_t ncopies, ntasks;
    double quarters[4]; /* when so many quarters of the tasks had ended */
};

/* Of a run of several ranks, whose traces are joined (rank_traces.h); of others all 0. */
struct differ_ranks {
    unsigned n;
    const uint64_t *before; /* borrowed: by rank, what its jobs' numbers get more there */
    size_t messages;        /* that ranks sent each other */
    double bytes;           /* … of these */
    const struct rank_bounds *bounds; /* borrowed; NULL: not known */
};

struct difference {
    const char *names[DIFFER_SIDES]; /* borrowed */
    const struct trace *traces[DIFFER_SIDES];
    struct differ_ranks ranks[DIFFER_SIDES];
    size_t *same[DIFFER_SIDES]; /* owned: of each task the other run's index */
    size_t nsame;               /* tasks that both runs have */
    size_t moved;               /* … on other workers */
    struct differ_first first;
    struct differ_choice choice;
    struct differ_sums sums[DIFFER_SIDES];
};

/* Fills *ret, which borrows all and is ended with difference_done. Tasks of runs with as many
 * ranks are the same, of others none is known to be. -ENOMEM. */
int difference_find(const char *const names[DIFFER_SIDES],
                    const struct trace *const traces[DIFFER_SIDES],
                    const struct differ_ranks ranks[DIFFER_SIDES], struct difference *ret);
void difference_done(struct difference *d);

const char *differ_stage_name(enum differ_stage stage);

/* --- differ_print.c --- */

/* -ENOMEM: not all could be printed. */
int differ_print(const struct difference *d);
/* A new reference, NULL without memory. */
json_t *difference_json(const struct difference *d);

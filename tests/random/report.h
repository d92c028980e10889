/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/report.h - what a run tells the process that watches it, in
 * memory that both see. Any thread of the run.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "program.h"

enum outcome {
    PASSED,
    WRONG,       /* bytes other than the oracle's */
    MISPLACED,   /* a task on a worker that it must not run on */
    MISCOUNTED,  /* a task that does not run once */
    PASSED_OVER, /* a task by one that comes after it, as the policy promises */
    CROWDED,     /* accesses beside each other that exclude each other */
    REFUSED,     /* a call returned an error */
    GAVE_UP,     /* the library ended the process */
    DEADLOCK,    /* it says that nothing moves any more */
    HANG,        /* … it does not */
    CRASH,       /* a signal */
};

struct report {
    atomic_uint graph;              /* under way */
    atomic_uint calls[MAX_THREADS]; /* … of each thread, + 1; 0: none */
    atomic_uint outcome;            /* the first failure; PASSED: none yet */
    atomic_uint ready;              /* …, and the two below are there */
    unsigned failed;                /* its graph */
    char text[400];
    uint64_t nordered; /* choices among tasks that were made as promised */
    uint64_t digest; /* of what ran where and when, on a simulated machine */
};

/* Keeps the first failure. */
__attribute__((format(printf, 3, 4))) void report_failure(struct report *report,
                                                          enum outcome outcome,
                                                          const char *format,
                                                          ...);

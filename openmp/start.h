/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/start.h - what all entries share: the runtime starts with the first of them, and
 * constructs have one description each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <starpu.h>

#include "core/omp/entries.h"

/* Entries are what programs see of this library. */
#define ENTRY __attribute__((visibility("default")))

/* Starts the runtime, if nothing has; ends the program where it cannot start. */
void openmp_start(void);

/* The processors of the machine, when it has started. */
unsigned openmp_nprocs(void);

/* The caller is about to meet the construct: an OpenMP task, or main, for which the
 * runtime starts. Any other thread ends the program with a message. */
void openmp_enter(const char *construct);

/* Ends the program: that construct is not possible. `remedy` ends the sentence. */
_Noreturn void openmp_refuse(const char *construct, const char *remedy);

/* Never NULL: without memory the program ends. */
void *openmp_allocate(size_t size);

/* The construct whose code is `code`, made at first use: its name is where that is. */
const struct orr_openmp_construct *openmp_construct(const void *code, starpu_cpu_func_t body);

/* A region of as many threads (0: as the environment says, 1: the caller alone) executes
 * body(NULL, arg). */
void openmp_parallel(starpu_cpu_func_t body, void *arg, unsigned nthreads);

/* What a thread keeps between the calls of one construct. */
struct openmp_kept {
    /* The loop that it is in: numbers wrap around, so that signs do not matter. */
    uint64_t first, step, end, n;
    /* A loop that began with its region: the thread's first chunk is still to be asked
     * for. */
    bool begins, ordered;
    int schedule;
    uint64_t chunk;
    /* Of the next region, 0: not said. */
    unsigned nthreads;
    /* Iterations that wait for others, or memory of the loop's threads. */
    struct openmp_doacross *doacross;
    struct orr_openmp_shared *memory;
    struct group *groups; /* taskgroups that the task has begun */
};

/* That of the calling task, zeroed at first. */
struct openmp_kept *openmp_kept(void);

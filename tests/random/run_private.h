/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/run_private.h - shared by run.c (calls) and kernels.c (what is
 * done with the data, by tasks and by the program itself). */
#pragma once

#include <stdatomic.h>

#include <starpu.h>

#include "oracle.h"
#include "program.h"
#include "promises.h"
#include "report.h"

struct run;

/* A call under way, as kernels and callbacks know it. */
struct order {
    struct run *run;
    unsigned index;                   /* of the call */
    int worker;                       /* that runs the task */
    atomic_uint nruns;                /* of its kernel */
    starpu_data_handle_t handle;      /* that is acquired */
    unsigned char flags[MAX_BUFFERS]; /* handles_sequential_consistency */
    /* What the kernel left in its buffers, for the end of the task. */
    struct view views[MAX_BUFFERS];
    uint64_t left[MAX_BUFFERS];
};

/* One graph under way. */
struct run {
    const struct machine *machine;
    const struct graph *graph;
    const struct answers *answers;
    struct report *report;
    bool spoilt;
    starpu_data_handle_t handles[MAX_DATA];
    uint64_t *memory[MAX_DATA]; /* what was registered, NULL: no home */
    bool late[MAX_DATA]; /* copies to it may go on until the machine closes */
    /* Who uses each datum: readers + 2^8 who reduce + 2^16 writers. */
    atomic_uint users[MAX_DATA];
    /* The scratch buffer that each worker's task has, 0: none. */
    _Atomic(uintptr_t) scratch[MAX_DATA][MAX_WORKERS];
    struct starpu_task *tasks[MAX_TASKS];
    struct order orders[MAX_CALLS];
    starpu_tag_t first_tag;
    unsigned second; /* the other context */
    void *arbiter;
    const struct promise *promise; /* NULL: nobody looks */
    struct seen seen;
};

/* The codelet of a task: its length, where it may run, whether the CUDA kernel
 * is asynchronous. */
struct starpu_codelet *kernels_codelet(const struct call *call);

/* The codelets of reductions. */
struct starpu_codelet *kernels_redux(void);
struct starpu_codelet *kernels_init(void);

/* At the end of a task's kernel, while its accesses still count. */
void kernels_leave(void *order);

/* The program's own access: looks at the words and writes them. Then the end
 * of that access. */
void kernels_visit(struct run *run, unsigned index,
                   starpu_data_handle_t handle);
void kernels_visited(struct run *run, unsigned data, unsigned mode);

/* Compares what the call found in its buffer k with the oracle's answer. */
void kernels_compare(struct run *run, unsigned index, unsigned k,
                     uint64_t hash);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/log.h - the file in which a running OpenMP program leaves what it
 * does: written by record/openmp, read by import/openmp. It lives from the program to
 * the record that is made of it, on one machine; readers trust no number in it.
 *
 * A page with the header, then chunks of events, each of one thread. Both are mapped
 * shared: what a thread has written is there even if the process is killed.
 */
#pragma once

#include <stdint.h>

#define ORR_OMP_MAGIC "orrery-openmp 4\n"

enum {
    ORR_OMP_PAGE = 4096,
    ORR_OMP_CHUNK = 1 << 16, /* bytes */
};

struct orr_omp_header {
    char magic[16];
    uint64_t pid;
    uint64_t cpu_clock; /* `spent` is each thread's processor time, else the wall's */
    uint64_t ended;     /* 1: the process came to its end */
    uint64_t forked;    /* 1: a child of the process used OpenMP as well */
    uint64_t lost;      /* 1: the file system was full */
    uint64_t processors; /* that the process may use */
    uint64_t sizes;     /* 1: ORR_OMP_BLOCK and ORR_OMP_DATUM tell of data's memory */
    char program[1024];
    uint64_t runtime; /* enum orr_omp_runtime */
};

/* Which tasks its threads take: docs/OPENMP_PROGRAMS.md. 0: not known. */
enum orr_omp_runtime { ORR_OMP_LIBGOMP = 1, ORR_OMP_LIBOMP, ORR_OMP_NRUNTIMES };

struct orr_omp_chunk {
    uint64_t thread; /* from 1; 0: the chunk was never used */
    uint64_t used;   /* bytes of events */
};

/* What `a`, `b`, `n` and `flags` are. Tasks and regions have numbers of their own,
 * from 1; 0 is what threads do outside of any region. */
enum orr_omp_kind {
    ORR_OMP_REGION_BEGIN = 1, /* a: region; b: code */
    ORR_OMP_REGION_END,       /* a: region */
    ORR_OMP_IMPLICIT_BEGIN,   /* a: task; b: region; n: threads; flags: which */
    ORR_OMP_IMPLICIT_END,     /* a: task */
    ORR_OMP_CREATE,           /* a: task; b: code; n: priority; flags: below */
    ORR_OMP_DEPEND,           /* a: task; b: address; n: enum orr_omp_mode */
    ORR_OMP_SWITCH, /* a: the task that runs now; flags 1: the one before has ended */
    ORR_OMP_WAIT_BEGIN, /* n: enum orr_omp_wait */
    ORR_OMP_WAIT_END, /* n: likewise; a, of a sink: the iteration waited for */
    ORR_OMP_GROUP_BEGIN,
    ORR_OMP_LOOP_BEGIN, /* n 1: its iterations may go in any order; a: iterations that all
                         * threads have together, 0: chunks say how many */
    ORR_OMP_LOOP_CHUNK, /* a: iterations that begin now; 0: not known */
    ORR_OMP_LOOP_END,
    ORR_OMP_GAP, /* a, b: wall and spent when the recorder began work that ends now */
    ORR_OMP_CODE, /* a: address; b: what its file is loaded at; n: bytes of the file's
                   * name, in the events behind it; flags 1: a call before it returns
                   * there */
    ORR_OMP_NOTE, /* n: enum orr_omp_note */
    ORR_OMP_IF0, /* the program wants the task that runs next to end before its creator goes on */
    ORR_OMP_BLOCK, /* the address of the DEPEND behind it is in a block of memory that begins
                    * at a, of b bytes */
    ORR_OMP_DATUM, /* as ORR_OMP_CODE, of an address that is no code: of a variable, perhaps */
    ORR_OMP_SOURCE, /* a: the iteration up to here may be waited for (orr_omp_iteration());
                     * b: its number in the outermost of n loops */
    ORR_OMP_ORDERED_END, /* of what loops do in the order of their iterations */
    ORR_OMP_NKINDS
};

enum {
    ORR_OMP_UNDEFERRED = 1, /* its creator goes on when it has ended */
    ORR_OMP_FINAL = 2,
    ORR_OMP_AT_ONCE = 4, /* the same, in a team of one thread by no wish of the program: there
                          * those that it wants so have ORR_OMP_IF0 before them */
};

enum orr_omp_mode {
    ORR_OMP_IN = 1,
    ORR_OMP_OUT,
    ORR_OMP_INOUT,
    ORR_OMP_MUTEXINOUTSET,
    ORR_OMP_INOUTSET,
    ORR_OMP_ALL, /* of all memory: the address says nothing */
};

enum orr_omp_wait {
    ORR_OMP_TASKWAIT = 1,
    ORR_OMP_GROUP,
    ORR_OMP_BARRIER,
    ORR_OMP_EXCLUSION, /* critical, locks */
    ORR_OMP_RUNTIME,   /* something else inside of the runtime */
    ORR_OMP_ORDERED, /* for the iterations before, of a loop that is ordered */
    ORR_OMP_SINK,    /* for an iteration that depend(sink) names */
    ORR_OMP_NWAITS
};

enum orr_omp_note {
    ORR_OMP_TARGET = 1,
    ORR_OMP_CANCEL,
    ORR_OMP_DETACH,
    ORR_OMP_TEAMS,
    ORR_OMP_NNOTES
};

struct orr_omp_event {
    uint64_t wall, spent; /* ns */
    uint16_t kind, flags;
    uint32_t n;
    uint64_t a, b;
};

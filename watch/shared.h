/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch/shared.h - the memory by which a run shows itself to `orrery watch`: a file
 * without a name that the command makes, and each run of the program has a part of. The
 * run writes, the command reads whenever it likes; nobody waits for the other. What
 * happens is counted, and noted in a ring of records, which a slow reader misses.
 *
 *   file:  struct watch_file | part of a run | part of a run ...
 *   part:  struct watch_run | lanes | counts of kernels | nodes | links | ring
 *
 * A lane is a worker, and behind them one for all other contexts. Dates are µs of the
 * machine's clock. All counts are relaxed atomics; a part is published by its offset.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WATCH_MAGIC = 0x6f727733, /* of this layout */
    WATCH_RUNS = 64,          /* that are open at one time, or came one after the other
                               * with other machines */
    WATCH_KERNELS = 64,       /* with names of their own; the last is all others */
    WATCH_NAME = 64,
    WATCH_RECORDS = 1 << 18,
    WATCH_FILE_BYTES = 4096,
};

struct watch_file {
    uint32_t magic; /* [const] */
    atomic_uint nruns; /* more than WATCH_RUNS: the last ones are not seen */
    _Atomic uint64_t size;
    _Atomic uint64_t offsets[WATCH_RUNS]; /* 0: not there yet */
};

enum watch_kind {
    WATCH_SUBMIT, /* task; other: address of its job; arg: kernel */
    WATCH_ACCESS, /* job; other: datum; arg: turn, core/job/turns.h */
    WATCH_DEP,    /* address of a job that is not submitted yet; other: that of the one
                   * it waits for; before: number of that, 0: not submitted yet */
    WATCH_READY,  /* task */
    WATCH_START,  /* task; arg: worker */
    WATCH_END,    /* likewise */
    WATCH_SKIP,   /* task: it has no kernel */
};

struct watch_record {
    _Atomic uint64_t number; /* from 1, when the rest is there; 0: it is written */
    uint64_t id, other;
    union {
        double date;
        uint64_t before;
    };
    uint32_t kind, arg;
};

struct watch_lane {
    /* Of tasks. Those of a worker are written by it, mostly. */
    atomic_ulong submitted, ready, returned, started, executed, skipped;
    _Atomic double busy_us; /* in kernels */
    _Atomic double date;    /* of the last event */
    /* Of a worker: what it executes, 0: nothing; since when; its state, enum
     * orr_worker_state. */
    _Atomic uint64_t task;
    _Atomic double since;
    atomic_uint kernel, state;
    uint32_t node; /* [const] its memory */
    char name[WATCH_NAME]; /* [const] */
    char pad[64];
};

struct watch_kernel_count {
    atomic_ulong n;
    _Atomic double us;
};

struct watch_node {
    uint64_t capacity; /* [const] bytes, 0: unlimited */
    atomic_llong used;
    char name[32]; /* [const] */
};

struct watch_link {
    atomic_ulong begun, ended;
    atomic_ullong bytes; /* of those that have ended */
};

enum watch_state { WATCH_OPEN = 1, WATCH_ENDED };

struct watch_run {
    atomic_uint generation; /* runs that have had this part */
    atomic_uint state;      /* enum watch_state */
    atomic_ulong tasks_before; /* that ended in earlier ones */
    bool is_virtual;        /* [const] of the time */
    double opened_us;       /* [const] date … */
    double opened_mono_us;  /* … and at that time CLOCK_MONOTONIC */
    _Atomic double ended_us; /* date */
    atomic_int rank;        /* -1: it is alone */
    atomic_uint stands;     /* it is in a deadlock */
    uint32_t nworkers, nnodes; /* [const] rooms for nodes */
    uint64_t bytes;         /* [const] of this part */
    char machine[WATCH_NAME];
    atomic_ullong sent, received, sent_bytes, received_bytes; /* messages */
    atomic_uint nkernels;
    char kernels[WATCH_KERNELS][WATCH_NAME];
    _Atomic uint64_t head; /* records that were begun */
};

/* Where the rest of a part is. */
struct watch_part {
    struct watch_run *run;
    struct watch_lane *lanes;          /* nworkers + 1 */
    struct watch_kernel_count *counts; /* WATCH_KERNELS of each lane */
    struct watch_node *nodes;          /* nnodes */
    struct watch_link *links;          /* nnodes of each source */
    struct watch_record *ring;         /* WATCH_RECORDS */
};

/* Bytes of a part, whole pages. */
static inline size_t watch_part_bytes(uint32_t nworkers, uint32_t nnodes)
{
    size_t bytes = sizeof(struct watch_run) + 64 +
                   (nworkers + (size_t)1) *
                       (sizeof(struct watch_lane) +
                        WATCH_KERNELS * sizeof(struct watch_kernel_count)) +
                   nnodes * (sizeof(struct watch_node) + nnodes * sizeof(struct watch_link)) +
                   (size_t)WATCH_RECORDS * sizeof(struct watch_record);

    return (bytes + 4095) & ~(size_t)4095;
}

/* `run` has its numbers of workers and nodes. */
static inline struct watch_part watch_part_at(struct watch_run *run)
{
    size_t head = (sizeof(*run) + 63) & ~(size_t)63;
    struct watch_part part = {.run = run};

    part.lanes = (struct watch_lane *)(void *)((char *)run + head);
    part.counts = (struct watch_kernel_count *)(void *)(part.lanes + run->nworkers + 1);
    part.nodes = (struct watch_node *)(void *)(part.counts +
                                               (run->nworkers + (size_t)1) * WATCH_KERNELS);
    part.links = (struct watch_link *)(void *)(part.nodes + run->nnodes);
    part.ring = (struct watch_record *)(void *)(part.links + (size_t)run->nnodes * run->nnodes);
    return part;
}

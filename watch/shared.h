/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch/shared.h - the memory by which a run shows itself to `orrery watch`: a file
 * without a name that the command makes, and each run of the program has a part of. The
 * run writes, the command reads whenever it likes; nobody waits for the other. What
 * happens is counted, and noted in rings of records, which a slow reader misses: one for
 * what is submitted; of a real run also one for each lane, for what becomes of tasks, so
 * that no two workers write to the same memory. That a task runs no record says, but its
 * lane.
 *
 *   file:  struct watch_file | part of a run | part of a run ...
 *   part:  struct watch_run | lanes | counts of kernels | nodes | links | places | ring
 *          | rings of lanes
 *
 * A lane is a worker, and behind them one for all other contexts. Dates are µs of the
 * machine's clock. All counts are relaxed atomics; a part is published by its offset.
 *
 * What a reader sees in one lane may come of what was noted in another, or in the ring of
 * what is submitted: it looks how far the lanes are before it reads that ring, and at what
 * they execute when it has read all.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WATCH_MAGIC = 0x6f727735, /* of this layout */
    WATCH_RUNS = 64, /* that are open at one time, or came one after the other
                               * with other machines */
    WATCH_KERNELS = 64, /* with names of their own; the last is all others */
    WATCH_NAME = 64,
    WATCH_PLACES =
        128, /* where tasks are submitted; 0 is all that are not known, the last
                         * all others */
    WATCH_PATH = 240,
    WATCH_RECORDS = 1 << 18,      /* of a ring, and … */
    WATCH_LANE_RECORDS = 1 << 18, /* … of those of all lanes, about … */
    WATCH_LANE_LEAST = 1 << 10,   /* … of one at least */
    WATCH_FILE_BYTES = 4096,
};

struct watch_file {
    uint32_t magic; /* [const] */
    atomic_uint nruns; /* more than WATCH_RUNS: the last ones are not seen */
    _Atomic uint64_t size;
    _Atomic uint64_t offsets[WATCH_RUNS]; /* 0: not there yet */
};

enum watch_kind {
    WATCH_SUBMIT, /* task; other: address of its job; before: place; arg: kernel */
    WATCH_ACCESS, /* job; other: datum; arg: turn, core/job/turns.h */
    WATCH_DEP, /* address of a job that is not submitted yet; other: that of the one
                   * it waits for; before: number of that, 0: not submitted yet */
    WATCH_READY,  /* task */
    WATCH_RETURN, /* task: it had started, and is ready once more */
    WATCH_END,    /* task; arg: worker; start, date: of its kernel */
    WATCH_SKIP,   /* task: it has no kernel */
};

struct watch_record {
    _Atomic uint64_t number; /* from 1, when the rest is there; 0: it is written */
    uint64_t id;
    union {
        uint64_t other;
        double start;
    };
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
    _Atomic uint64_t head; /* of its ring: records that were begun */
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

/* A line of the program. */
struct watch_place {
    atomic_ulong tasks; /* that were submitted there */
    /* [const] once there are so many: a file and its line; an object of the program and,
     * line 0, where in it is a call. */
    uint32_t line;
    uint64_t offset;
    char path[WATCH_PATH];
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
    /* [const] of the ring of each lane, 0: there are none */
    uint32_t lane_records;
    uint64_t bytes;         /* [const] of this part */
    char machine[WATCH_NAME];
    atomic_ullong sent, received, sent_bytes, received_bytes; /* messages */
    atomic_uint nplaces; /* that have been named, with 0 */
    atomic_uint nkernels;
    char kernels[WATCH_KERNELS][WATCH_NAME];
    char apart[64];
    _Atomic uint64_t head; /* records that were begun */
};

/* Where the rest of a part is. */
struct watch_part {
    struct watch_run *run;
    struct watch_lane *lanes;          /* nworkers + 1 */
    struct watch_kernel_count *counts; /* WATCH_KERNELS of each lane */
    struct watch_node *nodes;          /* nnodes */
    struct watch_link *links;          /* nnodes of each source */
    struct watch_place *places;        /* WATCH_PLACES */
    struct watch_record *ring;         /* WATCH_RECORDS */
    struct watch_record *lane_rings;   /* lane_records of each lane */
};

/* Records of the ring of one of so many lanes: a power of two. */
static inline uint32_t watch_lane_records(uint32_t nlanes)
{
    uint32_t records = WATCH_LANE_RECORDS >> 1;

    while (records > WATCH_LANE_LEAST &&
           (uint64_t)records * nlanes > WATCH_LANE_RECORDS)
        records >>= 1;
    return records;
}

/* Bytes of a part, whole pages. */
static inline size_t watch_part_bytes(uint32_t nworkers, uint32_t nnodes,
                                      uint32_t lane_records)
{
    size_t bytes = sizeof(struct watch_run) + 64 +
                   (nworkers + (size_t)1) *
                       (sizeof(struct watch_lane) +
                        WATCH_KERNELS * sizeof(struct watch_kernel_count)) +
                   nnodes * (sizeof(struct watch_node) +
                             nnodes * sizeof(struct watch_link)) +
                   WATCH_PLACES * sizeof(struct watch_place) +
                   (WATCH_RECORDS + (nworkers + (size_t)1) * lane_records) *
                       sizeof(struct watch_record);

    return (bytes + 4095) & ~(size_t)4095;
}

/* `run` has its numbers of workers, nodes and records. */
static inline struct watch_part watch_part_at(struct watch_run *run)
{
    size_t head = (sizeof(*run) + 63) & ~(size_t)63;
    struct watch_part part = {.run = run};

    part.lanes = (struct watch_lane *)(void *)((char *)run + head);
    part.counts = (struct watch_kernel_count *)(void *)(part.lanes + run->nworkers + 1);
    part.nodes = (struct watch_node *)(void *)(part.counts +
                                               (run->nworkers + (size_t)1) * WATCH_KERNELS);
    part.links = (struct watch_link *)(void *)(part.nodes + run->nnodes);
    part.places =
        (struct watch_place *)(void *)(part.links +
                                       (size_t)run->nnodes * run->nnodes);
    part.ring = (struct watch_record *)(void *)(part.places + WATCH_PLACES);
    part.lane_rings = part.ring + WATCH_RECORDS;
    return part;
}

/* A ring, and how far it is. */
struct watch_ring {
    _Atomic uint64_t *head;
    struct watch_record *records;
    uint32_t size; /* a power of two */
};

static inline struct watch_ring watch_ring_of_all(const struct watch_part *part)
{
    return (struct watch_ring){&part->run->head, part->ring, WATCH_RECORDS};
}

static inline struct watch_ring
watch_ring_of_lane(const struct watch_part *part, uint32_t lane)
{
    uint32_t size = part->run->lane_records;

    return (struct watch_ring){&part->lanes[lane].head,
                               part->lane_rings + (size_t)lane * size, size};
}

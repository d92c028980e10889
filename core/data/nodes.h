/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/nodes.h - the memory nodes of a run, the links between them, and what
 * holds for all of them: what leaves a full one, what is counted.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/list.h"

struct orr_bus;
struct orr_eviction;
struct orr_node;
struct orr_pinned;
struct orr_returned_list;

/* core/data/relieve.c; [last context awake] but what is atomic. */
struct orr_relief {
    atomic_ulong left;      /* tasks, when one was moved last */
    unsigned nmoves;        /* since one has ended */
    unsigned long long job; /* which was helped last, and where: … */
    unsigned node;          /* … a memory node */
    bool said;
    _Atomic uint64_t may_fill; /* since one has ended: jobs up to that number make values
                                * even if they fill memory */
    atomic_bool holds; /* one was moved, and none was seen to have ended since */
    /* core/data/admit.c: */
    atomic_size_t largest;   /* bytes of one that has asked for limited memory */
    _Atomic uint64_t barred; /* nodes, bits, where some wait for room to make values … */
    atomic_ulong rested;     /* … and unfinished tasks + 1 when all workers slept last */
};

struct orr_nodes {
    atomic_uint n;       /* disks may come: starpu_disk_register */
    unsigned nram;       /* [const] nodes 0 to nram - 1 are main memory */
    bool expects_disks;  /* [const] main memory is limited by request: data are
                          * registered with replicates for disks that may come */
    struct orr_node *at; /* owned, by their numbers */
    struct orr_bus *buses;   /* owned, nbuses links between them, core/data/bus.h */
    struct orr_bus **bus_at; /* [const] of a pair of nodes, NULL without */
    unsigned nbuses;
    struct orr_pinned *pinned; /* [const] lent; core/device/pinned.h */
    const struct orr_eviction *eviction; /* [const] what leaves one that is full */
    _Atomic uint64_t pressed; /* those of which the order of victims is kept:
                               * core/data/nextuse.c */
    _Atomic uint64_t lost;    /* those whose device is gone: core/data/lost.h */
    bool sync_copies;         /* [const] the context that starts a copy waits for it, on
                               * all devices … */
    uint32_t sync_kinds;      /* [const] … or those with such memory, a bit per enum
                               * starpu_node_kind */
    bool pops_by_priority;    /* [const] queued jobs leave by priority */
    bool follows_memory;      /* [const] the policy does, core/sched/sched.h */
    bool count_write_back;    /* [const] transfer estimates include it */
    void *brought; /* owned: estimates that were made, core/data/estimate.c; NULL where
                    * several threads make some */
    int minimum_available, target_available; /* [const] per cent: data/reclaim.c, */
    int minimum_clean, target_clean;         /* [const] likewise */
    bool tidies;       /* [const] one of the minima is set */
    bool counts_hits;  /* [const] data that tasks find there */
    atomic_ullong nevictions;
    atomic_ullong nreturns, returned_bytes; /* of what had left and came back:
                                             * core/data/traffic.h */
    struct orr_returned_list *returned; /* [runtime's lock] of data that ended; owned,
                                         * NULL: none */
    bool said_large;    /* [main] of a hint that has no effect */
    bool warned_unreal; /* [main] */
    /* simulated: acquisitions whose data the application copies, by `queue`; the first
     * one now */
    struct orr_list copied;
    struct orr_relief relief;
    char pad[64];
    atomic_ullong last_copy; /* number of the copy that was started last */
    char pad_rest[64];
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/bus.h - links: ordered pairs of memory nodes between which copies
 * are direct, numbered by source, then destination. What each carried, and how
 * many devices are assumed to share it. Any thread.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>


struct orr_runtime;

struct orr_bus {
    unsigned src, dst;  /* [const] memory nodes */
    atomic_int ngpus;   /* GPUs that share the link; 0: all there are */
    atomic_bool direct; /* not shared, as NVLink */
    /* Since the run began. Relaxed: a reader may see a copy that ends in one
     * and not yet in the other. */
    atomic_ullong transfers, bytes;
    /* [runtime lock] what they were at the last query, and when (µs) */
    unsigned long long seen_transfers, seen_bytes;
    double since;
};

/* What a link carried from `start` on, for `length` (both µs). */
struct orr_bus_counters {
    double start, length;
    unsigned long long transfers, bytes;
};

/* Makes rt->nodes->buses and rt->nodes->bus_at. Errors: -ENOMEM. */
int orr_buses_new(struct orr_runtime *rt);

/* The links of a node that was added, and those to it. */
void orr_buses_add(struct orr_runtime *rt, unsigned node);

void orr_buses_free(struct orr_runtime *rt);

/* The link from node src to node dst, NULL without a direct one or such
 * nodes. Lent. */
struct orr_bus *orr_bus_find(struct orr_runtime *rt, long src, long dst);

/* A copy of that many bytes has ended. */
void orr_bus_count(struct orr_runtime *rt, unsigned src, unsigned dst,
                   size_t bytes);

/* How many devices share the link, for the estimates of schedulers: `ngpus` if that is
 * set; one if it is `direct`, between NUMA nodes, or a disk's; else all there are. */
unsigned orr_bus_sharers(const struct orr_runtime *rt,
                         const struct orr_bus *bus);

/* What the link carried since the last call, or since the run began. */
void orr_bus_take_counters(struct orr_runtime *rt, struct orr_bus *bus,
                           struct orr_bus_counters *ret);

/* Sums over all links since the run began. */
void orr_buses_total(const struct orr_runtime *rt,
                     unsigned long long *ret_transfers,
                     unsigned long long *ret_bytes);

/* Prints a table of what each link carried since the run began. */
void orr_buses_print(struct orr_runtime *rt, FILE *out);

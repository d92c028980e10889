/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/traffic.h - what became of data in memory that is too small: how often
 * copies of them came and left, which came back though no job had written them in
 * between, and for which tasks. Counted where a datum is copied or leaves, and, once
 * something has come back, by each task; nothing else costs anything.
 */
#pragma once

#include <stdio.h>

#include "core/data/handle.h"
#include "core/data/label.h"

struct orr_job;
struct orr_node;
struct orr_runtime;

enum { ORR_MOST_RETURNED = 16, ORR_KIND_NAME = 40 };

/* The tasks of one name that used a datum after it had come back. */
struct orr_return {
    struct orr_return *next; /* [const] */
    atomic_uint count;       /* [handle lock] for writing */
    char kind[ORR_KIND_NAME]; /* [const] the name */
};

/* The value that the node may have leaves it with its memory. */
void orr_traffic_evict(struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock);

/* A copy has brought the value there. */
void orr_traffic_arrive(struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock);

/* The value is another one now: what it was need not have stayed. */
static inline void orr_traffic_outdate(struct orr_handle *handle)
    ORR_REQUIRES(handle->lock)
{
    if (handle->traffic.gone)
        handle->traffic.gone = 0;
}

/* The job uses its data, in a run in which some data have come back
 * (rt->nodes->nreturns). No lock held. */
void orr_traffic_use(const struct orr_job *job);

/* STARPU_ENABLE_STATS: the job is about to ask for its data on the nodes of
 * job->asked: counts which of those that it reads are there. */
void orr_traffic_count_hits(struct orr_runtime *rt, const struct orr_job *job);

/* So many bytes of the node are in use: the peak. */
void orr_traffic_fill(struct orr_node *node, size_t used);

/* The handle ends: what came back of it is kept for the report. No lock held. */
void orr_traffic_end(struct orr_handle *handle);

/* What came back for tasks of one name. */
struct orr_returned {
    struct orr_label label;
    char kind[ORR_KIND_NAME];
    uint64_t id;
    size_t size; /* bytes, each time */
    unsigned count;
};

/* Those with the most bytes, the largest first. */
struct orr_returned_list {
    unsigned n;
    struct orr_returned all[ORR_MOST_RETURNED];
};

/* The counts of the whole run, of data that have ended and of others. A run that is
 * interrupted where its data are listed has those that ended only. Does not block. */
void orr_traffic_returned(struct orr_runtime *rt,
                          struct orr_returned_list *ret);

/* --- how it is shown (traffic_print.c); no lock held --- */

/* Nodes and data as they are now: starpu_data_display_memory_stats. */
void orr_traffic_print(struct orr_runtime *rt, FILE *out);

/* Hits, misses and allocations per node: STARPU_ENABLE_STATS. */
void orr_traffic_print_hits(const struct orr_runtime *rt, FILE *out);

/* The peaks: STARPU_MAX_MEMORY_USE. */
void orr_traffic_print_peaks(const struct orr_runtime *rt, FILE *out);

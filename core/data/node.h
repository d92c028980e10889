/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/node.h - a memory node: what it holds, what it has asked for.
 *
 * Requests towards a node are started by its progress workers, those that
 * compute there; those from a device to main memory by the device's. Where main
 * memory is several nodes, any context that needs a copy between two may start
 * it. There are three queues: what tasks wait for, prefetches,
 * idle prefetches.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/heap.h"
#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/data/handle.h"

#define ORR_FETCH_LEVELS 3

/* Bits of the number of a list of blocks that could be evicted, by age: lru.c.
 * Where all are alike they are in list 0. */
enum {
    ORR_BLOCK_DIRTY = 1,    /* has the only copy; may be out of date */
    ORR_BLOCK_PROMISED = 2, /* to jobs that are queued */
    ORR_BLOCK_LISTS = 4
};

enum { ORR_NEXTUSE_HEAPS = 6 };

struct orr_node {
    unsigned id;          /* [const] */
    struct orr_lock lock; /* rank ORR_RANK_NODE */
    size_t capacity;      /* [const] bytes, 0: unlimited */
    atomic_size_t used;   /* bytes allocated through us */
    atomic_uint npassed;  /* blocks that evictions passed over, since their
                           * handles were locked */
    /* [lock] requests this node's progress workers have to start, by level. */
    struct orr_list queues[ORR_FETCH_LEVELS];
    atomic_uint nqueued;
    struct orr_list blocks[ORR_BLOCK_LISTS]; /* [lock] oldest first */
    int64_t youngest, oldest;                /* [lock] ages given so far */
    struct orr_nextuse {                     /* nextuse.c */
        bool pressed; /* [lock] memory was short: victims and prefetches are in
                       * heaps, not in lists, from now on */
        struct orr_heap blocks[ORR_NEXTUSE_HEAPS]; /* [lock] */
        size_t leaving; /* [lock] bytes that are being written back so that
                         * they can be evicted */
        _Atomic uint64_t reached; /* largest number of a job that fetched its
                                   * data here */
    } nextuse;
    /* [lock] task prefetches while `sorted`, per (peer, direction), the soonest
     * needed first; [const] pointer, NULL where they never are. */
    struct orr_heap *prefetches;
    uint64_t prefetch_peers[2]; /* [lock] per direction: bits of the peers whose
                                 * heap is not empty */
    uint64_t nenqueued;         /* [lock] requests so far */
    bool sorted;                /* [lock] */
    unsigned progress_worker; /* [const] first worker that starts the requests,
                               * nworkers when none needs to */
    unsigned nprogress;       /* [const] how many workers do */
    unsigned *inflight; /* [lock] per (peer, direction): copies under way */
    /* Nodes whose progress workers have a request that waits for memory here. */
    _Atomic uint64_t short_of_memory;
    double *latency; /* [const] from this node to each: µs, NaN unknown */
    /* µs per byte with FORMATS 2.6's factor, NaN. Changed by
     * orr_node_estimate; relaxed, since an estimate is all it is for. */
    _Atomic(double) *slowness;
};

int orr_nodes_new(struct orr_runtime *rt);
void orr_nodes_free(struct orr_runtime *rt);

/* Memory on a node, within its capacity: evicts if it must and can at once.
 * Errors: -ENOMEM. Does not block. */
int orr_node_malloc(struct orr_runtime *rt, unsigned node, size_t size,
                    uintptr_t *ret);
void orr_node_free(struct orr_runtime *rt, unsigned node, uintptr_t address,
                   size_t size);

/* The handle's replicate on the node is no longer used (its references fell to
 * 0): its block may be evicted from now on. */
void orr_node_offer(struct orr_handle *handle, unsigned node,
                    struct orr_deferred *deferred) ORR_REQUIRES(handle->lock);

/* Its block, if nobody uses it now, is the next one to leave. The next use makes
 * it a young one again. */
void orr_node_demote(struct orr_handle *handle, unsigned node,
                     struct orr_deferred *deferred) ORR_REQUIRES(handle->lock);

/* Somebody has found the value there, or what its list depends on has changed:
 * it is young, and in the right list. */
void orr_node_touch(struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock);

/* Its value was overwritten elsewhere. */
void orr_node_outdate(struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock);

/* A copy from there has ended. If a job uses the block nonetheless, it does not
 * leave as it was to. */
void orr_node_end_leaving(struct orr_handle *handle, unsigned node,
                          struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock);

/* What the handle's next use on these nodes (bits) is has changed: maybe it is
 * later now. */
void orr_node_reorder(struct orr_handle *handle, uint64_t nodes)
    ORR_REQUIRES(handle->lock);

/* What was in the way of who lacks memory on the node has changed: he is tried
 * again. */
void orr_node_retry(struct orr_runtime *rt, unsigned node,
                    struct orr_deferred *deferred);

/* A job of that number fetches its data on the node. */
static inline void orr_node_reach(struct orr_node *node, uint64_t job)
{
    if (job >
        atomic_load_explicit(&node->nextuse.reached, memory_order_relaxed))
        atomic_store_explicit(&node->nextuse.reached, job,
                              memory_order_relaxed);
}

/* It is used again. */
void orr_node_retain(struct orr_handle *handle, unsigned node)
    ORR_REQUIRES(handle->lock);

/* Evicts until `size` more bytes are within the node's capacity, as far as that
 * can be done at once and requests of the level may; begins to write back what
 * has to be before. Errors: -ENOMEM. No lock held. Does not block. */
int orr_node_make_room(struct orr_runtime *rt, struct orr_node *node,
                       size_t size, enum orr_fetch_level level);

/* Makes memory for the handle on the node, within its capacity: evicts if it
 * must and can at once, prefetches only what nobody is expected to use. The
 * caller owns *ret and is the only one who makes memory for this replicate,
 * by a request that stands. Errors: -ENOMEM: try again when something was
 * freed. No lock held. */
int orr_block_new(struct orr_runtime *rt, struct orr_handle *handle,
                  unsigned node, enum orr_fetch_level level,
                  struct orr_block **ret);

/* Frees the memory; NULL is allowed. No lock held. */
void orr_block_free(struct orr_block *block);

/* Gives the block to the handle's replicate on its node, which has none. */
void orr_block_attach_locked(struct orr_handle *handle, struct orr_block *block)
    ORR_REQUIRES(handle->lock);

/* Takes the block from the handle's replicate on the node; NULL when its memory
 * is not ours. The caller owns the result. */
struct orr_block *orr_block_detach_locked(struct orr_handle *handle,
                                          unsigned node)
    ORR_REQUIRES(handle->lock);

/* Memory became free on the node: requests that lack some are tried again. No
 * lock held. */
void orr_node_freed(struct orr_runtime *rt, unsigned node);

/* µs for `size` bytes from src to dst as schedulers estimate it; 0 when
 * unknown. */
double orr_transfer_predict(struct orr_runtime *rt, unsigned src, unsigned dst,
                            size_t size);

/* Takes what the links from the node say of who shares them into the
 * estimates. Any thread. */
void orr_node_estimate(struct orr_runtime *rt, unsigned node);

/* Something became free or unpinned on the node: a progress worker tries
 * again. */
void orr_node_kick(struct orr_runtime *rt, unsigned node);

/* The same for each node whose bit is set. */
void orr_nodes_kick(struct orr_runtime *rt, uint64_t nodes);

/* Stops the program if the node is not as it must be. No lock held. */
void orr_node_check(struct orr_runtime *rt, struct orr_node *node);

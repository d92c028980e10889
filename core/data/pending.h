/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/pending.h - a request for a value or memory (request.h), and those
 * that wait until a progress worker of their node starts them. Each function is
 * called with the node's lock.
 *
 * They wait in a list per level, in the order in which they came. Where memory
 * has become short and the rule of eviction wants it, task prefetches are sorted
 * instead, by what queued jobs need soonest, one heap per peer and direction: a
 * link whose limit of copies is reached does not hide the others.
 */
#pragma once

#include "core/data/node.h"
#include "core/device/machine.h"

#define ORR_NO_NODE (~0u)

enum orr_request_state {
    ORR_REQUEST_WAITING,
    ORR_REQUEST_QUEUED,
    ORR_REQUEST_RUNNING,
};

struct orr_request {
    struct orr_copy copy; /* what the machine sees */
    /* [lock of the driving node] while QUEUED: its place in a list … */
    struct orr_list link;
    struct orr_heap_link soon; /* … or, if `sorted`, in a heap, by `use` */
    struct orr_use use;
    bool sorted;
    struct orr_handle *handle;
    struct orr_runtime *runtime;
    unsigned src, dst;      /* src ORR_NO_NODE: memory only */
    unsigned progress_node; /* node whose progress worker starts it */
    int priority;        /* [lock of the driving node] of its level, more is
                          * sooner */
    uint8_t level;       /* enum orr_fetch_level; [handle lock], while QUEUED that
                          * of the driving node as well */
    uint8_t state;       /* enum orr_request_state */
    uint8_t ntries;      /* RUNNING: of the copy, that failed */
    bool stale;          /* the value was overwritten meanwhile */
    bool failed;         /* it cannot be had there: jobs that wait go elsewhere */
    bool pinned;         /* holds a reference on its source */
    bool ahead; /* [handle lock] RUNNING, in a queue; jobs that follow others have been
                 * told, and wait for it in theirs */
    bool passed; /* [handle lock] … the value has changed since, and one of these has it
                  * brought there again: not the replicate's any more */
    atomic_bool leaving; /* is one of its source's `nleaving`; written under the
                          * handle's lock */
    bool starves;        /* [handle lock] QUEUED: found no memory … */
    size_t starved;      /* [lock of the driving node] … for so many bytes, or 0 */
    bool relieves; /* makes room: the source's copy goes at its end: gather.c */
    bool moves;          /* a write-back: the source's copy may go at its end. Else the
                          * target node, which may be full as well, could evict the new
                          * copy first, and the same write-back would be needed once
                          * more. */
    struct orr_access *waiters;   /* accesses to tell */
    struct orr_request *next_hop; /* WAITING for this one */
    struct orr_waiter *sync;      /* what waits for the copy; NULL: nothing does */
    struct orr_request *next_now; /* [owner] in deferred->now */
    double start;                 /* µs */
    uint32_t traced; /* orr_trace_begin's ticket while it is copied */
};

/* Enters as the last one of its level and priority; where prefetches are sorted, as
 * `use` says, and by priority if no queued job needs it. */
void orr_pending_add(struct orr_node *node, struct orr_request *request)
    ORR_REQUIRES(node->lock);

/* Puts back a request that was taken out and could not start: as the first one of its
 * level; where prefetches are sorted, in its place. */
void orr_pending_put_back(struct orr_node *node, struct orr_request *request)
    ORR_REQUIRES(node->lock);

/* Whether it is among them. */
bool orr_pending_has(const struct orr_request *request);

void orr_pending_remove(struct orr_node *node, struct orr_request *request)
    ORR_REQUIRES(node->lock);

/* A job that was queued needs the request's data at `use`; counts if that is sooner
 * than what is known. */
void orr_pending_hasten(struct orr_node *node, struct orr_request *request,
                        struct orr_use use) ORR_REQUIRES(node->lock);

/* Nodes that had no memory for a request, by their bits. What makes room may go
 * on meanwhile. */
struct orr_full {
    uint64_t nodes;    /* nothing was left of what they have … */
    uint64_t machines; /* … nor had the machine what was reserved */
    /* Requests were passed over that would find as little as before. */
    bool vain[ORR_NNEEDS];
};

/* Takes the first request of the level, or of the next one that has any, that the
 * limits of copies under way let through and that needs no memory of a full node, and
 * counts its copy. Requests that found no memory on this node are passed over as long
 * as nothing has changed there; *full says whether there were any. NULL: there is no
 * request to take. */
struct orr_request *orr_pending_take(struct orr_node *node, unsigned *level,
                                     struct orr_full *full)
    ORR_REQUIRES(node->lock);

/* Whether memory is reserved for what the request brings. */
bool orr_request_has_reserved(const struct orr_request *request);

/* From now on prefetches are sorted. */
void orr_pending_sort(struct orr_node *node) ORR_REQUIRES(node->lock);

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
    bool failed;         /* it cannot be had there: who waits goes elsewhere */
    bool pinned;         /* holds a reference on its source */
    atomic_bool leaving; /* is one of its source's `nleaving`; written under the
                          * handle's lock */
    bool starves;        /* [handle lock] QUEUED: found no memory … */
    size_t starved;      /* [lock of the driving node] … for so many bytes, or 0 */
    bool relieves; /* makes room: the source's copy goes at its end: gather.c */
    bool moves;          /* a write-back: the source's copy may go at its end.
                          * Else the node that it comes to, full as well, could
                          * take this one first, and all begins again. */
    struct orr_access *waiters;   /* accesses to tell */
    struct orr_request *next_hop; /* WAITING for this one */
    struct orr_waiter *sync;      /* who waits for the copy; NULL: nobody */
    struct orr_request *next_now; /* [owner] in deferred->now */
    double start;                 /* µs */
    uint32_t traced; /* orr_trace_begin's ticket while it is copied */
};

/* Last of its level and priority; of those that are sorted, where `use` says, those
 * that no queued job needs by priority. */
void orr_pending_add(struct orr_node *node, struct orr_request *request)
    ORR_REQUIRES(node->lock);

/* Tried in vain: the first one of its level again. */
void orr_pending_put_back(struct orr_node *node, struct orr_request *request)
    ORR_REQUIRES(node->lock);

/* Whether it is among them. */
bool orr_pending_has(const struct orr_request *request);

void orr_pending_remove(struct orr_node *node, struct orr_request *request)
    ORR_REQUIRES(node->lock);

/* A job that was queued needs it at `use`, if that is sooner. */
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

/* Takes the first request, of the level or the next one that has some, that the
 * limits of copies under way let through and that does not need memory of a node
 * that is full, and counts its copy. Those that found no memory on this node are
 * passed over as long as nothing has changed there, which *full says. NULL: there
 * is none. */
struct orr_request *orr_pending_take(struct orr_node *node, unsigned *level,
                                     struct orr_full *full)
    ORR_REQUIRES(node->lock);

/* Whether memory is reserved for what the request brings. */
bool orr_request_has_reserved(const struct orr_request *request);

/* From now on prefetches are sorted. */
void orr_pending_sort(struct orr_node *node) ORR_REQUIRES(node->lock);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/eviction.h - what leaves a memory node that is full: the rules of
 * ORRERY_EVICTION as tables. lru.c has two of them, nextuse.c the third one.
 *
 * A rule keeps the blocks that nobody uses ("offered") of each node in an order
 * of its own, and is told what that order may depend on.
 */
#pragma once

#include "core/data/handle.h"

struct orr_node;

struct orr_eviction {
    const char *name; /* the value of ORRERY_EVICTION */
    /* Prefetches hold a reference on their source from the beginning, not only
     * once their copy runs. */
    bool keeps_sources;
    /* What found no room is tried at each pass, even if nothing has changed: each
     * attempt writes something back, as in StarPU. */
    bool tries_again;
    /* Prefetches are tried in the order in which queued jobs need them, where
     * memory has become short: core/data/pending.h. */
    bool sorts_prefetches;
    /* `file`: the block is not used any more; returns whether prefetches may take it.
     * `unfile`: it is used. */
    bool (*file)(struct orr_node *node, struct orr_block *block);
    void (*unfile)(struct orr_node *node, struct orr_block *block);
    /* Of an offered block: `touch`, a request has found the value there; `demote`, it
     * is to be the next one to leave; `outdate`, the value was overwritten elsewhere.
     * Each may be NULL: the rule does not depend on that. */
    void (*touch)(struct orr_node *node, struct orr_block *block);
    void (*demote)(struct orr_node *node, struct orr_block *block);
    void (*outdate)(struct orr_node *node, struct orr_block *block);
    /* What is known of its next use has changed, as the access was promised its datum
     * somewhere, or has asked for it, or has left; for nodes in rt->nodes->pressed. */
    void (*reorder)(struct orr_node *node, struct orr_block *block,
                    const struct orr_access *access);
    /* Jobs that a policy queues for a node are promised their data there:
     * replicate->promised counts. */
    bool promises;
    /* `promise`: the access was promised its datum on access->node. `withdraw`: its job
     * asks for its data now, on whatever node. NULL: to count is enough. */
    void (*promise)(struct orr_access *access);
    void (*withdraw)(struct orr_access *access);
    /* The copy that wrote the block back has ended, but a job uses the block, so that
     * it does not leave. NULL: the rule does not depend on that. */
    void (*stay)(struct orr_node *node, struct orr_block *block);
    /* Whether prefetches may find so much room on the node, from what can be seen
     * at once; with the node's lock. NULL: perhaps. */
    bool (*may_spare)(const struct orr_node *node, size_t size);
    /* orr_node_make_room, where the size does not fit. -EINPROGRESS: what would
     * make room is being written back. Counts in node->npassed the blocks that
     * it passed over because their handles were locked. */
    int (*make_room)(struct orr_runtime *rt, struct orr_node *node, size_t size,
                     enum orr_fetch_level level);
    /* Stops the program if the node's blocks are not as they must be. */
    void (*check)(struct orr_node *node);
};
/* All but make_room and check are called with the handle's lock; check, and those that
 * get a node and an offered block, with the node's lock as well. */

extern const struct orr_eviction orr_eviction_lru;    /* core/data/lru.c */
extern const struct orr_eviction orr_eviction_starpu; /* likewise */
extern const struct orr_eviction orr_eviction_nextuse;

/* The rule of that name, NULL without. */
const struct orr_eviction *orr_eviction_find(const char *name);

/* --- what nextuse knows (core/data/nextuse.c) --- */

/* When the value that a prefetch brings to the replicate is needed: first what
 * needs no memory, then by promises, last what was promised to nobody. Its
 * handle is locked. */
struct orr_use orr_use_of_prefetch(struct orr_replicate *replicate);

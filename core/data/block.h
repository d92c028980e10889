/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/block.h - memory on a node that was allocated through an interface
 * of ours, and the replicates that live in it: one, or, while data are
 * partitioned, that of the whole and those of its pieces in place
 * (core/data/sharing.c).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "core/data/handle.h"

struct orr_node;

/* What changes with every task that uses it comes first. */
struct orr_block {
    union {
        struct orr_list lru;       /* [node lock] among the node's blocks that
                                    * nobody uses, oldest first … */
        struct orr_heap_link heap; /* … or by the next use */
    };
    struct orr_use use; /* [node lock] its place in the heap */
    uint64_t id;        /* [const] number of the datum that it was made for */
    int64_t age;        /* [node lock] order in which blocks came there */
    /* [node lock] How many of them do not offer it: at 0 it is among the node's blocks
     * that could leave. */
    unsigned pins;
    uint8_t list;        /* [node lock] which: node.h */
    bool guessed;        /* [node lock] the use is one that may come later */
    atomic_uint leaving; /* [node lock] for writing: copies by which it is being
                          * written back, to be evicted */
    /* [node lock] replicates that live in it, the oldest first. A replicate joins a
     * block in which another one is pinned, and leaves under its handle's lock. So a
     * context with the locks of all their handles finds the list unchanged. */
    struct orr_list inhabitants;
    atomic_uint ninhabitants; /* [node lock] for writing */
    struct orr_list present;  /* [node lock] in the node's list of all */
    struct orr_replicate *owner; /* [node lock] whose interface allocated it;
                                  * NULL: that is gone, others are not */
    struct starpu_data_interface_ops *ops; /* [const] */
    struct orr_node *of_node;              /* [const] its node … */
    unsigned node;                         /* [const] … and number */
    uint32_t needs; /* [const] hash of the memory that it needs, … */
    /* [const] … which counts as so many bytes: core/data/cache.h */
    size_t taken;
    /* [node lock] in a cache, where nobody lives in it. */
    struct orr_list alike;
    size_t size;         /* [const] bytes */
    /* Simulated: it came from the machine, and nobody has lived in it. */
    bool fresh;
    /* [node lock] what the interface's methods allocated, for them to free. */
    _Alignas(16) char interface[];
};

/* Whether a handle and pieces of it live there. */
static inline bool orr_block_is_shared(const struct orr_block *block)
{
    return atomic_load_explicit(&block->ninhabitants, memory_order_relaxed) > 1;
}

/* Walks the replicates that live there. */
#define orr_block_foreach(replicate, block)                                    \
    for (struct orr_replicate *replicate =                                     \
             orr_block_next((block), &(block)->inhabitants);                   \
         replicate; replicate = orr_block_next((block), &replicate->in_block))

static inline struct orr_replicate *
orr_block_next(const struct orr_block *block, const struct orr_list *link)
{
    return link->next == &block->inhabitants
               ? NULL
               : orr_container(link->next, struct orr_replicate, in_block);
}

/* Makes memory for the handle on the node: from what is `reserved` for it, all of which
 * is used up then; if that is 0, within the node's capacity. Evicts if it must and can
 * at once; for a prefetch only what no job is expected to use. The caller owns *ret,
 * and has the only request of this replicate, so that no other context makes memory for
 * it. Errors: -ENOMEM: what was reserved still is; try again when something was freed.
 * No lock held. */
int orr_block_new(struct orr_runtime *rt, struct orr_handle *handle,
                  unsigned node, enum orr_fetch_level level, size_t reserved,
                  struct orr_block **ret);

/* The same at once and whatever the node's limit is. Errors: -ENOMEM, the node has
 * none. */
int orr_block_new_anyway(struct orr_runtime *rt, struct orr_handle *handle,
                         unsigned node, struct orr_block **ret);

/* Frees the memory, or keeps it for another block; NULL is allowed. No lock held. */
void orr_block_free(struct orr_block *block);

/* Gives the memory of a block that was kept back to the node's driver. */
void orr_block_destroy(struct orr_block *block);

/* Gives the block, which is new, to the handle's replicate on its node, which
 * has none. What is reserved for that is the caller's to clear. */
void orr_block_attach_locked(struct orr_handle *handle, struct orr_block *block)
    ORR_REQUIRES(handle->lock);

/* The same with a block that was made of the bytes that were `reserved` then. Bytes
 * that were reserved for the replicate meanwhile become free. */
void orr_block_place_locked(struct orr_handle *handle, struct orr_block *block,
                            size_t reserved, struct orr_deferred *deferred)
    ORR_REQUIRES(handle->lock);

/* Takes the handle's replicate on the node out of its block. Returns the block if
 * it was the last one there, for orr_block_free; NULL if not, or if its memory
 * is not ours. */
struct orr_block *orr_block_detach_locked(struct orr_handle *handle,
                                          unsigned node)
    ORR_REQUIRES(handle->lock);

/* A piece of partitioned data, which has no memory on the node and is not used
 * yet, gets its place in the memory of the whole, which is pinned there. Its
 * interface says already where that is. */
void orr_block_join_locked(struct orr_handle *piece,
                           const struct orr_handle *whole, unsigned node)
    ORR_REQUIRES(piece->lock);

/* Takes the locks of the handles of all replicates in the block, or none and returns
 * false if another context has one of them; the node is locked. _unlock lets them go,
 * with the node locked or not. */
bool orr_block_trylock(struct orr_block *block);
void orr_block_unlock(struct orr_block *block);

/* Frees the memory of all replicates in the block; their handles are locked on entry,
 * not on return. The node is not locked. */
void orr_block_evict(struct orr_runtime *rt, struct orr_block *block);

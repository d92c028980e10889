/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/sharing.c - which replicates live in a block of memory. Mostly it is one.
 * When data are partitioned, the pieces get their places in the whole's memory on every
 * node where it has some ("in place"), and live in its block from then on; pieces of
 * pieces do, too. Other partitions of the same data would join the same block.
 *
 * What concerns memory concerns the block as a whole: it is counted once, it is
 * pinned as long as one that lives there is used, and it is evicted for all at
 * once. Before, each that has the only copy of its value is copied to its own
 * write-back target. Where the whole has no memory, a piece that is used gets a
 * block of its own.
 *
 * Why no byte is lost: the context that evicts has the locks of the handles of all
 * replicates there, so none of them gets a user or changes its value meanwhile, none
 * leaves and none joins: to join, a replicate has to pin the whole before, under the
 * whole's lock. The block is freed only if each of them is unused and clean. While data
 * are partitioned the whole has no value, and in its base (main memory) its memory is
 * pinned: there is a place in place for what is written back, and for the pieces to
 * meet when they are joined again. What no piece covers has its value in the base as
 * well (core/data/partition.c).
 *
 * Why it cannot deadlock: the locks are tried, with the node's lock held, and all let
 * go if one is taken; so there is no order among them. The copies to the write-back
 * targets need no memory there, since that is pinned, or are like those of any datum
 * with a block of its own (admit.c). They are made one independently of the other: each
 * pins its piece, and the last one that ends offers the block. A job that holds one
 * piece and lacks memory that only the same block can give would wait for itself: it is
 * tried without what it holds there, which is then written back and fetched anew
 * (admit.c).
 */
#include "core/base/bits.h"
#include "core/data/block.h"

#include <assert.h>
#include <string.h>

#include "core/data/evict.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/traffic.h"
#include "core/exec/runtime.h"

static struct orr_node *block_node(const struct orr_handle *handle,
                                   const struct orr_block *block)
{
    return &handle->runtime->nodes->at[block->node];
}

/* --- coming --- */

static void move_in(struct orr_handle *handle, struct orr_block *block,
                    bool offered) ORR_REQUIRES(handle->lock)
{
    struct orr_replicate *replicate = &handle->replicates[block->node];
    struct orr_node *node = block_node(handle, block);

    replicate->block = block;
    replicate->offered = offered;
    replicate->allocated = true;
    orr_handle_set_allocated(handle, handle->allocated | orr_bit(block->node));
    orr_lock(&node->lock);
    assert(!offered || block->pins > 0);
    if (orr_list_empty(&block->inhabitants))
        orr_list_append(&node->all, &block->present);
    orr_list_append(&block->inhabitants, &replicate->in_block);
    atomic_fetch_add_explicit(&block->ninhabitants, 1, memory_order_relaxed);
    block->pins += !offered;
    orr_unlock(&node->lock);
    orr_node_changed_for_jobs(node); /* those that use it lack less */
}

/* Writes what differs, not all. What stays, lengths among it, the application may ask
 * for at any time (starpu_vector_get_nx), without an order after the context that made
 * the memory. */
static void interface_describe(void *interface, const void *described,
                               size_t size)
{
    enum { WORD = sizeof(uint64_t) };
    char *to = interface;
    const char *from = described;
    size_t at = 0;

    for (; at + WORD <= size; at += WORD) /* no calls, for so many */
        if (memcmp(to + at, from + at, WORD) != 0)
            memcpy(to + at, from + at, WORD);
    if (at < size && memcmp(to + at, from + at, size - at) != 0)
        memcpy(to + at, from + at, size - at);
}

void orr_block_attach_locked(struct orr_handle *handle, struct orr_block *block)
{
    struct orr_replicate *replicate = &handle->replicates[block->node];

    interface_describe(replicate->interface, block->interface,
                       block->ops->interface_size);
    block->owner = replicate;
    move_in(handle, block, false);
    if (block->fresh)
        handle->untouched |= orr_bit(block->node);
    block->fresh = false;
}

void orr_block_place_locked(struct orr_handle *handle, struct orr_block *block,
                            size_t reserved, struct orr_deferred *deferred)
{
    struct orr_replicate *replicate = &handle->replicates[block->node];

    orr_block_attach_locked(handle, block);
    if (reserved)
        replicate->reserved = 0;
    orr_replicate_unreserve(handle, block->node, deferred);
}

void orr_block_join_locked(struct orr_handle *piece,
                           const struct orr_handle *whole, unsigned node)
{
    struct orr_block *block = whole->replicates[node].block;

    assert(!piece->replicates[node].allocated);
    if (whole->untouched)
        piece->untouched |= whole->untouched & orr_bit(node);
    if (block) {
        move_in(piece, block, true);
        return;
    }
    piece->replicates[node].allocated = true;
    orr_handle_set_allocated(piece, piece->allocated | orr_bit(node));
    orr_node_changed_for_jobs(&piece->runtime->nodes->at[node]);
}

/* --- going --- */

/* What the interface has is the block's again, to be freed. */
static void disown(struct orr_block *block)
{
    if (!block->owner)
        return;
    memcpy(block->interface, block->owner->interface,
           block->ops->interface_size);
    block->owner = NULL;
}

/* Its handle is locked. */
static void replicate_forget_memory(struct orr_replicate *replicate) ORR_UNCHECKED
{
    replicate->block = NULL;
    replicate->offered = false;
    replicate->allocated = false;
    orr_handle_set_allocated(replicate->handle,
                             replicate->handle->allocated &
                                 ~orr_bit(replicate->node));
    replicate->handle->former &= ~orr_bit(replicate->node);
    orr_handle_touch(replicate->handle, orr_bit(replicate->node));
}

static void move_out(struct orr_runtime *rt, struct orr_node *node,
                     struct orr_block *block, struct orr_replicate *replicate)
    ORR_REQUIRES(node->lock)
{
    bool last =
        atomic_load_explicit(&block->ninhabitants, memory_order_relaxed) == 1;

    if (replicate->offered && last)
        rt->nodes->eviction->unfile(node, block);
    orr_list_remove(&replicate->in_block);
    atomic_fetch_sub_explicit(&block->ninhabitants, 1, memory_order_relaxed);
    block->pins -= !replicate->offered;
    if (!replicate->offered && !last && block->pins == 0) {
        (void)rt->nodes->eviction->file(node, block);
        orr_node_changed(node);
    }
}

struct orr_block *orr_block_detach_locked(struct orr_handle *handle,
                                          unsigned id)
{
    struct orr_node *node = &handle->runtime->nodes->at[id];
    struct orr_replicate *replicate = &handle->replicates[id];
    struct orr_block *block = replicate->block;
    bool last;

    if (!block)
        return NULL;
    orr_lock(&node->lock);
    if (block->owner == replicate)
        disown(block);
    move_out(handle->runtime, node, block, replicate);
    last = orr_list_empty(&block->inhabitants);
    if (last)
        orr_list_remove(&block->present);
    orr_unlock(&node->lock);
    replicate_forget_memory(replicate);
    return last ? block : NULL;
}

/* --- all at once --- */

/* Lets go of the first n locks: replicates that are in the list behind those have come
 * since. The next one is looked for while the lock before it is held, so that it stays.
 * Unchecked, like its callers: clang cannot follow a chain of locks. */
static void unlock_first(struct orr_block *block, unsigned n) ORR_UNCHECKED
{
    struct orr_list *link = n ? block->inhabitants.next : NULL;

    while (n-- > 0) {
        struct orr_replicate *replicate =
            orr_container(link, struct orr_replicate, in_block);

        link = n ? link->next : NULL;
        orr_unlock(&replicate->handle->lock);
    }
}

bool orr_block_trylock(struct orr_block *block) ORR_UNCHECKED
{
    unsigned n = 0;

    orr_block_foreach(replicate, block)
    {
        if (!orr_trylock(&replicate->handle->lock)) {
            unlock_first(block, n);
            return false;
        }
        n++;
    }
    return true;
}

void orr_block_unlock(struct orr_block *block)
{
    unlock_first(block, atomic_load_explicit(&block->ninhabitants,
                                             memory_order_relaxed));
}

/* With all these locks no other context sees the block once it is not filed. */
void orr_block_evict(struct orr_runtime *rt,
                     struct orr_block *block) ORR_UNCHECKED
{
    struct orr_node *node = &rt->nodes->at[block->node];
    struct orr_list *link;

    assert(orr_block_is_clean(block));
    orr_lock(&node->lock);
    rt->nodes->eviction->unfile(node, block);
    orr_list_remove(&block->present);
    orr_unlock(&node->lock);
    disown(block);
    while ((link = orr_list_pop(&block->inhabitants))) {
        struct orr_replicate *replicate =
            orr_container(link, struct orr_replicate, in_block);
        struct orr_handle *handle = replicate->handle;

        orr_traffic_evict(handle, block->node);
        orr_handle_set_valid(handle, handle->valid & ~orr_bit(block->node));
        replicate_forget_memory(replicate);
        orr_unlock(&handle->lock);
    }
    orr_block_free(block);
    atomic_fetch_add_explicit(&rt->nodes->nevictions, 1, memory_order_relaxed);
}

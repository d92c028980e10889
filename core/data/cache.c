/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/cache.c - memory that blocks had is kept for blocks of the same interface
 * and the same needs: a device's driver takes long to give memory, and waits for
 * kernels to take it back.
 *
 * Memory in the cache counts as free. So it is freed, the oldest first, when another
 * allocation would make the node hold more than its capacity, or when the driver has
 * none left.
 *
 * Two blocks are alike if their interfaces are the same, with the same hash of what
 * they need (alloc_footprint), and alloc_compare, else compare, says so. Interfaces
 * with `dontcache` keep nothing, nor do those that do not compare. Their methods are
 * called with no lock held: a candidate is taken out first.
 */
#include "core/data/cache.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/block.h"
#include "core/data/lost.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/device/pinned.h"
#include "core/exec/runtime.h"

typedef int (*compare_t)(void *, void *);

static compare_t compare_of(const struct starpu_data_interface_ops *ops)
{
    return ops->alloc_compare ? ops->alloc_compare : ops->compare;
}

static struct orr_list *cache_list(struct orr_node *node,
                                   const struct orr_block *block)
{
    return &node->cache.alike[block->needs % ORR_CACHE_LISTS];
}

/* --- coming --- */

/* From now on the structure describes only the memory: what else it points to ends with
 * its handle. Returns false without memory for that. */
static bool strip(struct orr_block *block)
{
    enum { FITS = 256 }; /* most interfaces */
    _Alignas(max_align_t) char room[FITS];
    size_t size = block->ops->interface_size;
    void *kept = room;

    if (!block->ops->cache_data_on_node)
        return true;
    if (size > FITS && !(kept = malloc(size)))
        return false;
    memset(kept, 0, size);
    block->ops->cache_data_on_node(kept, block->interface, block->node);
    memcpy(block->interface, kept, size);
    if (size > FITS)
        free(kept);
    return true;
}

static void cache_put_block(struct orr_node *node, struct orr_block *block)
{
    orr_lock(&node->lock);
    orr_list_append(&node->cache.aged, &block->lru);
    orr_list_prepend(cache_list(node, block), &block->alike);
    atomic_fetch_add(&node->cache.bytes, block->taken);
    orr_unlock(&node->lock);
}

/* Once the block is in the cache other contexts may use or free it. */
bool orr_cache_keep(struct orr_block *block)
{
    struct orr_node *node = block->of_node;
    size_t taken = block->taken;

    if (!node->cache.used || !taken || block->ops->dontcache ||
        !compare_of(block->ops) || orr_node_is_lost(node->runtime, node->id) ||
        !strip(block))
        return false;
    cache_put_block(node, block);
    orr_node_give(node->runtime, node->id, taken);
    return true;
}

/* --- going --- */

static void remove_locked(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    orr_list_remove(&block->lru);
    orr_list_remove(&block->alike);
    atomic_fetch_sub(&node->cache.bytes, block->taken);
}

static struct orr_block *take_oldest(struct orr_node *node)
{
    struct orr_block *block = NULL;

    orr_lock(&node->lock);
    if (!orr_list_empty(&node->cache.aged)) {
        block = orr_container(node->cache.aged.next, struct orr_block, lru);
        remove_locked(node, block);
    }
    orr_unlock(&node->lock);
    return block;
}

bool orr_cache_shrink(struct orr_node *node, size_t most)
{
    struct orr_block *block;
    bool any = false;

    while (atomic_load(&node->cache.bytes) > most &&
           (block = take_oldest(node)) != NULL) {
        orr_block_destroy(block);
        any = true;
    }
    return any;
}

void orr_caches_empty(struct orr_runtime *rt)
{
    for (unsigned node = 0; node < rt->nodes->n; node++)
        (void)orr_cache_shrink(&rt->nodes->at[node], 0);
}

/* Takes a block that is probably like this one out of the cache; NULL: there is none. */
static struct orr_block *take_like(struct orr_node *node,
                                   const struct orr_block *block)
{
    struct orr_block *found = NULL;

    orr_lock(&node->lock);
    orr_list_foreach (link, cache_list(node, block)) {
        struct orr_block *other = orr_container(link, struct orr_block, alike);

        if (other->ops != block->ops || other->needs != block->needs)
            continue;
        if (!found || other->size == block->size)
            found = other;
        if (found->size == block->size)
            break; /* hashes that say little are told apart so */
    }
    if (found)
        remove_locked(node, found);
    orr_unlock(&node->lock);
    return found;
}

static void move_memory(struct orr_block *from, struct orr_block *to)
{
    const struct starpu_data_interface_ops *ops = to->ops;

    if (ops->reuse_data_on_node)
        ops->reuse_data_on_node(to->interface, from->interface, to->node);
    else
        memcpy(to->interface, from->interface, ops->interface_size);
    to->taken = from->taken;
    free(from);
}

static uint32_t needs_of(const struct orr_handle *handle)
{
    return handle->ops->alloc_footprint
               ? handle->ops->alloc_footprint(
                     orr_handle_public((struct orr_handle *)(uintptr_t)handle))
               : handle->footprint;
}

bool orr_cache_reuse(struct orr_runtime *rt, const struct orr_handle *handle,
                     struct orr_block *block)
{
    struct orr_node *node = block->of_node;
    compare_t compare = compare_of(block->ops);
    struct orr_block *old;

    if (!node->cache.used || block->ops->dontcache || !compare)
        return false;
    block->needs = needs_of(handle);
    if (atomic_load(&node->cache.bytes) == 0 ||
        orr_node_is_lost(rt, node->id) || !(old = take_like(node, block)))
        return false;
    if (!compare(block->interface, old->interface) ||
        orr_node_get(rt, node->id, old->taken) != 0) {
        cache_put_block(node, old);
        return false;
    }
    move_memory(old, block);
    atomic_fetch_add_explicit(&node->nreused, 1, memory_order_relaxed);
    return true;
}

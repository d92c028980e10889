/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/evict.c - room on a node that is full: blocks whose values exist
 * elsewhere are freed, others are written back first.
 *
 * Who makes room tries the locks of its victims' handles; one that is taken is
 * passed over, so no order among handles is needed, and tried again if no other
 * victim is found.
 */
#include <errno.h>

#include "core/data/node.h"
#include "core/data/request.h"
#include "core/runtime.h"

static bool has_other_copy(const struct orr_handle *handle, unsigned node)
{
    return (handle->valid & ~(UINT64_C(1) << node)) != 0;
}

static bool worthless(const struct orr_handle *handle, unsigned node)
{
    return !(handle->valid & UINT64_C(1) << node);
}

/* The oldest block of some lists (bits) that *at has not passed yet, NULL at
 * their ends; passes it. */
static struct orr_block *pass_oldest(struct orr_node *node, unsigned lists,
                                     struct orr_list **at)
    ORR_REQUIRES(node->lock)
{
    struct orr_block *oldest = NULL;

    for (unsigned i = 0; i < ORR_BLOCK_LISTS; i++) {
        struct orr_block *block;

        if (!(lists >> i & 1) || at[i] == &node->blocks[i])
            continue;
        block = orr_container(at[i], struct orr_block, lru);
        if (!oldest || block->age < oldest->age)
            oldest = block;
    }
    if (oldest)
        at[oldest->list] = oldest->lru.next;
    return oldest;
}

/* Takes the oldest replicate off the lists that `wanted` accepts, its handle
 * locked. Those whose handle is busy stay, and *busy says so; those that are in
 * the wrong list are put right. Unchecked, as are its callers: clang cannot know
 * which lock is held on return. */
static struct orr_replicate *take_victim(struct orr_node *node, unsigned lists,
                                         bool (*wanted)(struct orr_replicate *),
                                         bool *busy) ORR_UNCHECKED
{
    struct orr_list *at[ORR_BLOCK_LISTS];
    struct orr_replicate *found = NULL;
    struct orr_block *block;

    orr_lock(&node->lock);
    for (unsigned i = 0; i < ORR_BLOCK_LISTS; i++)
        at[i] = node->blocks[i].next;
    while (!found && (block = pass_oldest(node, lists, at))) {
        struct orr_replicate *replicate = block->replicate;
        unsigned list;

        if (!orr_trylock(&replicate->handle->lock)) {
            *busy = true;
            continue;
        }
        list = orr_node_list_of(replicate->handle, node->id);
        if (!replicate->handle->dying && replicate->refs == 0 &&
            !replicate->request && wanted(replicate)) {
            found = replicate;
            block->offered = false;
            orr_list_remove(&block->lru);
            break;
        }
        if (list != block->list)
            orr_node_refile_locked(node, block, list);
        orr_unlock(&replicate->handle->lock);
    }
    orr_unlock(&node->lock);
    return found;
}

static bool is_clean(struct orr_replicate *replicate)
{
    return worthless(replicate->handle, replicate->node) ||
           has_other_copy(replicate->handle, replicate->node);
}

static bool is_unwanted(struct orr_replicate *replicate)
{
    return worthless(replicate->handle, replicate->node) ||
           (replicate->handle->wont_use &&
            has_other_copy(replicate->handle, replicate->node));
}

/* Where the only copy of a value goes when it must leave the node: to the
 * application's memory, else to node 0. */
static unsigned write_back_target(const struct orr_replicate *replicate)
{
    return orr_handle_base(replicate->handle);
}

/* The only copy, and not on its way to its write-back target yet, where nobody
 * is about to overwrite it: then it is clean soon. */
static bool is_dirty(struct orr_replicate *replicate)
{
    unsigned to = write_back_target(replicate);
    const struct orr_replicate *target = &replicate->handle->replicates[to];

    return to != replicate->node && !is_clean(replicate) && !target->request &&
           !target->writers;
}

static bool evict_one(struct orr_runtime *rt, struct orr_node *node,
                      unsigned lists, bool (*wanted)(struct orr_replicate *),
                      bool *busy) ORR_UNCHECKED
{
    struct orr_replicate *victim = take_victim(node, lists, wanted, busy);
    struct orr_handle *handle;
    struct orr_block *block;

    if (!victim)
        return false;
    handle = victim->handle;
    handle->valid &= ~(UINT64_C(1) << node->id);
    block = orr_block_detach_locked(handle, node->id);
    orr_unlock(&handle->lock);
    orr_block_free(block);
    atomic_fetch_add_explicit(&rt->nevictions, 1, memory_order_relaxed);
    return true;
}

/* Sends the oldest dirty replicate home; it can be evicted when that is done.
 * Returns whether there was one. */
static bool write_back_one(struct orr_runtime *rt, struct orr_node *node,
                           unsigned lists, bool *busy) ORR_UNCHECKED
{
    struct orr_deferred deferred = {0};
    struct orr_replicate *victim = NULL;

    if (orr_deferred_prepare(rt, &deferred) == 0)
        victim = take_victim(node, lists, is_dirty, busy);
    if (victim) {
        struct orr_handle *handle = victim->handle;

        (void)orr_request_need(rt, handle, write_back_target(victim), true,
                               ORR_FETCH, NULL, &deferred);
        orr_unlock(&handle->lock);
    }
    orr_deferred_run(rt, &deferred);
    return victim != NULL;
}

static bool fits(const struct orr_node *node, size_t size)
{
    return node->capacity == 0 || node->used + size <= node->capacity;
}

/* Where main memory is several nodes, a limit says what is kept on one, not
 * what running tasks may need: the workers of a node could each hold a part of
 * it and wait for the rest. */
static bool may_exceed(const struct orr_runtime *rt,
                       const struct orr_node *node)
{
    return rt->nram > 1 && node->id < rt->nram;
}

/* The lists in which an eviction for a request of the level looks for clean
 * blocks; ORR_BLOCK_DIRTY more: for dirty ones. */
static unsigned lists_for(const struct orr_runtime *rt, unsigned level)
{
    return rt->eviction != ORR_EVICT_LRU && level == ORR_FETCH
               ? 1u | 1u << ORR_BLOCK_PROMISED
               : 1u;
}

/* Whether a request of the level may have values written back. */
static bool may_write_back(const struct orr_runtime *rt, unsigned level)
{
    return level == ORR_FETCH ||
           (level == ORR_PREFETCH && rt->eviction != ORR_EVICT_LRU);
}

/* Begins to write back what would make room. Two at a time, so that one is done
 * when the next request comes. Returns whether there was any. */
static bool write_back(struct orr_runtime *rt, struct orr_node *node,
                       unsigned lists, bool *busy)
{
    if (rt->eviction == ORR_EVICT_LRU)
        return write_back_one(rt, node, lists, busy);
    lists <<= ORR_BLOCK_DIRTY;
    if (!write_back_one(rt, node, lists, busy))
        return false;
    (void)write_back_one(rt, node, lists, busy);
    return true;
}

/* A handle is locked for a few instructions, at the end of which no context is
 * woken: what it has may be all that could leave, so that this is waited for. */
int orr_node_make_room(struct orr_runtime *rt, struct orr_node *node,
                       size_t size, enum orr_fetch_level level)
{
    unsigned lists = lists_for(rt, level);
    bool lru = rt->eviction == ORR_EVICT_LRU;
    bool (*wanted)(struct orr_replicate *) =
        level == ORR_FETCH || (level == ORR_PREFETCH && !lru) ? is_clean
                                                              : is_unwanted;

    while (!fits(node, size)) {
        bool busy = false;

        if (evict_one(rt, node, lists, wanted, &busy))
            continue;
        if (may_write_back(rt, level)) {
            if (write_back(rt, node, lists, &busy))
                return -ENOMEM; /* its end has it tried again */
            /* That may have found clean ones among the dirty. */
            if (!lru && evict_one(rt, node, lists, wanted, &busy))
                continue;
        }
        if (busy) {
            rt->exec->ops->relax(rt->exec);
            continue;
        }
        return level == ORR_FETCH && may_exceed(rt, node) ? 0 : -ENOMEM;
    }
    return 0;
}

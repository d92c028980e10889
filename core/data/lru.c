/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/lru.c - two rules of eviction by age. `lru`: what was not used for longest
 * leaves; prefetches take only what no job will use. `starpu`: the same, but prefetches
 * wait for memory and may take what no queued job was promised.
 *
 * A node's blocks are in lists, oldest first: clean or dirty, promised or not; with
 * `lru` all are in list 0. A promise moves a block at once; the search for victims
 * moves those whose value was copied or lost.
 */
#include <errno.h>

#include "core/base/check.h"
#include "core/data/evict.h"
#include "core/data/lost.h"
#include "core/data/nodes.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"

/* --- the lists --- */

/* The handles of all replicates in the block are locked. */
static unsigned lru_list(const struct orr_node *node,
                         const struct orr_block *block)
{
    unsigned list = 0;

    orr_block_foreach(replicate, block)
    {
        if (replicate->handle->runtime->nodes->eviction == &orr_eviction_lru)
            return 0;
        if (orr_handle_values(replicate->handle) == UINT64_C(1) << node->id)
            list |= ORR_BLOCK_DIRTY;
        if (replicate->promised)
            list |= ORR_BLOCK_PROMISED;
    }
    return list;
}

static void lru_append(struct orr_node *node, struct orr_block *block,
                       unsigned list) ORR_REQUIRES(node->lock)
{
    block->list = (uint8_t)list;
    block->age = ++node->youngest;
    orr_list_append(&node->blocks[list], &block->lru);
}

/* What other replicates in the block need is not looked at: they may be many, and their
 * handles are not locked. The search for victims puts that right. */
static bool lru_file(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    lru_append(node, block,
               orr_block_is_shared(block) ? 0 : lru_list(node, block));
    return true;
}

static void lru_unfile(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    (void)node;
    orr_list_remove(&block->lru);
}

static void lru_touch(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    orr_list_remove(&block->lru);
    (void)lru_file(node, block);
}

/* What several share is not needless because one of them is. */
static void lru_demote(struct orr_node *node, struct orr_block *block)
    ORR_REQUIRES(node->lock)
{
    if (orr_block_is_shared(block))
        return;
    orr_list_remove(&block->lru);
    block->list = (uint8_t)lru_list(node, block);
    block->age = --node->oldest;
    orr_list_prepend(&node->blocks[block->list], &block->lru);
}

static void lru_check(struct orr_node *node) ORR_REQUIRES(node->lock)
{
    for (unsigned list = 0; list < ORR_BLOCK_LISTS; list++)
        orr_list_foreach (link, &node->blocks[list]) {
            struct orr_block *block =
                orr_container(link, struct orr_block, lru);

            ORR_CHECK(block->node == node->id && block->list == list);
            ORR_CHECK(block->pins == 0);
        }
}

/* --- the choice --- */

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

/* The oldest block of the lists that `wanted` accepts, with the handles of all
 * replicates in it locked. Blocks of which one handle is busy stay; blocks that are in
 * the wrong list are put right. Unchecked, as are its callers: clang cannot know which
 * lock is held on return. */
static struct orr_block *
lru_find_victim(struct orr_node *node, unsigned lists,
                bool (*wanted)(const struct orr_block *)) ORR_UNCHECKED
{
    struct orr_list *at[ORR_BLOCK_LISTS];
    struct orr_block *block, *found = NULL;

    orr_lock(&node->lock);
    for (unsigned i = 0; i < ORR_BLOCK_LISTS; i++)
        at[i] = node->blocks[i].next;
    while (!found && (block = pass_oldest(node, lists, at))) {
        unsigned list;

        if (!orr_block_trylock(block)) {
            atomic_fetch_add_explicit(&node->npassed, 1, memory_order_relaxed);
            continue;
        }
        list = lru_list(node, block);
        if (lists >> list & 1 && orr_block_is_free(block, node) &&
            wanted(block)) {
            found = block;
            break;
        }
        if (list != block->list) {
            orr_list_remove(&block->lru);
            lru_append(node, block, list);
        }
        orr_block_unlock(block);
    }
    orr_unlock(&node->lock);
    return found;
}

/* Some value is the only copy, and not on its way to its write-back target yet; none is
 * about to be overwritten there: then the block will be clean. */
static bool is_dirty(const struct orr_block *block)
{
    bool stays = false;

    orr_block_foreach(replicate, block)
    {
        unsigned to = orr_replicate_write_back_target(replicate);

        if (orr_replicate_is_clean(replicate))
            continue;
        if (!orr_replicate_may_be_sent(replicate))
            return false;
        stays |= !replicate->handle->replicates[to].request;
    }
    return stays;
}

static bool evict_one(struct orr_runtime *rt, struct orr_node *node,
                      unsigned lists, bool (*wanted)(const struct orr_block *))
{
    struct orr_block *victim = lru_find_victim(node, lists, wanted);

    if (victim)
        orr_evict_victim(rt, victim);
    return victim != NULL;
}

/* Writes the dirty values in the oldest block back; the block can be evicted when that
 * is done. Returns whether there was one. */
static bool write_back_one(struct orr_runtime *rt, struct orr_node *node,
                           unsigned lists) ORR_UNCHECKED
{
    struct orr_deferred deferred = {0};
    struct orr_block *victim = NULL;
    unsigned spares = ORR_SPARES;

    while (orr_deferred_prepare_n(rt, &deferred, spares) == 0 &&
           (victim = lru_find_victim(node, lists, is_dirty))) {
        spares = orr_block_spares(victim);
        if (spares <= deferred.nspare) {
            (void)orr_block_write_back(rt, victim, &deferred);
            orr_block_unlock(victim);
            break;
        }
        orr_block_unlock(victim);
        victim = NULL;
    }
    orr_deferred_run(rt, &deferred);
    return victim != NULL;
}

static int lru_make_room(struct orr_runtime *rt, struct orr_node *node,
                         size_t size, enum orr_fetch_level level)
{
    bool (*wanted)(const struct orr_block *) =
        level == ORR_FETCH ? orr_block_is_clean : orr_block_is_unwanted;

    while (!orr_node_fits(node, size)) {
        if (evict_one(rt, node, 1, wanted))
            continue;
        if (level == ORR_FETCH && write_back_one(rt, node, 1))
            return -EINPROGRESS;
        return -ENOMEM;
    }
    return 0;
}

/* Two are written back at a time, so that one is done when the next request
 * comes. */
static int starpu_make_room(struct orr_runtime *rt, struct orr_node *node,
                            size_t size, enum orr_fetch_level level)
{
    unsigned lists = level == ORR_FETCH ? 1u | 1u << ORR_BLOCK_PROMISED : 1u;
    unsigned dirty = lists << ORR_BLOCK_DIRTY;
    bool (*wanted)(const struct orr_block *) =
        level == ORR_IDLE_PREFETCH ? orr_block_is_unwanted : orr_block_is_clean;

    while (!orr_node_fits(node, size)) {
        if (evict_one(rt, node, lists, wanted))
            continue;
        if (level == ORR_IDLE_PREFETCH)
            return -ENOMEM;
        if (write_back_one(rt, node, dirty)) {
            (void)write_back_one(rt, node, dirty);
            return -EINPROGRESS;
        }
        /* The search for a block to write back may have found clean blocks among the
         * dirty ones. */
        if (evict_one(rt, node, lists, wanted))
            continue;
        return -ENOMEM;
    }
    return 0;
}

const struct orr_eviction orr_eviction_lru = {
    .name = "lru",
    .keeps_sources = true,
    .file = lru_file,
    .unfile = lru_unfile,
    .demote = lru_demote,
    .make_room = lru_make_room,
    .check = lru_check,
};

const struct orr_eviction orr_eviction_starpu = {
    .name = "starpu",
    .file = lru_file,
    .unfile = lru_unfile,
    .touch = lru_touch,
    .demote = lru_demote,
    .outdate = lru_demote,
    .promises = true,
    .tries_again = true,
    .make_room = starpu_make_room,
    .check = lru_check,
};

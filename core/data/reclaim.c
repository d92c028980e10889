/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/reclaim.c - memory of limited nodes is reclaimed before a job needs
 * it, where the user wants that: some memory is always free
 * (STARPU_MINIMUM_AVAILABLE_MEM): values that prefetches may push out leave or
 * are written back before a job waits for it. Some values are elsewhere as well
 * (STARPU_MINIMUM_CLEAN_BUFFERS), so that their memory can be freed at once.
 */
#include "core/data/evict.h"
#include "core/data/lost.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"

/* --- clean data --- */

/* The value is on another node, or on its way to one, or there is none. Other contexts
 * may be changing that; it is looked at under the lock later. */
static bool looks_clean(const struct orr_block *block)
{
    uint64_t here = UINT64_C(1) << block->node;

    orr_block_foreach(replicate, block)
    {
        const struct orr_handle *handle = replicate->handle;
        uint64_t loading =
            atomic_load_explicit(&handle->loading, memory_order_relaxed);

        if (orr_handle_values(handle) == here && !(loading & ~here))
            return false;
    }
    return true;
}

/* How many are to be written back now. */
static unsigned count_wanted(const struct orr_runtime *rt,
                             struct orr_node *node)
{
    unsigned changes = atomic_load(&node->changes[ORR_NEEDED]);
    unsigned long n = 0, nclean = 0, target;

    orr_lock(&node->lock);
    if (node->looked != changes)
        orr_list_foreach (link, &node->all) {
            n++;
            nclean +=
                looks_clean(orr_container(link, struct orr_block, present));
        }
    node->looked = changes;
    orr_unlock(&node->lock);
    if (100 * nclean >= (unsigned long)rt->nodes->minimum_clean * n)
        return 0;
    target = (n * (unsigned long)rt->nodes->target_clean + 99) / 100;
    return target > nclean ? (unsigned)(target - nclean) : 0;
}

/* Whether the value is the only one, can go where it is written back to, and no job is
 * going to change it before that. Its handle is locked. Unchecked: clang cannot know
 * whose lock that is. */
static bool is_settled(const struct orr_replicate *replicate) ORR_UNCHECKED
{
    const struct orr_handle *handle = replicate->handle;

    return orr_replicate_may_be_sent(replicate) && !handle->writing &&
           !orr_handle_will_be_written_locked(handle);
}

static bool may_be_cleaned(const struct orr_block *block)
{
    orr_block_foreach(replicate, block) if (!orr_replicate_is_clean(replicate) &&
                                            !is_settled(replicate)) return false;
    return true;
}

/* The next block behind *at that can be written back, with the handles of all
 * replicates in it locked; NULL at the end. Unchecked: clang cannot know which lock
 * that is. */
static struct orr_block *next_dirty(struct orr_node *node,
                                    unsigned *at) ORR_UNCHECKED
{
    struct orr_block *found = NULL;
    unsigned i = 0;

    orr_lock(&node->lock);
    orr_list_foreach (link, &node->all) {
        struct orr_block *block =
            orr_container(link, struct orr_block, present);

        if (i++ < *at || looks_clean(block) || !orr_block_trylock(block))
            continue;
        if (may_be_cleaned(block)) {
            found = block;
            break;
        }
        orr_block_unlock(block);
    }
    orr_unlock(&node->lock);
    *at = i;
    return found;
}

static void send_idly(struct orr_runtime *rt, struct orr_block *block,
                      struct orr_deferred *deferred) ORR_UNCHECKED
{
    orr_block_foreach(replicate, block) if (!orr_replicate_is_clean(replicate))(
        void) orr_request_need(rt, replicate->handle,
                               orr_replicate_write_back_target(replicate), true,
                               ORR_IDLE_PREFETCH, NULL, deferred);
}

static void node_clean(struct orr_runtime *rt, struct orr_node *node)
{
    unsigned left = count_wanted(rt, node), at = 0, spares = ORR_SPARES;
    struct orr_deferred deferred = {0};
    struct orr_block *block;

    while (left && orr_deferred_prepare_n(rt, &deferred, spares) == 0 &&
           (block = next_dirty(node, &at))) {
        spares = orr_block_spares(block);
        if (spares <= deferred.nspare) {
            send_idly(rt, block, &deferred);
            left--;
        } else {
            at--; /* again, with as many as it takes */
        }
        orr_block_unlock(block);
        orr_deferred_run(rt, &deferred);
        deferred = (struct orr_deferred){0};
        if (spares < ORR_SPARES)
            spares = ORR_SPARES;
    }
    orr_deferred_run(rt, &deferred);
}

/* --- free memory --- */

static size_t node_share_bytes(const struct orr_node *node, int share)
{
    return node->capacity / 100 * (size_t)share;
}

/* Starts when less than the minimum is free, and goes on as long as values are written
 * back that are to leave for that; the end of each calls this anew. */
static bool is_to_be_freed(const struct orr_runtime *rt, struct orr_node *node)
{
    return atomic_load_explicit(&node->tidying, memory_order_relaxed) ||
           !orr_node_fits(node,
                          node_share_bytes(node, rt->nodes->minimum_available));
}

static bool free_some(struct orr_runtime *rt, struct orr_node *node)
{
    bool done, more;

    if (!is_to_be_freed(rt, node))
        return false;
    done = orr_node_make_room(
               rt, node, node_share_bytes(node, rt->nodes->target_available),
               ORR_PREFETCH) == 0;
    more = !done && atomic_load(&node->admission.nleaving) > 0;
    atomic_store_explicit(&node->tidying, more, memory_order_relaxed);
    if (done)
        orr_node_freed(rt, node->id);
    return done;
}

bool orr_node_tidy(struct orr_runtime *rt, unsigned id)
{
    struct orr_node *node = &rt->nodes->at[id];

    if (node->capacity && rt->nodes->minimum_clean > 0)
        node_clean(rt, node);
    return node->capacity && rt->nodes->minimum_available > 0 && free_some(rt, node);
}

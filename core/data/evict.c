/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/evict.c - room on a node that is full: what the rules of eviction
 * share. A block whose value exists elsewhere is freed, another one is written
 * back first. Which one, lru.c and nextuse.c say.
 *
 * A context that makes room tries the locks of its victims' handles; a victim of which
 * one is taken is passed over, so no order among handles is needed, and tried once more
 * if no other victim is found.
 */
#include "core/data/evict.h"

#include <errno.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/data/lost.h"
#include "core/data/nodes.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"

const struct orr_eviction *orr_eviction_find(const char *name)
{
    static const struct orr_eviction *const all[] = {
        &orr_eviction_lru, &orr_eviction_starpu, &orr_eviction_nextuse};

    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(name, all[i]->name) == 0)
            return all[i];
    return NULL;
}

bool orr_node_fits(const struct orr_node *node, size_t size)
{
    return node->capacity == 0 || size == 0 ||
           node->used + size <= node->capacity;
}

bool orr_replicate_may_be_sent(const struct orr_replicate *replicate)
{
    const struct orr_handle *handle = replicate->handle;
    unsigned to = orr_replicate_write_back_target(replicate);

    return to != replicate->node && !handle->replicates[to].writers &&
           !(handle->awaited && handle->nusers == 0);
}

/* The disk that a value leaves main memory for: its home, or, of data without
 * one, that with room which is fastest. Main memory if there is none: it stays. */
static unsigned find_disk(const struct orr_replicate *replicate)
{
    const struct orr_handle *handle = replicate->handle;
    struct orr_runtime *rt = handle->runtime;
    unsigned best = replicate->node;
    double best_time = 0;

    if (handle->home_node >= 0)
        return rt->machine->nodes[handle->home_node].stores
                   ? (unsigned)handle->home_node
                   : best;
    for (unsigned node = rt->nodes->nram;
         handle->out_of_core && node < handle->nnodes; node++) {
        double time;

        if (!rt->machine->nodes[node].stores ||
            !(handle->replicates[node].allocated ||
              orr_node_fits(&rt->nodes->at[node], handle->size)))
            continue;
        time = orr_transfer_predict(rt, replicate->node, node, handle->size);
        if (best == replicate->node || time < best_time) {
            best = node;
            best_time = time;
        }
    }
    return best;
}

unsigned orr_replicate_write_back_target(const struct orr_replicate *replicate)
{
    const struct orr_handle *handle = replicate->handle;
    unsigned base = orr_handle_base(handle);

    if (handle->runtime->machine->nodes[replicate->node].stores)
        return replicate->node; /* there is nothing behind it */
    return replicate->node == base ? find_disk(replicate) : base;
}

/* --- blocks --- */

bool orr_block_is_free(const struct orr_block *block, struct orr_node *node)
{
    orr_block_foreach(replicate, block)
    {
        if (replicate->refs > 0) {
            if (atomic_load(&node->admission.server) != orr_self)
                atomic_fetch_add_explicit(&node->npassed, 1,
                                          memory_order_relaxed);
            return false;
        }
        if (replicate->handle->dying || replicate->request ||
            orr_handle_keeps(replicate->handle, node->id))
            return false;
    }
    return true;
}

bool orr_block_is_clean(const struct orr_block *block)
{
    orr_block_foreach(
        replicate, block) if (!orr_replicate_is_clean(replicate)) return false;
    return true;
}

bool orr_block_is_unwanted(const struct orr_block *block)
{
    orr_block_foreach(
        replicate,
        block) if (!orr_replicate_is_outdated(replicate) &&
                   !(replicate->handle->wont_use &&
                     orr_replicate_is_clean(replicate))) return false;
    return true;
}

unsigned orr_block_spares(const struct orr_block *block)
{
    unsigned n = 0;

    orr_block_foreach(replicate, block) n +=
        orr_replicate_is_clean(replicate) ? 0 : ORR_SPARES_PER_NEED;
    return n;
}

/* Unchecked: clang cannot know whose lock that is. */
static bool evict_write_back_locked(struct orr_runtime *rt,
                                    struct orr_replicate *replicate,
                                    struct orr_deferred *deferred) ORR_UNCHECKED
{
    struct orr_handle *handle = replicate->handle;
    unsigned to = orr_replicate_write_back_target(replicate);

    (void)orr_request_need(rt, handle, to, true, ORR_FETCH, NULL, deferred);
    if (handle->replicates[to].request)
        handle->replicates[to].request->moves = rt->nodes->at[to].capacity != 0;
    return replicate->refs > 0;
}

unsigned orr_block_write_back(struct orr_runtime *rt, struct orr_block *block,
                              struct orr_deferred *deferred)
{
    unsigned n = 0;

    orr_block_foreach(replicate, block) if (!orr_replicate_is_clean(replicate))
        n += evict_write_back_locked(rt, replicate, deferred);
    return n;
}

enum busy { FREE, USED, LOCKED };

/* Whether the handle's block may leave; FREE: the handles of all replicates in it are
 * locked. Unchecked, like its caller: clang cannot follow a chain of locks. */
static enum busy try_victim(struct orr_handle *handle, struct orr_node *node,
                            struct orr_block **ret) ORR_UNCHECKED
{
    struct orr_block *block = NULL;
    enum busy busy = USED;

    orr_lock(&handle->lock);
    if (handle->replicates[node->id].offered)
        block = handle->replicates[node->id].block;
    orr_lock(&node->lock); /* now it stays */
    orr_unlock(&handle->lock);
    if (block && block->pins == 0)
        busy = orr_block_trylock(block) ? FREE : LOCKED;
    if (busy == FREE &&
        !(orr_block_is_free(block, node) && orr_block_is_clean(block))) {
        orr_block_unlock(block);
        busy = USED;
    }
    orr_unlock(&node->lock);
    *ret = block;
    return busy;
}

void orr_evict_victim(struct orr_runtime *rt, struct orr_block *victim)
{
    /* Its owner may have left it, others are there. */
    struct orr_handle *handle =
        orr_block_next(victim, &victim->inhabitants)->handle;
    unsigned node = victim->node;

    orr_block_evict(rt, victim);
    if (rt->sim) /* else the handle may be gone */
        ORR_TELL(rt, ORR_TOLD_EVICTED, .evicted = {handle, node});
}

bool orr_node_try_evict(struct orr_handle *handle, unsigned id)
{
    struct orr_runtime *rt = handle->runtime;
    struct orr_block *block;
    enum busy busy;

    /* The handle's lock is for a few instructions, but comes before the node's. */
    ORR_SPIN_WHILE((busy = try_victim(handle, &rt->nodes->at[id], &block)) ==
                   LOCKED);
    if (busy == USED)
        return false;
    orr_block_evict(rt, block);
    orr_node_freed(rt, id);
    return true;
}

static bool eviction_would_fail(struct orr_node *node, size_t size,
                                enum orr_fetch_level level)
{
    bool vain;

    orr_lock(&node->lock);
    vain = orr_node_is_vain(node, size, level);
    orr_unlock(&node->lock);
    return vain;
}

static void remember_vain(struct orr_node *node, size_t size,
                          enum orr_fetch_level level, unsigned changes)
{
    orr_lock(&node->lock);
    node->vain = (struct orr_vain){changes, level, size};
    orr_unlock(&node->lock);
}

/* A block that can leave as it is, whatever its age, with the handles of all replicates
 * in it locked; NULL: there is none. */
static struct orr_block *find_clean(struct orr_node *node) ORR_UNCHECKED
{
    struct orr_block *found = NULL;

    orr_lock(&node->lock);
    orr_list_foreach (link, &node->all) {
        struct orr_block *block =
            orr_container(link, struct orr_block, present);

        if (block->pins > 0 || !orr_block_trylock(block))
            continue;
        if (orr_block_is_free(block, node) && orr_block_is_clean(block)) {
            found = block;
            break;
        }
        orr_block_unlock(block);
    }
    orr_unlock(&node->lock);
    return found;
}

/* Values were moved to make room (relieve.c): blocks whose values are also elsewhere
 * leave first. A value that is nowhere else would take the room that another one has
 * just left. */
static bool evict_clean(struct orr_runtime *rt, struct orr_node *node,
                        size_t size)
{
    while (!orr_node_fits(node, size)) {
        struct orr_block *victim = find_clean(node);

        if (!victim)
            return false;
        orr_evict_victim(rt, victim);
    }
    return true;
}

/* A handle is locked for a few instructions, at the end of which no context is woken.
 * Its blocks may be all that could leave, so the caller waits for the lock. Blocks that
 * are held for a job that is tried may leave for others. */
int orr_node_make_room(struct orr_runtime *rt, struct orr_node *node,
                       size_t size, enum orr_fetch_level level)
{
    bool serves = atomic_load(&node->admission.server) == orr_self;
    int err;

    for (;;) {
        unsigned passed =
            atomic_load_explicit(&node->npassed, memory_order_relaxed);
        unsigned changes = atomic_load(&node->changes[orr_need_of(level)]);

        if (orr_node_fits(node, size))
            return 0;
        if (!serves && eviction_would_fail(node, size, level))
            return -ENOMEM;
        if (orr_memory_is_relieved(rt))
            err = evict_clean(rt, node, size) ? 0 : -ENOMEM;
        else
            err = rt->nodes->eviction->make_room(rt, node, size, level);
        if (!err)
            return 0;
        if (err == -EINPROGRESS || /* its end has it tried again */
            passed ==
                atomic_load_explicit(&node->npassed, memory_order_relaxed)) {
            if (!serves && !rt->nodes->eviction->tries_again)
                remember_vain(node, size, level, changes);
            return -ENOMEM;
        }
        orr_spin(); /* others have locked what it could have evicted */
    }
}

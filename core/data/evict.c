/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/evict.c - room on a node that is full: what the rules of eviction
 * share. A block whose value exists elsewhere is freed, another one is written
 * back first. Which one, lru.c and nextuse.c say.
 *
 * Who makes room tries the locks of its victims' handles; one that is taken is
 * passed over, so no order among handles is needed, and tried again if no other
 * victim is found.
 */
#include "core/data/evict.h"

#include <errno.h>
#include <string.h>

#include "core/data/request.h"
#include "core/runtime.h"

static uint64_t bit(unsigned node)
{
    return UINT64_C(1) << node;
}

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

bool orr_replicate_is_outdated(const struct orr_replicate *replicate)
{
    return !(replicate->handle->valid & bit(replicate->node));
}

/* Nobody has the value, or somebody else does. */
bool orr_replicate_is_clean(const struct orr_replicate *replicate)
{
    return replicate->handle->valid != bit(replicate->node);
}

bool orr_replicate_is_free(const struct orr_replicate *replicate,
                           struct orr_node *node)
{
    if (replicate->refs == 0)
        return !replicate->handle->dying && !replicate->request;
    if (atomic_load(&node->admission.server) != orr_self)
        atomic_fetch_add_explicit(&node->npassed, 1, memory_order_relaxed);
    return false;
}

bool orr_replicate_may_be_sent(const struct orr_replicate *replicate)
{
    const struct orr_handle *handle = replicate->handle;
    unsigned to = orr_replicate_write_back_target(replicate);

    return to != replicate->node && !handle->replicates[to].writers &&
           !(handle->awaited && handle->nusers == 0);
}

unsigned orr_replicate_write_back_target(const struct orr_replicate *replicate)
{
    return orr_handle_base(replicate->handle);
}

/* Unchecked: clang cannot know whose lock that is. */
void orr_replicate_evict(struct orr_runtime *rt,
                         struct orr_replicate *replicate) ORR_UNCHECKED
{
    struct orr_handle *handle = replicate->handle;
    struct orr_block *block;

    handle->valid &= ~bit(replicate->node);
    block = orr_block_detach_locked(handle, replicate->node);
    orr_unlock(&handle->lock);
    orr_block_free(block);
    atomic_fetch_add_explicit(&rt->nevictions, 1, memory_order_relaxed);
}

void orr_replicate_write_back_locked(
    struct orr_runtime *rt, struct orr_replicate *replicate,
    struct orr_deferred *deferred) ORR_UNCHECKED
{
    struct orr_handle *handle = replicate->handle;
    unsigned to = orr_replicate_write_back_target(replicate);

    (void)orr_request_need(rt, handle, to, true, ORR_FETCH, NULL, deferred);
    if (handle->replicates[to].request)
        handle->replicates[to].request->moves = rt->nodes[to].capacity != 0;
}

/* A handle is locked for a few instructions, at the end of which no context is
 * woken: what it has may be all that could leave, so that this is waited for. */
int orr_node_make_room(struct orr_runtime *rt, struct orr_node *node,
                       size_t size, enum orr_fetch_level level)
{
    for (;;) {
        unsigned passed =
            atomic_load_explicit(&node->npassed, memory_order_relaxed);
        int err = orr_node_fits(node, size)
                      ? 0
                      : rt->eviction->make_room(rt, node, size, level);

        if (err == -EINPROGRESS)
            return -ENOMEM; /* its end has it tried again */
        if (!err || passed == atomic_load_explicit(&node->npassed,
                                                   memory_order_relaxed))
            return err;
        rt->exec->ops->relax(rt->exec);
    }
}

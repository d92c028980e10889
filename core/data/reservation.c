/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/reservation.c - see reservation.h. */
#include "core/data/reservation.h"

#include <assert.h>
#include <errno.h>

#include "core/data/evict.h"
#include "core/data/handle.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/exec/runtime.h"

int orr_memory_reserve(struct orr_runtime *rt, size_t size, unsigned *ret_node)
{
    for (unsigned id = 0; id < rt->nodes->nram; id++) {
        struct orr_node *node = &rt->nodes->at[id];

        if (node->capacity &&
            orr_node_reserve(rt, node, size, ORR_PREFETCH) != 0)
            continue;
        *ret_node = id;
        return 0;
    }
    return -ENOMEM;
}

/* The other half is for what tasks bring there: were it full, values that have come and wait for
 * their tasks would be written back for it, and brought again. */
static bool has_plenty(const struct orr_node *node, size_t size)
{
    return !atomic_load(&node->admission.nwaiting) &&
           orr_node_fits(node, size + node->capacity / 2);
}

int orr_memory_reserve_for(struct orr_handle *handle, unsigned id)
{
    const struct orr_replicate *replicate = &handle->replicates[id];
    struct orr_node *node = &handle->runtime->nodes->at[id];
    bool has_memory, is_used;

    orr_lock(&handle->lock);
    has_memory = replicate->allocated || replicate->reserved;
    is_used = replicate->refs > 0;
    orr_unlock(&handle->lock);
    if (!node->capacity)
        return 0;
    if (is_used || !has_plenty(node, handle->size))
        return -ENOMEM;
    if (has_memory)
        return 0;
    if (!orr_node_take_reserved(node, handle->size, false))
        return -ENOMEM;
    orr_memory_use_reserved(handle, id);
    return 0;
}

void orr_memory_unreserve(struct orr_runtime *rt, unsigned id, size_t size)
{
    struct orr_node *node = &rt->nodes->at[id];

    if (!node->capacity)
        return;
    orr_node_unreserve(node, size);
    orr_node_freed(rt, id);
}

void orr_memory_use_reserved(struct orr_handle *handle, unsigned node)
{
    struct orr_replicate *replicate = &handle->replicates[node];

    if (!handle->runtime->nodes->at[node].capacity)
        return;
    orr_lock(&handle->lock);
    assert(!replicate->allocated && !replicate->reserved && !replicate->refs);
    replicate->reserved = handle->size;
    orr_unlock(&handle->lock);
}

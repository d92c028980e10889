/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/reservation.c - see reservation.h. */
#include "core/data/reservation.h"

#include <assert.h>
#include <errno.h>

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

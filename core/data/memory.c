/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/memory.c - memory on nodes: blocks, capacity. Interface
 * methods are called with no handle locked: a block that is being made belongs
 * to the request that wants it, one that was detached to whoever frees it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/node.h"
#include "core/data/request.h"
#include "core/runtime.h"

void orr_block_free(struct orr_block *block)
{
    if (!block)
        return;
    block->ops->free_data_on_node(block->interface, block->node);
    free(block);
}

void orr_block_attach_locked(struct orr_handle *handle, struct orr_block *block)
{
    struct orr_replicate *replicate = &handle->replicates[block->node];

    memcpy(replicate->interface, block->interface, block->ops->interface_size);
    block->replicate = replicate;
    replicate->block = block;
    replicate->allocated = true;
    handle->allocated |= UINT64_C(1) << block->node;
}

struct orr_block *orr_block_detach_locked(struct orr_handle *handle,
                                          unsigned node)
{
    struct orr_replicate *replicate = &handle->replicates[node];
    struct orr_block *block = replicate->block;

    if (!block)
        return NULL;
    orr_node_retain(handle, node);
    memcpy(block->interface, replicate->interface, block->ops->interface_size);
    block->replicate = NULL;
    replicate->block = NULL;
    replicate->allocated = false;
    handle->allocated &= ~(UINT64_C(1) << node);
    return block;
}

int orr_node_malloc(struct orr_runtime *rt, unsigned id, size_t size,
                    uintptr_t *ret)
{
    struct orr_node *node = &rt->nodes[id];
    int err = orr_node_make_room(rt, node, size, ORR_FETCH);

    if (!err)
        err = rt->machine->ops->alloc(rt->machine, id, size, ret);
    if (!err)
        atomic_fetch_add_explicit(&node->used, size, memory_order_relaxed);
    return err;
}

void orr_node_free(struct orr_runtime *rt, unsigned id, uintptr_t address,
                   size_t size)
{
    rt->machine->ops->free(rt->machine, id, address, size);
    atomic_fetch_sub_explicit(&rt->nodes[id].used, size, memory_order_relaxed);
}

int orr_block_new(struct orr_runtime *rt, struct orr_handle *handle,
                  unsigned node, enum orr_fetch_level level,
                  struct orr_block **ret)
{
    size_t size = handle->ops->interface_size;
    struct orr_block *block;

    if (orr_node_make_room(rt, &rt->nodes[node], handle->size, level) != 0)
        return -ENOMEM;
    block = malloc(sizeof(*block) + size);
    if (!block)
        return -ENOMEM;
    memset(block, 0, sizeof(*block));
    block->ops = handle->ops;
    block->node = node;
    memcpy(block->interface, handle->replicates[node].interface, size);
    if (block->ops->allocate_data_on_node(block->interface, node) < 0) {
        free(block);
        return -ENOMEM;
    }
    *ret = block;
    return 0;
}

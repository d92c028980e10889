/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/handover.c - see handover.h. One handle is locked at a time: on its way the
 * block is nobody's. */
#include "core/data/handover.h"

#include <errno.h>

#include "core/base/bits.h"
#include "core/data/block.h"
#include "core/data/node.h"
#include "core/data/placement.h"
#include "core/device/methods.h"
#include "core/exec/runtime.h"

/* Whether the handle is a datum of its own, in no other's memory, nor others in its. */
static bool handover_is_alone(const struct orr_handle *handle)
{
    return !handle->parent && !handle->partitioned && !handle->family &&
           !handle->duplicate && !handle->is_duplicate;
}

bool orr_handover_may_copy(const struct orr_handle *to,
                           const struct orr_handle *from)
{
    return to->ops == from->ops && to->size == from->size;
}

/* Lengths of dimensions do not change; those between rows may, with memory. */
static bool have_one_shape(const struct orr_handle *to,
                           const struct orr_handle *from, unsigned node)
{
    return orr_handover_may_copy(to, from) && orr_handle_is_dense(to) &&
           to->ops->compare &&
           to->ops->compare(to->replicates[node].interface,
                            from->replicates[node].interface) == 1;
}

/* Whether the replicate could have other memory: `nrefs` is how many use it. */
static bool may_change_locked(const struct orr_handle *handle, unsigned node,
                              unsigned nrefs) ORR_REQUIRES(handle->lock)
{
    const struct orr_replicate *replicate = &handle->replicates[node];

    return replicate->refs == nrefs && !replicate->request &&
           !replicate->reserved &&
           (replicate->block ? !orr_block_is_shared(replicate->block)
                             : !replicate->allocated);
}

/* Takes the memory of `from`; NULL: it cannot be taken. */
static struct orr_block *take_block(struct orr_handle *from, unsigned node)
{
    struct orr_block *block = NULL;

    orr_lock(&from->lock);
    if (from->valid >> node & 1 && from->replicates[node].block &&
        may_change_locked(from, node, 1)) {
        block = orr_block_detach_locked(from, node);
        orr_handle_outdate_locked(from, 0);
    }
    orr_unlock(&from->lock);
    return block;
}

static void give_block_back(struct orr_handle *from, unsigned node,
                            struct orr_block *block)
{
    orr_lock(&from->lock);
    orr_block_attach_locked(from, block);
    orr_handle_outdate_locked(from, orr_bit(node));
    orr_unlock(&from->lock);
}

bool orr_handover_take(struct orr_handle *to, struct orr_handle *from,
                       unsigned node)
{
    struct orr_runtime *rt = to->runtime;
    struct orr_block *block, *old = NULL;
    bool can;

    if (!handover_is_alone(to) || !handover_is_alone(from) ||
        !have_one_shape(to, from, node))
        return false;
    block = take_block(from, node);
    if (!block)
        return false;
    orr_lock(&to->lock);
    /* The machine's own context frees no memory. */
    can = may_change_locked(to, node, 0) &&
          !(orr_self->machine && to->replicates[node].block);
    if (can) {
        orr_handle_outdate_locked(to, 0);
        old = orr_block_detach_locked(to, node);
        block->id = to->id;
        orr_block_attach_locked(to, block);
    }
    orr_unlock(&to->lock);
    if (!can)
        give_block_back(from, node, block);
    orr_block_free(old);
    if (old)
        orr_node_freed(rt, node);
    return can;
}

int orr_handover_copy(struct orr_handle *to, struct orr_handle *from,
                      unsigned node)
{
    int rc;

    if (orr_handle_packs_on_host(from, node, node))
        return orr_handle_copy_on_host(from, node, to, node);
    rc = orr_copy_by_methods(to->runtime->machine, to->ops,
                             from->replicates[node].interface, node,
                             to->replicates[node].interface, node, NULL);
    /* Nothing is under way after a synchronous copy. */
    return rc == -EAGAIN ? 0 : rc;
}

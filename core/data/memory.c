/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/memory.c - memory on nodes: making blocks, capacity. Interface methods are
 * called with no handle locked: a block that is being made belongs to the request that
 * wants it, one that was detached belongs to the context that frees it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/data/cache.h"
#include "core/data/label.h"
#include "core/data/lost.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/request.h"
#include "core/data/traffic.h"
#include "core/device/driver.h"
#include "core/device/pinned.h"
#include "core/exec/runtime.h"

/* What a method of an interface may take without asking. */
struct orr_grant {
    unsigned node;
    size_t left;  /* bytes */
    size_t taken; /* bytes that it has, with what it took beside these */
    bool counted; /* what it frees counts as free already */
    bool refused; /* by the device, and something has left for it since, whose
                   * memory is kept */
};

static void block_free_memory(struct orr_block *block, bool counted)
{
    struct orr_grant none = {.node = ORR_NO_NODE, .counted = counted};
    struct orr_grant *outer = orr_self->grant;

    orr_self->grant = &none; /* whose memory it is will know */
    block->ops->free_data_on_node(block->interface, block->node);
    orr_self->grant = outer;
    free(block);
}

void orr_block_free(struct orr_block *block)
{
    if (block && !orr_cache_keep(block))
        block_free_memory(block, false);
}

void orr_block_destroy(struct orr_block *block)
{
    block_free_memory(block, true);
}

/* --- what is left --- */

bool orr_node_take(struct orr_node *node, size_t size)
{
    size_t used = atomic_load(&node->used);

    do {
        if (node->capacity && size > 0 && used + size > node->capacity)
            return false;
    } while (!atomic_compare_exchange_weak(&node->used, &used, used + size));
    orr_traffic_fill(node, used + size);
    return true;
}

bool orr_node_take_reserved(struct orr_node *node, size_t size, bool exceed)
{
    if (exceed)
        orr_traffic_fill(node, atomic_fetch_add(&node->used, size) + size);
    else if (!orr_node_take(node, size))
        return false;
    atomic_fetch_add_explicit(&node->reserved, size, memory_order_relaxed);
    return true;
}

/* Takes bytes, after room was made for them if need be. */
static int take_with_room(struct orr_runtime *rt, struct orr_node *node,
                          size_t size, enum orr_fetch_level level)
{
    int err = 0;

    while (!err && !orr_node_take(node, size))
        err = orr_node_make_room(rt, node, size, level);
    return err;
}

int orr_node_reserve(struct orr_runtime *rt, struct orr_node *node, size_t size,
                     enum orr_fetch_level level)
{
    int err;

    if (level != ORR_FETCH && (atomic_load(&node->admission.nwaiting) ||
                               orr_memory_is_relieved(rt)))
        return -ENOMEM;
    err = take_with_room(rt, node, size, level);
    if (!err)
        atomic_fetch_add_explicit(&node->reserved, size, memory_order_relaxed);
    return err;
}

void orr_node_unreserve(struct orr_node *node, size_t size)
{
    atomic_fetch_sub_explicit(&node->reserved, size, memory_order_relaxed);
    atomic_fetch_sub(&node->used, size);
    orr_node_changed(node);
}

void orr_replicate_unreserve_some(struct orr_handle *handle, unsigned node,
                                  struct orr_deferred *deferred)
{
    struct orr_replicate *replicate = &handle->replicates[node];

    orr_node_unreserve(&handle->runtime->nodes->at[node], replicate->reserved);
    replicate->reserved = 0;
    orr_node_retry(handle->runtime, node, deferred);
}

/* --- memory as such --- */

/* Bytes of what was granted to the context's interface that it takes now. */
static size_t granted(unsigned node, size_t size)
{
    const struct orr_grant *grant = orr_self->grant;

    if (!grant || grant->node != node)
        return 0;
    return size < grant->left ? size : grant->left;
}

/* An interface that allocates more bytes than its data have gets them, within the
 * node's capacity if they can be had at once, else beyond: a job that was admitted
 * could not end otherwise. */
static int take_more(struct orr_runtime *rt, struct orr_node *node, size_t size)
{
    const struct orr_grant *grant = orr_self->grant;
    int err = take_with_room(rt, node, size, ORR_FETCH);

    if (err && grant && grant->node == node->id) {
        orr_traffic_fill(node, atomic_fetch_add(&node->used, size) + size);
        return 0;
    }
    return err;
}

/* A device may have less memory than it says, or not in one piece: a block leaves, or
 * starts to leave, so that the allocation can be tried once more. Its bytes are counted
 * already. */
static bool make_room_anyway(struct orr_runtime *rt, struct orr_node *node,
                             size_t size)
{
    size_t used = atomic_load(&node->used);

    return node->capacity && used <= node->capacity &&
           orr_node_make_room(rt, node, node->capacity - used + size,
                              ORR_FETCH) == 0;
}

/* Memory in the node's cache is freed as far as it must be, so that the node does not
 * hold more than its capacity with what is about to be allocated: `used` counts that,
 * and `have` bytes of it are reserved. */
static void make_cache_fit(struct orr_node *node, size_t have)
{
    size_t used = atomic_load(&node->used);
    size_t reserved = atomic_load(&node->reserved);

    if (!node->capacity || !atomic_load(&node->cache.bytes))
        return;
    reserved = reserved > have ? reserved - have : 0;
    used = used > reserved ? used - reserved : 0;
    (void)orr_cache_shrink(node,
                           used < node->capacity ? node->capacity - used : 0);
}

/* The memory of blocks that have left stays on the device: the context that makes the
 * block uses it as it is, if it fits, else gives it back to the device. */
static bool leaves_it_to_grant(const struct orr_node *node)
{
    struct orr_grant *grant = orr_self->grant;

    if (!grant || grant->node != node->id || !atomic_load(&node->cache.bytes))
        return false;
    grant->refused = true;
    return true;
}

/* Allocates; tries once more at a refusal, which may be momentary, before blocks have
 * to leave. */
static int node_allocate(struct orr_runtime *rt, struct orr_node *node,
                         size_t size, bool pinned, uintptr_t *ret)
{
    int (*alloc)(struct orr_machine *, unsigned, size_t, uintptr_t *) =
        pinned ? orr_machine_alloc_pinned : orr_machine_alloc;
    double since = orr_tell_since(rt, ORR_TOLD_ALLOCATED);
    int err = alloc(rt->machine, node->id, size, ret);

    if (err == -ENOMEM && orr_cache_shrink(node, 0))
        err = alloc(rt->machine, node->id, size, ret);
    if (err == -ENOMEM)
        err = alloc(rt->machine, node->id, size, ret);
    while (err == -ENOMEM && make_room_anyway(rt, node, size) &&
           !leaves_it_to_grant(node)) {
        (void)orr_cache_shrink(node, 0);
        err = alloc(rt->machine, node->id, size, ret);
    }
    if (err == -ENODEV)
        orr_node_lose(rt, node->id);
    ORR_TELL(rt, ORR_TOLD_ALLOCATED, .since = since, .allocated.node = node->id,
             .allocated.size = size);
    return err;
}

/* What the context takes counts; `have` bytes of it were granted. */
static void settle_taken(struct orr_runtime *rt, struct orr_node *node,
                         size_t size, size_t have)
{
    struct orr_grant *grant = orr_self->grant;

    if (grant && grant->node == node->id)
        grant->taken += size;
    if (have) {
        grant->left -= have;
        atomic_fetch_sub_explicit(&node->reserved, have, memory_order_relaxed);
    }
    ORR_TELL(rt, ORR_TOLD_MEMORY, .memory.node = node->id,
             .memory.change = (int64_t)size);
}

int orr_node_malloc(struct orr_runtime *rt, unsigned id, size_t size,
                    bool pinned, uintptr_t *ret)
{
    struct orr_node *node = &rt->nodes->at[id];
    size_t have = granted(id, size);
    int err = have < size ? take_more(rt, node, size - have) : 0;

    if (err)
        return err;
    make_cache_fit(node, have);
    err = node_allocate(rt, node, size, pinned, ret);
    if (err) {
        atomic_fetch_sub(&node->used, size - have);
        orr_node_changed(node);
        return err;
    }
    settle_taken(rt, node, size, have);
    atomic_fetch_add_explicit(&node->nallocations, 1, memory_order_relaxed);
    return 0;
}

int orr_node_get(struct orr_runtime *rt, unsigned id, size_t size)
{
    struct orr_node *node = &rt->nodes->at[id];
    size_t have = granted(id, size);
    int err = have < size ? take_more(rt, node, size - have) : 0;

    if (!err)
        settle_taken(rt, node, size, have);
    return err;
}

void orr_node_give(struct orr_runtime *rt, unsigned id, size_t size)
{
    ORR_TELL(rt, ORR_TOLD_MEMORY, .memory.node = id,
             .memory.change = -(int64_t)size);
    atomic_fetch_sub(&rt->nodes->at[id].used, size);
    orr_node_changed(&rt->nodes->at[id]);
}

void orr_node_free(struct orr_runtime *rt, unsigned id, uintptr_t address,
                   size_t size)
{
    double since = orr_tell_since(rt, ORR_TOLD_ALLOCATED);

    orr_machine_free_any(rt->machine, id, address, size);
    ORR_TELL(rt, ORR_TOLD_ALLOCATED, .since = since, .allocated.node = id,
             .allocated.size = size, .frees = true);
    if (!(orr_self->grant && orr_self->grant->counted))
        orr_node_give(rt, id, size);
}

/* --- blocks --- */

static _Noreturn void fail_without_methods(const struct orr_handle *handle,
                                           unsigned node)
{
    const struct starpu_data_interface_ops *ops = handle->ops;

    orr_log_error("%s of interface %d (%s) needs memory on node %u, "
                  "but it has no allocate_data_on_node and free_data_on_node: "
                  "give it both, or use the data where they were registered",
                  orr_handle_label(handle).text, (int)ops->interfaceid,
                  ops->name ? ops->name : "unnamed", node);
    orr_runtime_fail(handle->runtime);
}

static struct orr_block *make_block(const struct orr_handle *handle,
                                    unsigned node)
{
    size_t size = handle->ops->interface_size;
    struct orr_block *block;

    if (!handle->ops->allocate_data_on_node || !handle->ops->free_data_on_node)
        fail_without_methods(handle, node);
    block = malloc(sizeof(*block) + size);
    if (!block)
        return NULL;
    memset(block, 0, sizeof(*block));
    orr_list_init(&block->inhabitants);
    block->ops = handle->ops;
    block->of_node = &handle->runtime->nodes->at[node];
    block->node = node;
    block->size = handle->size;
    block->id = handle->id;
    memcpy(block->interface, handle->replicates[node].interface, size);
    if (orr_cache_reuse(handle->runtime, handle, block))
        return block;
    if (block->ops->allocate_data_on_node(block->interface, node) < 0) {
        free(block);
        return NULL;
    }
    block->taken = orr_self->grant->taken;
    block->fresh = handle->runtime->exec->virtual_time;
    return block;
}

/* Bytes that the interface has not used of its grant are free. An interface that failed
 * has freed what it had allocated: these bytes are put back into the reservation, if
 * there was one. */
static void grant_settle(struct orr_runtime *rt, struct orr_node *node,
                         const struct orr_grant *grant, size_t reserved,
                         bool failed)
{
    if (failed && reserved) {
        size_t taken = reserved - grant->left;

        atomic_fetch_add(&node->used, taken);
        atomic_fetch_add_explicit(&node->reserved, taken, memory_order_relaxed);
    } else if (grant->left) {
        orr_node_unreserve(node, grant->left);
        if (!failed)
            orr_node_freed(rt, node->id);
    }
}

static int try_block(struct orr_runtime *rt, struct orr_handle *handle,
                     unsigned id, enum orr_fetch_level level, size_t reserved,
                     bool *ret_refused, struct orr_block **ret)
{
    struct orr_node *node = &rt->nodes->at[id];
    struct orr_grant grant = {.node = id, .left = reserved};
    struct orr_grant *outer = orr_self->grant;
    struct orr_block *block;

    if (!reserved && node->capacity) {
        if (orr_node_reserve(rt, node, handle->size, level) != 0)
            return -ENOMEM;
        grant.left = handle->size;
    }
    orr_self->grant = &grant;
    block = make_block(handle, id);
    orr_self->grant = outer;
    grant_settle(rt, node, &grant, reserved, !block);
    *ret_refused = grant.refused;
    if (!block) {
        /* An interface with bounds of its own: something of its may leave. */
        if (!grant.refused && level == ORR_FETCH)
            *ret_refused = make_room_anyway(rt, node, handle->size);
        return -ENOMEM;
    }
    *ret = block;
    return 0;
}

/* Each time that the device refuses it, something more has left. */
int orr_block_new(struct orr_runtime *rt, struct orr_handle *handle,
                  unsigned id, enum orr_fetch_level level, size_t reserved,
                  struct orr_block **ret)
{
    bool refused;
    int err;

    do {
        refused = false;
        err = try_block(rt, handle, id, level, reserved, &refused, ret);
    } while (err && refused);
    return err;
}

int orr_block_new_anyway(struct orr_runtime *rt, struct orr_handle *handle,
                         unsigned id, struct orr_block **ret)
{
    struct orr_node *node = &rt->nodes->at[id];
    int err;

    (void)orr_node_take_reserved(node, handle->size, true);
    err = orr_block_new(rt, handle, id, ORR_FETCH, handle->size, ret);
    if (err)
        orr_node_unreserve(node, handle->size);
    return err;
}

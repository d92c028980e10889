/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/partition.c - a handle split into children that are data of their
 * own. While it is split the parent cannot be used; its memory in main memory
 * is what the children's interfaces point into.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/data/data.h"
#include "core/data/node.h"
#include "core/data/reduction.h"
#include "core/runtime.h"

static unsigned count_children(struct orr_handle *handle,
                               struct starpu_data_filter *filter)
{
    if (filter->get_nchildren)
        return filter->get_nchildren(filter, orr_handle_public(handle));
    return filter->nchildren;
}

static struct starpu_data_interface_ops *
child_ops(struct orr_handle *handle, struct starpu_data_filter *filter,
          unsigned index)
{
    if (filter->get_child_ops)
        return filter->get_child_ops(filter, index);
    return handle->ops;
}

static struct orr_handle *new_child(struct orr_runtime *rt,
                                    struct orr_handle *parent,
                                    struct starpu_data_filter *filter,
                                    unsigned index, unsigned n)
{
    unsigned base = orr_handle_base(parent);
    struct orr_handle *child;

    if (orr_handle_new(rt, (int)base, NULL, child_ops(parent, filter, index),
                       &child) != 0)
        return NULL;
    for (unsigned node = 0; node < rt->nnodes; node++)
        filter->filter_func(parent->replicates[node].interface,
                            child->replicates[node].interface, filter, index,
                            n);
    child->parent = parent;
    child->depth = parent->depth + 1;
    child->child_index = index;
    child->sequential = parent->sequential;
    child->home_node = parent->home_node >= 0 ? (int)base : -1;
    orr_handle_measure(child);
    if (orr_handle_inherit_reduction(child, parent) != 0) {
        orr_handle_free(child);
        return NULL;
    }
    return child;
}

static int make_children(struct orr_runtime *rt, struct orr_handle *handle,
                         struct starpu_data_filter *filter, unsigned n)
{
    handle->children = calloc(n, sizeof(*handle->children));
    if (!handle->children)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++) {
        handle->children[i] = new_child(rt, handle, filter, i, n);
        if (!handle->children[i])
            return -ENOMEM;
        handle->nchildren = i + 1;
    }
    return 0;
}

static void free_children(struct orr_handle *handle)
{
    for (unsigned i = 0; i < handle->nchildren; i++)
        orr_handle_free(handle->children[i]);
    free(handle->children);
    handle->children = NULL;
    handle->nchildren = 0;
}

/* The children's memory is the parent's in its base; on the other nodes they
 * get their own, and what the parent had there is freed. */
static void leave_to_children(struct orr_runtime *rt, struct orr_handle *handle)
{
    unsigned base = orr_handle_base(handle);

    for (unsigned node = 0; node < rt->nnodes; node++) {
        struct orr_block *block;

        if (node == base)
            continue;
        orr_lock(&handle->lock);
        block = orr_block_detach_locked(handle, node);
        orr_unlock(&handle->lock);
        orr_block_free(block);
        if (block)
            orr_node_freed(rt, node);
    }
}

int orr_data_partition(struct orr_runtime *rt, struct orr_handle *handle,
                       struct starpu_data_filter *filter)
{
    bool has_value;
    unsigned n;
    int err, base;

    if (!handle || handle->partitioned || !filter || !filter->filter_func) {
        orr_log_error("starpu_data_partition: %s",
                      !handle               ? "the data handle is NULL"
                      : handle->partitioned ? "the data are partitioned already"
                                            : "the filter has no filter_func");
        return -EINVAL;
    }
    n = count_children(handle, filter);
    if (n == 0) {
        orr_log_error("starpu_data_partition: the filter makes 0 parts: set "
                      "nchildren");
        return -EINVAL;
    }
    if (!orr_may_block("starpu_data_partition"))
        return -EDEADLK;
    orr_handle_wait_idle(rt, handle, false);
    has_value = handle->valid != 0 || orr_handle_has_partials(handle);
    base = (int)orr_handle_base(handle);
    err = orr_data_bring(rt, handle, base, has_value ? STARPU_RW : STARPU_W);
    if (err)
        return err;
    leave_to_children(rt, handle);
    err = make_children(rt, handle, filter, n);
    if (err)
        free_children(handle);
    handle->partitioned = !err;
    if (!err && !has_value)
        for (unsigned i = 0; i < n; i++) {
            handle->children[i]->valid = 0;
            orr_handle_forget_beginning(handle->children[i]);
        }
    orr_data_release(rt, handle, base);
    return err;
}

/* Brings a child's value to its base and waits until nobody uses it. */
static bool gather(struct orr_runtime *rt, struct orr_handle *child)
{
    bool has_value;
    int base = (int)orr_handle_base(child->parent);

    if (child->partitioned)
        orr_data_unpartition(rt, child, 0);
    orr_handle_wait_unordered(rt, child);
    has_value = child->valid != 0 || orr_handle_will_be_written(child);
    if (orr_data_bring(rt, child, base, has_value ? STARPU_RW : STARPU_W) == 0)
        orr_data_release(rt, child, base);
    orr_handle_wait_idle(rt, child, true);
    return has_value;
}

void orr_data_unpartition(struct orr_runtime *rt, struct orr_handle *handle,
                          unsigned gathering_node)
{
    bool has_value = true;
    unsigned base;

    if (!handle || !handle->partitioned) {
        orr_log_error("starpu_data_unpartition: the data are not partitioned");
        return;
    }
    if (!orr_may_block("starpu_data_unpartition"))
        abort();
    for (unsigned i = 0; i < handle->nchildren; i++)
        has_value &= gather(rt, handle->children[i]);
    free_children(handle);
    handle->partitioned = false;
    base = orr_handle_base(handle);
    orr_lock(&handle->lock);
    orr_handle_outdate_locked(handle, has_value ? UINT64_C(1) << base : 0);
    orr_unlock(&handle->lock);
    if (!has_value)
        orr_handle_forget_beginning(handle);
    if (gathering_node != base && has_value)
        orr_handle_prefetch(rt, handle, gathering_node, ORR_PREFETCH);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/partition.c - a handle split into children that are data of their
 * own. While it is split the parent cannot be used, and has no value. On every
 * node where it has memory the children have their places in it, with the value
 * that was there: nothing is moved (core/data/sharing.c).
 *
 * In the base, main memory, the parent always has memory while it is split, which
 * is pinned: there the children can meet again. So they can on another node where
 * the parent's memory still is. A node where all children have their values in
 * place is one where the parent has its own.
 *
 * Children need not cover their parent, and may overlap: then the value is
 * brought to the base first, and what no child covers is right only where it was
 * right then (`kept`). They are taken to cover it if they have as many bytes
 * together.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/data/data.h"
#include "core/data/label.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/pending.h"
#include "core/data/placement.h"
#include "core/data/plan.h"
#include "core/data/reduction.h"
#include "core/exec/runtime.h"
#include "core/layouts/dense.h"

unsigned orr_filter_count(struct orr_handle *handle,
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

/* The structures of a handle on all nodes at one moment: transfers and tasks may change
 * them while the handle is cut. */
struct layouts {
    size_t step; /* bytes of each */
    char *bytes; /* owned; NULL: no memory */
};

static struct layouts read_layouts(struct orr_handle *handle)
{
    size_t align = _Alignof(max_align_t);
    struct layouts layouts = {
        .step = (handle->ops->interface_size + align - 1) / align * align};

    layouts.bytes = malloc(handle->nnodes * layouts.step);
    for (unsigned node = 0; layouts.bytes && node < handle->nnodes; node++)
        orr_handle_read_layout(handle, node,
                               layouts.bytes + node * layouts.step);
    return layouts;
}

/* The number with which the structures of predefined interfaces begin; NULL: of one
 * that has none. */
static enum starpu_data_interface_id *
interface_id_field(const struct orr_handle *handle, unsigned node)
{
    enum starpu_data_interface_id id = handle->ops->interfaceid;

    return id < 0 || id == STARPU_VOID_INTERFACE_ID ||
                   id >= STARPU_MAX_INTERFACE_ID
               ? NULL
               : handle->replicates[node].interface;
}

/* The filter has made a structure of another interface than the child has: without
 * get_child_ops the child has the interface of the whole. */
static void expect_kind(const struct orr_handle *parent,
                        const struct orr_handle *child,
                        const struct starpu_data_filter *filter, unsigned node)
{
    const enum starpu_data_interface_id *number =
        interface_id_field(child, node);

    if (!number || filter->get_child_ops || *number == child->ops->interfaceid)
        return;
    orr_log_error("partition of %s: the filter makes parts of interface %d of "
                  "data of interface %d: set its get_child_ops",
                  orr_handle_label(parent).text, *number, child->ops->interfaceid);
    abort();
}

void orr_cut_label(char *text, size_t size)
{
    const struct orr_handle *whole = orr_self ? orr_self->cuts : NULL;

    snprintf(text, size, "%s%s", whole ? " of " : "",
             whole ? orr_handle_label(whole).text : "");
}

/* Makes a child that has its layout, but neither memory nor a value yet. */
static struct orr_handle *new_child(struct orr_handle *parent,
                                    const struct layouts *layouts,
                                    struct starpu_data_filter *filter,
                                    unsigned index, unsigned n)
{
    struct orr_handle *child;

    if (orr_handle_new(parent->runtime, parent, -1, NULL,
                       child_ops(parent, filter, index), &child) != 0)
        return NULL;
    for (unsigned node = 0; node < parent->nnodes; node++) {
        if (interface_id_field(child, node))
            *interface_id_field(child, node) = child->ops->interfaceid;
        orr_self->cuts = parent;
        filter->filter_func(layouts->bytes + node * layouts->step,
                            child->replicates[node].interface, filter, index,
                            n);
        orr_self->cuts = NULL;
        expect_kind(parent, child, filter, node);
    }
    child->parent = parent;
    child->depth = parent->depth + 1;
    child->child_index = index;
    child->sequential = parent->sequential;
    child->out_of_core = parent->out_of_core;
    child->unimportant = parent->unimportant;
    child->written_through = parent->written_through;
    if (parent->home_node >= 0)
        child->home_node = (int)orr_handle_base(parent);
    orr_handle_measure(child);
    return child;
}

static void free_handles(struct orr_handle **handles, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        orr_handle_free(handles[i]);
    free(handles);
}

struct orr_handle **orr_handle_children(struct orr_handle *handle,
                                        struct starpu_data_filter *filter,
                                        unsigned n)
{
    struct orr_handle **children = calloc(n, sizeof(*children));
    struct layouts layouts = read_layouts(handle);
    unsigned made = 0;

    while (children && layouts.bytes && made < n &&
           (children[made] = new_child(handle, &layouts, filter, made, n)))
        made++;
    free(layouts.bytes);
    if (children && made < n) {
        free_handles(children, made);
        children = NULL;
    }
    return children;
}

static void free_children(struct orr_handle *handle)
{
    free_handles(handle->children, handle->nchildren);
    handle->children = NULL;
    handle->nchildren = 0;
}

/* --- memory in place --- */

/* The parent's memory stays on all nodes where it is from now on. False, without
 * that, if a transfer uses the handle: one that makes room may have begun. */
static bool try_pin(struct orr_handle *handle)
{
    bool idle = true;

    orr_lock(&handle->lock);
    for (unsigned node = 0; node < handle->nnodes; node++)
        idle &= !handle->replicates[node].request;
    if (idle)
        orr_handle_pin_locked(handle, handle->allocated);
    orr_unlock(&handle->lock);
    return idle;
}

/* Where addresses are handles, parts that have nothing else cannot be in place: the
 * whole, which is not used, leaves those nodes with its value. */
static int leave_handles(struct orr_runtime *rt, struct orr_handle *handle)
{
    int base = (int)orr_handle_base(handle), err = 0;

    if (!orr_placement_lacks_offset(handle))
        return 0;
    for (unsigned node = 0; node < rt->nodes->n; node++) {
        if (!rt->machine->nodes[node].handles)
            continue;
        err = orr_data_bring_if_any(rt, handle, base);
        if (err)
            break;
        (void)orr_node_try_evict(handle, node);
        orr_data_release(rt, handle, base);
    }
    return err;
}

/* The parent, which is to be split, is not used, has memory in its base, and keeps all
 * that it has: *ret has the nodes. */
static int hold_memory(struct orr_runtime *rt, struct orr_handle *handle,
                       uint64_t *ret)
{
    int base = (int)orr_handle_base(handle);
    bool pinned;

    do {
        int err;

        orr_handle_wait_idle(rt, handle, false);
        err = leave_handles(rt, handle);
        if (err)
            return err;
        err = orr_data_bring(rt, ORR_ACQUIRE_OWN, handle, base, STARPU_NONE);
        if (err)
            return err;
        pinned = try_pin(handle);
        *ret = handle->allocated;
        orr_data_release(rt, handle, base);
    } while (!pinned);
    return 0;
}

/* --- splitting --- */

/* Sees to a place where what no child covers has its value. */
static int keep_rest(struct orr_runtime *rt, struct orr_handle *handle)
{
    int base = (int)orr_handle_base(handle), err;

    handle->kept = ~UINT64_C(0);
    if (orr_placement_covers(handle, handle->children, handle->nchildren))
        return 0;
    err = orr_data_bring_if_any(rt, handle, base);
    if (err)
        return err;
    orr_data_release(rt, handle, base);
    handle->kept = handle->valid | UINT64_C(1) << base;
    return 0;
}

/* The child takes its place, with the value. */
static int partition_settle_child(struct orr_handle *child,
                                  const struct orr_handle *parent,
                                  uint64_t nodes)
{
    orr_lock(&child->lock);
    for (; nodes; nodes &= nodes - 1)
        orr_block_join_locked(child, parent, (unsigned)__builtin_ctzll(nodes));
    orr_handle_set_valid(child, parent->valid);
    child->unreal = parent->unreal;
    orr_unlock(&child->lock);
    if (orr_handle_inherit_reduction(child, parent) != 0)
        return -ENOMEM;
    if (!child->valid)
        orr_handle_forget_beginning(child);
    return 0;
}

static int partition_split(struct orr_runtime *rt, struct orr_handle *handle,
                           struct starpu_data_filter *filter, unsigned n,
                           uint64_t nodes)
{
    int err;

    handle->children = orr_handle_children(handle, filter, n);
    if (!handle->children)
        return -ENOMEM;
    handle->nchildren = n;
    err = keep_rest(rt, handle);
    for (unsigned i = 0; !err && i < n; i++)
        err = partition_settle_child(handle->children[i], handle, nodes);
    if (err) {
        free_children(handle);
        return err;
    }
    orr_lock(&handle->lock);
    orr_handle_outdate_locked(handle, 0);
    handle->partitioned = true;
    orr_unlock(&handle->lock);
    return 0;
}

static const char *
partition_find_trouble(const struct orr_handle *handle,
                       const struct starpu_data_filter *filter)
{
    if (handle->partitioned)
        return "the data are partitioned already";
    if (!filter || !filter->filter_func)
        return "the filter has no filter_func";
    if (orr_handle_has_plans(handle))
        return "plans partition the data: call starpu_data_partition_clean for "
               "them first";
    return NULL;
}

int orr_data_partition(struct orr_runtime *rt, const char *call,
                       struct orr_handle *handle,
                       struct starpu_data_filter *filter)
{
    const char *trouble;
    uint64_t nodes;
    unsigned n;
    int err;

    trouble = partition_find_trouble(handle, filter);
    n = trouble ? 0 : orr_filter_count(handle, filter);
    if (!trouble && n == 0)
        trouble = "the filter makes 0 parts: set nchildren";
    if (trouble) {
        orr_log_error("%s of %s: %s", call, orr_handle_label(handle).text,
                      trouble);
        return -EINVAL;
    }
    if (!orr_may_block(call))
        return -EDEADLK;
    err = hold_memory(rt, handle, &nodes);
    if (err)
        return err;
    err = partition_split(rt, handle, filter, n, nodes);
    if (!err)
        nodes &= ~(UINT64_C(1) << orr_handle_base(handle));
    orr_handle_unpin(handle, nodes);
    return err;
}

/* --- joining --- */

/* Where some child has a value and others have none, which an init codelet would make,
 * it does: the whole is to be complete. Nobody uses the children any more. */
static void partition_begin_children(struct orr_runtime *rt,
                                     struct orr_handle *handle)
{
    bool any = false;

    for (unsigned i = 0; i < handle->nchildren; i++)
        any |= handle->children[i]->valid ||
               orr_handle_has_partials(handle->children[i]);
    for (unsigned i = 0; any && i < handle->nchildren; i++)
        if (!handle->children[i]->valid &&
            orr_handle_begin(rt, handle->children[i]) == 0)
            orr_handle_wait_idle(rt, handle->children[i], false);
}

/* Brings a child's value to the node, if it has one, and waits until the child is not
 * used. */
static void partition_gather_child(struct orr_runtime *rt,
                                   struct orr_handle *child, unsigned node)
{
    if (orr_data_bring_if_any(rt, child, (int)node) == 0)
        orr_data_release(rt, child, (int)node);
    orr_handle_wait_idle(rt, child, false);
}

/* The nodes where all children are in their parent's memory: those where it had
 * some when it was split and still has, since it leaves together with theirs. */
static uint64_t common_memory(const struct orr_handle *handle)
{
    uint64_t nodes = handle->allocated;

    for (unsigned i = 0; i < handle->nchildren; i++) {
        const struct orr_handle *child = handle->children[i];

        nodes &= child->allocated;
        for (unsigned node = 0; node < handle->nnodes; node++)
            if (child->replicates[node].block != handle->replicates[node].block)
                nodes &= ~(UINT64_C(1) << node);
    }
    return nodes;
}

/* The nodes where the parent would have its value if its children, which are not used
 * any more, were joined as they are. */
static uint64_t complete_nodes(const struct orr_handle *handle)
{
    uint64_t nodes = common_memory(handle) & handle->kept;

    for (unsigned i = 0; i < handle->nchildren; i++)
        nodes &= handle->children[i]->valid;
    return nodes;
}

/* The node where the children meet: the one that was asked for, if they can meet there;
 * if none was asked for, one where they are complete; else the base. The parent's
 * memory there is pinned once more. */
static unsigned choose_meeting(struct orr_handle *handle, unsigned wanted)
{
    unsigned node = orr_handle_base(handle);
    uint64_t nodes;

    orr_lock(&handle->lock);
    nodes = wanted == ORR_NO_NODE
                ? complete_nodes(handle)
                : handle->allocated & handle->kept & UINT64_C(1) << wanted;
    if (nodes)
        node = (unsigned)__builtin_ctzll(nodes);
    orr_handle_pin_locked(handle, UINT64_C(1) << node);
    orr_unlock(&handle->lock);
    return node;
}

/* All memory that is left of the parent is pinned until the parent has its value, which
 * is where all children, which are not used any more, have theirs. */
static void partition_join(struct orr_runtime *rt, struct orr_handle *handle)
{
    uint64_t nodes, valid;
    bool unreal = false;

    while (!try_pin(handle))
        orr_handle_wait_idle(rt, handle, false);
    nodes = handle->allocated;
    valid = complete_nodes(handle);
    for (unsigned i = 0; i < handle->nchildren; i++)
        unreal |= handle->children[i]->unreal;
    free_children(handle);
    orr_duplicate_part(handle);
    orr_lock(&handle->lock);
    handle->partitioned = false;
    handle->unreal = unreal;
    orr_handle_outdate_locked(handle, valid);
    orr_unlock(&handle->lock);
    if (valid)
        orr_handle_note_beginning(handle);
    else
        orr_handle_forget_beginning(handle);
    orr_handle_unpin(handle, nodes);
}

void orr_data_unpartition(struct orr_runtime *rt, struct orr_handle *handle,
                          unsigned gathering_node)
{
    unsigned node, base;

    if (!handle->partitioned) {
        orr_log_error("starpu_data_unpartition of %s: the data are not "
                      "partitioned",
                      orr_handle_label(handle).text);
        return;
    }
    if (!orr_may_block("starpu_data_unpartition"))
        abort();
    base = orr_handle_base(handle);
    /* The tasks that use the children end. Nothing is pinned for the parent meanwhile:
     * they may need that memory. */
    for (unsigned i = 0; i < handle->nchildren; i++) {
        struct orr_handle *child = handle->children[i];

        if (child->partitioned)
            orr_data_unpartition(rt, child, gathering_node);
        orr_handle_wait_unordered(rt, child);
        orr_handle_wait_idle(rt, child, false);
    }
    partition_begin_children(rt, handle);
    node = choose_meeting(handle, gathering_node);
    for (unsigned i = 0; i < handle->nchildren; i++)
        partition_gather_child(rt, handle->children[i], node);
    for (unsigned i = 0; i < handle->nchildren; i++)
        orr_handle_wait_idle(rt, handle->children[i], true);
    partition_join(rt, handle);
    orr_handle_unpin(handle, UINT64_C(1) << node);
    orr_handle_unpin(handle, UINT64_C(1) << base);
    if (gathering_node != node && gathering_node != ORR_NO_NODE &&
        handle->valid)
        orr_handle_prefetch(rt, handle, gathering_node, ORR_PREFETCH);
}

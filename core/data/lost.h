/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/lost.h - memory nodes whose device is gone. What has a copy elsewhere
 * goes on; a value that was there only is lost, which ends the run when somebody
 * wants it. `valid` keeps the bits of such nodes: who looks for a value masks them.
 * Nothing is copied to or from them any more, and their workers get no tasks.
 */
#pragma once

#include "core/data/handle.h"
#include "core/data/nodes.h"
#include "core/exec/runtime.h"

static inline bool orr_node_is_lost(const struct orr_runtime *rt, unsigned node)
{
    return atomic_load_explicit(&rt->nodes->lost, memory_order_relaxed) >>
               node &
           1;
}

/* The nodes from which the value can be had. */
static inline uint64_t orr_handle_values(const struct orr_handle *handle)
{
    return atomic_load_explicit(&handle->valid, memory_order_relaxed) &
           ~atomic_load_explicit(&handle->runtime->nodes->lost,
                                 memory_order_relaxed);
}

/* The driver has said -ENODEV about the node's device: from now on it is lost,
 * which is said once. Any context, no lock held. */
void orr_node_lose(struct orr_runtime *rt, unsigned node);

/* The same for the device of a copy; of two, for those that do not answer. */
void orr_copy_lose(struct orr_runtime *rt, const struct orr_copy *copy);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/lost.h - memory nodes whose device is gone. Data that have a copy elsewhere
 * go on; a value that was there only is lost, which ends the run when a job wants it.
 * `valid` keeps the bits of such nodes: code that looks for a value masks them. Nothing
 * is copied to or from them any more, and their workers get no tasks.
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

/* The driver has returned -ENODEV for the node's device: from now on the device is
 * lost. A message says so once. Any context, no lock held. */
void orr_node_lose(struct orr_runtime *rt, unsigned node);

/* The same for the device that took part in a copy; if two did, for each of them that
 * does not answer. */
void orr_copy_lose(struct orr_runtime *rt, const struct orr_copy *copy);

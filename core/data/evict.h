/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/evict.h - what the rules of eviction share. */
#pragma once

#include "core/base/bits.h"
#include "core/data/eviction.h"
#include "core/data/lost.h"
#include "core/data/node.h"

/* Whether `size` bytes more are within the node's capacity. */
bool orr_node_fits(const struct orr_node *node, size_t size);

/* The replicate's memory can be freed without losing its value: that is nowhere, or on
 * another node. */
static inline bool orr_replicate_is_clean(const struct orr_replicate *replicate)
{
    return orr_handle_values(replicate->handle) != orr_bit(replicate->node);
}

/* Whether the replicate has no value, or one that was overwritten elsewhere. */
static inline bool
orr_replicate_is_outdated(const struct orr_replicate *replicate)
{
    return !(atomic_load_explicit(&replicate->handle->valid,
                                  memory_order_relaxed) &
             orr_bit(replicate->node));
}

/* Whether the only copy can be sent to its write-back target: the target is another
 * node, no job is about to overwrite the value there, and no context waits for the last
 * use of the handle, which a copy would put off. */
bool orr_replicate_may_be_sent(const struct orr_replicate *replicate);

/* Where the only copy of a value goes when it must leave the node: from a device
 * to the application's memory, else to node 0; from there to a disk, if there is
 * one for it. The node itself: it cannot leave. */
unsigned orr_replicate_write_back_target(const struct orr_replicate *replicate);

/* --- blocks whose inhabitants' handles are locked --- */

/* Whether no job and no request uses the block, which is offered. A job that is tried
 * may hold it for a moment (admit.c): then the block counts as passed over, unless the
 * caller itself tries that job. */
bool orr_block_is_free(const struct orr_block *block, struct orr_node *node);

/* Whether all replicates in it are clean. */
bool orr_block_is_clean(const struct orr_block *block);

/* Whether no job will miss the block: each replicate in it is out of date, or clean and
 * of data that the application will not use. */
bool orr_block_is_unwanted(const struct orr_block *block);

/* Frees the block of a victim, for something else; the handles are unlocked then. */
void orr_evict_victim(struct orr_runtime *rt, struct orr_block *victim);

/* How many spare requests it takes to write back those that are not clean. */
unsigned orr_block_spares(const struct orr_block *block);

/* Starts the copies to their write-back targets; `deferred` has spares. Returns
 * how many were begun. */
unsigned orr_block_write_back(struct orr_runtime *rt, struct orr_block *block,
                              struct orr_deferred *deferred);

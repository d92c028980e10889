/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/evict.h - what the rules of eviction share. */
#pragma once

#include "core/data/eviction.h"
#include "core/data/node.h"

/* Whether `size` bytes more are within the node's capacity. */
bool orr_node_fits(const struct orr_node *node, size_t size);

/* The block's memory can be freed without losing the value. */
bool orr_replicate_is_clean(const struct orr_replicate *replicate);

/* Its value, if it has one, is not the present one. */
bool orr_replicate_is_outdated(const struct orr_replicate *replicate);

/* Whether neither a job nor a request uses the block, which is offered: a job
 * that is tried may hold it for a moment (admit.c). Counts it as passed then,
 * but for the context that tries the job itself. */
bool orr_replicate_is_free(const struct orr_replicate *replicate,
                           struct orr_node *node);

/* Whether the only copy can go to its write-back target: it is elsewhere, no
 * one is about to overwrite the value there, nor waits for the last use of the
 * handle, which would never be. */
bool orr_replicate_may_be_sent(const struct orr_replicate *replicate);

/* Where the only copy of a value goes when it must leave the node: to the
 * application's memory, else to node 0. */
unsigned orr_replicate_write_back_target(const struct orr_replicate *replicate);

/* Frees the memory of a replicate that is clean and not offered any more.
 * Locked on entry, not on return. */
void orr_replicate_evict(struct orr_runtime *rt,
                         struct orr_replicate *replicate);

/* Starts the copy to the write-back target; `deferred` has spares. Its handle is
 * locked. */
void orr_replicate_write_back_locked(struct orr_runtime *rt,
                                     struct orr_replicate *replicate,
                                     struct orr_deferred *deferred);

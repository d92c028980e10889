/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/cache.h - memory that blocks had, kept for blocks to come
 * (core/data/cache.c). It belongs to no replicate and counts as free, so that which
 * blocks leave a node, and which jobs wait for memory there, do not depend on it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct orr_block;
struct orr_handle;
struct orr_node;
struct orr_runtime;

/* Takes a block that ends, with its memory, into the cache: true; false: the caller is
 * to free it. Its bytes count as free from then on. No lock held. */
bool orr_cache_keep(struct orr_block *block);

/* Gives the block, which has a structure without memory, the memory of a block in the
 * cache that had equal needs; false: there is none. The bytes come from the context's
 * grant, or are within the node's capacity. No lock held. */
bool orr_cache_reuse(struct orr_runtime *rt, const struct orr_handle *handle,
                     struct orr_block *block);

/* Frees what is in the cache, the oldest first, up to `most` bytes. Returns whether
 * anything was freed. No lock held. */
bool orr_cache_shrink(struct orr_node *node, size_t most);

/* Frees all that is in the caches of all nodes. */
void orr_caches_empty(struct orr_runtime *rt);

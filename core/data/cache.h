/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/cache.h - memory that blocks had, kept for blocks to come
 * (core/data/cache.c). Nobody's: it counts as free, so that what leaves a node and
 * who waits for memory there do not depend on it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct orr_block;
struct orr_handle;
struct orr_node;
struct orr_runtime;

/* Keeps the memory of a block that ends, with the block: true, or false where it is to
 * be freed. What it counted is free. No lock held. */
bool orr_cache_keep(struct orr_block *block);

/* Gives the block, which has a structure without memory, memory that one of equal
 * needs had: true, or false without any. It is taken of the context's grant, or
 * within the node's capacity. No lock held. */
bool orr_cache_reuse(struct orr_runtime *rt, const struct orr_handle *handle,
                     struct orr_block *block);

/* Frees what is in the cache, the oldest first, up to `most` bytes. Returns whether
 * that was something. No lock held. */
bool orr_cache_shrink(struct orr_node *node, size_t most);

/* Frees all that is in the caches of all nodes. */
void orr_caches_empty(struct orr_runtime *rt);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/cache.h - memory that blocks had, kept for blocks to come
 * (core/data/cache.c). Nobody's: it counts as free, so that what leaves a node and
 * who waits for memory there do not depend on it.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/list.h"

struct orr_block;
struct orr_handle;
struct orr_node;
struct orr_runtime;

enum { ORR_CACHE_LISTS = 64 };

/* A node's. Only nodes where memory is expensive to get have one: devices, and main
 * memory that is pinned for them. */
struct orr_cache {
    bool used;            /* [const] */
    struct orr_list aged; /* [node lock] the blocks in it, the oldest first */
    /* [node lock] The same by what they match, in no order but the last one that
     * came first. */
    struct orr_list alike[ORR_CACHE_LISTS];
    atomic_size_t bytes; /* in it */
};

/* Says what there is to be known once the machine is. */
void orr_cache_init(struct orr_runtime *rt, struct orr_node *node);

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

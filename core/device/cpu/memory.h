/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/memory.h - blocks of main memory on NUMA nodes. Any thread.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct orr_topology;

enum { ORR_MEMORY_ALIGNMENT = 64 }; /* bytes: a cache line, any vector */

/* Of several nodes, blocks from that size on have pages of their own, which are bound:
 * binding works by the page and takes two system calls. */
enum { ORR_MEMORY_BOUND_FROM = 64 << 10 }; /* bytes */

struct orr_memories {
    /* [const] NULL: main memory is one, blocks are cut out of
                                    * malloc's. Else lent. */
    struct orr_topology *topology;
    atomic_bool noticed; /* that binding fails, which is reported once */
};

/* A block on the NUMA node at index `node`. Blocks under 64 KiB are malloc's
 * and lie where they are first written, larger ones are bound; where binding
 * fails there is one notice and the system places them. Errors: -ENOMEM. */
int orr_memories_alloc(struct orr_memories *memories, unsigned node,
                       size_t size, uintptr_t *ret);

/* Ends a block. The size is known here. */
void orr_memories_free(struct orr_memories *memories, uintptr_t address);

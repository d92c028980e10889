/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/cpu/memory.c - see memory.h. */
#include "core/device/cpu/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/device/cpu/topology.h"

/* Stands before each block where there are several nodes. */
struct head {
    size_t mapped; /* bytes with the head, 0: from malloc */
};

static_assert(sizeof(struct head) <= ORR_MEMORY_ALIGNMENT,
              "blocks would not be aligned");

/* Aligned here, with malloc's own address before it: what glibc's posix_memalign gives
 * and takes back is cut to size, and too short to be cut to that size again, so that the
 * heap grows with blocks that come and go (data, where main memory is limited). */
static void *from_malloc(size_t size)
{
    const size_t more = ORR_MEMORY_ALIGNMENT + sizeof(void *);
    char *origin = size + more > size ? malloc(size + more) : NULL;
    char *address = origin;

    if (!origin)
        return NULL;
    address += sizeof(void *);
    address += -(uintptr_t)address % ORR_MEMORY_ALIGNMENT;
    memcpy(address - sizeof(void *), &origin, sizeof(void *));
    return address;
}

static void free_malloced(void *address)
{
    void *origin;

    memcpy(&origin, (char *)address - sizeof(void *), sizeof(void *));
    free(origin);
}

static void *from_node(struct orr_memories *memories, unsigned node,
                       size_t size)
{
    bool bound;
    void *address = orr_topology_alloc(memories->topology, node, size, &bound);

    if (address && !bound && !atomic_exchange(&memories->noticed, true))
        orr_log_notice("memory cannot be bound to NUMA nodes here; the system "
                       "places it");
    return address;
}

int orr_memories_alloc(struct orr_memories *memories, unsigned node,
                       size_t size, uintptr_t *ret)
{
    size_t whole = size + ORR_MEMORY_ALIGNMENT;
    struct head *head;

    if (!memories->topology) {
        head = from_malloc(size);
        *ret = (uintptr_t)head;
        return head ? 0 : -ENOMEM;
    }
    if (whole < size)
        return -ENOMEM;
    head = size < ORR_MEMORY_BOUND_FROM ? from_malloc(whole)
                                        : from_node(memories, node, whole);
    if (!head)
        return -ENOMEM;
    head->mapped = size < ORR_MEMORY_BOUND_FROM ? 0 : whole;
    *ret = (uintptr_t)head + ORR_MEMORY_ALIGNMENT;
    return 0;
}

void orr_memories_free(struct orr_memories *memories, uintptr_t address)
{
    struct head *head;

    if (!address)
        return;
    if (!memories->topology) {
        free_malloced((void *)address);
        return;
    }
    head = (struct head *)(address - ORR_MEMORY_ALIGNMENT);
    if (head->mapped)
        orr_topology_free(memories->topology, head, head->mapped);
    else
        free_malloced(head);
}

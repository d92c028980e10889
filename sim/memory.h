/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/memory.h - the memory of one simulated memory node: addresses, and the cost of
 * allocations by the device driver. Small blocks are carved from chunks, so
 * that only chunks are allocated by the driver. One OS thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct orr_sim_chunk;

struct orr_sim_memory {
    bool real;                     /* addresses may be dereferenced */
    bool mapped;                   /* likewise, and blocks that nobody touches take nothing */
    bool suballocated;             /* small blocks are carved from chunks */
    uintptr_t next;                /* next fake address */
    struct orr_sim_chunk **chunks; /* in order of address */
    unsigned nchunks;
    unsigned nfree; /* chunks without a block */
    unsigned hint;  /* the chunk that the last block came from */
    unsigned vain;  /* chunks at the beginning without a gap … */
    size_t gap;     /* … of so many units */
};

/* The calls of an operation to the device driver. */
struct orr_sim_driver_calls {
    unsigned allocs, frees;
};

/* Returns 0 and the address of `size` > 0 bytes, 64-byte aligned, or -ENOMEM.
 * Adds the calls to the driver to *calls. */
int orr_sim_memory_alloc(struct orr_sim_memory *memory, size_t size,
                         uintptr_t *ret, struct orr_sim_driver_calls *calls);

void orr_sim_memory_free(struct orr_sim_memory *memory, uintptr_t address,
                         size_t size, struct orr_sim_driver_calls *calls);

/* Mapped blocks that are in use stay: the application may have them. */
void orr_sim_memory_done(struct orr_sim_memory *memory);

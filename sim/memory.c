/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/memory.c - see memory.h. A chunk is a map of units, one bit each; a
 * block goes to the first gap that holds it, in the chunk of the last block
 * or else the first chunk that has one.
 */
#include "sim/memory.h"

#include "core/base/grow.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define UNIT_BYTES  ((size_t)16 << 10)
#define CHUNK_BYTES ((size_t)32 << 20)
#define BLOCK_MAX   ((size_t)4 << 20)
#define UNITS       (CHUNK_BYTES / UNIT_BYTES)
#define ALIGNMENT   ((size_t)64)
/* Fake addresses start where none is mistaken for NULL or a small number. */
#define FIRST_FAKE  ((uintptr_t)1 << 30)

enum { FREE_CHUNKS_KEPT = 4 };

struct orr_sim_chunk {
    uintptr_t base;
    unsigned nused; /* units */
    uint64_t used[UNITS / 64];
};

static size_t round_up(size_t size, size_t unit)
{
    return size > SIZE_MAX - unit ? SIZE_MAX / unit * unit
                                  : (size + unit - 1) / unit * unit;
}

/* Pages that nobody has touched take nothing; malloc's may be filled
 * (MALLOC_PERTURB_). */
static int map(size_t size, uintptr_t *ret)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        return -ENOMEM;
    *ret = (uintptr_t)p;
    return 0;
}

static int driver_alloc(struct orr_sim_memory *memory, size_t size,
                        uintptr_t *ret)
{
    size = round_up(size, ALIGNMENT);
    if (memory->mapped)
        return map(size, ret);
    if (memory->real) {
        void *p = aligned_alloc(ALIGNMENT, size);

        if (!p)
            return -ENOMEM;
        *ret = (uintptr_t)p;
        return 0;
    }
    if (!memory->next)
        memory->next = FIRST_FAKE;
    if (size > UINTPTR_MAX - memory->next)
        return -ENOMEM;
    *ret = memory->next;
    memory->next += size;
    return 0;
}

static void driver_free(struct orr_sim_memory *memory, uintptr_t address, size_t size)
{
    if (memory->mapped)
        munmap((void *)address, round_up(size, ALIGNMENT));
    else if (memory->real)
        free((void *)address);
}

static int chunk_alloc(struct orr_sim_memory *memory, uintptr_t *ret)
{
    return memory->real ? map(CHUNK_BYTES, ret) : driver_alloc(memory, CHUNK_BYTES, ret);
}

static void chunk_free(struct orr_sim_memory *memory,
                       struct orr_sim_chunk *chunk)
{
    if (memory->real || memory->mapped)
        munmap((void *)chunk->base, CHUNK_BYTES);
    free(chunk);
}

/* The first unit from `from` on that is used, or free; UNITS without one. */
static size_t next_unit(const struct orr_sim_chunk *chunk, size_t from,
                        bool used)
{
    uint64_t flip = used ? 0 : UINT64_MAX, word;
    size_t w = from / 64;

    if (from >= UNITS)
        return UNITS;
    word = (chunk->used[w] ^ flip) & UINT64_MAX << from % 64;
    while (!word) {
        if (++w == UNITS / 64)
            return UNITS;
        word = chunk->used[w] ^ flip;
    }
    return w * 64 + (size_t)__builtin_ctzll(word);
}

static void chunk_mark_units(struct orr_sim_chunk *chunk, size_t unit, size_t n,
                             bool used)
{
    assert(next_unit(chunk, unit, used) >= unit + n);
    for (size_t i = unit; i < unit + n; i = (i / 64 + 1) * 64) {
        size_t left = unit + n - i, room = 64 - i % 64;
        uint64_t bits = UINT64_MAX >> (64 - (left < room ? left : room));

        chunk->used[i / 64] ^= bits << i % 64;
    }
    chunk->nused += used ? (unsigned)n : -(unsigned)n;
}

/* The first gap of n units, UNITS without one. */
static size_t chunk_find_gap(const struct orr_sim_chunk *chunk, size_t n)
{
    size_t start = 0;

    if (chunk->nused + n > UNITS)
        return UNITS;
    while ((start = next_unit(chunk, start, false)) < UNITS) {
        size_t end = next_unit(chunk, start, true);

        if (end - start >= n)
            return start;
        start = end;
    }
    return UNITS;
}

/* Puts a new chunk in its place by address. */
static int add_chunk(struct orr_sim_memory *memory, unsigned *ret)
{
    struct orr_sim_chunk *chunk;
    unsigned i = memory->nchunks;
    int error;

    if (!orr_array_reserve(&memory->chunks, i, sizeof(chunk)))
        return -ENOMEM;
    chunk = calloc(1, sizeof(*chunk));
    if (!chunk)
        return -ENOMEM;
    error = chunk_alloc(memory, &chunk->base);
    if (error < 0) {
        free(chunk);
        return error;
    }
    for (; i > 0 && memory->chunks[i - 1]->base > chunk->base; i--)
        memory->chunks[i] = memory->chunks[i - 1];
    memory->chunks[i] = chunk;
    memory->nchunks++;
    memory->nfree++;
    *ret = i;
    return 0;
}

static void remove_chunk(struct orr_sim_memory *memory, unsigned i)
{
    chunk_free(memory, memory->chunks[i]);
    memory->nchunks--;
    memory->nfree--;
    memmove(&memory->chunks[i], &memory->chunks[i + 1],
            (memory->nchunks - i) * sizeof(memory->chunks[0]));
}

static bool chunk_carve(struct orr_sim_memory *memory, unsigned i, size_t n,
                        uintptr_t *ret)
{
    struct orr_sim_chunk *chunk = memory->chunks[i];
    size_t unit = chunk_find_gap(chunk, n);

    if (unit == UNITS)
        return false;
    if (chunk->nused == 0)
        memory->nfree--;
    chunk_mark_units(chunk, unit, n, true);
    memory->hint = i;
    *ret = chunk->base + unit * UNIT_BYTES;
    return true;
}

static int alloc_block(struct orr_sim_memory *memory, size_t n, uintptr_t *ret,
                       struct orr_sim_driver_calls *calls)
{
    unsigned i;
    int error;

    if (memory->hint < memory->nchunks &&
        chunk_carve(memory, memory->hint, n, ret))
        return 0;
    if (n < memory->gap)
        memory->vain = 0;
    memory->gap = n;
    for (; memory->vain < memory->nchunks; memory->vain++)
        if (chunk_carve(memory, memory->vain, n, ret))
            return 0;
    error = add_chunk(memory, &i);
    if (error < 0)
        return error;
    if (i < memory->vain)
        memory->vain = i;
    calls->allocs++;
    chunk_carve(memory, i, n, ret);
    return 0;
}

/* The chunk that holds an address; there is one. */
static unsigned find_chunk(const struct orr_sim_memory *memory,
                           uintptr_t address)
{
    unsigned low = 0, high = memory->nchunks;

    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;

        if (memory->chunks[middle]->base <= address)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void chunk_free_block(struct orr_sim_memory *memory, uintptr_t address,
                             size_t n, struct orr_sim_driver_calls *calls)
{
    unsigned i = find_chunk(memory, address);
    struct orr_sim_chunk *chunk = memory->chunks[i];

    assert(address - chunk->base < CHUNK_BYTES);
    chunk_mark_units(chunk, (address - chunk->base) / UNIT_BYTES, n, false);
    if (i < memory->vain)
        memory->vain = i;
    if (chunk->nused > 0)
        return;
    memory->nfree++;
    if (memory->nfree <= FREE_CHUNKS_KEPT)
        return;
    remove_chunk(memory, i);
    calls->frees++;
}

static bool is_block(const struct orr_sim_memory *memory, size_t size)
{
    return memory->suballocated && size <= BLOCK_MAX;
}

int orr_sim_memory_alloc(struct orr_sim_memory *memory, size_t size,
                         uintptr_t *ret, struct orr_sim_driver_calls *calls)
{
    int error;

    if (size == 0)
        size = 1;
    if (is_block(memory, size))
        return alloc_block(memory, (size + UNIT_BYTES - 1) / UNIT_BYTES, ret,
                           calls);
    error = driver_alloc(memory, size, ret);
    if (error == 0)
        calls->allocs++;
    return error;
}

void orr_sim_memory_free(struct orr_sim_memory *memory, uintptr_t address,
                         size_t size, struct orr_sim_driver_calls *calls)
{
    if (size == 0)
        size = 1;
    if (is_block(memory, size)) {
        chunk_free_block(memory, address, (size + UNIT_BYTES - 1) / UNIT_BYTES,
                         calls);
        return;
    }
    driver_free(memory, address, size);
    calls->frees++;
}

void orr_sim_memory_done(struct orr_sim_memory *memory)
{
    for (unsigned i = 0; i < memory->nchunks; i++) {
        if (memory->mapped && memory->chunks[i]->nused > 0)
            free(memory->chunks[i]);
        else
            chunk_free(memory, memory->chunks[i]);
    }
    free(memory->chunks);
    memory->chunks = NULL;
    memory->nchunks = memory->nfree = memory->hint = memory->vain = 0;
}

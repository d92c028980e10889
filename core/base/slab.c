/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/slab.c - see slab.h. Only the depot and the shared cache lock. */
#include "core/base/slab.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/lock.h"

#define BATCH        64u
/* Of the first block, and of the largest ones. */
#define FIRST_BYTES       ((size_t)16 << 10)
#define BLOCK_BYTES  ((size_t)256 << 10)
#define LINE         ((size_t)64)
#define LINES        3u /* that are fetched at once */
/* The part of a block without objects: its header, and the gap before the next
 * line of the cache. */
#define HEADER_BYTES (sizeof(struct block) + LINE)
/* From so many bytes on a block is a huge page: half of what a fresh object costs is the
 * page fault. Later where there are many slabs, as those of a thousand simulated ranks. */
#define SMALL_BYTES       (5 * BLOCK_BYTES)
#define SMALL_BYTES_LATER (29 * BLOCK_BYTES)
#define FEW_SLABS         64u
#define HUGE_BYTES   ((size_t)2 << 20)

struct object {
    struct object *next;       /* in its cache or batch */
    struct object *next_batch; /* [depot_lock] first object of a batch only */
};

struct cache {
    struct object *full;    /* a batch ready to hand out or give away */
    struct object *current; /* what get and put work on */
    unsigned n;             /* length of current */
    unsigned nfresh; /* its last ones, never taken yet: zero but for `next` */
    char pad[64 - 2 * sizeof(void *) - 2 * sizeof(unsigned)];
};

struct block {
    struct block *next;
    size_t bytes; /* all of it, with this header */
    bool mapped;  /* a huge page of our own */
    bool zeroed;  /* it was zero at first: the others' objects are made so */
};

struct orr_slab {
    size_t size;
    struct orr_lock lock;   /* guards blocks and fresh; held while the system
                             * makes pages */
    struct orr_lock shared; /* guards the cache of threads that are no workers */
    struct orr_lock depot_lock;
    struct block *blocks;   /* [lock] */
    size_t bytes;           /* [lock] of all of them */
    char *fresh, *end;      /* [lock] never used yet */
    struct object *depot;   /* [depot_lock] full batches, of BATCH objects each */
    atomic_size_t nadopted; /* objects beside those of the blocks */
    unsigned ncaches;
    struct cache caches[];  /* the shared one, then one per worker */
};

/* Those of the process. */
static atomic_uint nslabs;

int orr_slab_new(size_t size, unsigned nworkers, struct orr_slab **ret)
{
    size_t bytes =
        sizeof(struct orr_slab) + (nworkers + 1) * sizeof(struct cache);
    struct orr_slab *slab = calloc(1, bytes);

    if (!slab)
        return -ENOMEM;
    if (size < sizeof(struct object))
        size = sizeof(struct object);
    atomic_fetch_add_explicit(&nslabs, 1, memory_order_relaxed);
    slab->size = (size + 7) & ~(size_t)7;
    slab->ncaches = nworkers + 1;
    orr_lock_init(&slab->lock, ORR_RANK_SLAB);
    orr_lock_init(&slab->shared, ORR_RANK_CACHE);
    orr_lock_init(&slab->depot_lock, ORR_RANK_SLAB);
    *ret = slab;
    return 0;
}

static void free_block(struct block *block)
{
    if (block->mapped)
        munmap(block, block->bytes);
    else
        free(block);
}

static void free_blocks(struct orr_slab *slab)
{
    while (slab->blocks) {
        struct block *block = slab->blocks;

        slab->blocks = block->next;
        free_block(block);
    }
}

void orr_slab_free(struct orr_slab *slab)
{
    if (!slab)
        return;
    atomic_fetch_sub_explicit(&nslabs, 1, memory_order_relaxed);
    free_blocks(slab);
    free(slab);
}

/* A zeroed huge page, NULL without memory. */
static struct block *map_block(void)
{
    char *map = mmap(NULL, 2 * HUGE_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t before;
    struct block *block;

    if (map == MAP_FAILED)
        return NULL;
    before = -(uintptr_t)map & (HUGE_BYTES - 1);
    if (before)
        munmap(map, before);
    munmap(map + before + HUGE_BYTES, HUGE_BYTES - before);
    block = (struct block *)(void *)(map + before);
    (void)madvise(block, HUGE_BYTES, MADV_HUGEPAGE); /* only faster */
    block->bytes = HUGE_BYTES;
    block->mapped = block->zeroed = true;
    return block;
}

/* As much as there is, and some more; where there are many slabs a quarter of that, since half
 * of the last block of each is unused. */
static size_t next_bytes(const struct orr_slab *slab, bool few)
{
    size_t wanted = FIRST_BYTES + slab->bytes / (few ? 1 : 4);

    return wanted < BLOCK_BYTES ? wanted : BLOCK_BYTES;
}

/* The system has zeroed memory for large ones. */
static struct block *new_block(const struct orr_slab *slab)
{
    bool few = atomic_load_explicit(&nslabs, memory_order_relaxed) <= FEW_SLABS;
    size_t bytes = HEADER_BYTES + slab->size, wanted = next_bytes(slab, few);
    bool large = wanted == BLOCK_BYTES;
    struct block *block;

    if (slab->bytes >= (few ? SMALL_BYTES : SMALL_BYTES_LATER) &&
        bytes < HUGE_BYTES / 16)
        return map_block();
    if (bytes < wanted)
        bytes = wanted;
    block = large ? calloc(1, bytes) : malloc(bytes);
    if (block)
        *block = (struct block){.bytes = bytes, .zeroed = large};
    return block;
}

/* Objects of whole lines of the cache lie in lines of their own. */
static char *first_object(struct block *block)
{
    uintptr_t at = (uintptr_t)(block + 1);

    return (char *)(block + 1) + (-at & (LINE - 1));
}

static int add_block_locked(struct orr_slab *slab) ORR_REQUIRES(slab->lock)
{
    struct block *block = new_block(slab);

    if (!block)
        return -ENOMEM;
    block->next = slab->blocks;
    slab->blocks = block;
    slab->bytes += block->bytes;
    slab->fresh = first_object(block);
    slab->end = (char *)block + block->bytes;
    return 0;
}

/* A full batch, or NULL. */
static struct object *take_batch(struct orr_slab *slab)
{
    struct object *batch;

    orr_lock(&slab->depot_lock);
    batch = slab->depot;
    if (batch)
        slab->depot = batch->next_batch;
    orr_unlock(&slab->depot_lock);
    return batch;
}

static void give_batch(struct orr_slab *slab, struct object *batch)
{
    orr_lock(&slab->depot_lock);
    batch->next_batch = slab->depot;
    slab->depot = batch;
    orr_unlock(&slab->depot_lock);
}

/* Takes as many fresh objects as one block still has, a batch at most. */
static unsigned slab_carve(struct orr_slab *slab, struct object **ret)
{
    struct object *list = NULL;
    unsigned n = 0;

    orr_lock(&slab->lock);
    if (!slab->fresh || slab->fresh + slab->size > slab->end)
        (void)add_block_locked(slab);
    while (n < BATCH && slab->fresh && slab->fresh + slab->size <= slab->end) {
        struct object *object = (struct object *)(void *)slab->fresh;

        slab->fresh += slab->size;
        if (!slab->blocks->zeroed) /* orr_slab_each reads it before it is handed out */
            memset(object, 0, slab->size);
        object->next = list;
        list = object;
        n++;
    }
    orr_unlock(&slab->lock);
    *ret = list;
    return n;
}

static void cache_refill(struct orr_slab *slab, struct cache *cache)
{
    cache->current = cache->full ? cache->full : take_batch(slab);
    cache->full = NULL;
    cache->nfresh = 0;
    cache->n = BATCH;
    if (!cache->current)
        cache->n = cache->nfresh = slab_carve(slab, &cache->current);
}

/* The next object will be written from its begin to its end, and was another
 * processor's, or nobody's yet: it comes while this one is worked on. */
static inline void fetch_object(const struct orr_slab *slab,
                                const struct object *object)
{
    const char *at = (const char *)object, *end = at + slab->size;

    for (; at < end; at += LINES * LINE)
        for (unsigned line = 0; line < LINES; line++)
            __builtin_prefetch(at + line * LINE, 1);
}

/* *ret_fresh: the object is zero but for its link. */
static inline struct object *cache_take(const struct orr_slab *slab,
                                        struct cache *cache, bool *ret_fresh)
{
    struct object *object = cache->current;

    cache->current = object->next;
    *ret_fresh = cache->n-- == cache->nfresh;
    cache->nfresh -= *ret_fresh;
    fetch_object(slab, cache->current);
    return object;
}

static inline void cache_add(struct cache *cache, struct object *object)
{
    object->next = cache->current;
    cache->current = object;
    cache->n++;
}

/* From the shared cache, or one that is empty. Unchecked: the shared one alone is
 * locked. */
static __attribute__((noinline)) struct object *
get_slowly(struct orr_slab *slab, struct cache *cache,
           bool *ret_fresh) ORR_UNCHECKED
{
    bool is_shared = cache == slab->caches;
    struct object *object = NULL;

    if (is_shared)
        orr_lock(&slab->shared);
    if (!cache->current)
        cache_refill(slab, cache);
    if (cache->current)
        object = cache_take(slab, cache, ret_fresh);
    if (is_shared)
        orr_unlock(&slab->shared);
    return object;
}

/* To the shared cache, or one that has a batch. */
static __attribute__((noinline)) void
put_slowly(struct orr_slab *slab, struct cache *cache,
           struct object *object) ORR_UNCHECKED
{
    bool is_shared = cache == slab->caches;

    if (is_shared)
        orr_lock(&slab->shared);
    if (cache->n == BATCH) {
        if (cache->full)
            give_batch(slab, cache->full);
        cache->full = cache->current;
        cache->current = NULL;
        cache->n = cache->nfresh = 0;
    }
    cache_add(cache, object);
    if (is_shared)
        orr_unlock(&slab->shared);
}

static inline struct object *slab_take(struct orr_slab *slab, bool *ret_fresh)
{
    unsigned own = orr_self->cache;
    struct cache *cache = &slab->caches[own];

    if (!own || !cache->current)
        return get_slowly(slab, cache, ret_fresh);
    return cache_take(slab, cache, ret_fresh);
}

void *orr_slab_get(struct orr_slab *slab)
{
    bool fresh;

    return slab_take(slab, &fresh);
}

void *orr_slab_get_zeroed(struct orr_slab *slab)
{
    bool fresh = false;
    struct object *object = slab_take(slab, &fresh);

    if (fresh)
        object->next = NULL;
    else if (object)
        memset(object, 0, slab->size);
    return object;
}

void orr_slab_put(struct orr_slab *slab, void *memory)
{
    unsigned own = orr_self->cache;
    struct cache *cache = &slab->caches[own];

    if (!own || cache->n == BATCH)
        put_slowly(slab, cache, memory);
    else
        cache_add(cache, memory);
}

void orr_slab_adopt(struct orr_slab *slab, void *memory)
{
    atomic_fetch_add_explicit(&slab->nadopted, 1, memory_order_relaxed);
    orr_slab_put(slab, memory);
}

/* --- trimming --- */

static bool is_in_block(const struct block *block, const void *object)
{
    uintptr_t at = (uintptr_t)object, begin = (uintptr_t)block;

    return at > begin && at < begin + block->bytes;
}

/* The block that has the object, NULL: none. */
static const struct block *block_of(const struct orr_slab *slab,
                                    const void *object)
{
    const struct block *block = slab->blocks;

    while (block && !is_in_block(block, object))
        block = block->next;
    return block;
}

bool orr_slab_made(const struct orr_slab *slab, const void *object)
{
    return block_of(slab, object) != NULL;
}

static size_t room_of(const struct orr_slab *slab, char *begin, char *end)
{
    return begin ? (size_t)(end - begin) / slab->size : 0;
}

static size_t count_made(const struct orr_slab *slab)
{
    size_t n = 0;

    for (struct block *block = slab->blocks; block; block = block->next)
        n += room_of(slab, first_object(block), (char *)block + block->bytes);
    return n - room_of(slab, slab->fresh, slab->end);
}

/* Of all lists; a batch is never looked into. */
static size_t slab_count_free(const struct orr_slab *slab)
{
    size_t n = 0;

    for (struct object *batch = slab->depot; batch; batch = batch->next_batch)
        n += BATCH;
    for (unsigned i = 0; i < slab->ncaches; i++)
        n += slab->caches[i].n + (slab->caches[i].full ? BATCH : 0);
    return n;
}

/* Unchecked: those that are no workers are kept off by the shared cache's lock, and the
 * rest is the caller's alone. */
static bool is_unused_locked(const struct orr_slab *slab) ORR_UNCHECKED
{
    return slab_count_free(slab) ==
           count_made(slab) +
               atomic_load_explicit(&slab->nadopted, memory_order_relaxed);
}

bool orr_slab_is_unused(struct orr_slab *slab)
{
    bool unused;

    orr_lock(&slab->shared);
    unused = is_unused_locked(slab);
    orr_unlock(&slab->shared);
    return unused;
}

static void free_adopted_of(const struct orr_slab *slab, struct object *object)
{
    struct object *next;

    for (; object; object = next) {
        next = object->next;
        if (!block_of(slab, object))
            free(object);
    }
}

/* All objects are in lists. */
static void free_adopted(const struct orr_slab *slab)
{
    struct object *batch = slab->depot, *next;

    for (; batch; batch = next) {
        next = batch->next_batch;
        free_adopted_of(slab, batch);
    }
    for (unsigned i = 0; i < slab->ncaches; i++) {
        free_adopted_of(slab, slab->caches[i].full);
        free_adopted_of(slab, slab->caches[i].current);
    }
}

void orr_slab_trim(struct orr_slab *slab) ORR_UNCHECKED
{
    orr_lock(&slab->shared);
    if (is_unused_locked(slab)) {
        if (atomic_load_explicit(&slab->nadopted, memory_order_relaxed))
            free_adopted(slab);
        free_blocks(slab);
        slab->bytes = 0;
        slab->fresh = slab->end = NULL;
        slab->depot = NULL;
        atomic_store_explicit(&slab->nadopted, 0, memory_order_relaxed);
        memset(slab->caches, 0, slab->ncaches * sizeof(slab->caches[0]));
    }
    orr_unlock(&slab->shared);
}

void orr_slab_each(struct orr_slab *slab, void (*visit)(void *, void *),
                   void *arg)
{
    for (struct block *block = slab->blocks; block; block = block->next) {
        char *begin = first_object(block);
        /* What is left of the last one is not zero everywhere. */
        char *end = block == slab->blocks ? slab->fresh : (char *)block + block->bytes;

        for (char *at = begin; at + slab->size <= end; at += slab->size)
            visit(at, arg);
    }
}

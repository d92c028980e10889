/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/blocks.c - see blocks.h. Blocks of up to 2^c bytes are in a hash by their
 * begin / 2^c: so an address is in one of two places of each class. Memory for them is of
 * the system's, since this is called by malloc.
 */
#include "record/openmp/blocks.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct block {
    struct block *next; /* in its place, or of those in no use */
    uintptr_t begin;
    size_t bytes;
};

enum { NPLACES = 1 << 16, FIRST_CLASS = 4, NCLASSES = 48, AT_ONCE = 1 << 16 };

/* What the process has once. */
static struct {
    pthread_mutex_t lock; /* all of it */
    struct block *places[NPLACES];
    struct block *unused;
    size_t in_class[NCLASSES]; /* how many */
} blocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned class_of(size_t bytes)
{
    unsigned c = FIRST_CLASS;

    while (c < NCLASSES - 1 && (size_t)1 << c < bytes)
        c++;
    return c;
}

static struct block **place_of(unsigned class, uintptr_t key)
{
    return &blocks.places[((key * NCLASSES + class) * UINT64_C(0x9e3779b97f4a7c15)) >> 48];
}

/* Not mmap(), which may be ours. Without memory blocks are unknown. */
static struct block *block_take(void)
{
    struct block *block = blocks.unused, *more;
    long at;

    if (!block) {
        at = syscall(SYS_mmap, NULL, AT_ONCE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == -1)
            return NULL;
        more = (struct block *)at;
        for (size_t i = 0; i < AT_ONCE / sizeof(*more); i++) {
            more[i].next = block;
            block = &more[i];
        }
    }
    blocks.unused = block->next;
    return block;
}

void orr_blocks_add(const void *begin, size_t bytes)
{
    unsigned class = class_of(bytes);
    struct block *block, **place;

    if (!begin || !bytes)
        return;
    pthread_mutex_lock(&blocks.lock);
    block = block_take();
    if (block) {
        place = place_of(class, (uintptr_t)begin >> class);
        *block = (struct block){*place, (uintptr_t)begin, bytes};
        *place = block;
        blocks.in_class[class]++;
    }
    pthread_mutex_unlock(&blocks.lock);
}

size_t orr_blocks_remove(const void *begin)
{
    uintptr_t at = (uintptr_t)begin;
    size_t bytes = 0;

    if (!begin)
        return 0;
    pthread_mutex_lock(&blocks.lock);
    for (unsigned c = FIRST_CLASS; c < NCLASSES && !bytes; c++) {
        struct block **link = place_of(c, at >> c);

        if (!blocks.in_class[c])
            continue;
        while (*link && ((*link)->begin != at || class_of((*link)->bytes) != c))
            link = &(*link)->next;
        if (*link) {
            struct block *block = *link;

            bytes = block->bytes;
            blocks.in_class[c]--;
            *link = block->next;
            block->next = blocks.unused;
            blocks.unused = block;
        }
    }
    pthread_mutex_unlock(&blocks.lock);
    return bytes;
}

/* The block of that class, of those that begin in the key's range, that has the address. */
static const struct block *find_locked(unsigned class, uintptr_t key, uintptr_t address)
{
    const struct block *block = *place_of(class, key);

    while (block && !(class_of(block->bytes) == class && block->begin >> class == key &&
                      address - block->begin < block->bytes))
        block = block->next;
    return block;
}

bool orr_blocks_find(uint64_t address, uint64_t *ret_begin, uint64_t *ret_bytes)
{
    const struct block *block = NULL;

    pthread_mutex_lock(&blocks.lock);
    for (unsigned c = FIRST_CLASS; c < NCLASSES && !block; c++) {
        if (!blocks.in_class[c])
            continue;
        block = find_locked(c, address >> c, address);
        if (!block && address >> c)
            block = find_locked(c, (address >> c) - 1, address);
    }
    if (block) {
        *ret_begin = block->begin;
        *ret_bytes = block->bytes;
    }
    pthread_mutex_unlock(&blocks.lock);
    return block != NULL;
}

void orr_blocks_lock(void)
{
    pthread_mutex_lock(&blocks.lock);
}

void orr_blocks_unlock(void)
{
    pthread_mutex_unlock(&blocks.lock);
}

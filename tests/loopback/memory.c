/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/loopback/memory.c - the memory of a loopback device. Any thread.
 * The pages are closed while no operation has them open, so that a host that
 * follows a device's address is stopped there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/loopback/loopback.h"

enum { ALIGNMENT = 64, GAP = 64 }; /* bytes; between blocks, what nobody owns */

int loopback_memory_init(struct loopback_memory *memory, size_t size)
{
    void *base = mmap(NULL, size, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base == MAP_FAILED)
        return -ENOMEM;
    pthread_mutex_init(&memory->lock, NULL);
    memory->base = base;
    memory->size = size;
    return 0;
}

void loopback_memory_done(struct loopback_memory *memory)
{
    if (!memory->base)
        return;
    while (memory->blocks) {
        struct loopback_block *next = memory->blocks->next;

        free(memory->blocks);
        memory->blocks = next;
    }
    munmap(memory->base, memory->size);
    pthread_mutex_destroy(&memory->lock);
    memory->base = NULL;
}

static struct loopback_block *find_room(struct loopback_memory *memory,
                                        size_t size,
                                        struct loopback_block ***ret_link)
{
    struct loopback_block **link = &memory->blocks;
    struct loopback_block *block = malloc(sizeof(*block));
    size_t offset = 0;

    for (; *link && (*link)->offset - offset < size; link = &(*link)->next)
        offset = (*link)->offset + (*link)->size;
    *ret_link = link;
    if (!block || (!*link && memory->size - offset < size)) {
        free(block);
        return NULL;
    }
    *block = (struct loopback_block){*link, offset, size};
    return block;
}

int loopback_memory_alloc(struct loopback_memory *memory, size_t size,
                          uintptr_t *ret)
{
    struct loopback_block **link, *block;

    if (size > memory->size)
        return -ENOMEM;
    size = (size + GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    pthread_mutex_lock(&memory->lock);
    block = find_room(memory, size, &link);
    if (block) {
        *link = block;
        *ret = (uintptr_t)memory->base + block->offset;
    }
    pthread_mutex_unlock(&memory->lock);
    return block ? 0 : -ENOMEM;
}

void loopback_memory_free(struct loopback_memory *memory, uintptr_t address)
{
    size_t offset = address - (uintptr_t)memory->base;
    struct loopback_block **link, *block;

    pthread_mutex_lock(&memory->lock);
    for (link = &memory->blocks; *link && (*link)->offset != offset;)
        link = &(*link)->next;
    block = *link;
    if (!block)
        abort(); /* was never allocated here, or is freed twice */
    *link = block->next;
    pthread_mutex_unlock(&memory->lock);
    free(block);
}

static void protect(struct loopback_memory *memory, int protection)
{
    if (mprotect(memory->base, memory->size, protection) != 0)
        abort();
}

void loopback_memory_open(struct loopback_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    if (memory->nopen++ == 0)
        protect(memory, PROT_READ | PROT_WRITE);
    pthread_mutex_unlock(&memory->lock);
}

void loopback_memory_close(struct loopback_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    if (--memory->nopen == 0)
        protect(memory, PROT_NONE);
    pthread_mutex_unlock(&memory->lock);
}

bool loopback_memory_has(const struct loopback_memory *memory,
                         uintptr_t address)
{
    return address - (uintptr_t)memory->base < memory->size;
}

bool loopback_memory_holds(struct loopback_memory *memory, uintptr_t address,
                           size_t size)
{
    size_t offset = address - (uintptr_t)memory->base;
    const struct loopback_block *block;
    bool holds;

    pthread_mutex_lock(&memory->lock);
    block = memory->blocks;
    while (block && block->offset + block->size <= offset)
        block = block->next;
    holds = block && block->offset <= offset &&
            size <= block->offset + block->size - GAP / 2 - offset;
    pthread_mutex_unlock(&memory->lock);
    return holds;
}

/* -- pinned main memory -- */

static struct loopback_pin **find_pin(struct loopback_pins *pins, void *address)
{
    struct loopback_pin **link = &pins->first;

    while (*link && (*link)->address != address)
        link = &(*link)->next;
    return link;
}

int loopback_pin(struct orr_driver *driver, void *address, size_t size)
{
    struct loopback_pins *pins = &((struct loopback *)driver)->pins;
    struct loopback_pin *pin = malloc(sizeof(*pin)), **link;
    int rc = pin ? -EINVAL : -ENOMEM;

    pthread_mutex_lock(&pins->lock);
    link = find_pin(pins, address);
    if (pin && !*link) {
        *pin = (struct loopback_pin){NULL, address, size};
        *link = pin;
        rc = 0;
    }
    pthread_mutex_unlock(&pins->lock);
    if (rc)
        free(pin);
    return rc;
}

int loopback_unpin(struct orr_driver *driver, void *address, size_t size)
{
    struct loopback_pins *pins = &((struct loopback *)driver)->pins;
    struct loopback_pin **link, *pin;

    pthread_mutex_lock(&pins->lock);
    link = find_pin(pins, address);
    pin = *link && (*link)->size == size ? *link : NULL;
    if (pin)
        *link = pin->next;
    pthread_mutex_unlock(&pins->lock);
    free(pin);
    return pin ? 0 : -EINVAL;
}

int loopback_pinned_alloc(struct orr_driver *driver, unsigned node, size_t size,
                          uintptr_t *ret)
{
    struct loopback *l = (struct loopback *)driver;
    void *address;
    int rc = loopback_fault(l, NULL, LOOPBACK_PIN);

    (void)node;
    if (rc == 0)
        rc = -posix_memalign(&address, ALIGNMENT, size);
    if (rc == 0) {
        rc = loopback_pin(driver, address, size);
        if (rc)
            free(address);
    }
    if (rc == 0)
        *ret = (uintptr_t)address;
    return rc;
}

void loopback_pinned_free(struct orr_driver *driver, unsigned node,
                          uintptr_t address, size_t size)
{
    (void)node;
    if (driver && loopback_unpin(driver, (void *)address, size) != 0)
        abort(); /* was never allocated here, or is freed twice */
    free((void *)address);
}

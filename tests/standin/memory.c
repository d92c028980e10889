/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/standin/memory.c - see private.h: memory of devices, pinned main memory.
 * What is allocated or freed is overwritten, so that what is read too early or too
 * late is not what it was. */
#include "private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 256, FRESH = 0xcd, FREED = 0xdd };

struct block {
    struct block *next;
    size_t offset, size;
};

int memory_init(struct device *device, size_t size)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *closed = mmap(NULL, size, PROT_NONE, flags, -1, 0);
    void *open = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);

    if (closed == MAP_FAILED || open == MAP_FAILED)
        return OUT_OF_MEMORY;
    device->closed = closed;
    device->open = open;
    return OK;
}

/* First fit. By who holds the lock. */
static struct block *find_room(struct device *device, size_t size)
{
    struct block **link = &device->blocks, *block;
    size_t offset = 0;

    for (;
         *link && ((*link)->offset < offset || (*link)->offset - offset < size);
         link = &(*link)->next)
        offset = ((*link)->offset + (*link)->size + ALIGNMENT) / ALIGNMENT *
                 ALIGNMENT;
    if (!*link &&
        (offset > gpus.options.memory || gpus.options.memory - offset < size))
        return NULL;
    block = malloc(sizeof(*block));
    if (!block)
        return NULL;
    *block = (struct block){*link, offset, size};
    *link = block;
    return block;
}

int memory_alloc(struct device *device, size_t size, uintptr_t *ret)
{
    struct block *block;

    if (size == 0)
        return INVALID_VALUE;
    pthread_mutex_lock(&device->lock);
    block = find_room(device, size);
    if (block) {
        *ret = (uintptr_t)device->closed + block->offset;
        memset(device->open + block->offset, FRESH, size);
        device->used += size;
        if (device->used > device->most)
            device->most = device->used;
    }
    pthread_mutex_unlock(&device->lock);
    return block ? OK : OUT_OF_MEMORY;
}

int memory_free(struct device *device, uintptr_t address)
{
    size_t offset = address - (uintptr_t)device->closed;
    struct block **link, *block;

    /* As vendors' do: what is under way may use it. */
    device_synchronize(device);
    pthread_mutex_lock(&device->lock);
    for (link = &device->blocks; *link && (*link)->offset != offset;)
        link = &(*link)->next;
    block = *link;
    if (block) {
        *link = block->next;
        device->used -= block->size;
        memset(device->open + block->offset, FREED, block->size);
    }
    pthread_mutex_unlock(&device->lock);
    if (!block)
        return INVALID_VALUE;
    free(block);
    return OK;
}

size_t gpu_standin_most(unsigned device);
size_t gpu_standin_most(unsigned device)
{
    size_t most;

    pthread_mutex_lock(&gpus.devices[device].lock);
    most = gpus.devices[device].most;
    pthread_mutex_unlock(&gpus.devices[device].lock);
    return most;
}

struct device *memory_owner(uintptr_t address)
{
    for (unsigned i = 0; i < gpus.options.devices; i++)
        if (address - (uintptr_t)gpus.devices[i].closed < gpus.options.memory)
            return &gpus.devices[i];
    return NULL;
}

int memory_range(uintptr_t address, uintptr_t *ret_base, size_t *ret_size)
{
    struct device *device = memory_owner(address);
    const struct block *block;

    if (!device)
        return INVALID_VALUE;
    pthread_mutex_lock(&device->lock);
    block = device->blocks;
    while (block &&
           block->offset + block->size <= address - (uintptr_t)device->closed)
        block = block->next;
    if (block && block->offset > address - (uintptr_t)device->closed)
        block = NULL;
    if (block) {
        *ret_base = (uintptr_t)device->closed + block->offset;
        *ret_size = block->size;
    }
    pthread_mutex_unlock(&device->lock);
    return block ? OK : INVALID_VALUE;
}

bool memory_holds(struct device *device, uintptr_t address, size_t size)
{
    uintptr_t base;
    size_t length;

    return memory_owner(address) == device &&
           memory_range(address, &base, &length) == OK &&
           size <= base + length - address;
}

/* -- main memory: what is pinned, and what is managed, of all devices -- */

struct pin {
    struct pin *next;
    char *address;
    size_t size;
};

static pthread_mutex_t pins_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pin *pins;    /* [pins_lock] */
static struct pin *managed; /* [pins_lock] */

/* Takes the one that begins there out of its list, or NULL. */
static struct pin *take_out(struct pin **link, const void *address)
{
    struct pin *found;

    pthread_mutex_lock(&pins_lock);
    while (*link && (*link)->address != address)
        link = &(*link)->next;
    found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&pins_lock);
    return found;
}

int managed_alloc(size_t size, uintptr_t *ret)
{
    enum { PAGE = 4096 };
    struct pin *fresh = malloc(sizeof(*fresh));
    void *address = NULL;

    if (!fresh || size == 0 || posix_memalign(&address, PAGE, size)) {
        free(fresh);
        return size ? OUT_OF_MEMORY : INVALID_VALUE;
    }
    memset(address, FRESH, size);
    pthread_mutex_lock(&pins_lock);
    *fresh = (struct pin){managed, address, size};
    managed = fresh;
    pthread_mutex_unlock(&pins_lock);
    *ret = (uintptr_t)address;
    return OK;
}

int managed_free(uintptr_t address)
{
    struct pin *block = take_out(&managed, (void *)address);

    if (!block)
        return INVALID_VALUE;
    memset(block->address, FREED, block->size);
    free(block->address);
    free(block);
    return OK;
}

bool managed_holds(uintptr_t address, size_t size)
{
    const struct pin *m;

    pthread_mutex_lock(&pins_lock);
    for (m = managed; m && (address < (uintptr_t)m->address ||
                            address - (uintptr_t)m->address >= m->size);)
        m = m->next;
    if (m && size > (uintptr_t)m->address + m->size - address)
        m = NULL;
    pthread_mutex_unlock(&pins_lock);
    return m != NULL;
}

void *bytes_of(const void *address)
{
    struct device *device = memory_owner((uintptr_t)address);

    if (device)
        return device->open + ((const char *)address - device->closed);
    return managed_holds((uintptr_t)address, 1) ? (void *)(uintptr_t)address
                                                : NULL;
}

/* Vendors pin pages: two pieces must not share one. */
static bool meet(const struct pin *pin, char *address, size_t size)
{
    enum { PAGE = 4096 };
    uintptr_t from = (uintptr_t)address / PAGE;
    uintptr_t to = ((uintptr_t)address + size - 1) / PAGE;

    return from <= ((uintptr_t)pin->address + pin->size - 1) / PAGE &&
           to >= (uintptr_t)pin->address / PAGE;
}

int pin(void *address, size_t size)
{
    struct pin *fresh = malloc(sizeof(*fresh)), *p;

    if (!fresh)
        return OUT_OF_MEMORY;
    if (size == 0 || gpus_fault(FAULT_PIN)) {
        free(fresh);
        return size ? OUT_OF_MEMORY : INVALID_VALUE;
    }
    *fresh = (struct pin){NULL, address, size};
    pthread_mutex_lock(&pins_lock);
    for (p = pins; p && !meet(p, address, size);)
        p = p->next;
    if (!p) {
        fresh->next = pins;
        pins = fresh;
    }
    pthread_mutex_unlock(&pins_lock);
    if (p)
        free(fresh);
    return p ? ALREADY_PINNED : OK;
}

int unpin(void *address)
{
    struct pin *found = take_out(&pins, address);

    free(found);
    return found ? OK : NOT_PINNED;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/pinned.c - see pinned.h. */
#include "core/device/pinned.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/device/cpu/memory.h"
#include "core/device/driver.h"

struct block {
    uintptr_t address; /* first: what blocks are found by */
    size_t size;
    unsigned node;
    const struct orr_driver_ops *ops;
    struct orr_driver *driver; /* NULL: closed */
    bool placed; /* it is the machine's, on its node, and was pinned there */
};

static int pinned_block_compare(const void *a, const void *b)
{
    uintptr_t left = *(const uintptr_t *)a, right = *(const uintptr_t *)b;

    return (left > right) - (left < right);
}

static bool has_several(const struct orr_machine *machine)
{
    return machine->nnodes > 1 && orr_node_is_main(&machine->nodes[1]);
}

struct orr_driver *orr_pinner_of(const struct orr_machine *machine)
{
    bool several = has_several(machine);

    for (unsigned i = 0; i < machine->ndrivers; i++) {
        const struct orr_driver_ops *ops = machine->drivers[i]->ops;

        if (ops->pinned_alloc && (!several || ops->pin))
            return machine->drivers[i];
    }
    return NULL;
}

/* Takes `block`. */
static int pinned_note_block(struct orr_pinned *pinned, struct block *block)
{
    bool noted;

    pthread_mutex_lock(&pinned->lock);
    noted = tsearch(block, &pinned->blocks, pinned_block_compare) != NULL;
    pthread_mutex_unlock(&pinned->lock);
    if (!noted) {
        free(block);
        return -ENOMEM;
    }
    atomic_fetch_add_explicit(&pinned->n, 1, memory_order_relaxed);
    return 0;
}

int orr_pinned_alloc(struct orr_machine *machine, unsigned node, size_t size,
                     size_t alignment, uintptr_t *ret)
{
    struct orr_driver *driver = machine->pinned ? machine->pinner : NULL;
    struct block *block;
    uintptr_t address;
    int rc = -ENOMEM;

    if (!driver || size == 0)
        return -ENOTSUP;
    if (driver->ops->pinned_alloc(driver, node, size, &address) != 0)
        return -ENOTSUP; /* the system limits how much may be */
    block = malloc(sizeof(*block));
    if (block && address % alignment == 0) {
        *block =
            (struct block){address, size, node, driver->ops, driver, false};
        rc = pinned_note_block(machine->pinned, block);
    } else {
        free(block);
    }
    if (rc != 0) {
        driver->ops->pinned_free(driver, node, address, size);
        return -ENOTSUP;
    }
    *ret = address;
    return 0;
}

/* Memory on the node, pinned if it has pages of its own and the driver can do it. */
static int alloc_placed(struct orr_machine *machine, unsigned node, size_t size,
                        uintptr_t *ret)
{
    struct orr_driver *driver = machine->pinner;
    int rc = orr_machine_alloc(machine, node, size, ret);
    struct block *block;

    if (rc != 0 || size < ORR_MEMORY_BOUND_FROM)
        return rc;
    block = malloc(sizeof(*block));
    if (!block)
        return 0;
    *block = (struct block){*ret, size, node, driver->ops, driver, true};
    if (driver->ops->pin(driver, (void *)*ret, size) != 0)
        free(block);
    else if (pinned_note_block(machine->pinned, block) != 0)
        (void)driver->ops->unpin(driver, (void *)*ret, size);
    return 0;
}

int orr_machine_alloc_pinned(struct orr_machine *machine, unsigned node,
                             size_t size, uintptr_t *ret)
{
    bool pins = machine->pinned && orr_node_is_main(&machine->nodes[node]);

    if (pins && has_several(machine))
        return alloc_placed(machine, node, size, ret);
    if (pins && orr_pinned_alloc(machine, node, size, 1, ret) == 0)
        return 0;
    return orr_machine_alloc(machine, node, size, ret);
}

/* Takes the block at the address out of those noted, if it is there and is, or is not,
 * placed; else NULL. */
static struct block *pinned_take_block(struct orr_pinned *pinned,
                                       uintptr_t address, bool placed)
{
    struct block **found, *block = NULL;

    if (atomic_load_explicit(&pinned->n, memory_order_relaxed) == 0)
        return NULL;
    pthread_mutex_lock(&pinned->lock);
    found = tfind(&address, &pinned->blocks, pinned_block_compare);
    if (found && (*found)->placed == placed) {
        block = *found;
        (void)tdelete(&address, &pinned->blocks, pinned_block_compare);
    }
    pthread_mutex_unlock(&pinned->lock);
    if (block)
        atomic_fetch_sub_explicit(&pinned->n, 1, memory_order_relaxed);
    return block;
}

void orr_machine_free_any(struct orr_machine *machine, unsigned node,
                          uintptr_t address, size_t size)
{
    bool pins = machine->pinned && orr_node_is_main(&machine->nodes[node]);
    struct block *block =
        pins ? pinned_take_block(machine->pinned, address, true) : NULL;

    if (block && block->driver)
        (void)block->ops->unpin(block->driver, (void *)address, block->size);
    free(block);
    if (block || !pins || !orr_pinned_free(machine->pinned, address))
        orr_machine_free(machine, node, address, size);
}

bool orr_pinned_free(struct orr_pinned *pinned, uintptr_t address)
{
    struct block *block = pinned_take_block(pinned, address, false);

    if (!block)
        return false;
    block->ops->pinned_free(block->driver, block->node, address, block->size);
    free(block);
    return true;
}

static void forget_block(const void *node, VISIT visit, int depth)
{
    (void)depth;
    if (visit == preorder || visit == leaf)
        (*(struct block *const *)node)->driver = NULL;
}

void orr_pinned_forget(struct orr_pinned *pinned)
{
    pthread_mutex_lock(&pinned->lock);
    twalk(pinned->blocks, forget_block);
    pthread_mutex_unlock(&pinned->lock);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/pinned.h - blocks of main memory that a driver has pinned, by
 * their addresses: code that frees a block does not know whether it is pinned.
 * They are noted outside of the machine, since an application may use and free
 * its own after starpu_shutdown. Any thread, any context or none.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct orr_driver;
struct orr_machine;

struct orr_pinned {
    pthread_mutex_t lock;
    void *blocks;    /* [lock] of tsearch(3); owned */
    atomic_size_t n; /* how many: most programs pin nothing */
};

/* The driver whose pinned memory the machine takes: the first that has some; where main
 * memory is several nodes, on which blocks are placed, the first that pins what is there.
 * NULL: none does. */
struct orr_driver *orr_pinner_of(const struct orr_machine *machine);

/* Pinned memory of the driver's, noted in machine->pinned, which may outlive the machine;
 * of several nodes, on any. -ENOTSUP: the machine pins nothing, or there is none at that alignment. */
int orr_pinned_alloc(struct orr_machine *machine, unsigned node, size_t size,
                     size_t alignment, uintptr_t *ret);

/* As orr_machine_alloc, on any node; main memory is pinned if that can be had, of several
 * nodes that of large blocks (ORR_MEMORY_BOUND_FROM). The other one frees both sorts. */
int orr_machine_alloc_pinned(struct orr_machine *machine, unsigned node,
                             size_t size, uintptr_t *ret);
void orr_machine_free_any(struct orr_machine *machine, unsigned node,
                          uintptr_t address, size_t size);

/* Frees it if it is one of these; false: it is not. */
bool orr_pinned_free(struct orr_pinned *pinned, uintptr_t address);

/* All drivers are being closed. Blocks that there are stay the application's. */
void orr_pinned_forget(struct orr_pinned *pinned);

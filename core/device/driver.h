/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/driver.h - what operates devices. A machine is an engine (time,
 * contexts, links) and drivers: one for processors and main memory, one for
 * each sort of device; a simulated machine has one for all. A driver knows
 * memory, bytes, queues and kernels, and nothing of coherency, eviction,
 * scheduling or models. docs/NEW_DRIVER.md shows how to write one.
 *
 * An operation may end later, on a thread that is no context of the machine. It
 * then only posts (orr_post): that takes no lock, frees nothing and calls no code
 * of the application. A worker finds the post and does the rest.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device/machine.h"

struct orr_driver;
struct orr_event;
struct orr_queue;

/* A copy of bytes: `size` of them without gaps, and that n[0] times, the starts
 * src_step[0] and dst_step[0] bytes apart, and all that n[1] times … for each of
 * `levels`. Addresses are those that alloc gave, or the application's in main
 * memory. */
enum { ORR_RAW_LEVELS = 3 };
struct orr_raw_copy {
    uintptr_t src, dst;
    size_t src_offset, dst_offset; /* bytes */
    unsigned src_node, dst_node;
    size_t size;
    unsigned levels;
    size_t n[ORR_RAW_LEVELS];
    size_t src_step[ORR_RAW_LEVELS], dst_step[ORR_RAW_LEVELS];
};

/* What a queue is for. Each is served in order; several run side by side. */
enum orr_queue_use {
    ORR_QUEUE_KERNELS,
    ORR_QUEUE_IN,   /* copies to the device */
    ORR_QUEUE_OUT,  /* from it to main memory */
    ORR_QUEUE_PEER, /* to another device */
    ORR_QUEUE_USES
};

/* Kernels of a worker under way at most. */
enum { ORR_MOST_QUEUED = 64 };

struct orr_driver_ops {
    const char *name; /* "cuda", for messages */

    /* Ends it: its queues are empty, all contexts but the caller's and its own
     * have been joined. Frees it. */
    void (*close)(struct orr_driver *driver);

    /* -- memory, any context, no lock; `node` is one of the driver's -- */
    /* Knows no capacity beyond the device's own, and evicts nothing. 0, -ENOMEM,
     * or -ENODEV when the device is lost. Does not block; a simulated one
     * charges its cost to the calling context's debt, and one without real
     * memory gives addresses that must not be dereferenced. */
    int (*alloc)(struct orr_driver *driver, unsigned node, size_t size,
                 uintptr_t *ret);
    void (*free)(struct orr_driver *driver, unsigned node, uintptr_t address,
                 size_t size);
    /* Main memory from which copies to its devices are faster (pinned), aligned
     * to 64 bytes. NULL: it makes no difference. As alloc and free, but from any
     * thread. What the application has not freed when the driver is closed stays
     * valid; it is freed with NULL for `driver`. */
    int (*pinned_alloc)(struct orr_driver *driver, unsigned node, size_t size,
                        uintptr_t *ret);
    void (*pinned_free)(struct orr_driver *driver, unsigned node,
                        uintptr_t address, size_t size);
    /* The same for memory that the application has; NULL likewise. */
    int (*pin)(struct orr_driver *driver, void *address, size_t size);
    int (*unpin)(struct orr_driver *driver, void *address, size_t size);

    /* What is on a disk already: opens it as memory of the node, lets it go again
     * (it stays there). NULL: the driver has no such. -ENOENT. */
    int (*object_open)(struct orr_driver *driver, unsigned node, void *pos,
                       size_t size, uintptr_t *ret);
    void (*object_close)(struct orr_driver *driver, unsigned node,
                         uintptr_t object, size_t size);
    /* All of an object, whose length is then that of what was written: from main
     * memory, and to memory of main memory's node dst_node that is allocated for
     * it (starpu_malloc_on_node_flags, without flags). NULL: likewise. -EIO. */
    int (*object_write)(struct orr_driver *driver, unsigned node,
                        uintptr_t object, void *bytes, size_t size);
    int (*object_read)(struct orr_driver *driver, unsigned node,
                       uintptr_t object, void **ret_bytes, size_t *ret_size,
                       unsigned dst_node);

    /* -- data: a copy with all its bytes -- */
    /* Starts it: calls copy->perform, now or later, and copy->done when the
     * bytes are there; never from inside if that is simulated. Never blocks.
     * orr_driver_copy_start does it on queues. */
    void (*copy_start)(struct orr_driver *driver, struct orr_copy *copy);

    /* -- bytes -- */
    /* One raw copy with `levels` up to copy_levels, host to device, back, between
     * devices of this driver, or within one memory. With `async` it may go into
     * its queue and return -EAGAIN, with failures in async->error later; without,
     * the bytes are there on return. 0, -EAGAIN, -EIO, -ENODEV. NULL: the host
     * addresses all its memory. */
    int (*raw_copy)(struct orr_driver *driver, const struct orr_raw_copy *raw,
                    struct orr_async *async);
    unsigned copy_levels; /* strided copies that the device makes as one */
    /* Where dst_node sees bytes of src_node without a copy. All NULL: nowhere.
     * map returns 0 and sets *ret on failure; update makes what was written on
     * one side visible on the other. */
    uintptr_t (*map)(struct orr_driver *driver, uintptr_t src, size_t offset,
                     unsigned src_node, unsigned dst_node, size_t size,
                     int *ret);
    int (*unmap)(struct orr_driver *driver, uintptr_t src, size_t offset,
                 unsigned src_node, uintptr_t dst, unsigned dst_node,
                 size_t size);
    int (*update_map)(struct orr_driver *driver,
                      const struct orr_raw_copy *raw);
    /* Calls an interface's own asynchronous method for this pair of memories
     * (ram_to_cuda_async …), whose last argument is the driver's: a stream, an
     * event. NULL: it has no such methods. Returns what that does. */
    int (*call_method)(struct orr_driver *driver, int (*method)(void),
                       void *src, unsigned src_node, void *dst,
                       unsigned dst_node, struct orr_async *async);

    /* -- kernels -- */
    /* Called by the kernel's worker. Returns 1 when the kernel has ended on
     * return (it blocked or slept meanwhile), 0 when it goes on by itself and
     * `done` will be called, or its post arrive. Fills start and end; a failure
     * is kernel->error. The device is current while kernel->run is called. */
    int (*kernel_start)(struct orr_driver *driver, struct orr_kernel *kernel);
    /* Asynchronous kernels of a worker begin in the order in which they were started,
     * each when the one before has ended and its writes are seen, and as many as
     * ORR_MOST_QUEUED may be under way, whatever the pipeline: a kernel may be started
     * before one that it depends on has ended. */
    bool in_order;
    /* Puts a kernel that does nothing into the worker's queue, as a codelet's
     * function would from kernel->run: what that costs is measured with it. NULL:
     * functions put nothing anywhere. 0, -EIO, -ENODEV, -ENOMEM. */
    int (*null_kernel)(struct orr_driver *driver, unsigned worker);

    /* -- queues; all NULL: the driver works in the caller's context -- */
    /* That of the device whose memory `node` is. Lent. */
    struct orr_queue *(*queue)(struct orr_driver *driver, unsigned node,
                               enum orr_queue_use use);
    /* The post is made when all that is in the queue now has ended. */
    void (*notify)(struct orr_queue *queue, struct orr_post *post);
    /* The event happens when all that is in the queue now has ended; what is put
     * into a queue after `wait` begins when it has happened, without the host
     * looking. It is recorded before anybody waits for it (vendors' queues pass
     * by one that is not). The caller owns the event until it has happened and nobody waits
     * for it. Both queues are of this driver. */
    void (*record)(struct orr_queue *queue, struct orr_event *event);
    void (*wait)(struct orr_queue *queue, struct orr_event *event);
    /* What is put into `later' from now on begins when all that is in `earlier' now has
     * ended; the host does not wait. Both are of this driver, of one device or two. Any
     * context. NULL: the driver has no such. */
    void (*after)(struct orr_queue *later, struct orr_queue *earlier);
    /* That of a worker's kernels; NULL where `after` is. Lent. */
    struct orr_queue *(*worker_queue)(struct orr_driver *driver,
                                      unsigned worker);
};

/* The head of every driver. */
struct orr_driver {
    const struct orr_driver_ops *ops; /* [const] */
    struct orr_machine *machine;      /* [const] whose part it is */
};

/* An event of some driver. Zeroed before its first use. */
struct orr_event {
    atomic_bool happened;
    void *driver_link[3]; /* NULL to begin with */
};

/* -- dispatch: core calls these ------------------------------------------- */

static inline int orr_machine_alloc(struct orr_machine *machine, unsigned node,
                                    size_t size, uintptr_t *ret)
{
    struct orr_driver *driver = machine->nodes[node].driver;

    return driver->ops->alloc(driver, node, size, ret);
}

static inline void orr_machine_free(struct orr_machine *machine, unsigned node,
                                    uintptr_t address, size_t size)
{
    struct orr_driver *driver = machine->nodes[node].driver;

    driver->ops->free(driver, node, address, size);
}

/* The driver that copies between two nodes: the destination's, or the source's if the
 * destination is main memory. */
static inline struct orr_driver *
orr_machine_copier(const struct orr_machine *machine, unsigned src,
                   unsigned dst)
{
    bool out = orr_node_is_main(&machine->nodes[dst]);

    return machine->nodes[out ? src : dst].driver;
}

/* Starts a copy. Never blocks. */
static inline void orr_machine_copy_start(struct orr_machine *machine,
                                          struct orr_copy *copy)
{
    struct orr_driver *driver =
        orr_machine_copier(machine, copy->src, copy->dst);

    driver->ops->copy_start(driver, copy);
}

/* As kernel_start. */
static inline int orr_machine_kernel_start(struct orr_machine *machine,
                                           struct orr_kernel *kernel)
{
    struct orr_driver *driver = machine->workers[kernel->worker].driver;

    return driver->ops->kernel_start(driver, kernel);
}

/* Copies the bytes, by as many raw copies as the driver needs. 0, -EAGAIN when
 * some are under way in the queue of *async, -EIO, -ENODEV. Any context; NULL for
 * `async` waits. */
int orr_machine_raw_copy(struct orr_machine *machine,
                         const struct orr_raw_copy *raw,
                         struct orr_async *async);

/* What a copy between the two nodes is for, and whose device's queue it goes into. */
enum orr_queue_use orr_copy_queue_use(const struct orr_machine *machine,
                                      unsigned src, unsigned dst);

/* Moves bytes that the caller can address. */
void orr_host_raw_copy(const struct orr_raw_copy *raw);

/* The same for a copy to or from a device, whose source somebody may be writing:
 * core/base/race.h. */
void orr_host_race_copy(const struct orr_raw_copy *raw);

/* Whether one or two levels are a box with these steps: rows do not overlap, and
 * slices begin where rows do. */
bool orr_raw_copy_is_box(const struct orr_raw_copy *raw, const size_t *step);

/* What copies a datum on a queue, for copy_start: performs it with that queue,
 * whose end is posted; at once where nodes say so (copies_wait). */
void orr_driver_copy_start(struct orr_driver *driver, struct orr_copy *copy);

/* The copy has ended: its post leads to copy->done. Any thread. */
void orr_copy_post(struct orr_copy *copy);

/* The kernel has ended: its post leads to kernel->done. Any thread. */
void orr_kernel_post(struct orr_kernel *kernel);

/* -- making a machine: drivers add what is theirs -------------------------- */

/* Room for n more memory nodes or workers, zeroed but for `driver`; *ret_first is
 * the first one's number. Links to and from the new nodes are unknown and not
 * direct. Errors: -ENOMEM. */
int orr_machine_add_nodes(struct orr_driver *driver, unsigned n,
                          unsigned *ret_first);
int orr_machine_add_workers(struct orr_driver *driver, unsigned n,
                            unsigned *ret_first);

/* Leaves n processors to contexts that drive devices: so many of their workers, the
 * last ones, are taken back, but one stays. Workers behind them get other numbers. */
void orr_machine_spare_processors(struct orr_machine *machine, unsigned n);

/* Room for the machine's spare nodes in its tables, whose rows become longer.
 * Called once, before anybody keeps a pointer into them. Errors: -ENOMEM. */
int orr_machine_reserve_nodes(struct orr_machine *machine);

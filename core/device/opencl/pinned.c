/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/opencl/pinned.c - main memory that a device reads and writes by
 * itself, where copies of other memory go through a buffer of the vendor's: a buffer
 * which the vendor allocates on the host, mapped for as long as there is. OpenCL has
 * no call for memory that is there already. Any thread.
 */
#include <errno.h>

#include "core/device/opencl/opencl.h"

/* Stands before the block, whose start is aligned like it. `release` is the entry
 * point's address: the block may outlive the driver, but not the library. */
union head {
    struct {
        cl_mem buffer;
        cl_int (*release)(cl_mem buffer);
    } of;
    char line[64];
};

/* A GPU, since it makes no difference to processors; else the first one. */
static struct opencl_device *opencl_choose_pinning_device(struct opencl *driver)
{
    struct opencl_device *chosen = NULL;

    for (unsigned i = 0; i < driver->ndevices; i++) {
        struct opencl_device *device = &driver->devices[i];

        if (device->used &&
            (!chosen || (chosen->type & OPENCL_DEVICE_TYPE_CPU)))
            chosen = device;
    }
    return chosen;
}

/* Uses the queue of copies within the device, in which nothing else waits. */
static union head *opencl_map_buffer(const struct opencl_device *device,
                                     cl_mem buffer, size_t size)
{
    cl_int error = 0;
    union head *head = device->driver->cl.EnqueueMapBuffer(
        device->queues[ORR_QUEUE_PEER].queue, buffer, true,
        OPENCL_MAP_READ | OPENCL_MAP_WRITE, 0, size, 0, NULL, NULL, &error);

    return error ? NULL : head;
}

static void opencl_release_pinned(const struct opencl_device *device,
                                  cl_mem buffer, union head *head)
{
    const struct opencl_api *cl = &device->driver->cl;
    cl_command_queue queue = device->queues[ORR_QUEUE_PEER].queue;

    if (head &&
        cl->EnqueueUnmapMemObject(queue, buffer, head, 0, NULL, NULL) == 0)
        cl->Finish(queue);
    cl->ReleaseMemObject(buffer);
}

int opencl_pinned_alloc(struct orr_driver *head, unsigned node, size_t size,
                        uintptr_t *ret)
{
    struct opencl *driver = (struct opencl *)head;
    struct opencl_device *device = opencl_choose_pinning_device(driver);
    size_t all = size + sizeof(union head);
    union head *block;
    cl_mem buffer;

    (void)node;
    if (!device || all < size ||
        orr_opencl_alloc(device, all,
                         OPENCL_MEM_READ_WRITE | OPENCL_MEM_ALLOC_HOST_PTR,
                         false, &buffer))
        return -ENOMEM;
    block = opencl_map_buffer(device, buffer, all);
    if (!block || (uintptr_t)block % sizeof(union head) != 0) {
        opencl_release_pinned(device, buffer, block);
        return -ENOMEM;
    }
    block->of.buffer = buffer;
    block->of.release = driver->cl.ReleaseMemObject;
    atomic_fetch_add(&driver->npinned, 1);
    *ret = (uintptr_t)(block + 1);
    return 0;
}

void opencl_pinned_free(struct orr_driver *head, unsigned node,
                        uintptr_t address, size_t size)
{
    struct opencl *driver = (struct opencl *)head;
    union head *block = (union head *)address - 1;

    (void)node;
    (void)size;
    if (!driver) {
        block->of.release(block->of.buffer);
        return;
    }
    opencl_release_pinned(opencl_choose_pinning_device(driver),
                          block->of.buffer, block);
    atomic_fetch_sub(&driver->npinned, 1);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/gpu/memory.c - memory of GPUs, and main memory that is pinned for
 * them. Any context. What is pinned is pinned for all devices of the driver.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/base/log.h"
#include "core/device/gpu/gpu.h"

int gpu_alloc(struct orr_driver *head, unsigned node, size_t size,
              uintptr_t *ret)
{
    struct gpu *driver = (struct gpu *)head;
    struct gpu_device *device = orr_gpu_on_node(driver, node);
    uintptr_t address;
    intptr_t before;
    char what[64];
    int code, rc;

    if (atomic_load_explicit(&device->lost, memory_order_relaxed))
        return -ENODEV;
    code = driver->vendor->enter(device, &before);
    if (!code) {
        code = driver->api.alloc(&address, size);
        driver->vendor->leave(device, before);
    }
    /* It is asked again whenever something might have been given back. */
    if (code == GPU_OUT_OF_MEMORY &&
        atomic_exchange_explicit(&device->full, true, memory_order_relaxed))
        return -ENOMEM;
    snprintf(what, sizeof(what), "an allocation of %zu bytes", size);
    rc = orr_gpu_report(device, what, code);
    if (rc == 0) {
        atomic_store_explicit(&device->full, false, memory_order_relaxed);
        *ret = address;
    }
    return rc == 0 || rc == -ENODEV ? rc : -ENOMEM;
}

void gpu_free(struct orr_driver *head, unsigned node, uintptr_t address,
              size_t size)
{
    struct gpu *driver = (struct gpu *)head;
    struct gpu_device *device = orr_gpu_on_node(driver, node);
    intptr_t before;

    (void)size;
    if (driver->vendor->enter(device, &before))
        return; /* the device is lost, with its memory */
    (void)driver->api.free(address);
    driver->vendor->leave(device, before);
}

/* -- pinned main memory -- */

/* Any of the devices that still works. */
static struct gpu_device *enter_any(struct gpu *driver, intptr_t *before)
{
    for (unsigned i = 0; i < driver->ndevices; i++) {
        struct gpu_device *device = &driver->devices[i];

        if (device->context && driver->vendor->enter(device, before) == 0)
            return device;
    }
    return NULL;
}

/* Once: a limit of the system's is met again and again. What is pinned already is the
 * caller's affair. */
static void say_not_pinned(struct gpu *driver, size_t size, int code)
{
    if (code == GPU_SUCCESS || code == GPU_ALREADY_PINNED ||
        atomic_exchange_explicit(&driver->pinning_failed, true,
                                 memory_order_relaxed))
        return;
    orr_log_warning("%s: %zu bytes of main memory are not pinned: %s (%d); "
                    "copies from and to them are slower (see ulimit -l)",
                    driver->vendor->name, size, gpu_words(&driver->api, code),
                    code);
}

int gpu_pin(struct orr_driver *head, void *address, size_t size)
{
    struct gpu *driver = (struct gpu *)head;
    intptr_t before;
    struct gpu_device *device = enter_any(driver, &before);
    int code;

    if (!device)
        return -ENODEV;
    code = driver->api.host_register(address, size, GPU_HOST_PORTABLE);
    driver->vendor->leave(device, before);
    say_not_pinned(driver, size, code);
    return code == GPU_OUT_OF_MEMORY ? -ENOMEM : code ? -EINVAL : 0;
}

int gpu_unpin(struct orr_driver *head, void *address, size_t size)
{
    struct gpu *driver = (struct gpu *)head;
    intptr_t before;
    struct gpu_device *device = enter_any(driver, &before);
    int code;

    (void)size;
    if (!device)
        return -ENODEV;
    code = driver->api.host_unregister(address);
    driver->vendor->leave(device, before);
    return code ? -EINVAL : 0;
}

enum { PAGE = 4096, MAPPED_FROM = 64 << 10 };

static size_t in_pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

/* Large blocks are the system's: with alignment the heap would grow with those that come
 * and go (core/device/cpu/memory.c), and there are few enough of them. */
static void *host_alloc(size_t size)
{
    size_t whole = in_pages(size);
    void *address;

    if (size < MAPPED_FROM)
        return posix_memalign(&address, PAGE, whole) ? NULL : address;
    address = whole < size ? MAP_FAILED
                           : mmap(NULL, whole, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return address == MAP_FAILED ? NULL : address;
}

static void host_free(void *address, size_t size)
{
    if (size < MAPPED_FROM)
        free(address);
    else
        munmap(address, in_pages(size));
}

/* Memory of the host's own, so that it stays the application's when the driver is
 * closed and its contexts are gone. Pages are pinned whole. */
int gpu_pinned_alloc(struct orr_driver *driver, unsigned node, size_t size,
                     uintptr_t *ret)
{
    void *address = host_alloc(size);

    (void)node;
    if (!address)
        return -ENOMEM;
    if (gpu_pin(driver, address, in_pages(size)) != 0) {
        host_free(address, size);
        return -ENOMEM;
    }
    *ret = (uintptr_t)address;
    return 0;
}

/* `driver` is NULL when it is closed. */
void gpu_pinned_free(struct orr_driver *driver, unsigned node,
                     uintptr_t address, size_t size)
{
    (void)node;
    if (driver)
        (void)gpu_unpin(driver, (void *)address, size);
    host_free((void *)address, size);
}

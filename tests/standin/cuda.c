/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/cuda.c - CUDA's driver interface on the stand-in's devices: the
 * calls that the library makes, as NVIDIA's public reference describes them. A
 * context is a device's primary one.
 */
#include "private.h"

#include <stdlib.h>
#include <string.h>

/* A call, with its prototype. */
#define ENTRY(name, parameters)                                                \
    int name parameters;                                                       \
    int name parameters

ENTRY(cuInit, (unsigned flags))
{
    return flags ? INVALID_VALUE : gpus_init();
}

ENTRY(cuDriverGetVersion, (int *ret))
{
    *ret = 12020;
    return OK;
}

ENTRY(cuDeviceGetCount, (int *ret))
{
    return call_count(ret);
}

ENTRY(cuDeviceGet, (int *ret, int number))
{
    return call_device(ret, number);
}

ENTRY(cuDeviceGetName, (char *name, int size, int device))
{
    return call_name(name, size, device);
}

ENTRY(cuDeviceTotalMem_v2, (size_t * ret, int device))
{
    return call_memory(ret, device);
}

ENTRY(cuDeviceGetPCIBusId, (char *name, int size, int device))
{
    return call_bus(name, size, device);
}

ENTRY(cuDeviceCanAccessPeer, (int *ret, int device, int peer))
{
    return call_can_access(ret, device, peer);
}

/* -- contexts -- */

ENTRY(cuDevicePrimaryCtxRetain, (void **ret, int device))
{
    int n, code = call_device(&n, device);

    if (code)
        return code;
    pthread_mutex_lock(&gpus.devices[n].lock);
    gpus.devices[n].retained++;
    pthread_mutex_unlock(&gpus.devices[n].lock);
    *ret = &gpus.devices[n];
    return OK;
}

ENTRY(cuDevicePrimaryCtxRelease_v2, (int device))
{
    int n, code = call_device(&n, device);
    bool held;

    if (code)
        return code;
    pthread_mutex_lock(&gpus.devices[n].lock);
    held = gpus.devices[n].retained > 0;
    gpus.devices[n].retained -= held;
    pthread_mutex_unlock(&gpus.devices[n].lock);
    return held ? OK : INVALID_CONTEXT;
}

ENTRY(cuCtxSetCurrent, (void *context))
{
    int code = gpus_enter();

    return code ? code : current_set(context);
}

ENTRY(cuCtxGetCurrent, (void **ret))
{
    *ret = current();
    return gpus_enter();
}

ENTRY(cuCtxPushCurrent_v2, (void *context))
{
    int code = gpus_enter();

    return code ? code : current_push(context);
}

ENTRY(cuCtxPopCurrent_v2, (void **ret))
{
    struct device *device = NULL;
    int code = gpus_enter();

    if (!code)
        code = current_pop(&device);
    *ret = device;
    return code;
}

ENTRY(cuCtxEnablePeerAccess, (void *peer, unsigned flags))
{
    return flags ? INVALID_VALUE : call_open_peer(peer);
}

ENTRY(cuGetErrorString, (int code, const char **ret))
{
    *ret = call_words(code);
    return *ret ? OK : INVALID_VALUE;
}

/* -- memory -- */

ENTRY(cuMemAlloc_v2, (uintptr_t * ret, size_t size))
{
    return call_alloc(ret, size);
}

ENTRY(cuMemAllocManaged, (uintptr_t * ret, size_t size, unsigned flags))
{
    return call_managed_alloc(ret, size, flags);
}

ENTRY(cuMemFree_v2, (uintptr_t address))
{
    return call_free(address);
}

ENTRY(cuMemGetAddressRange_v2,
      (uintptr_t * ret_base, size_t *ret_size, uintptr_t address))
{
    return call_range(ret_base, ret_size, address);
}

ENTRY(cuMemHostAlloc, (void **ret, size_t size, unsigned flags))
{
    (void)flags;
    return call_host_alloc(ret, size);
}

ENTRY(cuMemFreeHost, (void *address))
{
    return call_host_free(address);
}

ENTRY(cuMemHostRegister_v2, (void *address, size_t size, unsigned flags))
{
    int code = gpus_enter();

    (void)flags;
    return code ? code : pin(address, size);
}

ENTRY(cuMemHostUnregister, (void *address))
{
    int code = gpus_enter();

    return code ? code : unpin(address);
}

/* -- streams and events -- */

ENTRY(cuStreamCreate, (void **ret, unsigned flags))
{
    return call_stream_create(ret, flags);
}

ENTRY(cuStreamDestroy_v2, (void *stream))
{
    int code = gpus_enter();

    return code ? code : stream_destroy(stream);
}

ENTRY(cuStreamSynchronize, (void *handle))
{
    struct stream *stream;
    int code = gpus_enter();

    if (!code)
        code = stream_of(handle, &stream);
    return code ? code : stream_synchronize(stream);
}

ENTRY(cuStreamWaitEvent, (void *stream, void *event, unsigned flags))
{
    int code = gpus_enter();

    (void)flags;
    return code ? code : put_wait(stream, event);
}

ENTRY(cuStreamAddCallback, (void *stream, void (*call)(void *, int, void *),
                            void *arg, unsigned flags))
{
    int code = gpus_enter();

    if (flags)
        return INVALID_VALUE;
    return code ? code : put_callback(stream, call, arg);
}

ENTRY(cuEventCreate, (void **ret, unsigned flags))
{
    struct event *event;
    int code = gpus_enter();

    if (!code)
        code = event_create(!(flags & 2), &event);
    if (!code)
        *ret = event;
    return code;
}

ENTRY(cuEventDestroy_v2, (void *event))
{
    int code = gpus_enter();

    return code ? code : event_destroy(event);
}

ENTRY(cuEventRecord, (void *event, void *stream))
{
    int code = gpus_enter();

    return code ? code : put_record(stream, event);
}

ENTRY(cuEventElapsedTime, (float *ret_ms, void *from, void *to))
{
    int code = gpus_enter();

    return code ? code : event_elapsed(ret_ms, from, to);
}

/* -- modules -- */

ENTRY(cuModuleLoadData, (struct module * *ret, const void *text))
{
    int code = gpus_enter();

    return code ? code : module_load(text, ret);
}

ENTRY(cuModuleUnload, (struct module * module))
{
    int code = gpus_enter();

    return code ? code : module_unload(module);
}

ENTRY(cuModuleGetFunction,
      (struct function * *ret, struct module *module, const char *name))
{
    int code = gpus_enter();

    return code ? code : module_find(module, name, ret);
}

ENTRY(cuLaunchKernel,
      (struct function * function, unsigned grid_x, unsigned grid_y,
       unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
       unsigned shared, void *stream, void **parameters, void **extra))
{
    const unsigned grid[] = {grid_x, grid_y, grid_z};
    const unsigned block[] = {block_x, block_y, block_z};
    int code = gpus_enter();

    (void)shared;
    if (!code && extra)
        code = INVALID_VALUE;
    return code ? code
                : function_launch(function, grid, block, stream, parameters);
}

/* -- copies -- */

static bool is_current(uintptr_t address)
{
    return memory_owner(address) && memory_owner(address) == current();
}

ENTRY(cuMemcpyHtoDAsync_v2,
      (uintptr_t dst, const void *src, size_t size, void *stream))
{
    if (!is_current(dst))
        return INVALID_VALUE;
    return call_copy(dst, true, (uintptr_t)src, false, size, stream);
}

ENTRY(cuMemcpyDtoHAsync_v2,
      (void *dst, uintptr_t src, size_t size, void *stream))
{
    if (!is_current(src))
        return INVALID_VALUE;
    return call_copy((uintptr_t)dst, false, src, true, size, stream);
}

ENTRY(cuMemcpyDtoDAsync_v2,
      (uintptr_t dst, uintptr_t src, size_t size, void *stream))
{
    if (!is_current(src) || !is_current(dst))
        return INVALID_VALUE;
    return call_copy(dst, true, src, true, size, stream);
}

ENTRY(cuMemcpyPeerAsync, (uintptr_t dst, void *dst_context, uintptr_t src,
                          void *src_context, size_t size, void *stream))
{
    if (memory_owner(dst) != dst_context || memory_owner(src) != src_context)
        return INVALID_VALUE;
    return call_copy(dst, true, src, true, size, stream);
}

ENTRY(cuMemsetD8Async,
      (uintptr_t dst, unsigned char value, size_t size, void *stream))
{
    return call_fill(dst, value, size, stream);
}

/* CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER, whose contexts are where the former has
 * reserved pointers that must be NULL. */
struct end {
    size_t x, y, z, level;
    int memory; /* 1: host, 2: device */
    const void *host;
    uintptr_t device;
    void *array, *context;
    size_t pitch, height;
};

struct memcpy3d {
    struct end src, dst;
    size_t width, height, depth;
};

/* False: it makes no sense. */
static bool find_end(const struct end *end, bool peer, struct device **device,
                     uintptr_t *address, size_t *pitch, size_t *slice)
{
    bool on_device = end->memory == 2;
    uintptr_t base = on_device ? end->device : (uintptr_t)end->host;

    *device = on_device ? memory_owner(base) : NULL;
    *pitch = end->pitch;
    *slice = end->pitch * end->height;
    *address = base + end->z * *slice + end->y * end->pitch + end->x;
    if (on_device ? !*device : end->memory != 1)
        return false;
    return !end->array && !end->level &&
           end->context == (peer ? (void *)*device : NULL) &&
           (peer || !on_device || *device == current());
}

static int copy_3d(const struct memcpy3d *given, bool peer, void *stream)
{
    struct copy copy = {
        .width = given->width, .height = given->height, .depth = given->depth};

    if (!find_end(&given->src, peer, &copy.src_device, &copy.src,
                  &copy.src_pitch, &copy.src_slice) ||
        !find_end(&given->dst, peer, &copy.dst_device, &copy.dst,
                  &copy.dst_pitch, &copy.dst_slice))
        return INVALID_VALUE;
    if (given->depth > 1 && (given->src.height < given->height ||
                             given->dst.height < given->height))
        return INVALID_VALUE;
    return call_box(&copy, stream);
}

ENTRY(cuMemcpy3DAsync_v2, (const struct memcpy3d *copy, void *stream))
{
    return copy_3d(copy, false, stream);
}

ENTRY(cuMemcpy3DPeerAsync, (const struct memcpy3d *copy, void *stream))
{
    return copy_3d(copy, true, stream);
}

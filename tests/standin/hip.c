/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/hip.c - HIP on the stand-in's devices: the calls that the library
 * makes, as AMD's public reference describes them. The first device is current to
 * begin with, and initialising is left to whoever calls first.
 */
#include "private.h"

#include <stdlib.h>

#define ENTRY(name, parameters)                                                \
    int name parameters;                                                       \
    int name parameters

/* Before every call. */
static int enter(void)
{
    int code = gpus_init();

    if (!code && !current())
        current_set(&gpus.devices[0]);
    return code ? code : gpus_enter();
}

ENTRY(hipInit, (unsigned flags))
{
    return flags ? INVALID_VALUE : enter();
}

ENTRY(hipDriverGetVersion, (int *ret))
{
    *ret = 60032830;
    return OK;
}

ENTRY(hipGetDeviceCount, (int *ret))
{
    int code = enter();

    return code ? code : call_count(ret);
}

ENTRY(hipDeviceGet, (int *ret, int number))
{
    return call_device(ret, number);
}

ENTRY(hipDeviceGetName, (char *name, int size, int device))
{
    return call_name(name, size, device);
}

ENTRY(hipDeviceTotalMem, (size_t * ret, int device))
{
    return call_memory(ret, device);
}

ENTRY(hipDeviceGetPCIBusId, (char *name, int size, int device))
{
    return call_bus(name, size, device);
}

ENTRY(hipDeviceCanAccessPeer, (int *ret, int device, int peer))
{
    return call_can_access(ret, device, peer);
}

ENTRY(hipSetDevice, (int device))
{
    int n, code = enter();

    if (!code)
        code = call_device(&n, device);
    return code ? code : current_set(&gpus.devices[n]);
}

ENTRY(hipGetDevice, (int *ret))
{
    int code = enter();

    if (!code)
        *ret = (int)current()->number;
    return code;
}

ENTRY(hipDeviceEnablePeerAccess, (int peer, unsigned flags))
{
    int n, code = call_device(&n, peer);

    if (code || flags)
        return code ? code : INVALID_VALUE;
    return call_open_peer(&gpus.devices[n]);
}

const char *hipGetErrorString(int code);
const char *hipGetErrorString(int code)
{
    return call_words(code);
}

/* -- memory -- */

ENTRY(hipMalloc, (void **ret, size_t size))
{
    uintptr_t address;
    int code = enter();

    if (!code)
        code = call_alloc(&address, size);
    if (!code)
        *ret = (void *)address;
    return code;
}

ENTRY(hipMallocManaged, (void **ret, size_t size, unsigned flags))
{
    uintptr_t address;
    int code = enter();

    if (!code)
        code = call_managed_alloc(&address, size, flags);
    if (!code)
        *ret = (void *)address;
    return code;
}

ENTRY(hipFree, (void *address))
{
    int code = enter();

    return code ? code : call_free((uintptr_t)address);
}

ENTRY(hipMemGetAddressRange,
      (uintptr_t * ret_base, size_t *ret_size, uintptr_t address))
{
    return call_range(ret_base, ret_size, address);
}

ENTRY(hipHostMalloc, (void **ret, size_t size, unsigned flags))
{
    int code = enter();

    (void)flags;
    return code ? code : call_host_alloc(ret, size);
}

ENTRY(hipHostFree, (void *address))
{
    return call_host_free(address);
}

ENTRY(hipHostRegister, (void *address, size_t size, unsigned flags))
{
    int code = enter();

    (void)flags;
    return code ? code : pin(address, size);
}

ENTRY(hipHostUnregister, (void *address))
{
    int code = enter();

    return code ? code : unpin(address);
}

/* -- streams and events -- */

ENTRY(hipStreamCreateWithFlags, (void **ret, unsigned flags))
{
    int code = enter();

    return code ? code : call_stream_create(ret, flags);
}

ENTRY(hipStreamDestroy, (void *stream))
{
    int code = enter();

    return code ? code : stream_destroy(stream);
}

ENTRY(hipStreamSynchronize, (void *handle))
{
    struct stream *stream = handle;
    int code = enter();

    if (!code && !handle)
        code = stream_of(NULL, &stream);
    return code ? code : stream_synchronize(stream);
}

ENTRY(hipStreamWaitEvent, (void *stream, void *event, unsigned flags))
{
    int code = enter();

    (void)flags;
    return code ? code : put_wait(stream, event);
}

ENTRY(hipStreamAddCallback, (void *stream, void (*call)(void *, int, void *),
                             void *arg, unsigned flags))
{
    int code = enter();

    if (flags)
        return INVALID_VALUE;
    return code ? code : put_callback(stream, call, arg);
}

ENTRY(hipEventCreateWithFlags, (void **ret, unsigned flags))
{
    struct event *event;
    int code = enter();

    if (!code)
        code = event_create(!(flags & 2), &event);
    if (!code)
        *ret = event;
    return code;
}

ENTRY(hipEventDestroy, (void *event))
{
    int code = enter();

    return code ? code : event_destroy(event);
}

ENTRY(hipEventRecord, (void *event, void *stream))
{
    int code = enter();

    return code ? code : put_record(stream, event);
}

ENTRY(hipEventElapsedTime, (float *ret_ms, void *from, void *to))
{
    int code = enter();

    return code ? code : event_elapsed(ret_ms, from, to);
}

/* -- copies -- */

ENTRY(hipMemcpyHtoDAsync, (void *dst, void *src, size_t size, void *stream))
{
    return call_copy((uintptr_t)dst, true, (uintptr_t)src, false, size, stream);
}

ENTRY(hipMemcpyDtoHAsync, (void *dst, void *src, size_t size, void *stream))
{
    return call_copy((uintptr_t)dst, false, (uintptr_t)src, true, size, stream);
}

ENTRY(hipMemcpyDtoDAsync, (void *dst, void *src, size_t size, void *stream))
{
    return call_copy((uintptr_t)dst, true, (uintptr_t)src, true, size, stream);
}

ENTRY(hipMemcpyPeerAsync, (void *dst, int dst_device, const void *src,
                           int src_device, size_t size, void *stream))
{
    if (memory_owner((uintptr_t)dst) != &gpus.devices[dst_device] ||
        memory_owner((uintptr_t)src) != &gpus.devices[src_device])
        return INVALID_VALUE;
    return call_copy((uintptr_t)dst, true, (uintptr_t)src, true, size, stream);
}

ENTRY(hipMemsetD8Async,
      (void *dst, unsigned char value, size_t size, void *stream))
{
    return call_fill((uintptr_t)dst, value, size, stream);
}

/* hipMemcpy3DParms. */
struct pitched {
    void *ptr;
    size_t pitch, xsize, ysize;
};

struct parms {
    void *src_array;
    size_t src_pos[3];
    struct pitched src;
    void *dst_array;
    size_t dst_pos[3];
    struct pitched dst;
    size_t width, height, depth;
    int kind; /* 1: to the device, 2: from it, 3: among devices */
};

ENTRY(hipMemcpy3DAsync, (const struct parms *p, void *stream))
{
    struct copy copy = {
        .src_device = p->kind == 1 ? NULL : memory_owner((uintptr_t)p->src.ptr),
        .dst_device = p->kind == 2 ? NULL : memory_owner((uintptr_t)p->dst.ptr),
        .src = (uintptr_t)p->src.ptr,
        .dst = (uintptr_t)p->dst.ptr,
        .src_pitch = p->src.pitch,
        .dst_pitch = p->dst.pitch,
        .src_slice = p->src.pitch * p->src.ysize,
        .dst_slice = p->dst.pitch * p->dst.ysize,
        .width = p->width,
        .height = p->height,
        .depth = p->depth,
    };

    if (p->src_array || p->dst_array || p->kind < 1 || p->kind > 3 ||
        (p->kind != 1 && !copy.src_device) ||
        (p->kind != 2 && !copy.dst_device))
        return INVALID_VALUE;
    return call_box(&copy, stream);
}

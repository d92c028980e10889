/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/on-gpu.h - the GPUs that a program runs on: those of a stand-in, whose
 * file ORRERY_CUDA_LIBRARY or ORRERY_HIP_LIBRARY names, or of the system. KIND_CUDA
 * or KIND_HIP says which ones a program is compiled for.
 */
#pragma once

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "../standin/standin.h"

#ifdef KIND_HIP
#    define ON_LIBRARY         "ORRERY_HIP_LIBRARY"
#    define ON_KIND            "HIP"
#    define ON_WORKER          STARPU_HIP_WORKER
#    define ON_WHERE           STARPU_HIP
#    define on_stream(...)     starpu_hip_get_local_stream(__VA_ARGS__)
#    define on_funcs           hip_funcs
#    define on_flags           hip_flags
#    define on_copy(...)       starpu_hip_copy_async_sync(__VA_ARGS__)
#    define on_copy2d(...)     starpu_hip_copy2d_async_sync(__VA_ARGS__)
#    define on_copy3d(...)     starpu_hip_copy3d_async_sync(__VA_ARGS__)
#    define ON_COUNT           starpu_hip_worker_get_count
#    define ON_VENDOR          orr_gpu_hip
#    define ON_USUAL_LIBRARY   "libamdhip64.so"
#    define ON_SYNC            "hipStreamSynchronize"
#    define ON_RANGE           "hipMemGetAddressRange"
#    define ON_READ            "hipMemcpyDtoHAsync"
#    define ON_WRITE           "hipMemcpyHtoDAsync"
#    define ON_CALL            "hipStreamAddCallback"
#    define ON_MANAGED         "hipMallocManaged"
#    define ON_FREE            "hipFree"
#    define to_on              ram_to_hip
#    define to_on_async        ram_to_hip_async
#    define from_on            hip_to_ram
#    define from_on_async      hip_to_ram_async
#    define on_to_on           hip_to_hip
#    define on_to_on_async     hip_to_hip_async
#    define on_stream_t        starpu_hipStream_t
#    define ON_SYNCHRONOUS     "STARPU_DISABLE_ASYNCHRONOUS_HIP_COPY"
#    define ON_SET_DEVICE(...) starpu_hip_set_device(__VA_ARGS__)
#else
#    define ON_LIBRARY         "ORRERY_CUDA_LIBRARY"
#    define ON_KIND            "CUDA"
#    define ON_WORKER          STARPU_CUDA_WORKER
#    define ON_WHERE           STARPU_CUDA
#    define on_stream(...)     starpu_cuda_get_local_stream(__VA_ARGS__)
#    define on_funcs           cuda_funcs
#    define on_flags           cuda_flags
#    define on_copy(...)       starpu_cuda_copy_async_sync(__VA_ARGS__)
#    define on_copy2d(...)     starpu_cuda_copy2d_async_sync(__VA_ARGS__)
#    define on_copy3d(...)     starpu_cuda_copy3d_async_sync(__VA_ARGS__)
#    define ON_COUNT           starpu_cuda_worker_get_count
#    define ON_VENDOR          orr_gpu_cuda
#    define ON_USUAL_LIBRARY   "libcuda.so.1"
#    define ON_SYNC            "cuStreamSynchronize"
#    define ON_RANGE           "cuMemGetAddressRange_v2"
#    define ON_READ            "cuMemcpyDtoHAsync_v2"
#    define ON_WRITE           "cuMemcpyHtoDAsync_v2"
#    define ON_CALL            "cuStreamAddCallback"
#    define ON_MANAGED         "cuMemAllocManaged"
#    define ON_FREE            "cuMemFree_v2"
#    define to_on              ram_to_cuda
#    define to_on_async        ram_to_cuda_async
#    define from_on            cuda_to_ram
#    define from_on_async      cuda_to_ram_async
#    define on_to_on           cuda_to_cuda
#    define on_to_on_async     cuda_to_cuda_async
#    define on_stream_t        starpu_cudaStream_t
#    define ON_SYNCHRONOUS     "STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY"
#    define ON_SET_DEVICE(...) starpu_cuda_set_device(__VA_ARGS__)
#endif

/* The library; it stays open. */
static inline void *on_library(void)
{
    const char *file = getenv(ON_LIBRARY);

    return dlopen(file && *file ? file : ON_USUAL_LIBRARY, RTLD_NOW);
}

/* A function of it. */
static inline void *on_find(const char *name)
{
    void *library = on_library();
    void *symbol = library ? dlsym(library, name) : NULL;

    if (symbol)
        return symbol;
    fprintf(stderr, "the library of " ON_KIND " has no %s\n", name);
    abort();
}

/* TEST_STAGED=1 takes a stand-in for a GPU. */
static inline bool on_is_standin(void)
{
    void *library = on_library();

    return library && dlsym(library, STANDIN_BYTES) && !getenv("TEST_STAGED");
}

/* POSIX guarantees that a function pointer fits; ISO C has no cast for it. */
#define ON_FUNCTION(type, variable, name)                                      \
    type variable;                                                             \
    void *variable##_found = on_find(name);                                    \
    memcpy(&variable, &variable##_found, sizeof(variable))

static inline int on_launch(void (*function)(void *), void *arg)
{
    ON_FUNCTION(standin_launch_t, launch, STANDIN_LAUNCH);
    return launch(on_stream(), function, arg);
}

static inline void *on_bytes(const void *address)
{
    ON_FUNCTION(standin_bytes_t, bytes, STANDIN_BYTES);
    return bytes(address);
}

static inline int on_synchronize(void)
{
    typedef int (*synchronize_t)(void *);

    ON_FUNCTION(synchronize_t, synchronize, ON_SYNC);
    return synchronize(on_stream());
}

/* The block that has the address. */
static inline int on_range(uintptr_t *ret, size_t *ret_size, uintptr_t address)
{
    typedef int (*range_t)(uintptr_t *, size_t *, uintptr_t);

    ON_FUNCTION(range_t, range, ON_RANGE);
    return range(ret, ret_size, address);
}

/* In the worker's stream. */
static inline int on_put_read(void *to, uintptr_t from, size_t size)
{
    typedef int (*read_t)(void *, uintptr_t, size_t, void *);

    ON_FUNCTION(read_t, read, ON_READ);
    return read(to, from, size, on_stream());
}

static inline int on_put_write(uintptr_t to, const void *from, size_t size)
{
    typedef int (*write_t)(uintptr_t, const void *, size_t, void *);

    ON_FUNCTION(write_t, write, ON_WRITE);
    return write(to, from, size, on_stream());
}

/* A function of the host's. */
static inline int on_put_call(void (*call)(void *, int, void *), void *arg)
{
    typedef int (*put_t)(void *, void (*)(void *, int, void *), void *,
                         unsigned);

    ON_FUNCTION(put_t, put, ON_CALL);
    return put(on_stream(), call, arg, 0);
}

/* Memory of the host and all devices, at one address; a device is current. */
static inline int on_managed(void **ret, size_t size)
{
    enum { ATTACH_GLOBAL = 1 };
    typedef int (*managed_t)(void **, size_t, unsigned);

    ON_FUNCTION(managed_t, managed, ON_MANAGED);
    return managed(ret, size, ATTACH_GLOBAL);
}

static inline int on_free(void *address)
{
    typedef int (*free_t)(void *);

    ON_FUNCTION(free_t, free_it, ON_FREE);
    return free_it(address);
}

static inline int on_read(void *to, uintptr_t from, size_t size)
{
    int code = on_put_read(to, from, size);

    return code ? code : on_synchronize();
}

static inline int on_write(uintptr_t to, const void *from, size_t size)
{
    int code = on_put_write(to, from, size);

    return code ? code : on_synchronize();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/on-gpu.h - the stand-in that a program runs on, whose file
 * ORRERY_CUDA_LIBRARY or ORRERY_HIP_LIBRARY names. KIND_CUDA or KIND_HIP says
 * which one a program is compiled for.
 */
#pragma once

#include <dlfcn.h>
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
#    define ON_SYNC            "hipStreamSynchronize"
#    define to_on_async        ram_to_hip_async
#    define from_on_async      hip_to_ram_async
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
#    define ON_SYNC            "cuStreamSynchronize"
#    define to_on_async        ram_to_cuda_async
#    define from_on_async      cuda_to_ram_async
#    define ON_SET_DEVICE(...) starpu_cuda_set_device(__VA_ARGS__)
#endif

/* A function of the stand-in's. */
static inline void *on_find(const char *name)
{
    const char *file = getenv(ON_LIBRARY);
    void *library = file ? dlopen(file, RTLD_NOW) : NULL;
    void *symbol = library ? dlsym(library, name) : NULL;

    if (symbol)
        return symbol;
    fprintf(stderr, "%s=%s: there is no %s\n", ON_LIBRARY, file ? file : "",
            name);
    abort();
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

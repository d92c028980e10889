/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/host/cuda_runtime.h - as much of CUDA's runtime as the examples need,
 * in C++ for the host: their .cu files, translated by ../on_host.py, are compiled with
 * it and run on the stand-in. A kernel is executed thread after thread; threads of a
 * block cannot wait for each other.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

#include <starpu.h>

extern "C" {
#include "../../api/on-gpu.h"
}

#define __global__
#define __device__

struct dim3 {
    unsigned x, y, z;

    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
    {
    }
};
inline thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

typedef starpu_cudaStream_t cudaStream_t;
enum cudaError_t : int { cudaSuccess = 0 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };

/* -- what is put into streams -- */

static inline void standin_call(void *arg)
{
    auto *function = static_cast<std::function<void()> *>(arg);

    (*function)();
    delete function;
}

static inline int standin_put(void *stream, std::function<void()> function)
{
    ON_FUNCTION(standin_launch_t, launch, STANDIN_LAUNCH);
    return launch(stream, standin_call,
                  new std::function<void()>(std::move(function)));
}

/* Pointers are to the device's bytes. */
template <typename T> static inline T standin_argument(T argument)
{
    if constexpr (std::is_pointer_v<T>)
        return static_cast<T>(on_bytes(argument));
    else
        return argument;
}

static inline cudaError_t &standin_last()
{
    static thread_local cudaError_t last;

    return last;
}

template <typename... Parameters, typename... Arguments>
static inline void standin_kernel(void (*kernel)(Parameters...), dim3 grid,
                                  dim3 block, std::size_t shared,
                                  cudaStream_t stream, Arguments... arguments)
{
    auto run = [=](Parameters... given) {
        gridDim = grid;
        blockDim = block;
        for (unsigned b = 0; b < grid.x * grid.y * grid.z; b++)
            for (unsigned t = 0; t < block.x * block.y * block.z; t++) {
                blockIdx =
                    dim3(b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y);
                threadIdx = dim3(t % block.x, t / block.x % block.y,
                                 t / block.x / block.y);
                kernel(given...);
            }
    };

    (void)shared;
    standin_last() = static_cast<cudaError_t>(standin_put(stream, [=] {
        run(standin_argument(static_cast<Parameters>(arguments))...);
    }));
}

/* -- the runtime -- */

static inline cudaError_t cudaGetLastError()
{
    cudaError_t last = standin_last();

    standin_last() = cudaSuccess;
    return last;
}

static inline cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    typedef int (*synchronize_t)(void *);

    ON_FUNCTION(synchronize_t, synchronize, ON_SYNC);
    return static_cast<cudaError_t>(synchronize(stream));
}

static inline cudaError_t cudaMalloc(void **ret, std::size_t size)
{
    typedef int (*alloc_t)(void **, std::size_t);

    ON_FUNCTION(alloc_t, alloc, "cuMemAlloc_v2");
    return static_cast<cudaError_t>(alloc(ret, size));
}

static inline cudaError_t cudaFree(void *address)
{
    typedef int (*release_t)(void *);

    ON_FUNCTION(release_t, release, "cuMemFree_v2");
    return static_cast<cudaError_t>(address ? release(address) : 0);
}

static inline cudaError_t cudaMemcpyAsync(void *to, const void *from,
                                          std::size_t size, cudaMemcpyKind kind,
                                          cudaStream_t stream)
{
    typedef int (*to_host_t)(void *, std::uintptr_t, std::size_t, void *);
    typedef int (*to_device_t)(std::uintptr_t, const void *, std::size_t,
                               void *);

    if (kind == cudaMemcpyDeviceToHost) {
        ON_FUNCTION(to_host_t, copy, ON_READ);
        return static_cast<cudaError_t>(
            copy(to, reinterpret_cast<std::uintptr_t>(from), size, stream));
    }
    ON_FUNCTION(to_device_t, copy, ON_WRITE);
    return static_cast<cudaError_t>(
        copy(reinterpret_cast<std::uintptr_t>(to), from, size, stream));
}

// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/clang.hpp - what CUDA's headers define, as far as orrery/stf.hpp needs it, for
// clang where there is no toolkit: with -x cuda -nocudainc -nocudalib, before any header
// of the C++ library. Programs link with CUDA's runtime library as others do.
#pragma once

#include <stddef.h>
#include <stdlib.h>

#define __host__     __attribute__((host))
#define __device__   __attribute__((device))
#define __global__   __attribute__((global))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __align__(n) __attribute__((aligned(n)))

struct dim3 {
    __host__ __device__ constexpr dim3(unsigned x_ = 1, unsigned y_ = 1,
                                       unsigned z_ = 1)
        : x(x_), y(y_), z(z_)
    {
    }
    unsigned x, y, z;
};
struct uint3 {
    unsigned x, y, z;
};
typedef struct CUstream_st *cudaStream_t;
typedef int cudaError_t;
enum { cudaSuccess = 0 };

extern "C" {
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t,
                             cudaStream_t);
cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = nullptr);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0,
                                     cudaStream_t = nullptr);
cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaMallocAsync(void **, size_t, cudaStream_t);
cudaError_t cudaFreeAsync(void *, cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
}
template <class T>
cudaError_t cudaMallocAsync(T **at, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync(reinterpret_cast<void **>(at), bytes, stream);
}

#include <__clang_cuda_builtin_vars.h>

__device__ void __syncthreads() __asm__("llvm.nvvm.barrier0");
__device__ inline void __syncwarp(unsigned lanes = ~0u)
{
#if defined(__CUDA_ARCH__)
    asm volatile("bar.warp.sync %0;" ::"r"(lanes) : "memory");
#endif
    (void)lanes;
}

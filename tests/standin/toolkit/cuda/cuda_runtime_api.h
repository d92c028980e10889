/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/toolkit/cuda/cuda_runtime_api.h - what starpu_cuda.h takes from CUDA's
 * header, under CUDA's names. Nothing here has to be laid out as there: whoever fills
 * it is compiled with it.
 */
#pragma once

#include <stddef.h>

typedef struct CUstream_st *cudaStream_t;
typedef enum cudaError { cudaSuccess = 0, cudaErrorNoDevice = 100 } cudaError_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3
};

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor, multiProcessorCount;
};

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *ret, int device);
#ifdef __cplusplus
}
#endif

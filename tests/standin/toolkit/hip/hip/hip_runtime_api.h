/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/toolkit/hip/hip/hip_runtime_api.h - what starpu_hip.h takes from HIP's
 * header, as ../../cuda/cuda_runtime_api.h.
 */
#pragma once

#include <stddef.h>

typedef struct ihipStream_t *hipStream_t;
typedef enum hipError_t { hipSuccess = 0, hipErrorNoDevice = 100 } hipError_t;
typedef enum hipMemcpyKind {
    hipMemcpyHostToDevice = 1,
    hipMemcpyDeviceToHost = 2,
    hipMemcpyDeviceToDevice = 3
} hipMemcpyKind;

struct hipDeviceProp_t {
    char name[256];
    size_t totalGlobalMem;
    int major, minor, multiProcessorCount;
};

#ifdef __cplusplus
extern "C" {
#endif
hipError_t hipGetDeviceProperties(struct hipDeviceProp_t *ret, int device);
#ifdef __cplusplus
}
#endif

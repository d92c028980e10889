/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cuda/copy.h - a strided copy as CUDA's driver takes it. The layout is
 * compared with NVIDIA's header where there is one (tests/standin/abi-cuda.c).
 */
#pragma once

#include "core/device/gpu/api.h"

enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2 };

/* One end of CUDA_MEMCPY3D and of CUDA_MEMCPY3D_PEER, which has the context where
 * the former has nothing. */
struct cuda_copy_end {
    size_t x, y, z, level;
    int memory; /* MEMORY_… */
    uintptr_t host, device;
    void *array;
    gpu_context_t context;
    size_t pitch, height; /* bytes; rows */
};

struct cuda_copy {
    struct cuda_copy_end src, dst;
    size_t width, height, depth;
};

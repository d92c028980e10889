/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/hip/copy.h - a strided copy as HIP takes it. The layout is compared
 * with AMD's header where there is one (tests/standin/abi-hip.c).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* hipMemcpy3DParms. */
struct hip_copy_end {
    void *array;
    size_t x, y, z;
    uintptr_t address;
    size_t pitch, width, height; /* bytes; bytes; rows of a slice */
};

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3 };

struct hip_copy {
    struct hip_copy_end src, dst;
    size_t width, height, depth;
    int kind;
};

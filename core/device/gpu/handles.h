/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/gpu/handles.h - handles of vendors' libraries of algorithms, such
 * as cuBLAS: one per worker, with its stream, and one for all threads that are
 * no workers. The libraries are those that the application has loaded, else
 * they are opened.
 */
#pragma once

#include "core/device/gpu/gpu.h"

enum gpu_handle {
    GPU_CUBLAS,
    GPU_CUBLAS_LT,
    GPU_CUSPARSE,
    GPU_CUSOLVER_DN,
    GPU_CUSOLVER_SP,
    GPU_CUSOLVER_RF,
    GPU_HIPBLAS,
    GPU_HANDLES
};

/* Finds the library's functions. 0, or -ENOENT with a message. To be called
 * before the next two. */
int orr_gpu_library_open(enum gpu_handle which, struct orr_error *err);

/* Makes the calling worker's handle, or, elsewhere, that of all others: a code of
 * the library's, 0 for success. One that is there stays. */
int orr_gpu_handle_make(struct gpu *driver, enum gpu_handle which, int worker);
void orr_gpu_handle_end(struct gpu *driver, enum gpu_handle which, int worker);

/* Lent; NULL: there is none. */
void *orr_gpu_handle_get(struct gpu *driver, enum gpu_handle which, int worker);

/* The first version of cuBLAS computes in the worker's stream from now on. */
void orr_gpu_cublas_stream(struct gpu *driver, int worker);

/* "cuBLAS" */
const char *orr_gpu_library_title(enum gpu_handle which);

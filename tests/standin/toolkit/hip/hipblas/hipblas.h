/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/standin/toolkit/hip/hipblas/hipblas.h - types of hipBLAS in starpu_hipblas.h. */
#pragma once

typedef void *hipblasHandle_t;
typedef enum hipblasStatus_t {
    HIPBLAS_STATUS_SUCCESS = 0,
    HIPBLAS_STATUS_NOT_INITIALIZED = 1
} hipblasStatus_t;

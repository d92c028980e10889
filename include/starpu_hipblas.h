/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_hipblas.h - hipBLAS on every HIP worker, as starpu_cublas.h.
 */
#pragma once

#include <starpu_config.h>
#include <starpu_hip.h>

#ifdef STARPU_USE_HIPBLAS
#    include <hipblas/hipblas.h>
typedef hipblasHandle_t starpu_hipblasHandle_t;
typedef hipblasStatus_t starpu_hipblasStatus_t;
#else
typedef void *starpu_hipblasHandle_t;
typedef int starpu_hipblasStatus_t;
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a handle per HIP worker and one for the calling thread. */
void starpu_hipblas_init(void);
/* Ends these handles, before starpu_shutdown(). */
void starpu_hipblas_shutdown(void);

/* As starpu_cublas_get_local_handle, a hipblasHandle_t. */
starpu_hipblasHandle_t starpu_hipblas_get_local_handle(void);

/* Prints HIP's error and ends the program. */
void starpu_hipblas_report_error(const char *func, const char *file, int line,
                                 starpu_hipError_t error);
#define STARPU_HIPBLAS_REPORT_ERROR(error)                                     \
    starpu_hipblas_report_error(__starpu_func__, __FILE__, __LINE__, error)
/* Prints hipBLAS's status and ends the program. */
void starpu_hipblas_report_status(const char *func, const char *file, int line,
                                  starpu_hipblasStatus_t status);
#define STARPU_HIPBLAS_REPORT_STATUS(status)                                   \
    starpu_hipblas_report_status(__starpu_func__, __FILE__, __LINE__, status)

#ifdef __cplusplus
}
#endif

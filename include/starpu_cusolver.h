/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_cusolver.h - cuSOLVER on every CUDA worker, as starpu_cublas.h.
 */
#pragma once

#include <starpu_config.h>

#ifdef STARPU_HAVE_LIBCUSOLVER
#    include <cusolverDn.h>
#    include <cusolverRf.h>
#    include <cusolverSp.h>
typedef cusolverRfHandle_t starpu_cusolverRfHandle_t;
typedef cusolverStatus_t starpu_cusolverStatus_t;
#else
typedef void *starpu_cusolverRfHandle_t;
typedef int starpu_cusolverStatus_t;
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Makes handles (dense, sparse, refactorisation) per CUDA worker and for the calling
 * thread. */
void starpu_cusolver_init(void);
/* Ends these handles, before starpu_shutdown(). */
void starpu_cusolver_shutdown(void);

/* As starpu_cublas_get_local_handle, a cusolverDnHandle_t, a cusolverSpHandle_t and
 * a cusolverRfHandle_t. The last one has no stream. */
struct cusolverDnContext;
struct cusolverSpContext;
/* The dense handle of the calling worker, as starpu_cublas_get_local_handle: a
 * cusolverDnHandle_t. */
struct cusolverDnContext *starpu_cusolverDn_get_local_handle(void);
/* The sparse one, a cusolverSpHandle_t. */
struct cusolverSpContext *starpu_cusolverSp_get_local_handle(void);
/* That for refactorisation, a cusolverRfHandle_t, which has no stream. */
starpu_cusolverRfHandle_t starpu_cusolverRf_get_local_handle(void);

/* Prints the error and ends the program. */
void starpu_cusolver_report_error(const char *func, const char *file, int line,
                                  starpu_cusolverStatus_t status);
#define STARPU_CUSOLVER_REPORT_ERROR(status)                                   \
    starpu_cusolver_report_error(__starpu_func__, __FILE__, __LINE__, status)

#ifdef __cplusplus
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_cublasLt.h - cuBLASLt on every CUDA worker, as starpu_cublas.h.
 */
#pragma once

#include <starpu_config.h>

#ifdef STARPU_HAVE_LIBCUBLASLT
#    include <cublasLt.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a handle per CUDA worker and one for the calling thread. */
void starpu_cublasLt_init(void);
/* Ends these handles, before starpu_shutdown(). */
void starpu_cublasLt_shutdown(void);

/* As starpu_cublas_get_local_handle, a cublasLtHandle_t. It has no stream: calls
 * get starpu_cuda_get_local_stream(). */
struct cublasLtContext;
struct cublasLtContext *starpu_cublasLt_get_local_handle(void);

#ifdef __cplusplus
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_cublas_v2.h - the cuBLAS handle of a CUDA worker (starpu_cublas.h makes
 * them).
 */
#pragma once

#include <starpu_config.h>

#ifdef STARPU_USE_CUDA
#    include <cublas_v2.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* That of the calling worker, whose stream it has; elsewhere that of the thread
 * which made them. Lent, a cublasHandle_t. NULL: there are no CUDA workers, or no
 * handles. */
struct cublasContext;
struct cublasContext *starpu_cublas_get_local_handle(void);

#ifdef __cplusplus
}
#endif

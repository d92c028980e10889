/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_cusparse.h - cuSPARSE on every CUDA worker, as starpu_cublas.h.
 */
#pragma once

#include <starpu_config.h>

#ifdef STARPU_HAVE_LIBCUSPARSE
#    include <cusparse.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a handle per CUDA worker and one for the calling thread. */
void starpu_cusparse_init(void);
/* Ends these handles, before starpu_shutdown(). */
void starpu_cusparse_shutdown(void);

/* As starpu_cublas_get_local_handle, a cusparseHandle_t. */
struct cusparseContext;
struct cusparseContext *starpu_cusparse_get_local_handle(void);

#ifdef __cplusplus
}
#endif

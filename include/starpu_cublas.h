/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_cublas.h - cuBLAS on every CUDA worker. There is no
 * driver for such devices here, so the calls return at once; programs call them
 * unguarded. From the application, after starpu_init().
 */
#pragma once

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes, and ends, a handle per CUDA worker. */
void starpu_cublas_init(void);
void starpu_cublas_shutdown(void);
/* In a kernel: the first version of cuBLAS computes in the stream of the
 * calling worker from now on. */
void starpu_cublas_set_stream(void);

#ifdef __cplusplus
}
#endif

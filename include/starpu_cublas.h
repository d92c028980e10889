/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_cublas.h - cuBLAS on every CUDA worker. The library is opened when
 * starpu_cublas_init is called; without CUDA workers the calls return at once, and
 * programs call them unguarded. From the application, after starpu_init().
 */
#pragma once

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a handle per CUDA worker and one for the calling thread: starpu_cublas_v2.h.
 * A library that is not there, or fails, ends the program with a message. */
void starpu_cublas_init(void);
/* Ends these handles, before starpu_shutdown(). */
void starpu_cublas_shutdown(void);
/* In a kernel: the first version of cuBLAS computes in the stream of the
 * calling worker from now on. */
void starpu_cublas_set_stream(void);

#ifdef __cplusplus
}
#endif

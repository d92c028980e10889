/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_cublasLt.h - cuBLASLt on every CUDA worker. There is no
 * driver for such devices here, so the calls return at once; programs call them
 * unguarded. From the application, after starpu_init().
 */
#pragma once

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes, and ends, a handle per CUDA worker. */
void starpu_cublasLt_init(void);
void starpu_cublasLt_shutdown(void);

#ifdef __cplusplus
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_hipblas.h - hipBLAS on every HIP worker. There is no
 * driver for such devices here, so the calls return at once; programs call them
 * unguarded. From the application, after starpu_init().
 */
#pragma once

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes, and ends, a handle per HIP worker. */
void starpu_hipblas_init(void);
void starpu_hipblas_shutdown(void);

/* Only for kernels under #ifdef STARPU_USE_HIPBLAS, where there is such a
 * function. */
#define STARPU_HIPBLAS_REPORT_STATUS(status)                                   \
    starpu_hipblas_report_status(__starpu_func__, __FILE__, __LINE__, status)

#ifdef __cplusplus
}
#endif

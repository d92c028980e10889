/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/libraries.c - the libraries of devices. There is no driver for such
 * devices in this library, and so nothing to make or to end.
 */
#include <starpu.h>
#include <starpu_cublasLt.h>
#include <starpu_cusolver.h>

void starpu_cublas_init(void)
{
}

void starpu_cublas_shutdown(void)
{
}

void starpu_cublas_set_stream(void)
{
}

void starpu_cublasLt_init(void)
{
}

void starpu_cublasLt_shutdown(void)
{
}

void starpu_cusparse_init(void)
{
}

void starpu_cusparse_shutdown(void)
{
}

void starpu_cusolver_init(void)
{
}

void starpu_cusolver_shutdown(void)
{
}

void starpu_hipblas_init(void)
{
}

void starpu_hipblas_shutdown(void)
{
}

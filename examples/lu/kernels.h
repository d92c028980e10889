/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels.h - the kernels of a tiled LU factorisation without pivoting, A = L·U
 * with ones on the diagonal of L, on single-precision tiles stored by columns,
 * and the codelets around them.
 */
#pragma once

#include <starpu.h>

extern struct starpu_codelet cl_getrf;   /* RW A(k,k) */
extern struct starpu_codelet cl_trsm_ll; /* R L(k,k), RW A(k,j) */
extern struct starpu_codelet cl_trsm_ru; /* R U(k,k), RW A(i,k) */
extern struct starpu_codelet cl_gemm;    /* R L(i,k), R U(k,j), RW A(i,j) */
extern struct starpu_codelet cl_init;    /* W A(i,j), values int i, j, order */

/* Makes each call to BLAS use one thread: tasks are the parallelism. */
void kernels_single_thread(void);

/* ‖A − L·U‖ / ‖A‖ (Frobenius) for the factors in `matrix`, `order` by `order` in
 * tiles of `tile` elements. NaN when memory is short. */
double kernels_residual(const float *matrix, unsigned order, unsigned tile);

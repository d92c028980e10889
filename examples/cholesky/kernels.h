/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels.h - the four kernels of a tiled Cholesky factorisation, A = L·Lᵀ,
 * on single-precision tiles stored by columns, and the codelets around them.
 */
#pragma once

#include <stdint.h>

#include <starpu.h>

extern struct starpu_codelet cl_potrf; /* RW A(k,k) */
extern struct starpu_codelet cl_trsm;  /* R L(k,k), RW A(m,k) */
extern struct starpu_codelet cl_syrk;  /* R L(n,k), RW A(n,n) */
extern struct starpu_codelet cl_gemm;  /* R L(m,k), R L(n,k), RW A(m,n) */
extern struct starpu_codelet cl_init;  /* W A(i,j), values int i, j, size */

/* Where there are OpenCL devices, compiles their kernels and gives the codelets
 * functions for them; releases them. 0, or not 0 with a message. */
int kernels_load(void);
void kernels_unload(void);

/* The same for CUDA devices, in programs built with ../cuda/cholesky.cu. */
void kernels_cuda_load(void);
void kernels_cuda_unload(void);

/* Makes each call to BLAS use one thread: tasks are the parallelism. */
void kernels_single_thread(void);

/* Element (i,j) of the test matrix of that order: symmetric and, because its
 * diagonal is heavy, positive definite. */
float kernels_element(unsigned i, unsigned j, unsigned order);

/* Writes tile (i,j), `nx` by `ny` elements with leading dimension `ld`. */
void kernels_fill(float *tile, unsigned ld, unsigned nx, unsigned ny,
                  unsigned i, unsigned j, unsigned order);

/* ‖A − L·Lᵀ‖ / ‖A‖ (Frobenius, lower half), for the factor in the lower half
 * of `matrix`, `order` by `order` in tiles of `tile` elements. Overwrites the
 * upper half. NaN when memory is short. */
double kernels_residual(float *matrix, unsigned order, unsigned tile);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels.h - the kernels of a tiled QR factorisation, A = Q·R, on single-precision
 * tiles stored by columns, and the codelets around them. Names are LAPACK's.
 *
 * Q is a product of block reflectors I − V·T·Vᵀ. Those of column k have V in A(k,k),
 * below the diagonal, and in A(i,k), i > k; T, of fewer rows, is in tile (i,k) of a
 * matrix of its own. Each kernel has a work area, of the size of a tile of T.
 */
#pragma once

#include <starpu.h>

extern struct starpu_codelet cl_geqrt; /* RW A(k,k), W T(k,k), scratch */
extern struct starpu_codelet
    cl_ormqr; /* R V(k,k), R T(k,k), RW A(k,j), scratch */
/* RW R(k,k), RW A(i,k), W T(i,k), scratch */
extern struct starpu_codelet cl_tpqrt;
/* R V(i,k), R T(i,k), RW A(k,j), RW A(i,j), scratch */
extern struct starpu_codelet cl_tpmqrt;
extern struct starpu_codelet cl_init; /* W A(i,j), values int i, j, order */

/* Makes each call to LAPACK use one thread: tasks are the parallelism. */
void kernels_single_thread(void);

/* Rows of a tile of T beside tiles of that order. */
unsigned kernels_inner(unsigned tile);

/* ‖A − Q·R‖ / ‖A‖ (Frobenius) for the factors in `matrix`, `order` by `order` in
 * tiles of `tile` elements, and in `t`; reads both. NaN when memory is short. */
double kernels_residual(float *matrix, float *t, unsigned order, unsigned tile);

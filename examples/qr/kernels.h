/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels.h - the kernels of a QR factorisation by tiles, on single-precision tiles
 * stored by columns, and the codelets around them.
 *
 * A tile, or two tiles one above the other, are made upper triangular by reflectors
 * I - tau v v', which lie where the zeros would be. Their product is I - V T V' with
 * an upper triangular T (Schreiber and Van Loan, 1989), so that it is applied to
 * other tiles by products of matrices.
 */
#pragma once

#include <starpu.h>

extern struct starpu_codelet cl_geqrt; /* RW A(k,k), W T(k,k) */
extern struct starpu_codelet
    cl_ormqr; /* R A(k,k), R T(k,k), RW A(k,j), scratch */
extern struct starpu_codelet cl_tsqrt; /* RW A(k,k), RW A(i,k), W T(i,k) */
extern struct starpu_codelet
    cl_tsmqr; /* R A(i,k), R T(i,k), RW A(k,j), RW A(i,j), scratch */
extern struct starpu_codelet cl_init; /* W A(i,j), values int i, j, order */

/* Makes each call to BLAS use one thread: tasks are the parallelism. */
void kernels_single_thread(void);

/* ‖A'A − R'R‖ / ‖A'A‖ (Frobenius): R is the upper triangle of `factor`, and A what
 * cl_init makes, both `order` by `order`. NaN when memory is short. */
double kernels_residual(const float *factor, unsigned order);

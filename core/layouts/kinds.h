/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/kinds.h - which field of the structure of each dense kind has what:
 * initialisers of struct orr_dense_kind, for code that knows the kind when it is
 * compiled: the file of an interface, and the filters.
 */
#pragma once

#include "core/layouts/dense.h"

/* Stops the compilation unless `n` fields of lengths, or of leading
 * dimensions, follow each other. */
#define ORR_DENSE_IN_A_ROW(type, first, last, n)                               \
    static_assert(offsetof(struct type, last) -                                \
                          offsetof(struct type, first) ==                      \
                      ((n)-1) * sizeof(uint32_t),                              \
                  #first " to " #last)

ORR_DENSE_IN_A_ROW(starpu_matrix_interface, nx, ny, 2);
ORR_DENSE_IN_A_ROW(starpu_block_interface, nx, nz, 3);
ORR_DENSE_IN_A_ROW(starpu_block_interface, ldy, ldz, 2);
ORR_DENSE_IN_A_ROW(starpu_tensor_interface, nx, nt, 4);
ORR_DENSE_IN_A_ROW(starpu_tensor_interface, ldy, ldt, 3);

#define ORR_VARIABLE_KIND                                                      \
    {                                                                          \
        .id = STARPU_VARIABLE_INTERFACE_ID, .word = "variable", .letter = 'v', \
        .elemsize = offsetof(struct starpu_variable_interface, elemsize),      \
    }

#define ORR_VECTOR_KIND                                                        \
    {                                                                          \
        .id = STARPU_VECTOR_INTERFACE_ID, .word = "vector", .letter = 'V',     \
        .ndim = 1, .nn = offsetof(struct starpu_vector_interface, nx),         \
        .elemsize = offsetof(struct starpu_vector_interface, elemsize),        \
        .allocsize = offsetof(struct starpu_vector_interface, allocsize),      \
    }

#define ORR_MATRIX_KIND                                                        \
    {                                                                          \
        .id = STARPU_MATRIX_INTERFACE_ID, .word = "matrix", .letter = 'M',     \
        .ndim = 2, .nn = offsetof(struct starpu_matrix_interface, nx),         \
        .ld = offsetof(struct starpu_matrix_interface, ld),                    \
        .elemsize = offsetof(struct starpu_matrix_interface, elemsize),        \
        .allocsize = offsetof(struct starpu_matrix_interface, allocsize),      \
    }

#define ORR_BLOCK_KIND                                                         \
    {                                                                          \
        .id = STARPU_BLOCK_INTERFACE_ID, .word = "block", .letter = 'B',       \
        .ndim = 3, .nn = offsetof(struct starpu_block_interface, nx),          \
        .ld = offsetof(struct starpu_block_interface, ldy),                    \
        .elemsize = offsetof(struct starpu_block_interface, elemsize),         \
    }

#define ORR_TENSOR_KIND                                                        \
    {                                                                          \
        .id = STARPU_TENSOR_INTERFACE_ID, .word = "tensor", .letter = 'T',     \
        .ndim = 4, .nn = offsetof(struct starpu_tensor_interface, nx),         \
        .ld = offsetof(struct starpu_tensor_interface, ldy),                   \
        .elemsize = offsetof(struct starpu_tensor_interface, elemsize),        \
    }

#define ORR_NDIM_KIND                                                          \
    {                                                                          \
        .id = STARPU_NDIM_INTERFACE_ID, .word = "ndim", .letter = 'N',         \
        .rank = offsetof(struct starpu_ndim_interface, ndim),                  \
        .nn = offsetof(struct starpu_ndim_interface, nn),                      \
        .ld = offsetof(struct starpu_ndim_interface, ldn),                     \
        .elemsize = offsetof(struct starpu_ndim_interface, elemsize),          \
        .allocsize = offsetof(struct starpu_ndim_interface, allocsize),        \
    }

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/filters/matrix.c - cutting matrices: "block" along x (the length
 * of columns), "vertical block" along y (their number).
 */
#include "core/layouts/filters/common.h"

enum { X, Y };

static const struct orr_dense_kind matrix = ORR_MATRIX_KIND;
static const struct orr_dense_kind vector = ORR_VECTOR_KIND;

ORR_FILTER(starpu_matrix_filter_block)
{
    orr_filter_block(ORR_CALL, &matrix, &matrix, X);
}

ORR_FILTER(starpu_matrix_filter_block_shadow)
{
    orr_filter_block_shadow(ORR_CALL, &matrix, &matrix, X);
}

ORR_FILTER(starpu_matrix_filter_vertical_block)
{
    orr_filter_block(ORR_CALL, &matrix, &matrix, Y);
}

ORR_FILTER(starpu_matrix_filter_vertical_block_shadow)
{
    orr_filter_block_shadow(ORR_CALL, &matrix, &matrix, Y);
}

ORR_FILTER(starpu_matrix_filter_pick_vector_y)
{
    orr_filter_pick(ORR_CALL, &matrix, &vector, Y);
}

ORR_FILTER(starpu_matrix_filter_pick_variable)
{
    orr_filter_pick_variable(ORR_CALL, &matrix);
}

ORR_CHILD_OPS(starpu_matrix_filter_pick_vector_child_ops,
              starpu_interface_vector_ops)
ORR_CHILD_OPS(starpu_matrix_filter_pick_variable_child_ops,
              starpu_interface_variable_ops)

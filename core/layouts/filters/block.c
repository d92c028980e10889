/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/filters/block.c - cutting three-dimensional blocks: "block" along
 * x, "vertical block" along y, "depth block" along z.
 */
#include "core/layouts/filters/common.h"

enum { X, Y, Z };

static const struct orr_dense_kind block = ORR_BLOCK_KIND;
static const struct orr_dense_kind matrix = ORR_MATRIX_KIND;

ORR_FILTER(starpu_block_filter_block)
{
    orr_filter_block(ORR_CALL, &block, &block, X);
}

ORR_FILTER(starpu_block_filter_block_shadow)
{
    orr_filter_block_shadow(ORR_CALL, &block, &block, X);
}

ORR_FILTER(starpu_block_filter_vertical_block)
{
    orr_filter_block(ORR_CALL, &block, &block, Y);
}

ORR_FILTER(starpu_block_filter_vertical_block_shadow)
{
    orr_filter_block_shadow(ORR_CALL, &block, &block, Y);
}

ORR_FILTER(starpu_block_filter_depth_block)
{
    orr_filter_block(ORR_CALL, &block, &block, Z);
}

ORR_FILTER(starpu_block_filter_depth_block_shadow)
{
    orr_filter_block_shadow(ORR_CALL, &block, &block, Z);
}

ORR_FILTER(starpu_block_filter_pick_matrix_z)
{
    orr_filter_pick(ORR_CALL, &block, &matrix, Z);
}

ORR_FILTER(starpu_block_filter_pick_matrix_y)
{
    orr_filter_pick(ORR_CALL, &block, &matrix, Y);
}

ORR_FILTER(starpu_block_filter_pick_variable)
{
    orr_filter_pick_variable(ORR_CALL, &block);
}

ORR_CHILD_OPS(starpu_block_filter_pick_matrix_child_ops,
              starpu_interface_matrix_ops)
ORR_CHILD_OPS(starpu_block_filter_pick_variable_child_ops,
              starpu_interface_variable_ops)

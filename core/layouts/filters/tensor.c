/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/filters/tensor.c - cutting four-dimensional tensors: "block" along
 * x, "vertical block" along y, "depth block" along z, "time block" along t.
 */
#include "core/layouts/filters/common.h"

enum { X, Y, Z, T };

static const struct orr_dense_kind tensor = ORR_TENSOR_KIND;
static const struct orr_dense_kind block = ORR_BLOCK_KIND;

ORR_FILTER(starpu_tensor_filter_block)
{
    orr_filter_block(ORR_CALL, &tensor, &tensor, X);
}

ORR_FILTER(starpu_tensor_filter_block_shadow)
{
    orr_filter_block_shadow(ORR_CALL, &tensor, &tensor, X);
}

ORR_FILTER(starpu_tensor_filter_vertical_block)
{
    orr_filter_block(ORR_CALL, &tensor, &tensor, Y);
}

ORR_FILTER(starpu_tensor_filter_vertical_block_shadow)
{
    orr_filter_block_shadow(ORR_CALL, &tensor, &tensor, Y);
}

ORR_FILTER(starpu_tensor_filter_depth_block)
{
    orr_filter_block(ORR_CALL, &tensor, &tensor, Z);
}

ORR_FILTER(starpu_tensor_filter_depth_block_shadow)
{
    orr_filter_block_shadow(ORR_CALL, &tensor, &tensor, Z);
}

ORR_FILTER(starpu_tensor_filter_time_block)
{
    orr_filter_block(ORR_CALL, &tensor, &tensor, T);
}

ORR_FILTER(starpu_tensor_filter_time_block_shadow)
{
    orr_filter_block_shadow(ORR_CALL, &tensor, &tensor, T);
}

ORR_FILTER(starpu_tensor_filter_pick_block_t)
{
    orr_filter_pick(ORR_CALL, &tensor, &block, T);
}

ORR_FILTER(starpu_tensor_filter_pick_block_z)
{
    orr_filter_pick(ORR_CALL, &tensor, &block, Z);
}

ORR_FILTER(starpu_tensor_filter_pick_block_y)
{
    orr_filter_pick(ORR_CALL, &tensor, &block, Y);
}

ORR_FILTER(starpu_tensor_filter_pick_variable)
{
    orr_filter_pick_variable(ORR_CALL, &tensor);
}

ORR_CHILD_OPS(starpu_tensor_filter_pick_block_child_ops,
              starpu_interface_block_ops)
ORR_CHILD_OPS(starpu_tensor_filter_pick_variable_child_ops,
              starpu_interface_variable_ops)

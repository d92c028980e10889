/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/filters/ndim.c - cutting data of any number of dimensions along the
 * dimension filter_arg, into parts of the same or of another interface.
 */
#include <starpu_util.h>

#include "core/layouts/filters/common.h"

static const struct orr_dense_kind ndim = ORR_NDIM_KIND;
static const struct orr_dense_kind tensor = ORR_TENSOR_KIND;
static const struct orr_dense_kind block = ORR_BLOCK_KIND;
static const struct orr_dense_kind matrix = ORR_MATRIX_KIND;
static const struct orr_dense_kind vector = ORR_VECTOR_KIND;
static const struct orr_dense_kind variable = ORR_VARIABLE_KIND;

static size_t dimensions_of(const struct orr_filter_call *call)
{
    orr_filter_expect(call, STARPU_NDIM_INTERFACE_ID);
    return ((const struct starpu_ndim_interface *)call->father)->ndim;
}

/* The one there is need not be named. */
static size_t along(const struct orr_filter_call *call)
{
    return dimensions_of(call) == 1 ? 0 : call->f->filter_arg;
}

static void expect_dimensions(const struct orr_filter_call *call, size_t n)
{
    size_t is = dimensions_of(call);

    ORR_FILTER_EXPECT(is == n, call->name,
                      "the data have %zu dimensions, the filter "
                      "cuts data of %zu only",
                      is, n);
}

/* --- parts along a dimension --- */

ORR_FILTER(starpu_ndim_filter_block)
{
    orr_filter_block(ORR_CALL, &ndim, &ndim, along(ORR_CALL));
}

ORR_FILTER(starpu_ndim_filter_block_shadow)
{
    orr_filter_block_shadow(ORR_CALL, &ndim, &ndim, along(ORR_CALL));
}

static void cut_to(const struct orr_filter_call *call,
                   const struct orr_dense_kind *to)
{
    expect_dimensions(call, to->ndim);
    orr_filter_block(call, &ndim, to, along(call));
}

ORR_FILTER(starpu_ndim_filter_to_tensor)
{
    cut_to(ORR_CALL, &tensor);
}

ORR_FILTER(starpu_ndim_filter_to_block)
{
    cut_to(ORR_CALL, &block);
}

ORR_FILTER(starpu_ndim_filter_to_matrix)
{
    cut_to(ORR_CALL, &matrix);
}

ORR_FILTER(starpu_ndim_filter_to_vector)
{
    cut_to(ORR_CALL, &vector);
}

/* Data without dimensions are one element, which cannot be cut. */
ORR_FILTER(starpu_ndim_filter_to_variable)
{
    expect_dimensions(ORR_CALL, 0);
    ORR_FILTER_EXPECT(nparts == 1, __func__,
                      "one element cannot be cut into %u parts", nparts);
    orr_filter_pick_variable(ORR_CALL, &ndim);
}

/* --- one index along a dimension --- */

ORR_FILTER(starpu_ndim_filter_pick_ndim)
{
    orr_filter_pick(ORR_CALL, &ndim, &ndim, along(ORR_CALL));
}

static void pick_to(const struct orr_filter_call *call,
                    const struct orr_dense_kind *to)
{
    expect_dimensions(call, to->ndim + 1);
    orr_filter_pick(call, &ndim, to, along(call));
}

ORR_FILTER(starpu_ndim_filter_5d_pick_tensor)
{
    pick_to(ORR_CALL, &tensor);
}

ORR_FILTER(starpu_ndim_filter_4d_pick_block)
{
    pick_to(ORR_CALL, &block);
}

ORR_FILTER(starpu_ndim_filter_3d_pick_matrix)
{
    pick_to(ORR_CALL, &matrix);
}

ORR_FILTER(starpu_ndim_filter_2d_pick_vector)
{
    pick_to(ORR_CALL, &vector);
}

ORR_FILTER(starpu_ndim_filter_1d_pick_variable)
{
    pick_to(ORR_CALL, &variable);
}

ORR_FILTER(starpu_ndim_filter_pick_variable)
{
    orr_filter_pick_variable(ORR_CALL, &ndim);
}

/* --- interfaces of the parts --- */

ORR_CHILD_OPS(starpu_ndim_filter_to_tensor_child_ops,
              starpu_interface_tensor_ops)
ORR_CHILD_OPS(starpu_ndim_filter_to_block_child_ops, starpu_interface_block_ops)
ORR_CHILD_OPS(starpu_ndim_filter_to_matrix_child_ops,
              starpu_interface_matrix_ops)
ORR_CHILD_OPS(starpu_ndim_filter_to_vector_child_ops,
              starpu_interface_vector_ops)
ORR_CHILD_OPS(starpu_ndim_filter_to_variable_child_ops,
              starpu_interface_variable_ops)
ORR_CHILD_OPS(starpu_ndim_filter_pick_tensor_child_ops,
              starpu_interface_tensor_ops)
ORR_CHILD_OPS(starpu_ndim_filter_pick_block_child_ops,
              starpu_interface_block_ops)
ORR_CHILD_OPS(starpu_ndim_filter_pick_matrix_child_ops,
              starpu_interface_matrix_ops)
ORR_CHILD_OPS(starpu_ndim_filter_pick_vector_child_ops,
              starpu_interface_vector_ops)
ORR_CHILD_OPS(starpu_ndim_filter_pick_variable_child_ops,
              starpu_interface_variable_ops)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/filters/vector.c - cutting vectors. A filter only fills the
 * child's interface; it runs once per child and memory node.
 */
#include <starpu_data_filters.h>

#include <starpu_util.h>

#include "core/layouts/filters/common.h"

static const struct orr_dense_kind vector = ORR_VECTOR_KIND;
static const struct orr_dense_kind variable = ORR_VARIABLE_KIND;

static const struct starpu_vector_interface *
father_of(const struct orr_filter_call *call)
{
    orr_filter_expect(call, STARPU_VECTOR_INTERFACE_ID);
    return call->father;
}

static void expect_lengths(const struct orr_filter_call *call)
{
    ORR_FILTER_EXPECT(call->f->filter_arg_ptr, call->name,
                      "filter_arg_ptr is NULL, it has a length per "
                      "part");
}

/* Children also know where they begin in the whole vector. */
static void vector_cut(const struct orr_filter_call *call, struct orr_cut part)
{
    const struct starpu_vector_interface *father = father_of(call);
    struct starpu_vector_interface *child = call->child;

    ORR_FILTER_EXPECT((uint64_t)part.start + part.length <= father->nx,
                      call->name,
                      "part of %u elements from %u on is outside "
                      "of the vector of %u",
                      part.length, part.start, father->nx);
    orr_filter_cut(call, &vector, &vector, 0, part);
    child->slice_base = father->slice_base + part.start;
}

static void vector_cut_block(const struct orr_filter_call *call,
                             uint32_t shadow)
{
    vector_cut(call, orr_cut_block(call->name, father_of(call)->nx,
                                   call->nparts, call->id, shadow));
}

ORR_FILTER(starpu_vector_filter_block)
{
    vector_cut_block(ORR_CALL, 0);
}

ORR_FILTER(starpu_vector_filter_block_shadow)
{
    vector_cut_block(ORR_CALL, (uint32_t)(uintptr_t)f->filter_arg_ptr);
}

ORR_FILTER(starpu_vector_filter_list_long)
{
    const long *lengths = f->filter_arg_ptr;
    struct orr_cut part = {0};

    expect_lengths(ORR_CALL);
    part.length = (uint32_t)lengths[id];
    for (unsigned i = 0; i < id; i++)
        part.start += (uint32_t)lengths[i];
    vector_cut(ORR_CALL, part);
}

ORR_FILTER(starpu_vector_filter_list)
{
    const uint32_t *lengths = f->filter_arg_ptr;
    struct orr_cut part = {0};

    expect_lengths(ORR_CALL);
    part.length = lengths[id];
    for (unsigned i = 0; i < id; i++)
        part.start += lengths[i];
    vector_cut(ORR_CALL, part);
}

ORR_FILTER(starpu_vector_filter_divide_in_2)
{
    uint32_t nx = father_of(ORR_CALL)->nx;
    struct orr_cut first = {0, f->filter_arg};
    struct orr_cut second = {f->filter_arg, nx - f->filter_arg};

    ORR_FILTER_EXPECT(nparts == 2, __func__,
                      "%u parts are asked for, it makes two: set "
                      "nchildren to 2",
                      nparts);
    ORR_FILTER_EXPECT(f->filter_arg < nx, __func__,
                      "a vector of %u cannot be cut after %u "
                      "elements into two parts",
                      nx, f->filter_arg);
    vector_cut(ORR_CALL, id ? second : first);
}

ORR_FILTER(starpu_vector_filter_pick_variable)
{
    orr_filter_pick(ORR_CALL, &vector, &variable, 0);
}

ORR_CHILD_OPS(starpu_vector_filter_pick_variable_child_ops,
              starpu_interface_variable_ops)

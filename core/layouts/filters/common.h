/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/filters/common.h - what all filters share: cutting a length into
 * parts, and filling a dense child's structure from its parent's. No state.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <starpu_data_filters.h>

#include "core/layouts/kinds.h"

/* One call of a filter: once per child and memory node. */
struct orr_filter_call {
    const char *name;
    const void *father; /* structures of interfaces; */
    void *child;        /* this one is all 0 but its interface's `init` */
    const struct starpu_data_filter *f;
    unsigned id, nparts;
};

/* Defines a public filter; ORR_CALL is its call. */
#define ORR_FILTER(name)                                                       \
    void name(void *father, void *child, struct starpu_data_filter *f,         \
              unsigned id, unsigned nparts)
#define ORR_CALL                                                               \
    (&(struct orr_filter_call){__func__, father, child, f, id, nparts})

/* Ends the program, unless the condition holds, with a message that names the filter
 * and the data: format and arguments are what is wrong. */
#define ORR_FILTER_EXPECT(condition, name, ...)                                \
    ((condition) ? (void)0 : orr_filter_fail(name, __VA_ARGS__))
_Noreturn void orr_filter_fail(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Defines the public function that says which interface children have. */
#define ORR_CHILD_OPS(name, ops)                                               \
    struct starpu_data_interface_ops *name(struct starpu_data_filter *f,       \
                                           unsigned child)                     \
    {                                                                          \
        (void)f;                                                               \
        (void)child;                                                           \
        return &ops;                                                           \
    }

/* Part of a dimension, in elements. */
struct orr_cut {
    uint32_t start, length;
};

/* Cuts n elements into nparts; when that is not exact, the first parts have one
 * more. A shadow of that many elements belongs to both ends, and to each part
 * on both sides. Bad arguments end the program with a message that names
 * `call`. */
struct orr_cut orr_cut_block(const char *call, uint32_t n, unsigned nparts,
                             unsigned id, uint32_t shadow);

/* Ends the program when the parent is not of the interface that the call
 * cuts. */
void orr_filter_expect(const struct orr_filter_call *call,
                       enum starpu_data_interface_id wanted);

/* --- dense children of dense parents ---
 * `from` and `to` describe the structures of the parent and of the child. Where
 * the parent has no memory the child has none, and no gaps. */

/* The child is a part of dimension `dim` of its parent, and all of the others.
 * Both have the same number of dimensions. */
void orr_filter_cut(const struct orr_filter_call *call,
                    const struct orr_dense_kind *from,
                    const struct orr_dense_kind *to, size_t dim,
                    struct orr_cut part);

/* The same with part `id` of `nparts`; the _shadow form overlaps by
 * filter_arg_ptr elements. */
void orr_filter_block(const struct orr_filter_call *call,
                      const struct orr_dense_kind *from,
                      const struct orr_dense_kind *to, size_t dim);
void orr_filter_block_shadow(const struct orr_filter_call *call,
                             const struct orr_dense_kind *from,
                             const struct orr_dense_kind *to, size_t dim);

/* The child is what has one index along `dim`, filter_arg_ptr + id; it has a
 * dimension less. */
void orr_filter_pick(const struct orr_filter_call *call,
                     const struct orr_dense_kind *from,
                     const struct orr_dense_kind *to, size_t dim);

/* The child is one element, a variable: filter_arg_ptr has a uint32_t index for
 * each dimension, the contiguous one first. */
void orr_filter_pick_variable(const struct orr_filter_call *call,
                              const struct orr_dense_kind *from);

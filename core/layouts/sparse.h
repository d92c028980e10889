/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/sparse.h - data of three arrays, values and two of
 * indices: memory of one copy, and copying. No state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <starpu_data_interfaces.h>

/* The arrays of one copy, in the order in which they are packed. */
struct orr_arrays {
    uintptr_t at[3];
    size_t bytes[3];
    /* The last element of at[1] is the first one of the neighbour's, where parts are in
     * the memory of their whole. It never changes: both write what is there. */
    bool bounds;
};

/* Ends the program, with a message, if n values of so many elements have more bytes
 * than there are addresses. */
void orr_arrays_expect_room(uint32_t n, size_t elements, size_t elemsize);

/* Allocates all on the node, into arrays->at: the bytes, or -ENOMEM and none is
 * left. Arrays without bytes get no memory. */
starpu_ssize_t orr_arrays_allocate(struct orr_arrays *arrays, unsigned node);
void orr_arrays_free(const struct orr_arrays *arrays, unsigned node);

/* Copies each: 0, or -EAGAIN when some are under way. */
int orr_arrays_copy(const struct orr_arrays *src, unsigned src_node,
                    const struct orr_arrays *dst, unsigned dst_node,
                    void *async_data);

/* starpu_data_interface_ops.pack_data and .peek_data of such arrays. */
int orr_arrays_pack(const struct orr_arrays *arrays, unsigned node, void **ptr,
                    starpu_ssize_t *count);
int orr_arrays_peek(const struct orr_arrays *arrays, unsigned node,
                    const void *ptr, size_t count);

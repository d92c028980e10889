/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/shape.h - the layouts of StarPU's data interfaces as lists of numbers,
 * docs/RECORD.md. Addresses are no part of them. No state.
 */
#pragma once

#include <stdint.h>

#include <starpu.h>

/* Most numbers of a layout. */
#define ORR_SHAPE_MOST 64

/* The structures that there are, as large as each of them. */
union orr_layout {
    struct starpu_variable_interface variable;
    struct starpu_vector_interface vector;
    struct starpu_matrix_interface matrix;
    struct starpu_block_interface block;
    struct starpu_tensor_interface tensor;
    struct starpu_ndim_interface ndim;
    struct starpu_csr_interface csr;
    struct starpu_bcsr_interface bcsr;
    struct starpu_coo_interface coo;
};

/* The name of the interface in a record; NULL: it has none. */
const char *orr_shape_kind(enum starpu_data_interface_id id);

/* The numbers of a copy; returns how many, 0 also for too many dimensions. */
size_t orr_shape_read(enum starpu_data_interface_id id, const void *layout,
                      uint64_t ret[ORR_SHAPE_MOST]);

/* Fills a structure but for its addresses. Those of any number of dimensions get
 * the two arrays `nn` and `ldn`, of ORR_SHAPE_MOST. Returns NULL, or what is wrong
 * with the numbers. */
const char *orr_shape_write(enum starpu_data_interface_id id,
                            const uint64_t *shape, size_t n, void *layout,
                            uint32_t *nn, uint32_t *ldn);

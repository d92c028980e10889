/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/block.c - three-dimensional data: nz planes of ny
 * columns of nx elements; the starts of columns and planes are ldy and ldz
 * elements apart.
 */
#include <starpu_util.h>

#include "core/layouts/kinds.h"

typedef struct starpu_block_interface dense_t;

static const struct orr_dense_kind kind = ORR_BLOCK_KIND;

#include "core/layouts/dense_ops.h"

struct starpu_data_interface_ops starpu_interface_block_ops = {
    DENSE_OPS,
    .footprint = footprint_of_lengths,
    .interfaceid = STARPU_BLOCK_INTERFACE_ID,
    .name = (char[]){"STARPU_BLOCK_INTERFACE"},
};

/* --- public calls --- */

void starpu_block_data_register(starpu_data_handle_t *handle, int home_node,
                                uintptr_t ptr, uint32_t ldy, uint32_t ldz,
                                uint32_t nx, uint32_t ny, uint32_t nz,
                                size_t elemsize)
{
    struct starpu_block_interface b = {
        .id = STARPU_BLOCK_INTERFACE_ID,
        .ptr = ptr,
        .dev_handle = ptr,
        .nx = nx,
        .ny = ny,
        .nz = nz,
        .ldy = ldy,
        .ldz = ldz,
        .elemsize = elemsize,
    };

    STARPU_ASSERT_MSG_ALWAYS(home_node < 0 || ny <= 1 || ldy >= nx,
                             "starpu_block_data_register: ldy = %u is less "
                             "than nx = %u, columns would overlap",
                             ldy, nx);
    STARPU_ASSERT_MSG_ALWAYS(home_node < 0 || nz <= 1 || ny == 0 ||
                                 ldz / ny >= ldy,
                             "starpu_block_data_register: ldz = %u is less "
                             "than ldy * ny = %u * %u, planes would overlap",
                             ldz, ldy, ny);
    orr_interface_register(__func__, handle, home_node, &b,
                           &starpu_interface_block_ops);
}

void starpu_block_ptr_register(starpu_data_handle_t handle, unsigned node,
                               uintptr_t ptr, uintptr_t dev_handle,
                               size_t offset, uint32_t ldy, uint32_t ldz)
{
    dense_t *d =
        dense_register_ptr(__func__, handle, node, ptr, dev_handle, offset);

    d->ldy = ldy;
    d->ldz = ldz;
}

uint32_t starpu_block_get_nx(starpu_data_handle_t handle)
{
    return ASKED(handle)->nx;
}

uint32_t starpu_block_get_ny(starpu_data_handle_t handle)
{
    return ASKED(handle)->ny;
}

uint32_t starpu_block_get_nz(starpu_data_handle_t handle)
{
    return ASKED(handle)->nz;
}

size_t starpu_block_get_elemsize(starpu_data_handle_t handle)
{
    return ASKED(handle)->elemsize;
}

uint32_t starpu_block_get_local_ldy(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ldy;
}

uint32_t starpu_block_get_local_ldz(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ldz;
}

uintptr_t starpu_block_get_local_ptr(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ptr;
}

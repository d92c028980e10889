/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/tensor.c - four-dimensional data: nt blocks of nz planes
 * of ny columns of nx elements; the starts of columns, planes and blocks are
 * ldy, ldz and ldt elements apart.
 */
#include <starpu_util.h>

#include "core/layouts/kinds.h"

typedef struct starpu_tensor_interface dense_t;

static const struct orr_dense_kind kind = ORR_TENSOR_KIND;

#include "core/layouts/dense_ops.h"

struct starpu_data_interface_ops starpu_interface_tensor_ops = {
    DENSE_OPS,
    .footprint = footprint_of_lengths,
    .interfaceid = STARPU_TENSOR_INTERFACE_ID,
    .name = (char[]){"STARPU_TENSOR_INTERFACE"},
};

/* --- public calls --- */

/* Whether `n` neighbours `ld` apart have room for `inner` that are
 * `inner_ld` apart each. */
static bool neighbours_are_apart(uint32_t n, uint32_t ld, uint32_t inner,
                                 uint32_t inner_ld)
{
    return n <= 1 || inner == 0 || ld / inner >= inner_ld;
}

void starpu_tensor_data_register(starpu_data_handle_t *handle, int home_node,
                                 uintptr_t ptr, uint32_t ldy, uint32_t ldz,
                                 uint32_t ldt, uint32_t nx, uint32_t ny,
                                 uint32_t nz, uint32_t nt, size_t elemsize)
{
    struct starpu_tensor_interface t = {
        .id = STARPU_TENSOR_INTERFACE_ID,
        .ptr = ptr,
        .dev_handle = ptr,
        .nx = nx,
        .ny = ny,
        .nz = nz,
        .nt = nt,
        .ldy = ldy,
        .ldz = ldz,
        .ldt = ldt,
        .elemsize = elemsize,
    };

    STARPU_ASSERT_MSG_ALWAYS(home_node < 0 ||
                                 neighbours_are_apart(ny, ldy, nx, 1),
                             "starpu_tensor_data_register: ldy = %u is less "
                             "than nx = %u, columns would overlap",
                             ldy, nx);
    STARPU_ASSERT_MSG_ALWAYS(home_node < 0 ||
                                 neighbours_are_apart(nz, ldz, ny, ldy),
                             "starpu_tensor_data_register: ldz = %u is less "
                             "than ldy * ny = %u * %u, planes would overlap",
                             ldz, ldy, ny);
    STARPU_ASSERT_MSG_ALWAYS(home_node < 0 ||
                                 neighbours_are_apart(nt, ldt, nz, ldz),
                             "starpu_tensor_data_register: ldt = %u is less "
                             "than ldz * nz = %u * %u, blocks would overlap",
                             ldt, ldz, nz);
    orr_interface_register(__func__, handle, home_node, &t,
                           &starpu_interface_tensor_ops);
}

void starpu_tensor_ptr_register(starpu_data_handle_t handle, unsigned node,
                                uintptr_t ptr, uintptr_t dev_handle,
                                size_t offset, uint32_t ldy, uint32_t ldz,
                                uint32_t ldt)
{
    dense_t *d =
        dense_register_ptr(__func__, handle, node, ptr, dev_handle, offset);

    d->ldy = ldy;
    d->ldz = ldz;
    d->ldt = ldt;
}

uint32_t starpu_tensor_get_nx(starpu_data_handle_t handle)
{
    return ASKED(handle)->nx;
}

uint32_t starpu_tensor_get_ny(starpu_data_handle_t handle)
{
    return ASKED(handle)->ny;
}

uint32_t starpu_tensor_get_nz(starpu_data_handle_t handle)
{
    return ASKED(handle)->nz;
}

uint32_t starpu_tensor_get_nt(starpu_data_handle_t handle)
{
    return ASKED(handle)->nt;
}

size_t starpu_tensor_get_elemsize(starpu_data_handle_t handle)
{
    return ASKED(handle)->elemsize;
}

uint32_t starpu_tensor_get_local_ldy(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ldy;
}

uint32_t starpu_tensor_get_local_ldz(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ldz;
}

uint32_t starpu_tensor_get_local_ldt(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ldt;
}

uintptr_t starpu_tensor_get_local_ptr(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ptr;
}

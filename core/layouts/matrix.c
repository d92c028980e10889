/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/matrix.c - two-dimensional data: ny columns of nx
 * elements, the starts of columns ld elements apart.
 */
#include <starpu_util.h>

#include "core/layouts/kinds.h"

typedef struct starpu_matrix_interface dense_t;

static const struct orr_dense_kind kind = ORR_MATRIX_KIND;

#include "core/layouts/dense_ops.h"

/* The same value as in StarPU's model files: the sum starts from ny. */
static uint32_t footprint(starpu_data_handle_t handle)
{
    const dense_t *m = dense_in_main_ram(handle);

    return orr_crc_u32(m->nx, m->ny);
}

struct starpu_data_interface_ops starpu_interface_matrix_ops = {
    DENSE_OPS,
    DENSE_ALLOCSIZE_OPS,
    .footprint = footprint,
    .interfaceid = STARPU_MATRIX_INTERFACE_ID,
    .name = (char[]){"STARPU_MATRIX_INTERFACE"},
};

/* --- public calls --- */

static void matrix_register(const char *call, starpu_data_handle_t *handle,
                            int home_node, uintptr_t ptr, uint32_t ld,
                            uint32_t nx, uint32_t ny, size_t elemsize,
                            size_t allocsize)
{
    struct starpu_matrix_interface m = {
        .id = STARPU_MATRIX_INTERFACE_ID,
        .ptr = ptr,
        .dev_handle = ptr,
        .nx = nx,
        .ny = ny,
        .ld = ld,
        .elemsize = elemsize,
        .allocsize = allocsize,
    };

    STARPU_ASSERT_MSG_ALWAYS(home_node < 0 || ny <= 1 || ld >= nx,
                             "%s: ld = %u is less than nx = %u, columns would "
                             "overlap",
                             call, ld, nx);
    orr_interface_register(call, handle, home_node, &m,
                           &starpu_interface_matrix_ops);
}

void starpu_matrix_data_register_allocsize(starpu_data_handle_t *handle,
                                           int home_node, uintptr_t ptr,
                                           uint32_t ld, uint32_t nx,
                                           uint32_t ny, size_t elemsize,
                                           size_t allocsize)
{
    matrix_register(__func__, handle, home_node, ptr, ld, nx, ny, elemsize,
                    allocsize);
}

void starpu_matrix_data_register(starpu_data_handle_t *handle, int home_node,
                                 uintptr_t ptr, uint32_t ld, uint32_t nx,
                                 uint32_t ny, size_t elemsize)
{
    matrix_register(__func__, handle, home_node, ptr, ld, nx, ny, elemsize,
                    elemsize * nx * ny);
}

void starpu_matrix_ptr_register(starpu_data_handle_t handle, unsigned node,
                                uintptr_t ptr, uintptr_t dev_handle,
                                size_t offset, uint32_t ld)
{
    dense_register_ptr(__func__, handle, node, ptr, dev_handle, offset)->ld =
        ld;
}

uint32_t starpu_matrix_get_nx(starpu_data_handle_t handle)
{
    return ASKED(handle)->nx;
}

uint32_t starpu_matrix_get_ny(starpu_data_handle_t handle)
{
    return ASKED(handle)->ny;
}

size_t starpu_matrix_get_elemsize(starpu_data_handle_t handle)
{
    return ASKED(handle)->elemsize;
}

size_t starpu_matrix_get_allocsize(starpu_data_handle_t handle)
{
    return ASKED(handle)->allocsize;
}

uint32_t starpu_matrix_get_local_ld(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ld;
}

uintptr_t starpu_matrix_get_local_ptr(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ptr;
}

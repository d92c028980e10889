/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/vector.c - nx elements in a row.
 */
#include "core/layouts/kinds.h"

typedef struct starpu_vector_interface dense_t;

static const struct orr_dense_kind kind = ORR_VECTOR_KIND;

#include "core/layouts/dense_ops.h"

struct starpu_data_interface_ops starpu_interface_vector_ops = {
    DENSE_OPS,
    DENSE_ALLOCSIZE_OPS,
    .footprint = footprint_of_lengths,
    .interfaceid = STARPU_VECTOR_INTERFACE_ID,
    .name = (char[]){"STARPU_VECTOR_INTERFACE"},
};

/* --- public calls --- */

static void vector_register(const char *call, starpu_data_handle_t *handle,
                            int home_node, uintptr_t ptr, uint32_t nx,
                            size_t elemsize, size_t allocsize)
{
    struct starpu_vector_interface v = {
        .id = STARPU_VECTOR_INTERFACE_ID,
        .ptr = ptr,
        .dev_handle = ptr,
        .nx = nx,
        .elemsize = elemsize,
        .allocsize = allocsize,
    };

    orr_interface_register(call, handle, home_node, &v,
                           &starpu_interface_vector_ops);
}

void starpu_vector_data_register_allocsize(starpu_data_handle_t *handle,
                                           int home_node, uintptr_t ptr,
                                           uint32_t nx, size_t elemsize,
                                           size_t allocsize)
{
    vector_register(__func__, handle, home_node, ptr, nx, elemsize, allocsize);
}

void starpu_vector_data_register(starpu_data_handle_t *handle, int home_node,
                                 uintptr_t ptr, uint32_t nx, size_t elemsize)
{
    vector_register(__func__, handle, home_node, ptr, nx, elemsize,
                    elemsize * nx);
}

void starpu_vector_ptr_register(starpu_data_handle_t handle, unsigned node,
                                uintptr_t ptr, uintptr_t dev_handle,
                                size_t offset)
{
    dense_register_ptr(__func__, handle, node, ptr, dev_handle, offset);
}

uint32_t starpu_vector_get_nx(starpu_data_handle_t handle)
{
    return ASKED(handle)->nx;
}

size_t starpu_vector_get_elemsize(starpu_data_handle_t handle)
{
    return ASKED(handle)->elemsize;
}

size_t starpu_vector_get_allocsize(starpu_data_handle_t handle)
{
    return ASKED(handle)->allocsize;
}

uintptr_t starpu_vector_get_local_ptr(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ptr;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/variable.c - some bytes, the size of which is all
 * that is known about them.
 */
#include "core/layouts/kinds.h"

typedef struct starpu_variable_interface dense_t;

static const struct orr_dense_kind kind = ORR_VARIABLE_KIND;

#include "core/layouts/dense_ops.h"

struct starpu_data_interface_ops starpu_interface_variable_ops = {
    DENSE_OPS,
    .footprint = footprint_of_size,
    .interfaceid = STARPU_VARIABLE_INTERFACE_ID,
    .name = (char[]){"STARPU_VARIABLE_INTERFACE"},
};

/* --- public calls --- */

void starpu_variable_data_register(starpu_data_handle_t *handle, int home_node,
                                   uintptr_t ptr, size_t size)
{
    struct starpu_variable_interface v = {
        .id = STARPU_VARIABLE_INTERFACE_ID,
        .ptr = ptr,
        .dev_handle = ptr,
        .elemsize = size,
    };

    orr_interface_register(__func__, handle, home_node, &v,
                           &starpu_interface_variable_ops);
}

void starpu_variable_ptr_register(starpu_data_handle_t handle, unsigned node,
                                  uintptr_t ptr, uintptr_t dev_handle,
                                  size_t offset)
{
    dense_register_ptr(__func__, handle, node, ptr, dev_handle, offset);
}

size_t starpu_variable_get_elemsize(starpu_data_handle_t handle)
{
    return ASKED(handle)->elemsize;
}

uintptr_t starpu_variable_get_local_ptr(starpu_data_handle_t handle)
{
    return ASKED_LOCAL(handle)->ptr;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/outline.c - the structure of our interfaces on a node that the
 * machine lacks: the shape, and no memory. Any thread.
 */
#include <stddef.h>
#include <string.h>

#include "core/data/handle.h"

/* Which part of an interface's structure are addresses. */
struct addresses {
    size_t structure, begin, end; /* bytes; 0: an interface without */
};

#define ADDRESSES(kind, first, last)                                           \
    {                                                                          \
        sizeof(struct starpu_##kind##_interface),                              \
            offsetof(struct starpu_##kind##_interface, first),                 \
            offsetof(struct starpu_##kind##_interface, last) +                 \
                sizeof(((struct starpu_##kind##_interface *)NULL)->last)       \
    }

static const struct addresses all[STARPU_MAX_INTERFACE_ID] = {
    [STARPU_VARIABLE_INTERFACE_ID] = ADDRESSES(variable, ptr, offset),
    [STARPU_VECTOR_INTERFACE_ID] = ADDRESSES(vector, ptr, offset),
    [STARPU_MATRIX_INTERFACE_ID] = ADDRESSES(matrix, ptr, offset),
    [STARPU_BLOCK_INTERFACE_ID] = ADDRESSES(block, ptr, offset),
    [STARPU_TENSOR_INTERFACE_ID] = ADDRESSES(tensor, ptr, offset),
    [STARPU_NDIM_INTERFACE_ID] = ADDRESSES(ndim, ptr, offset),
    [STARPU_CSR_INTERFACE_ID] = ADDRESSES(csr, nzval, rowptr),
    [STARPU_BCSR_INTERFACE_ID] = ADDRESSES(bcsr, nzval, rowptr),
    [STARPU_COO_INTERFACE_ID] = ADDRESSES(coo, columns, values),
    [STARPU_MULTIFORMAT_INTERFACE_ID] =
        ADDRESSES(multiformat, cpu_ptr, opencl_ptr),
};

void orr_interface_outline(const struct starpu_data_interface_ops *ops,
                           void *to, const void *from)
{
    const struct addresses *at;

    if (ops->interfaceid < 0 || ops->interfaceid >= STARPU_MAX_INTERFACE_ID)
        return;
    at = &all[ops->interfaceid];
    if (!at->structure || at->structure != ops->interface_size)
        return; /* void, or an application's with this number */
    memcpy(to, from, at->structure);
    memset((char *)to + at->begin, 0, at->end - at->begin);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/placement.h - where a part of dense data, or of a sparse matrix by rows,
 * lies in them, whatever the addresses and the leading dimensions of a copy are. By
 * that, parts get their places in memory that the whole gets later than they were made.
 * Only values here.
 */
#pragma once

#include "core/data/handle.h"

/* Whether the data are dense: one array, whose address and offset are in the structure
 * where those of a variable are. */
static inline bool orr_handle_is_dense(const struct orr_handle *handle)
{
    switch (handle->ops->interfaceid) {
    case STARPU_VARIABLE_INTERFACE_ID:
    case STARPU_VECTOR_INTERFACE_ID:
    case STARPU_MATRIX_INTERFACE_ID:
    case STARPU_BLOCK_INTERFACE_ID:
    case STARPU_TENSOR_INTERFACE_ID:
    case STARPU_NDIM_INTERFACE_ID:
        return true;
    default:
        return false;
    }
}

/* Finds out where the filter puts part `index` of n, which has its place in the base of
 * the whole: for dense data the filter is called with a copy of the whole at an address
 * that does not exist. *ret is "not known" for parts with elements of another size, for
 * parts that are no range along each dimension or have more than ORR_PLACEMENT_DIMS
 * dimensions, and for other interfaces, of which it is not known which fields are
 * addresses. */
void orr_placement_find(const struct orr_handle *whole,
                        const struct orr_handle *part,
                        struct starpu_data_filter *filter, unsigned index,
                        unsigned n, struct orr_placement *ret);

/* Writes to the part's structure on the node where the part is in the whole's memory
 * there; the placement is known. The part must have no memory of its own there. */
void orr_placement_apply(const struct orr_placement *placement,
                         const struct orr_handle *whole,
                         struct orr_handle *part, unsigned node)
    ORR_REQUIRES(part->lock);

/* Makes a structure that says the same of a part that has memory of its own there; NULL
 * without memory. The memory of both is pinned. */
void *orr_placement_show(const struct orr_placement *placement,
                         const struct orr_handle *whole,
                         const struct orr_handle *part, unsigned node);
void orr_placement_shown(const struct orr_handle *part, void *interface);

/* Whether the data's parts have addresses of their own, and no offset: where
 * addresses are handles, they cannot be in place. */
bool orr_placement_lacks_offset(const struct orr_handle *whole);

/* Whether all of the whole belongs to some part, so far as sizes tell. */
bool orr_placement_covers(const struct orr_handle *whole,
                          struct orr_handle *const *parts, unsigned n);

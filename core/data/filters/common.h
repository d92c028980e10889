/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/filters/common.h - what all filters share: cutting a length into
 * parts, and placing a child inside its parent's memory. No state.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <starpu_data_filters.h>

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

/* The shadow that the application put into the filter. */
uint32_t orr_filter_shadow(const struct starpu_data_filter *f);

/* One element (of a dimension of n): number id after the first one that the
 * application put into the filter. */
uint32_t orr_filter_pick(const char *call, const struct starpu_data_filter *f,
                         uint32_t n, unsigned id);

/* Ends the program when the parent is not of the interface that `call` cuts. */
void orr_filter_expect(const char *call, enum starpu_data_interface_id is,
                       enum starpu_data_interface_id wanted);

/* Places the child `bytes` behind the start of its parent, or nowhere when the
 * parent has no memory on this node. Returns whether it has. */
#define ORR_PLACE_CHILD(child, father, bytes)                                  \
    ((father)->dev_handle                                                      \
         ? ((child)->ptr = (father)->ptr ? (father)->ptr + (bytes) : 0,        \
            (child)->dev_handle = (father)->dev_handle,                        \
            (child)->offset = (father)->offset + (bytes), 1)                   \
         : ((child)->ptr = 0, (child)->dev_handle = 0, (child)->offset = 0,    \
            0))

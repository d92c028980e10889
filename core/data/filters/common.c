/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/filters/common.c - cutting a length into parts.
 */
#include "core/data/filters/common.h"

#include <starpu_util.h>

struct orr_cut orr_cut_block(const char *call, uint32_t n, unsigned nparts,
                             unsigned id, uint32_t shadow)
{
    struct orr_cut cut;
    uint32_t inner = n - 2 * shadow, left;

    STARPU_ASSERT_MSG_ALWAYS(n / 2 >= shadow && nparts && nparts <= inner,
                             "%s: %u elements with a shadow of %u cannot be "
                             "cut into %u parts, use fewer",
                             call, n, shadow, nparts);
    STARPU_ASSERT_MSG_ALWAYS(id < nparts, "%s: there is no part %u of %u", call,
                             id, nparts);
    left = inner % nparts;
    cut.length = inner / nparts + (id < left) + 2 * shadow;
    cut.start = id * (inner / nparts) + (id < left ? id : left);
    return cut;
}

uint32_t orr_filter_shadow(const struct starpu_data_filter *f)
{
    return (uint32_t)(uintptr_t)f->filter_arg_ptr;
}

uint32_t orr_filter_pick(const char *call, const struct starpu_data_filter *f,
                         uint32_t n, unsigned id)
{
    uintptr_t at = (uintptr_t)f->filter_arg_ptr + id;

    STARPU_ASSERT_MSG_ALWAYS(at < n,
                             "%s: element %zu was requested, but there are "
                             "only %u; check nchildren and filter_arg_ptr",
                             call, (size_t)at, n);
    return (uint32_t)at;
}

void orr_filter_expect(const char *call, enum starpu_data_interface_id is,
                       enum starpu_data_interface_id wanted)
{
    STARPU_ASSERT_MSG_ALWAYS(is == wanted,
                             "%s: the data has interface %d, the filter cuts "
                             "interface %d only",
                             call, is, wanted);
}

void starpu_filter_nparts_compute_chunk_size_and_offset(
    unsigned n, unsigned nparts, size_t elemsize, unsigned id,
    unsigned blocksize, unsigned *chunk_size, size_t *offset)
{
    struct orr_cut cut = orr_cut_block(
        "starpu_filter_nparts_compute_chunk_size_and_offset", n, nparts, id, 0);

    *chunk_size = cut.length;
    if (offset)
        *offset = (size_t)cut.start * blocksize * elemsize;
}

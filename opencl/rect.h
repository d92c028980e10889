/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opencl/rect.h - boxes of bytes in two memories, as copies move them. No state. */
#pragma once

#include <stddef.h>

#include "opencl/socl.h"

/* So many rows and slices of bytes, from places in two memories. */
struct socl_rect {
    size_t region[3]; /* bytes, rows, slices */
    size_t to, from;  /* first bytes */
    size_t to_row, to_slice, from_row, from_slice;
};

/* One side as the application gives it; pitches of 0 are those of the region. */
struct socl_side {
    const size_t *origin;
    size_t row, slice;
};

struct socl_rect socl_rect_linear(size_t to, size_t from, size_t n);

/* CL_INVALID_VALUE: it does not fit into that many bytes, or has pitches that are none. */
cl_int socl_rect_of(const struct socl_side *to, const struct socl_side *from,
                    const size_t *region, size_t to_size, size_t from_size,
                    struct socl_rect *ret);
size_t socl_rect_bytes(const struct socl_rect *rect);
void socl_rect_copy(const struct socl_rect *rect, char *to, const char *from);
/* Whether both sides, in one memory, have bytes in common. */
bool socl_rect_overlaps(const struct socl_rect *rect);

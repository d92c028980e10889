/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opencl/rect.c - see rect.h. */
#include "opencl/rect.h"

#include <string.h>

struct socl_rect socl_rect_linear(size_t to, size_t from, size_t n)
{
    return (struct socl_rect){{n, 1, 1}, to, from, n, n, n, n};
}

static cl_int place(const struct socl_side *side, const size_t *region, size_t size,
                    size_t *ret, size_t *ret_row, size_t *ret_slice)
{
    size_t row = side->row ? side->row : region[0];
    size_t slice = side->slice ? side->slice : region[1] * row;
    size_t end;

    if (row < region[0] || slice < region[1] * row ||
        (side->slice && region[2] > 1 && slice % row != 0))
        return CL_INVALID_VALUE;
    *ret = side->origin[2] * slice + side->origin[1] * row + side->origin[0];
    *ret_row = row;
    *ret_slice = slice;
    end = *ret + (region[2] - 1) * slice + (region[1] - 1) * row + region[0];
    return end > size ? CL_INVALID_VALUE : CL_SUCCESS;
}

cl_int socl_rect_of(const struct socl_side *to, const struct socl_side *from,
                    const size_t *region, size_t to_size, size_t from_size,
                    struct socl_rect *ret)
{
    cl_int error;

    if (!region || !to->origin || !from->origin || !region[0] || !region[1] || !region[2])
        return CL_INVALID_VALUE;
    memcpy(ret->region, region, sizeof(ret->region));
    error = place(to, region, to_size, &ret->to, &ret->to_row, &ret->to_slice);
    if (error == CL_SUCCESS)
        error = place(from, region, from_size, &ret->from, &ret->from_row, &ret->from_slice);
    return error;
}

size_t socl_rect_bytes(const struct socl_rect *rect)
{
    return rect->region[0] * rect->region[1] * rect->region[2];
}

void socl_rect_copy(const struct socl_rect *rect, char *to, const char *from)
{
    for (size_t slice = 0; slice < rect->region[2]; slice++)
        for (size_t row = 0; row < rect->region[1]; row++) {
            char *there = to + rect->to + slice * rect->to_slice + row * rect->to_row;
            const char *here =
                from + rect->from + slice * rect->from_slice + row * rect->from_row;

            if (there != here)
                memmove(there, here, rect->region[0]);
        }
}

/* Both sides have the same pitches then. */
bool socl_rect_overlaps(const struct socl_rect *rect)
{
    size_t to = rect->to, from = rect->from;
    size_t apart[3] = {to % rect->to_row, from % rect->to_row};

    apart[0] = apart[0] > apart[1] ? apart[0] - apart[1] : apart[1] - apart[0];
    to /= rect->to_row;
    from /= rect->to_row;
    apart[1] = to % (rect->to_slice / rect->to_row);
    apart[2] = from % (rect->to_slice / rect->to_row);
    apart[1] = apart[1] > apart[2] ? apart[1] - apart[2] : apart[2] - apart[1];
    to /= rect->to_slice / rect->to_row;
    from /= rect->to_slice / rect->to_row;
    apart[2] = to > from ? to - from : from - to;
    return apart[0] < rect->region[0] && apart[1] < rect->region[1] &&
           apart[2] < rect->region[2];
}

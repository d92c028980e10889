/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/lanes.c - see lanes.h. */
#include "core/observe/lanes.h"

#include "core/base/grow.h"

#include <errno.h>
#include <stdlib.h>

int orr_lanes_take(struct orr_lanes *lanes, double start, double end,
                   bool *ret_new)
{
    unsigned lane = 0;
    double *end_of_new;

    while (lane < lanes->n && lanes->ends[lane] > start)
        lane++;
    *ret_new = lane == lanes->n;
    if (*ret_new) {
        end_of_new = orr_array_add(lanes->ends, lanes->n);
        if (!end_of_new)
            return -ENOMEM;
    }
    lanes->ends[lane] = end;
    return (int)lane;
}

void orr_lanes_free(struct orr_lanes *all, size_t n)
{
    for (size_t i = 0; all && i < n; i++)
        free(all[i].ends);
    free(all);
}

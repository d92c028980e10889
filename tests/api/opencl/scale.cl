/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "factor.h"

__kernel void scale(__global char *v, ulong offset, uint n)
{
    __global long *x = (__global long *)(v + offset);
    uint i = get_global_id(0);

    if (i < n)
        x[i] = x[i] * FACTOR + MORE;
}

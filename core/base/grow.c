/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/grow.c - see grow.h. The pointer is copied, since it is one to elements of
 * some type and not to void. */
#include "core/base/grow.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int orr_grow(void *items, size_t *room, size_t n, size_t size)
{
    size_t more = n + n / 2 + 64;
    void *old;
    char *moved;

    if (n <= *room)
        return 0;
    memcpy(&old, items, sizeof(old));
    moved =
        more < n || more > SIZE_MAX / size ? NULL : realloc(old, more * size);
    if (!moved)
        return -ENOMEM;
    memset(moved + *room * size, 0, (more - *room) * size);
    memcpy(items, &moved, sizeof(moved));
    *room = more;
    return 0;
}

bool orr_array_reserve(void *array, size_t n, size_t size)
{
    void *elements;

    memcpy(&elements, array, sizeof(elements));
    if ((n & (n - 1)) == 0) {
        /* More, and a number of 32 bits would come to its end. */
        elements = n < UINT32_MAX / 2
                       ? realloc(elements, (n ? 2 * n : 1) * size)
                       : NULL;
        if (!elements)
            return false;
        memcpy(array, &elements, sizeof(elements));
    }
    memset((char *)elements + n * size, 0, size);
    return true;
}

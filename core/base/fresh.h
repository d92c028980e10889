/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/fresh.h - zeroed memory for objects that come and go with each message. As
 * calloc, which of glibc up to 2.40 does not give what this thread has freed last: that is
 * found at once, and still in the processor's cache.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

/* NULL without memory. The caller ends it with free. */
static inline void *orr_fresh(size_t size)
{
    void *memory = malloc(size);

    if (!memory)
        return NULL;
    __asm__("" : "+r"(memory)); /* compilers make calloc of the two */
    return memset(memory, 0, size);
}

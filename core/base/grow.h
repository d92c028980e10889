/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/grow.h - arrays that grow: one place for the sums that may overflow. One
 * thread per array. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* `items`: the address of a pointer to the array, which is the caller's, of elements of
 * that size; *room: how many it has room for, those of them that are new are zero. Makes
 * it at least `n`, and half as many more where it is not. Errors: -ENOMEM, then all is
 * as it was. */
int orr_grow(void *items, size_t *room, size_t n, size_t size);

/* A new element, all zero, behind the `n` that the array has, which counts it; NULL
 * without memory, then all is as it was. `array` is the pointer to the elements, NULL
 * for none, `n` the variable with their number. There is always room for the next power
 * of two, so that none is kept: for arrays to which nothing is added otherwise. */
#define orr_array_add(array, n)                                                \
    (orr_array_reserve(&(array), (n), sizeof(*(array))) ? &(array)[(n)++]      \
                                                        : NULL)

/* Whether there is room for one more, which is zero now. */
bool orr_array_reserve(void *array, size_t n, size_t size);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/grow.h - arrays that grow: one place for the sums that may overflow. One
 * thread per array. */
#pragma once

#include <stddef.h>

/* `items`: the address of a pointer to the array, which is the caller's, of elements of
 * that size; *room: how many it has room for, those of them that are new are zero. Makes
 * it at least `n`, and half as many more where it is not. Errors: -ENOMEM, then all is
 * as it was. */
int orr_grow(void *items, size_t *room, size_t n, size_t size);

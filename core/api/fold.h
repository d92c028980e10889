/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/fold.h - address space without content: large allocations of a
 * simulation map the same pages of one file again and again. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes the address of `size` bytes, > 0, page aligned, whose content is
 * shared with all other such allocations. Errors: -ENOMEM. */
int orr_fold_map(size_t size, void **ret);

/* Ends an allocation of orr_fold_map; false for any other address. */
bool orr_fold_unmap(void *address);

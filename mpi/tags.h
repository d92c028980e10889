/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/tags.h - ranges of tags that the application has been given. The program's: they are
 * there before the first rank and after the last. Any thread.
 */
#pragma once

#include <stdint.h>

/* All lie below this. */
#define ORR_MOST_TAGS (INT64_C(1) << 46)

/* The first of n tags in a row that nobody has, the lowest there are; n > 0. Errors:
 * -ENOSPC, there is no such range; -ENOMEM. */
int64_t orr_tags_take(int64_t n);

/* Gives back the range that begins with `first`. -EINVAL: none does. */
int orr_tags_give(int64_t first);

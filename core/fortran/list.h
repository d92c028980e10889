/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/fortran/list.h - the list of fstarpu_task_insert, for it and its sibling of
 * several ranks.
 */
#pragma once

#include "core/api/insertion.h"

/* Reads an array of addresses: the codelet, then tags with what follows them, up to a NULL
 * in the place of a tag. Handles, functions, other addresses, sizes and
 * STARPU_EXECUTE_WHERE are in it as they are, numbers (priorities, tags, lengths of arrays
 * …) by their addresses, which are read at once. Of the task's name and file there are
 * copies, which stay. Errors, after a message: -EINVAL, -ENOMEM; then nothing is to be
 * ended. */
int orr_insertion_decode_list(struct orr_insertion *insertion, const char *call,
                              void *const *list);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/fortran/list.h - the list of fstarpu_task_insert, for it and its sibling of
 * several ranks.
 */
#pragma once

#include "core/api/insertion.h"

/* Reads an array that begins with the codelet, then as orr_insertion_decode_array; of the
 * task's name and file there are copies, which stay. Errors, after a message: -EINVAL,
 * -ENOMEM; then nothing is to be ended. */
int orr_insertion_decode_list(struct orr_insertion *insertion, const char *call,
                              void *const *list);

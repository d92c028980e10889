/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/trace/join_ranks.h - the traces of several ranks as one. One thread. */
#pragma once

#include <stddef.h>

#include "core/base/error.h"

/* Writes, to `path`, what the files of ranks 0 to n - 1 have, in the Trace Event Format as
 * the library writes it: processes by rank, on the clock of rank 0, with an arrow for each
 * message. *ret_arrows: how many. All or nothing. Errors: -EINVAL, -ENOMEM, and those of
 * files, in `err`. */
int join_ranks(char *const *files, unsigned n, const char *path, size_t *ret_arrows,
               struct orr_error *err);

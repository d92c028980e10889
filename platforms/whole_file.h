/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/whole_file.h - files that are read at once. Any thread.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "core/base/error.h"

/* Reads the regular file `path`. *ret_text is owned by the caller (free), has
 * *ret_size bytes and a 0 behind them. Errors: -EFBIG over `limit` bytes,
 * -EINVAL not a regular file, -ENOMEM, those of the system; with a message. */
int orr_file_read(const char *path, size_t limit, char **ret_text,
                  size_t *ret_size, struct orr_error *err);

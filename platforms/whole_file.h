/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/whole_file.h - files that are read at once, and files that appear
 * whole or not at all. Any thread.
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

/* A file being written, under another name in the same folder. A device or a pipe, such
 * as /dev/stdout, is written to itself: nothing may take its place. */
struct orr_new_file {
    FILE *out; /* write here; errors are found at commit */
    char *path, *temporary; /* owned; temporary NULL: a device */
};

/* Every begin that returned 0 is followed by one commit or one abandon. Errors
 * with a message; nothing is left behind. */
int orr_new_file_begin(struct orr_new_file *file, const char *path,
                       struct orr_error *err);
int orr_new_file_commit(struct orr_new_file *file, struct orr_error *err);
void orr_new_file_abandon(struct orr_new_file *file);

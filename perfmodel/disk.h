/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/disk.h - files that others may be reading and writing: opened,
 * locked, read whole, written beside and renamed. Any thread; locks belong to
 * open file descriptions, so that threads of one process exclude each other as
 * well.
 */
#pragma once

#include <stddef.h>
#include <sys/stat.h>

#include "core/base/error.h"

/* Makes a message for -errno, "path: what: reason", with the remedy when
 * permission is missing. Returns -errno. */
int orr_disk_fail(struct orr_error *err, const char *what, const char *path);

/* Opens a regular file. Errors: -ENOENT, without a message, when there is none;
 * others with a message. */
int orr_disk_open(const char *path, int flags, int *ret, struct orr_error *err);

/* Takes a lock of type F_RDLCK or F_WRLCK, waiting as long as it takes. File
 * systems without locks are used without. Errors: -errno, no message. */
int orr_disk_lock(int fd, short kind);

/* Reads all of a file. *ret is for the caller to free(); it has room for one
 * byte more than was read. */
int orr_disk_read(int fd, const char *path, char **ret, size_t *ret_size,
                  struct orr_error *err);

/* The same, but no more than is needed to see `mark`; ends behind it. */
int orr_disk_read_until(int fd, const char *path, const char *mark, char **ret,
                        size_t *ret_size, struct orr_error *err);

/* Writes a new file `path`, replacing what is left of an earlier attempt, and
 * waits until it is on the disk. mode 0: the usual. On failure there is no
 * such file. */
int orr_disk_write(const char *path, const char *text, size_t size, mode_t mode,
                   struct orr_error *err);

/* Makes `path` hold the text in one step, through a temporary file beside it;
 * makes the directory. */
int orr_disk_replace(const char *path, const char *text, size_t size,
                     struct orr_error *err);

/* Waits until renames in the directory are on the disk, where that is
 * possible. */
void orr_disk_sync_directory(const char *path);

/* Makes the directory `path` and those above it, with mode 0700. */
int orr_directory_make(const char *path, struct orr_error *err);

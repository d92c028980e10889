/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmodel/disk.c - see disk.h. Any thread, no state. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include "perfmodel/disk.h"
#include "core/base/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE_MAX_BYTES ((size_t)1 << 30) /* no model file is that large */

int orr_disk_lock(int fd, short kind)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET};

    while (fcntl(fd, F_OFD_SETLKW, &lock)) {
        if (errno == EINVAL || errno == ENOLCK || errno == EOPNOTSUPP ||
            errno == ENOSYS)
            return 0;
        if (errno != EINTR)
            return -errno;
    }
    return 0;
}

int orr_disk_fail(struct orr_error *err, const char *what, const char *path)
{
    int code = -errno;
    bool forbidden = code == -EACCES || code == -EROFS || code == -EPERM ||
                     code == -ENOTDIR;

    return orr_fail(err, code, "%s: %s: %s.%s", path, what, strerror(-code),
                    forbidden ? " Set STARPU_PERF_MODEL_DIR to a directory "
                                "that can be written."
                              : "");
}

/* Makes room for more behind the `size` bytes there are, and for a NUL. */
static int text_reserve(char **text, size_t size, size_t *room)
{
    char *bigger;

    if (*text && size + 1 < *room)
        return 0;
    if (size > SIZE_MAX_BYTES)
        return -EFBIG;
    bigger = realloc(*text, *room ? 2 * *room : 8192);
    if (!bigger)
        return -ENOMEM;
    *room = *room ? 2 * *room : 8192;
    *text = bigger;
    return 0;
}

/* Where `mark` ends in the text, 0 without it. The text before `seen` was
 * searched earlier. */
static size_t mark_end(const char *text, size_t size, size_t seen,
                       const char *mark)
{
    size_t length = strlen(mark), from = seen > length ? seen - length : 0;
    const char *found = memmem(text + from, size - from, mark, length);

    return found ? (size_t)(found - text) + length : 0;
}

int orr_disk_read_until(int fd, const char *path, const char *mark, char **ret,
                        size_t *ret_size, struct orr_error *err)
{
    size_t room = 0, size = 0, end = 0;
    char *text = NULL;
    ssize_t got = 1;
    int rc = 0;

    while (!rc && got != 0 && end == 0) {
        rc = text_reserve(&text, size, &room);
        if (rc)
            break;
        got = pread(fd, text + size, room - size - 1, (off_t)size);
        if (got < 0 && errno != EINTR)
            rc = -errno;
        if (got <= 0)
            continue;
        size += (size_t)got;
        if (mark)
            end = mark_end(text, size, size - (size_t)got, mark);
    }
    if (rc) {
        free(text);
        return orr_fail(err, rc, "%s: cannot be read: %s.", path,
                        strerror(-rc));
    }
    *ret = text;
    *ret_size = end ? end : size;
    return 0;
}

int orr_disk_read(int fd, const char *path, char **ret, size_t *ret_size,
                  struct orr_error *err)
{
    return orr_disk_read_until(fd, path, NULL, ret, ret_size, err);
}

int orr_disk_open(const char *path, int flags, int *ret, struct orr_error *err)
{
    struct stat st;
    /* O_NONBLOCK: a pipe of that name must not block. */
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 && errno == ENOENT)
        return -ENOENT;
    if (fd < 0)
        return orr_disk_fail(err, "cannot be opened", path);
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return orr_fail(err, -EINVAL,
                        "%s: not a regular file; move it out of the way.",
                        path);
    }
    *ret = fd;
    return 0;
}

int orr_directory_make(const char *path, struct orr_error *err)
{
    size_t length = strlen(path);
    char *part = strdup(path);
    struct stat st;

    if (!part)
        return orr_fail(err, -ENOMEM, "%s: out of memory.", path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        part[i] = '\0';
        /* A parent without permission may exist all the same; the last step
         * will fail otherwise. */
        (void)mkdir(part, 0700);
        part[i] = path[i];
    }
    free(part);
    if (stat(path, &st))
        return orr_disk_fail(err, "the directory cannot be made", path);
    if (!S_ISDIR(st.st_mode))
        return orr_fail(err, -ENOTDIR, "%s: not a directory.", path);
    return 0;
}

static int write_whole_text(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, text, size);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -errno;
        text += put;
        size -= (size_t)put;
    }
    return 0;
}

int orr_disk_write(const char *path, const char *text, size_t size, mode_t mode,
                   struct orr_error *err)
{
    int fd, rc;

    unlink(path); /* left by a process that was killed */
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return orr_disk_fail(err, "cannot be made", path);
    rc = write_whole_text(fd, text, size);
    if (!rc && mode)
        (void)fchmod(fd, mode); /* as far as permitted */
    if (!rc && fsync(fd))
        rc = -errno;
    if (close(fd) && !rc)
        rc = -errno;
    if (!rc)
        return 0;
    unlink(path);
    return orr_fail(err, rc, "%s: cannot be written: %s.", path, strerror(-rc));
}

void orr_disk_sync_directory(const char *path)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        return;
    (void)fsync(dir); /* not every file system can */
    close(dir);
}

int orr_disk_replace(const char *path, const char *text, size_t size,
                     struct orr_error *err)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    int rc = dir ? orr_directory_make(dir, err)
                 : orr_fail(err, -ENOMEM, "%s: out of memory.", path);

    free(dir);
    if (rc)
        return rc;
    rc = orr_result_write(path, text, size);
    return rc ? orr_fail(err, rc, "%s: cannot be written: %s.", path, strerror(-rc)) : 0;
}

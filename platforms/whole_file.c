/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/whole_file.c - see whole_file.h. No state. */
#include "platforms/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_errno(struct orr_error *err, int code, const char *path,
                      const char *what)
{
    return orr_fail(err, code, "%s: %s: %s", path, what, strerror(-code));
}

/* Reads until the end, also of files that grow meanwhile. */
static int read_until_end(int fd, size_t limit, char **ret_text,
                          size_t *ret_size)
{
    size_t size = 0, room = 16384;
    char *text = malloc(room + 1), *larger;
    ssize_t n;

    while (text) {
        n = read(fd, text + size, room - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            goto fail;
        if (n == 0)
            break;
        size += (size_t)n;
        if (size > limit) {
            errno = EFBIG;
            goto fail;
        }
        if (size < room)
            continue;
        room *= 2;
        larger = realloc(text, room + 1);
        if (!larger) {
            errno = ENOMEM;
            goto fail;
        }
        text = larger;
    }
    if (!text)
        return -ENOMEM;
    text[size] = '\0';
    *ret_text = text;
    *ret_size = size;
    return 0;
fail:;
    int code = -errno;

    free(text);
    return code;
}

int orr_file_read(const char *path, size_t limit, char **ret_text,
                  size_t *ret_size, struct orr_error *err)
{
    struct stat status;
    int fd, rc = 0;

    /* Not blocking, so that a pipe of that name cannot block. */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_errno(err, -errno, path, "cannot be opened");
    if (fstat(fd, &status) < 0)
        rc = fail_errno(err, -errno, path, "cannot be read");
    else if (!S_ISREG(status.st_mode))
        rc = orr_fail(err, -EINVAL, "%s: not a regular file", path);
    if (rc)
        goto close_fd;
    rc = read_until_end(fd, limit, ret_text, ret_size);
    if (rc == -EFBIG)
        orr_fail(err, rc,
                 "%s: larger than %zu bytes, more than any machine "
                 "needs",
                 path, limit);
    else if (rc)
        fail_errno(err, rc, path, "cannot be read");
close_fd:
    close(fd);
    return rc;
}

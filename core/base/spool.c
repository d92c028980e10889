/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/spool.c - see spool.h. */
#include "core/base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For file systems without files that never had a name. */
static int open_and_unlink(char *folder, size_t n)
{
    int fd;

    strcpy(folder + n, "/.orrery-XXXXXX");
    fd = mkostemp(folder, O_CLOEXEC);
    if (fd >= 0)
        unlink(folder);
    return fd;
}

static int open_unnamed_in(char *folder, size_t n)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    return fd >= 0 ? fd : open_and_unlink(folder, n);
}

int orr_spool_open(const char *path, FILE **ret)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 1;
    char *folder = malloc(n + 32);
    int fd, rc;

    if (!folder)
        return -ENOMEM;
    memcpy(folder, slash ? path : ".", n);
    folder[n] = '\0';
    fd = open_unnamed_in(folder, n);
    rc = fd < 0 ? -errno : 0;
    free(folder);
    if (rc)
        return rc;
    *ret = fdopen(fd, "w+e");
    if (!*ret) {
        rc = -errno;
        close(fd);
    }
    return rc;
}

static int write_all(int to, const char *bytes, ssize_t n)
{
    while (n > 0) {
        ssize_t done = write(to, bytes, (size_t)n);

        if (done < 0)
            return -errno;
        bytes += done;
        n -= done;
    }
    return 0;
}

/* For systems that cannot copy from file to file themselves. */
static int copy_by_hand(int from, int to)
{
    enum { SIZE = 1 << 16 };
    char *buffer = malloc(SIZE);
    ssize_t n = 1;
    int rc = buffer ? 0 : -ENOMEM;

    while (rc == 0 && n > 0) {
        n = read(from, buffer, SIZE);
        rc = n < 0 ? -errno : write_all(to, buffer, n);
    }
    free(buffer);
    return rc;
}

int orr_spool_append(FILE *spool, size_t begin, FILE *file)
{
    enum { MOST = 1 << 30 };
    int from = fileno(spool), to = fileno(file);
    ssize_t n;
    int rc;

    if (ferror(spool))
        return -EIO;
    if (fflush(spool) != 0 || fflush(file) != 0 ||
        lseek(from, (off_t)begin, SEEK_SET) < 0)
        return -errno;
    do
        n = copy_file_range(from, NULL, to, NULL, MOST, 0);
    while (n > 0);
    if (n < 0 && errno == ENOSPC)
        return -ENOSPC;
    rc = n < 0 ? copy_by_hand(from, to) : 0;
    if (!rc && fseeko(file, 0, SEEK_END) < 0)
        rc = -errno;
    return rc;
}

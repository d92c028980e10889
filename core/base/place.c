/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/place.c - see place.h. */
#include "core/base/place.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The stream of the process that is this file, or -1. */
static int stream_of(const struct stat *file)
{
    struct stat st;

    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &st) == 0 && st.st_dev == file->st_dev &&
            st.st_ino == file->st_ino)
            return fd;
    return -1;
}

bool orr_place_is_fixed(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
        return false;
    return !S_ISREG(st.st_mode) || stream_of(&st) >= 0;
}

FILE *orr_place_open(const char *path)
{
    struct stat st;
    int stream = -1, fd;
    FILE *file;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        stream = stream_of(&st);
    if (stream < 0)
        return fopen(path, "we");
    /* Copies the descriptor, with its offset; output that the process has
     * buffered comes before. */
    fflush(stream == STDOUT_FILENO ? stdout : stderr);
    fd = fcntl(stream, F_DUPFD_CLOEXEC, 0);
    file = fd < 0 ? NULL : fdopen(fd, "we");
    if (!file && fd >= 0)
        close(fd);
    return file;
}

char *orr_place_of(const char *path)
{
    struct stat st;
    char *target = NULL;

    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        target = realpath(path, NULL);
    return target ? target : strdup(path);
}

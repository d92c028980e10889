/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replay/jobs.c - see jobs.h. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* environ */
#endif
#include "replay/jobs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <starpu.h>

/* Far more than the settings of any command. */
enum { MOST_BYTES = 1 << 24 };

static bool read_whole(int socket, void *to, size_t size)
{
    char *at = to;

    while (size > 0) {
        ssize_t n = read(socket, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* The texts of the next job, owned; NULL: there is none. */
static char *next_job(int socket, size_t *ret_size)
{
    uint32_t size;
    char *texts;

    if (!read_whole(socket, &size, sizeof(size)) || size == 0 || size > MOST_BYTES)
        return NULL;
    texts = malloc(size);
    if (!texts || !read_whole(socket, texts, size) || texts[size - 1] != '\0') {
        free(texts);
        return NULL;
    }
    *ret_size = size;
    return texts;
}

/* That of the process, as it was, with these settings, which the environment borrows. */
static int set_environment(char *const *before, char *settings, const char *end)
{
    if (clearenv() != 0)
        return -1;
    for (; *before; before++)
        if (putenv(*before) != 0)
            return -1;
    for (; settings < end; settings += strlen(settings) + 1)
        if (strchr(settings, '=') ? putenv(settings) != 0 : unsetenv(settings) != 0)
            return -1;
    return 0;
}

/* What the environment was has its own array: putenv works in place. */
static char **copy_environment(void)
{
    size_t n = 0;
    char **copy;

    while (environ && environ[n])
        n++;
    copy = calloc(n + 1, sizeof(*copy));
    if (copy && n)
        memcpy(copy, environ, n * sizeof(*copy));
    return copy;
}

static bool answer(int socket, int status)
{
    ssize_t n;

    fflush(NULL);
    do {
        n = send(socket, &status, sizeof(status), MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n == sizeof(status);
}

int jobs_serve(int socket, int (*play)(const char *path))
{
    char **before = copy_environment();
    char *job = NULL, *next;
    size_t size;

    if (!before)
        return 1;
    while ((next = next_job(socket, &size))) {
        int status = set_environment(before, next + strlen(next) + 1, next + size);

        free(job); /* the environment borrowed it */
        job = next;
        /* The record before may have changed it. */
        starpu_data_set_default_sequential_consistency_flag(1);
        if (status == 0)
            status = play(job);
        /* Its run may still be open, and write files at the end of the process. */
        if (status != 0)
            exit(1);
        if (!answer(socket, status))
            break;
    }
    (void)set_environment(before, NULL, NULL);
    free(job);
    free(before);
    return 0;
}

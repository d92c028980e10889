/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/child.c - see child.h. */
#include "tests/unit/child.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static bool in_child;

/* Called by the leak checker, where there is one, when the process ends. It
 * knows no stacks but the one that exit was called on, and so reports what
 * others hold. */
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
    return in_child;
}

static void read_all(int fd, char *text, size_t size)
{
    size_t n = 0;
    char rest[256];
    ssize_t got;

    while (n + 1 < size && (got = read(fd, text + n, size - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    while (read(fd, rest, sizeof(rest)) > 0)
        ; /* so that the child never blocks on a full pipe */
}

int child_run(void (*body)(void *), void *arg, char *text, size_t size)
{
    int ends[2], status = -1;
    pid_t pid;

    fflush(NULL);
    if (pipe(ends) != 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        in_child = true;
        body(arg);
        fflush(NULL);
        _exit(EXIT_SUCCESS);
    }
    close(ends[1]);
    if (pid > 0) {
        read_all(ends[0], text, size);
        waitpid(pid, &status, 0);
    }
    close(ends[0]);
    return status;
}

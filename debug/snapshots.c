/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* debug/snapshots.c - see snapshots.h. */
#include "debug/snapshots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- what a copy shares with the others: where their files are read and written --- */

enum { FILES = 256 };

struct offsets {
    unsigned n;
    struct {
        int fd;
        off_t at;
    } files[FILES];
};

static void note_offsets(struct offsets *offsets)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    struct stat st;

    offsets->n = 0;
    while (folder && (entry = readdir(folder)) && offsets->n < FILES) {
        int fd = (int)strtol(entry->d_name, NULL, 10);

        if (*entry->d_name == '.' || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        offsets->files[offsets->n].fd = fd;
        offsets->files[offsets->n++].at = lseek(fd, 0, SEEK_CUR);
    }
    if (folder)
        closedir(folder);
}

static void set_offsets(const struct offsets *offsets)
{
    for (unsigned i = 0; i < offsets->n; i++)
        if (offsets->files[i].at >= 0)
            lseek(offsets->files[i].fd, offsets->files[i].at, SEEK_SET);
}

/* --- copies --- */

static unsigned count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    unsigned n = 0;

    while (folder && (entry = readdir(folder)))
        n += *entry->d_name != '.';
    if (folder)
        closedir(folder);
    return n;
}

/* 0 in the copy, whose parent is none of ours; 1 in the process that was copied; -1. */
static int copy_process(void)
{
    sigset_t child, before;
    pid_t middle;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    middle = fork();
    if (middle == 0) {
        pid_t copy = fork();

        if (copy == 0) {
            sigprocmask(SIG_SETMASK, &before, NULL);
            return 0;
        }
        _exit(copy < 0);
    }
    if (middle > 0) {
        int status = 1;

        while (waitpid(middle, &status, 0) < 0 && errno == EINTR)
            ;
        middle = status ? -1 : 1;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return (int)middle;
}

static void say(const struct debug_channel *channel, int fd, const char *member,
                unsigned long long number, const char *refused)
{
    char text[200];
    int n = snprintf(text, sizeof(text), "{\"%s\":%llu,\"pid\":%ld%s%s%s}\n", member, number,
                     (long)getpid(), refused ? ",\"refused\":\"" : "", refused ? refused : "",
                     refused ? "\"" : "");

    debug_channel_write(channel, text, (size_t)n, fd);
}

/* From now on the channel is that socket, under the number that it had: runs that begin later
 * find it where the environment says. */
static void take_socket(struct debug_channel *channel, int fd)
{
    int number = channel->fd;

    if (fd != number) {
        dup3(fd, number, O_CLOEXEC);
        close(fd);
    }
    *channel = (struct debug_channel){.fd = number};
}

/* The snapshot: waits, and returns in each copy that goes on. */
static void stand_by(struct debug_channel *channel, unsigned long long number)
{
    struct debug_channel own = *channel;
    struct debug_line line;
    struct offsets offsets;
    int pair[2];

    note_offsets(&offsets);
    say(&own, -1, "stands", number, NULL);
    for (;;) {
        debug_channel_read(&own, &line);
        if (strcmp(line.words[0], "resume") != 0)
            _exit(0);
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
            _exit(1);
        if (copy_process() == 0) {
            close(pair[1]);
            take_socket(channel, pair[0]);
            set_offsets(&offsets);
            return;
        }
        say(&own, pair[1], "resumed", number, NULL);
        close(pair[0]);
        close(pair[1]);
    }
}

enum debug_copy debug_snapshot(struct debug_channel *channel, unsigned long long number)
{
    int pair[2], copied;

    if (count_threads() != 1) {
        say(channel, -1, "snapshot", number, "threads");
        return DEBUG_COPY_NONE;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        say(channel, -1, "snapshot", number, "memory");
        return DEBUG_COPY_NONE;
    }
    copied = copy_process();
    if (copied == 0) {
        close(pair[1]);
        take_socket(channel, pair[0]);
        stand_by(channel, number);
        return DEBUG_COPY_RESUMED;
    }
    say(channel, copied < 0 ? -1 : pair[1], "snapshot", number, copied < 0 ? "memory" : NULL);
    close(pair[0]);
    close(pair[1]);
    return copied < 0 ? DEBUG_COPY_NONE : DEBUG_COPY_MADE;
}

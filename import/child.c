/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/child.c - see child.h. */
#include "import/child.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "import/whole.h"

extern char **environ;

int child_start(struct flow *flow, char *const words[], const char *install, pid_t *ret,
                int *ret_fd)
{
    posix_spawn_file_actions_t actions;
    int ends[2], rc;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return orr_fail(flow->err, -errno, "%s: %s", flow->path, strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    rc = posix_spawnp(ret, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (rc) {
        close(ends[0]);
        return orr_fail(flow->err, -rc, "%s: %s, which reads such files, cannot be started: "
                                        "%s; %s",
                        flow->path, words[0], strerror(rc), install);
    }
    *ret_fd = ends[0];
    return 0;
}

int child_end(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

int child_text(struct flow *flow, char *const words[], const char *install, char **ret,
               size_t *ret_size, int *ret_status)
{
    pid_t child;
    int fd, rc = child_start(flow, words, install, &child, &fd);

    if (rc)
        return rc;
    rc = whole_read(flow, fd, ret, ret_size);
    close(fd);
    *ret_status = child_end(child);
    return rc;
}

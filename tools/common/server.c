/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/server.c - see server.h. process.c starts them and waits for them. */
#include "tools/common/server.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Without `to` only counts. Returns the bytes. */
static size_t put_text(char *to, size_t at, const char *text)
{
    size_t n = strlen(text) + 1;

    if (to)
        memcpy(to + at, text, n);
    return n;
}

static size_t put_job(char *to, const char *record, const char *const *settings)
{
    size_t n = put_text(to, 0, record);

    for (; settings && *settings; settings++)
        n += put_text(to, n, *settings);
    return n;
}

static bool send_whole(int socket, const void *from, size_t size)
{
    const char *at = from;

    while (size > 0) {
        ssize_t n = send(socket, at, size, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

bool server_begin(struct server *server, const char *record,
                  const char *const *settings)
{
    uint32_t size = (uint32_t)put_job(NULL, record, settings);
    char *job = malloc(size);
    bool sent;

    if (!job)
        return false;
    put_job(job, record, settings);
    sent = send_whole(server->socket, &size, sizeof(size)) &&
           send_whole(server->socket, job, size);
    free(job);
    server->works = sent;
    return sent;
}

bool server_has_ended_job(struct server *server)
{
    int status;
    ssize_t n;

    do {
        n = recv(server->socket, &status, sizeof(status), MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    return n == sizeof(status);
}

void server_end(struct server *server)
{
    if (server->socket >= 0)
        close(server->socket);
    if (server->output >= 0)
        close(server->output);
    while (server->pid > 0 && waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(server->program);
    *server = (struct server){.socket = -1, .output = -1};
}

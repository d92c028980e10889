/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/watch/http.c - see http.h. The path has 128 random bits, since other users of the
 * machine reach its loopback as well; the name of the host is looked at, so that a page
 * from elsewhere whose name leads here gets nothing.
 */
#include "tools/watch/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/common/tool.h"

enum {
    CLIENTS = 64,
    REQUEST = 8192,     /* bytes of one, at most */
    BACKLOG = 1 << 20,  /* bytes that a slow stream may have before it misses events */
    TOKEN = 16,         /* bytes */
};

struct client {
    int fd; /* -1: none */
    size_t n; /* bytes of the request */
    char request[REQUEST];
    char *out; /* owned: what is to be sent … */
    size_t nout, sent, room;
    bool answered, streams;
};

struct http {
    int listener, epoll;
    unsigned port;
    http_answer_fn *answer;
    void *arg;
    unsigned ever;
    char token[2 * TOKEN + 1];
    char address[96];
    struct client clients[CLIENTS];
};

/* --- clients --- */

static void drop(struct http *http, struct client *client)
{
    epoll_ctl(http->epoll, EPOLL_CTL_DEL, client->fd, NULL);
    close(client->fd);
    free(client->out);
    client->out = NULL;
    client->fd = -1;
}

/* What is to be said of it to epoll. */
static void await(struct http *http, struct client *client, int op)
{
    struct epoll_event event = {
        .events = EPOLLIN | (client->sent < client->nout ? EPOLLOUT : 0U),
        .data.ptr = client};

    epoll_ctl(http->epoll, op, client->fd, &event);
}

static void flush_out(struct http *http, struct client *client)
{
    while (client->sent < client->nout) {
        ssize_t n = send(client->fd, client->out + client->sent, client->nout - client->sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (n <= 0) {
            drop(http, client);
            return;
        }
        client->sent += (size_t)n;
    }
    if (client->sent == client->nout) {
        client->sent = client->nout = 0;
        if (client->answered && !client->streams) {
            drop(http, client);
            return;
        }
    }
    await(http, client, EPOLL_CTL_MOD);
}

/* Without memory the client is dropped by whoever looks at `answered`. */
static void put(struct client *client, const char *text, size_t size)
{
    if (client->nout + size > client->room) {
        size_t room = 2 * (client->nout + size);
        char *out = realloc(client->out, room);

        if (!out)
            return;
        client->out = out;
        client->room = room;
    }
    memcpy(client->out + client->nout, text, size);
    client->nout += size;
}

static void put_head(struct client *client, const char *status, const char *type, long size)
{
    char head[512], length[64] = "";
    int n;

    if (size >= 0)
        snprintf(length, sizeof(length), "Content-Length: %ld\r\n", size);
    n = snprintf(head, sizeof(head),
                 "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\n%s"
                 "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
                 "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
                 status, type, length);
    put(client, head, (size_t)n);
}

static void put_refusal(struct client *client, const char *status)
{
    put_head(client, status, "text/plain", (long)strlen(status) + 1);
    put(client, status, strlen(status));
    put(client, "\n", 1);
}

/* --- requests --- */

/* Whether the request names this machine as its host. */
static bool is_for_us(const struct http *http, const char *request)
{
    char ours[64], named[64];
    const char *line = strcasestr(request, "\r\nHost:");

    if (!line)
        return false;
    snprintf(ours, sizeof(ours), "127.0.0.1:%u", http->port);
    snprintf(named, sizeof(named), "localhost:%u", http->port);
    line += strlen("\r\nHost:");
    line += strspn(line, " \t");
    return (!strncmp(line, ours, strlen(ours)) && line[strlen(ours)] == '\r') ||
           (!strncasecmp(line, named, strlen(named)) && line[strlen(named)] == '\r');
}

/* Compares all bytes, whichever differ. */
static bool has_token(const struct http *http, const char *path)
{
    unsigned char differs = 0;

    if (*path != '/' || strlen(path) < 2 * TOKEN + 2 || path[2 * TOKEN + 1] != '/')
        return false;
    for (int i = 0; i < 2 * TOKEN; i++)
        differs |= (unsigned char)(path[1 + i] ^ http->token[i]);
    return !differs;
}

static void answer(struct http *http, struct client *client)
{
    char *path = client->request + 4, *end, *query;
    struct http_answer got;
    bool ours = is_for_us(http, client->request);

    client->answered = true;
    if (strncmp(client->request, "GET ", 4) != 0) {
        put_refusal(client, "405 Method Not Allowed");
        return;
    }
    end = path + strcspn(path, " \r\n");
    *end = '\0';
    query = strchr(path, '?');
    if (query)
        *query++ = '\0';
    if (!ours || !has_token(http, path)) {
        put_refusal(client, "404 Not Found");
        return;
    }
    got = http->answer(http->arg, path + 2 * TOKEN + 2, query ? query : "");
    if (!got.body) {
        put_refusal(client, "404 Not Found");
        return;
    }
    put_head(client, "200 OK", got.type, got.streams ? -1 : (long)got.size);
    put(client, got.body, got.size);
    free(got.body);
    client->streams = got.streams;
    http->ever += got.streams;
}

static void take(struct http *http, struct client *client)
{
    size_t room = REQUEST - 1 - client->n;
    char rest[512];
    ssize_t n = client->answered ? recv(client->fd, rest, sizeof(rest), MSG_DONTWAIT)
                                 : recv(client->fd, client->request + client->n, room,
                                        MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (n <= 0) {
        drop(http, client);
        return;
    }
    if (client->answered)
        return;
    client->n += (size_t)n;
    client->request[client->n] = '\0';
    if (strstr(client->request, "\r\n\r\n")) {
        answer(http, client);
    } else if (client->n == REQUEST - 1) {
        client->answered = true;
        put_refusal(client, "431 Request Header Fields Too Large");
    } else {
        return;
    }
    flush_out(http, client);
}

static void accept_one(struct http *http)
{
    int fd = accept4(http->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct client *client = NULL;

    if (fd < 0)
        return;
    for (unsigned i = 0; i < CLIENTS && !client; i++)
        if (http->clients[i].fd < 0)
            client = &http->clients[i];
    if (!client) {
        close(fd);
        return;
    }
    *client = (struct client){.fd = fd};
    await(http, client, EPOLL_CTL_ADD);
}

void http_serve(struct http *http)
{
    struct epoll_event events[16];
    int n;

    do {
        n = epoll_wait(http->epoll, events, 16, 0);
        for (int i = 0; i < n; i++) {
            struct client *client = events[i].data.ptr;

            if (!client)
                accept_one(http);
            else if (client->fd >= 0 && events[i].events & EPOLLOUT)
                flush_out(http, client);
            else if (client->fd >= 0)
                take(http, client);
        }
    } while (n == 16);
}

void http_send(struct http *http, const char *event, const char *text, bool important)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct client *client = &http->clients[i];

        if (client->fd < 0 || !client->streams ||
            (!important && client->nout - client->sent > BACKLOG))
            continue;
        put(client, "event: ", 7);
        put(client, event, strlen(event));
        put(client, "\ndata: ", 7);
        put(client, text, strlen(text));
        put(client, "\n\n", 2);
        flush_out(http, client);
    }
}

unsigned http_streams(const struct http *http)
{
    unsigned n = 0;

    for (unsigned i = 0; i < CLIENTS; i++)
        n += http->clients[i].fd >= 0 && http->clients[i].streams;
    return n;
}

unsigned http_streams_ever(const struct http *http)
{
    return http->ever;
}

bool http_is_busy(const struct http *http)
{
    for (unsigned i = 0; i < CLIENTS; i++)
        if (http->clients[i].fd >= 0 &&
            (!http->clients[i].answered || http->clients[i].nout > http->clients[i].sent))
            return true;
    return false;
}

/* --- from beginning to end --- */

static int make_token(struct http *http)
{
    unsigned char bytes[TOKEN];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return -1;
    for (int i = 0; i < TOKEN; i++)
        snprintf(http->token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static int listen_on(struct http *http, unsigned port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    socklen_t size = sizeof(at);
    int on = 1;

    http->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    http->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (http->listener < 0 || http->epoll < 0 ||
        setsockopt(http->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        bind(http->listener, (struct sockaddr *)&at, sizeof(at)) < 0 ||
        listen(http->listener, 16) < 0 ||
        getsockname(http->listener, (struct sockaddr *)&at, &size) < 0 ||
        epoll_ctl(http->epoll, EPOLL_CTL_ADD, http->listener, &event) < 0)
        return -1;
    http->port = ntohs(at.sin_port);
    snprintf(http->address, sizeof(http->address), "http://127.0.0.1:%u/%s/", http->port,
             http->token);
    return 0;
}

struct http *http_open(unsigned port, http_answer_fn *give, void *arg)
{
    struct http *http = calloc(1, sizeof(*http));

    if (!http) {
        tool_error("out of memory");
        return NULL;
    }
    http->listener = http->epoll = -1;
    http->answer = give;
    http->arg = arg;
    for (unsigned i = 0; i < CLIENTS; i++)
        http->clients[i].fd = -1;
    if (make_token(http) == 0 && listen_on(http, port) == 0)
        return http;
    if (port)
        tool_error("watch: --port %u: %s", port, strerror(errno));
    else
        tool_error("watch: no page can be served: %s; --tty needs none", strerror(errno));
    http_close(http);
    return NULL;
}

void http_close(struct http *http)
{
    if (!http)
        return;
    for (unsigned i = 0; i < CLIENTS; i++)
        if (http->clients[i].fd >= 0)
            drop(http, &http->clients[i]);
    if (http->listener >= 0)
        close(http->listener);
    if (http->epoll >= 0)
        close(http->epoll);
    free(http);
}

const char *http_address(const struct http *http)
{
    return http->address;
}

int http_fd(const struct http *http)
{
    return http->epoll;
}

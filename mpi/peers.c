/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/peers.c - see peers.h. The watcher is a context that sleeps in poll. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* accept4 */
#endif
#include "mpi/peers.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/log.h"
#include "mpi/rank.h"

/* One watcher may be killed together with the rank that it watches: three are not, as a
 * rule, unless all are. With one per rank all ranks would tell. */
enum { MOST_WATCHED = 3, NAME_BYTES = 16 };

/* Who has told of a death does not end at once: launchers end a program within so many ms,
 * with the status of the process that ended first. */
enum { LAUNCHER_MS = 1500 };

struct watched {
    int fd; /* -1: it has said good-bye */
    int rank;
    long long process;
};

struct orr_peers {
    int listener;
    int wake; /* an event: the watcher is to end */
    struct orr_context *watcher;
    unsigned n;
    struct watched watched[MOST_WATCHED];
    char host[HOST_NAME_MAX + 1];
};

/* What ranks tell each other. */
struct card {
    char host[100]; /* equal where sockets connect */
    char socket[NAME_BYTES];
    int32_t socket_bytes; /* 0: it has none */
    int64_t process;
};

/* --- the own socket --- */

/* The kernel chooses a name that no other socket of the host has. */
static int make_listener(struct card *card)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t bytes = sizeof(sa_family_t);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    size_t head = offsetof(struct sockaddr_un, sun_path);

    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&address, bytes) == 0 &&
        listen(fd, 2 * MOST_WATCHED) == 0) {
        bytes = sizeof(address);
        if (getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 && bytes > head &&
            bytes - head <= NAME_BYTES) {
            card->socket_bytes = (int32_t)(bytes - head);
            memcpy(card->socket, address.sun_path, bytes - head);
            return fd;
        }
    }
    close(fd);
    return -1;
}

/* The host since it was started, and the part of it that its local sockets are of. */
static void name_host(char *host, size_t size)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    char boot[40] = "", network[40] = "";

    if (file && fscanf(file, "%39s", boot) != 1)
        *boot = '\0';
    if (file)
        fclose(file);
    if (readlink("/proc/self/ns/net", network, sizeof(network) - 1) < 0)
        *network = '\0';
    snprintf(host, size, "%s %s", boot, network);
}

/* --- those of others --- */

static int connect_to(const struct card *card)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t bytes = (size_t)card->socket_bytes;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    memcpy(address.sun_path, card->socket, bytes);
    if (connect(fd, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Those behind it among the host's, the first one behind the last. */
static void choose_watched(struct orr_peers *peers, const struct card *cards, int me,
                           int size)
{
    for (int i = 1; i < size && peers->n < MOST_WATCHED; i++) {
        int other = (me + i) % size;
        const struct card *card = &cards[other];
        int fd;

        if (!card->socket_bytes || card->process == cards[me].process ||
            strcmp(card->host, cards[me].host) != 0 || (fd = connect_to(card)) < 0)
            continue;
        peers->watched[peers->n++] = (struct watched){fd, other, card->process};
    }
}

/* Returns whether it is still there, or has said good-bye. */
static bool look_at(struct watched *watched)
{
    char word;
    ssize_t n = recv(watched->fd, &word, 1, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    close(watched->fd);
    watched->fd = -1;
    return n == 1;
}

static _Noreturn void tell_death(struct orr_rank *rank, const struct watched *watched)
{
    orr_log_error("rank %d (process %lld on %s) is gone without starpu_mpi_shutdown: it was "
                  "killed, or has crashed; the launcher may say by which signal, and the "
                  "kernel's log whether for want of memory",
                  watched->rank, watched->process, rank->peers->host);
    (void)poll(NULL, 0, LAUNCHER_MS);
    orr_runtime_fail(rank->rt);
}

static void watch(void *arg)
{
    struct orr_rank *rank = arg;
    struct orr_peers *peers = rank->peers;
    struct pollfd fds[MOST_WATCHED + 1];

    for (;;) {
        fds[MOST_WATCHED] = (struct pollfd){.fd = peers->wake, .events = POLLIN};
        for (unsigned i = 0; i < MOST_WATCHED; i++)
            fds[i] = (struct pollfd){.fd = i < peers->n ? peers->watched[i].fd : -1,
                                     .events = POLLIN};
        if (poll(fds, MOST_WATCHED + 1, -1) < 0)
            continue;
        if (fds[MOST_WATCHED].revents)
            break;
        for (unsigned i = 0; i < peers->n; i++)
            if (fds[i].revents && !look_at(&peers->watched[i]))
                tell_death(rank, &peers->watched[i]);
    }
    orr_context_end();
}

/* --- begin and end --- */

static void start_watching(struct orr_rank *rank)
{
    struct orr_context init = {.runtime = rank->rt, .name = "peers"};
    struct orr_exec *exec = rank->rt->exec;
    struct orr_peers *peers = rank->peers;

    if (peers->n == 0)
        return;
    peers->wake = eventfd(0, EFD_CLOEXEC);
    if (peers->wake < 0 || exec->ops->spawn(exec, &init, -1, watch, rank, &peers->watcher))
        peers->watcher = NULL;
}

/* Others wait for this rank's card. */
static void exchange_cards(struct orr_rank *rank, const char *call)
{
    struct card mine = {.process = getpid()};
    struct orr_meeting meeting = {
        .kind = ORR_MEETING_GATHER, .mine = &mine, .bytes = sizeof(mine)};
    struct card *all = calloc((size_t)rank->size, sizeof(*all));

    if (!all)
        orr_rank_fail(rank, "%s: out of memory", call);
    meeting.all = all;
    name_host(mine.host, sizeof(mine.host));
    rank->peers->listener = make_listener(&mine);
    if (orr_rank_meet(rank, &meeting, call) == 0)
        choose_watched(rank->peers, all, rank->number, rank->size);
    free(all);
}

void orr_peers_open(struct orr_rank *rank, const char *call)
{
    if (rank->size == 1 || rank->conf.pretended_size || rank->rt->exec->virtual_time)
        return;
    rank->peers = calloc(1, sizeof(*rank->peers));
    if (!rank->peers)
        orr_rank_fail(rank, "%s: out of memory", call);
    rank->peers->wake = rank->peers->listener = -1;
    (void)gethostname(rank->peers->host, sizeof(rank->peers->host) - 1);
    exchange_cards(rank, call);
    start_watching(rank);
}

void orr_peers_say_goodbye(struct orr_rank *rank)
{
    int fd;

    if (!rank->peers || rank->peers->listener < 0)
        return;
    while ((fd = accept4(rank->peers->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        (void)!send(fd, "g", 1, MSG_NOSIGNAL);
        close(fd);
    }
}

void orr_peers_close(struct orr_rank *rank)
{
    static const struct orr_awaited awaited = {.noun = "the end of watching other ranks"};
    struct orr_peers *peers = rank->peers;
    uint64_t one = 1;

    if (!peers)
        return;
    if (peers->watcher) {
        (void)!write(peers->wake, &one, sizeof(one));
        orr_context_join(&awaited, peers->watcher);
    }
    orr_peers_say_goodbye(rank);
    for (unsigned i = 0; i < peers->n; i++)
        if (peers->watched[i].fd >= 0)
            close(peers->watched[i].fd);
    if (peers->wake >= 0)
        close(peers->wake);
    if (peers->listener >= 0)
        close(peers->listener);
    free(peers);
    rank->peers = NULL;
}

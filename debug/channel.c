/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* debug/channel.c - see channel.h. */
#include "debug/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void split(struct debug_line *line)
{
    unsigned n = 0;

    for (char *word = line->text; word && n < DEBUG_WORDS;) {
        line->words[n++] = word;
        word = strchr(word, '\t');
        if (word)
            *word++ = '\0';
    }
    line->words[n] = NULL;
}

void debug_channel_read(struct debug_channel *channel, struct debug_line *ret)
{
    char *end;

    while (!(end = memchr(channel->text, '\n', channel->n))) {
        ssize_t n = channel->n == sizeof(channel->text)
                        ? 0
                        : recv(channel->fd, channel->text + channel->n,
                               sizeof(channel->text) - channel->n, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(0);
        channel->n += (size_t)n;
    }
    *end++ = '\0';
    memcpy(ret->text, channel->text, (size_t)(end - channel->text));
    channel->n -= (size_t)(end - channel->text);
    memmove(channel->text, end, channel->n);
    split(ret);
}

int debug_channel_has(const struct debug_channel *channel)
{
    char byte;

    return channel->n > 0 ||
           recv(channel->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
           (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

static ssize_t send_with(int to, const char *text, size_t size, int fd)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec bytes = {(void *)(unsigned long)text, size};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    struct cmsghdr *header;

    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control.room);
        header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    return sendmsg(to, &message, MSG_NOSIGNAL);
}

void debug_channel_write(const struct debug_channel *channel, const char *text, size_t size,
                         int fd)
{
    while (size > 0) {
        ssize_t n = send_with(channel->fd, text, size, fd);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(0);
        text += n;
        size -= (size_t)n;
        fd = -1;
    }
}

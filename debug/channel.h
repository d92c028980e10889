/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * debug/channel.h - lines to and from `orrery debug`, over a socket that it has made:
 * it asks with a line of words that tabs separate, the run answers with a line of JSON
 * questions (`ask'), breakpoints (`stop') and ways (`go', once it stands again).
 * One thread. Where the other side is gone the process ends: it is a copy that nobody
 * needs any more, or the program of a debugger that has ended.
 */
#pragma once

#include <stddef.h>

enum { DEBUG_LINE = 4096, DEBUG_WORDS = 32 };

struct debug_channel {
    int fd;
    size_t n;              /* bytes that were read and not taken */
    char text[DEBUG_LINE]; /* these */
};

/* A line, split in place; ends with NULL; valid until the next call. Blocks. */
struct debug_line {
    char text[DEBUG_LINE];
    char *words[DEBUG_WORDS + 1];
};
void debug_channel_read(struct debug_channel *channel, struct debug_line *ret);

/* Whether a line, or its beginning, is there. Does not block. */
int debug_channel_has(const struct debug_channel *channel);

/* Sends the text, with a descriptor beside it unless that is -1. */
void debug_channel_write(const struct debug_channel *channel, const char *text, size_t size,
                         int fd);

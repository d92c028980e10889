/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/channel.h - what goes one way between this rank and another one with one tag: a
 * channel. In each, messages are matched in the order of the calls, whatever their
 * priorities and whichever datum is ready first, so that equal programs do equal things.
 * The carrier's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/list.h"

struct orr_channel_key {
    int64_t tag;
    unsigned comm; /* number in the transport */
    int peer;      /* rank there */
    bool receives;
};

struct orr_channel {
    struct orr_channel_key key;
    struct orr_list calls;    /* requests in the order of their calls: of sends those that
                               * were not sent, of receives those without message */
    struct orr_list messages; /* of receives: messages without request, oldest first */
    struct orr_channel *next; /* in its bucket, or among the spares */
};

/* A hash table of the channels in use. Zeroed: empty. */
struct orr_channels {
    struct orr_channel **buckets;
    size_t nbuckets, n; /* a power of two, or 0 */
    struct orr_channel *spares; /* those that were left, for the next */
};

/* The channel with that key, made if there is none. NULL: no memory. */
struct orr_channel *orr_channel_get(struct orr_channels *channels,
                                    const struct orr_channel_key *key);

/* Ends the channel unless something waits in it. */
void orr_channel_leave(struct orr_channels *channels, struct orr_channel *channel);

/* Calls visit for each. */
void orr_channels_each(const struct orr_channels *channels,
                       void (*visit)(const struct orr_channel *channel, void *arg),
                       void *arg);

/* Frees the table, in whose channels nothing waits. */
void orr_channels_done(struct orr_channels *channels);

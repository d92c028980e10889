/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/channel.c - see channel.h. */
#include "mpi/channel.h"

#include <stdlib.h>

#include "core/base/splitmix.h"

enum { FEWEST_BUCKETS = 64 };

static size_t bucket_of(const struct orr_channels *channels,
                        const struct orr_channel_key *key)
{
    uint64_t seed = (uint64_t)key->tag ^ (uint64_t)key->peer << 40 ^
                    (uint64_t)key->comm << 20 ^ (uint64_t)key->receives << 62;

    return orr_splitmix(&seed) & (channels->nbuckets - 1);
}

static bool is_key(const struct orr_channel *channel,
                   const struct orr_channel_key *key)
{
    return channel->key.tag == key->tag && channel->key.peer == key->peer &&
           channel->key.comm == key->comm && channel->key.receives == key->receives;
}

/* Without memory the table stays as it is: chains get longer. */
static bool grow_table(struct orr_channels *channels)
{
    size_t n = channels->nbuckets ? 2 * channels->nbuckets : FEWEST_BUCKETS;
    struct orr_channel **old = channels->buckets;
    size_t nold = channels->nbuckets;
    struct orr_channel **buckets = calloc(n, sizeof(struct orr_channel *));

    if (!buckets)
        return nold > 0;
    channels->buckets = buckets;
    channels->nbuckets = n;
    for (size_t i = 0; i < nold; i++)
        while (old[i]) {
            struct orr_channel *channel = old[i];
            size_t to = bucket_of(channels, &channel->key);

            old[i] = channel->next;
            channel->next = buckets[to];
            buckets[to] = channel;
        }
    free(old);
    return true;
}

struct orr_channel *orr_channel_get(struct orr_channels *channels,
                                    const struct orr_channel_key *key)
{
    struct orr_channel *channel;
    size_t at;

    if (channels->n >= channels->nbuckets && !grow_table(channels))
        return NULL;
    at = bucket_of(channels, key);
    for (channel = channels->buckets[at]; channel; channel = channel->next)
        if (is_key(channel, key))
            return channel;
    channel = channels->spares ? channels->spares : malloc(sizeof(*channel));
    if (!channel)
        return NULL;
    if (channels->spares)
        channels->spares = channel->next;
    channel->key = *key;
    orr_list_init(&channel->calls);
    orr_list_init(&channel->messages);
    channel->next = channels->buckets[at];
    channels->buckets[at] = channel;
    channels->n++;
    return channel;
}

void orr_channel_leave(struct orr_channels *channels, struct orr_channel *channel)
{
    struct orr_channel **link;

    if (!orr_list_empty(&channel->calls) || !orr_list_empty(&channel->messages))
        return;
    link = &channels->buckets[bucket_of(channels, &channel->key)];
    while (*link != channel)
        link = &(*link)->next;
    *link = channel->next;
    channels->n--;
    channel->next = channels->spares;
    channels->spares = channel;
}

void orr_channels_each(const struct orr_channels *channels,
                       void (*visit)(const struct orr_channel *channel, void *arg),
                       void *arg)
{
    for (size_t i = 0; i < channels->nbuckets; i++)
        for (const struct orr_channel *c = channels->buckets[i]; c; c = c->next)
            visit(c, arg);
}

void orr_channels_done(struct orr_channels *channels)
{
    while (channels->spares) {
        struct orr_channel *next = channels->spares->next;

        free(channels->spares);
        channels->spares = next;
    }
    free(channels->buckets);
    *channels = (struct orr_channels){NULL, 0, 0, NULL};
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/join_side.c - see join_side.h. */
#include "tools/perfmodel/join_side.h"

#include "perfmodel/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Measures in blocks. */
static double entry_block_weight(const struct orr_side_entry *entry)
{
    return (double)entry->nblocks * entry->blocksize + entry->tail_n;
}

/* The last samples of both, the older entry's first. */
static int join_recent_samples(const struct orr_side_entry *older,
                               const struct orr_side_entry *newer,
                               struct orr_side_entry *ret)
{
    unsigned new =
        newer->nrecent < ORR_WINDOW_SIZE ? newer->nrecent : ORR_WINDOW_SIZE;
    unsigned old = ORR_WINDOW_SIZE - new;

    if (old > older->nrecent)
        old = older->nrecent;
    ret->recent = calloc(old + new + 1, sizeof(*ret->recent));
    ret->set_aside = calloc(old + new + 1, sizeof(*ret->set_aside));
    if (!ret->recent || !ret->set_aside)
        return -ENOMEM;
    ret->nrecent = old + new;
    for (unsigned i = 0; i < old + new; i++) {
        const struct orr_side_entry *from = i < old ? older : newer;
        unsigned at =
            i < old ? older->nrecent - old + i : newer->nrecent - new + i - old;

        ret->recent[i] = from->recent[at];
        ret->set_aside[i] = from->set_aside[at];
    }
    return 0;
}

/* Blocks under construction: `mean` has room for two entries' blocks. */
struct blocks {
    double *mean; /* owned */
    unsigned size, n;
    double tail_sum, tail_n;
};

/* Joins neighbours: half as many of twice the size; one without a partner goes
 * to the tail. */
static void blocks_pair(struct blocks *blocks)
{
    if (blocks->n & 1) {
        blocks->tail_sum += blocks->mean[--blocks->n] * blocks->size;
        blocks->tail_n += blocks->size;
    }
    blocks->n /= 2;
    for (size_t i = 0; i < blocks->n; i++)
        blocks->mean[i] = (blocks->mean[2 * i] + blocks->mean[2 * i + 1]) / 2;
    blocks->size *= 2;
}

static int copy_blocks(const struct orr_side_entry *entry, struct blocks *ret)
{
    *ret = (struct blocks){
        .mean = calloc((size_t)entry->nblocks + 1, sizeof(*ret->mean)),
        .size = entry->blocksize ? entry->blocksize : 1,
        .n = entry->nblocks,
        .tail_sum = entry->tail_sum,
        .tail_n = entry->tail_n};
    if (!ret->mean)
        return -ENOMEM;
    if (entry->nblocks > 0)
        memcpy(ret->mean, entry->blocks, entry->nblocks * sizeof(*ret->mean));
    return 0;
}

static int join_block_means(const struct orr_side_entry *older,
                            const struct orr_side_entry *newer,
                            struct orr_side_entry *ret)
{
    struct blocks a = {0}, b = {0}, both = {0};
    int rc = copy_blocks(older, &a);

    if (rc == 0)
        rc = copy_blocks(newer, &b);
    while (rc == 0 && a.size < b.size)
        blocks_pair(&a);
    while (rc == 0 && b.size < a.size)
        blocks_pair(&b);
    if (rc == 0) {
        both = (struct blocks){
            .mean = calloc((size_t)a.n + b.n + 1, sizeof(*both.mean)),
            .size = a.size,
            .n = a.n + b.n,
            .tail_sum = a.tail_sum + b.tail_sum,
            .tail_n = a.tail_n + b.tail_n};
        rc = both.mean ? 0 : -ENOMEM;
    }
    if (rc == 0) {
        if (a.n > 0)
            memcpy(both.mean, a.mean, a.n * sizeof(*both.mean));
        if (b.n > 0)
            memcpy(both.mean + a.n, b.mean, b.n * sizeof(*both.mean));
        while (both.n > ORR_WINDOW_BLOCKS)
            blocks_pair(&both);
        ret->blocks = both.mean;
        ret->blocksize = both.size;
        ret->nblocks = both.n;
        ret->tail_sum = both.tail_sum;
        ret->tail_n = both.tail_n;
    }
    free(a.mean);
    free(b.mean);
    return rc;
}

/* Puts `entry` where its key is in `to`; takes its arrays, also on failure. */
static int side_put_entry(struct orr_side *to,
                          const struct orr_side_entry *entry,
                          const struct orr_model_row *row)
{
    struct orr_side_entry *place = orr_side_get(
        to, entry->devices, entry->ndevices, entry->impl, entry->hash);
    struct orr_device *devices;

    if (!place)
        place = orr_side_append(to, entry->devices, entry->ndevices,
                                entry->impl, entry->hash);
    if (!place) {
        free(entry->recent);
        free(entry->set_aside);
        free(entry->blocks);
        return -ENOMEM;
    }
    devices = place->devices;
    free(place->recent);
    free(place->set_aside);
    free(place->blocks);
    *place = *entry;
    place->devices = devices;
    place->row_n = row->n;
    place->row_sum = row->sum;
    return 0;
}

int perfmodel_side_put(struct orr_side *to, const struct orr_side_entry *entry,
                       const struct orr_model_row *row)
{
    const struct orr_side_entry nothing = {0};
    struct orr_side_entry copy = *entry;
    int rc;

    copy.recent = copy.blocks = NULL;
    copy.set_aside = NULL;
    rc = join_recent_samples(&nothing, entry, &copy);
    if (rc == 0 && entry->nblocks > 0) {
        copy.blocks = malloc(entry->nblocks * sizeof(*copy.blocks));
        if (copy.blocks)
            memcpy(copy.blocks, entry->blocks,
                   entry->nblocks * sizeof(*copy.blocks));
        else
            rc = -ENOMEM;
    }
    if (rc == 0)
        return side_put_entry(to, &copy, row);
    free(copy.recent);
    free(copy.set_aside);
    return rc;
}

static int join_both(struct orr_side *to, const struct orr_side_entry *a,
                     const struct orr_side_entry *b,
                     const struct orr_model_row *row)
{
    bool in_order = a->last_time <= b->last_time;
    const struct orr_side_entry *older = in_order ? a : b;
    const struct orr_side_entry *newer = in_order ? b : a;
    double wa = entry_block_weight(a), wb = entry_block_weight(b);
    struct orr_side_entry both = *a; /* the key */
    int rc;

    both.recent = both.blocks = NULL;
    both.set_aside = NULL;
    if (wa + wb > 0)
        both.estimate = (wa * a->estimate + wb * b->estimate) / (wa + wb);
    both.nseen += b->nseen;
    both.noutliers += b->noutliers;
    both.npreempted += b->npreempted;
    both.nfirst += b->nfirst;
    both.first_sum += b->first_sum;
    both.last_time = newer->last_time;
    rc = join_recent_samples(older, newer, &both);
    if (rc == 0)
        rc = join_block_means(older, newer, &both);
    if (rc == 0)
        return side_put_entry(to, &both, row);
    free(both.recent);
    free(both.set_aside);
    return rc;
}

int perfmodel_side_join(struct orr_side *to, const struct orr_side_entry *a,
                        const struct orr_side_entry *b,
                        const struct orr_model_row *row)
{
    if (a && b)
        return join_both(to, a, b, row);
    if (b)
        return perfmodel_side_put(to, b, row);
    if (a) {
        struct orr_side_entry *mine =
            orr_side_get(to, a->devices, a->ndevices, a->impl, a->hash);

        mine->row_n = row->n;
        mine->row_sum = row->sum;
    }
    return 0;
}

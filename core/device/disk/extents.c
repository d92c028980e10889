/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/disk/extents.c - see extents.h. */
#include "core/device/disk/extents.h"

#include <stdlib.h>

struct gap {
    struct gap *next;
    off_t start, end;
};

void extents_init(struct extents *extents, size_t page)
{
    *extents = (struct extents){.page = page};
    pthread_mutex_init(&extents->lock, NULL);
}

void extents_done(struct extents *extents)
{
    while (extents->gaps) {
        struct gap *gap = extents->gaps;

        extents->gaps = gap->next;
        free(gap);
    }
    pthread_mutex_destroy(&extents->lock);
}

size_t extents_round(const struct extents *extents, size_t size)
{
    size_t page = extents->page;

    return size == 0 ? page : (size + page - 1) / page * page;
}

off_t extents_take(struct extents *extents, size_t size)
{
    off_t bytes = (off_t)extents_round(extents, size);
    struct gap **link, *gap;
    off_t start;

    pthread_mutex_lock(&extents->lock);
    for (link = &extents->gaps; (gap = *link); link = &gap->next)
        if (gap->end - gap->start >= bytes)
            break;
    if (gap) {
        start = gap->start;
        gap->start += bytes;
        if (gap->start == gap->end) {
            *link = gap->next;
            free(gap);
        }
    } else {
        start = extents->end;
        extents->end += bytes;
    }
    pthread_mutex_unlock(&extents->lock);
    return start;
}

/* The gap ends where the one after it begins: they become one. */
static void join_next(struct gap *gap)
{
    struct gap *next = gap->next;

    if (!next || next->start != gap->end)
        return;
    gap->end = next->end;
    gap->next = next->next;
    free(next);
}

/* Without memory for a gap the bytes are lost to the file, as long as it is. */
void extents_give(struct extents *extents, off_t start, size_t size)
{
    off_t end = start + (off_t)extents_round(extents, size);
    struct gap **link, *before = NULL, *gap;

    pthread_mutex_lock(&extents->lock);
    for (link = &extents->gaps; *link && (*link)->start < start;
         link = &before->next)
        before = *link;
    if (before && before->end == start) {
        before->end = end;
        join_next(before);
    } else if ((gap = malloc(sizeof(*gap)))) {
        *gap = (struct gap){*link, start, end};
        *link = gap;
        join_next(gap);
    }
    pthread_mutex_unlock(&extents->lock);
}

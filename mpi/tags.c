/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/tags.c - see tags.h. */
#include "mpi/tags.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"

struct range {
    int64_t first, n;
};

/* By their first tag. */
static struct {
    pthread_mutex_t lock;
    struct range *all;
    size_t n, room;
} ranges = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t take_locked(int64_t n)
{
    int64_t first = 0;
    size_t at = 0;

    while (at < ranges.n && ranges.all[at].first - first < n) {
        first = ranges.all[at].first + ranges.all[at].n;
        at++;
    }
    if (n > ORR_MOST_TAGS - first)
        return -ENOSPC;
    if (orr_grow(&ranges.all, &ranges.room, ranges.n + 1, sizeof(*ranges.all)) < 0)
        return -ENOMEM;
    memmove(&ranges.all[at + 1], &ranges.all[at], (ranges.n - at) * sizeof(*ranges.all));
    ranges.all[at] = (struct range){first, n};
    ranges.n++;
    return first;
}

int64_t orr_tags_take(int64_t n)
{
    int64_t first;

    pthread_mutex_lock(&ranges.lock);
    first = take_locked(n);
    pthread_mutex_unlock(&ranges.lock);
    return first;
}

int orr_tags_give(int64_t first)
{
    size_t at = 0;
    int rc = -EINVAL;

    pthread_mutex_lock(&ranges.lock);
    while (at < ranges.n && ranges.all[at].first != first)
        at++;
    if (at < ranges.n) {
        ranges.n--;
        memmove(&ranges.all[at], &ranges.all[at + 1],
                (ranges.n - at) * sizeof(*ranges.all));
        rc = 0;
    }
    pthread_mutex_unlock(&ranges.lock);
    return rc;
}

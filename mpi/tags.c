/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/tags.c - see tags.h. */
#include "mpi/tags.h"

#include <errno.h>
#include <string.h>

#include "core/base/grow.h"
#include "mpi/kept.h"

struct orr_tag_range {
    int64_t first, n;
};

static int64_t take(struct orr_kept *kept, int64_t n)
{
    struct orr_tag_range *all = kept->ranges;
    int64_t first = 0;
    size_t at = 0;

    while (at < kept->nranges && all[at].first - first < n) {
        first = all[at].first + all[at].n;
        at++;
    }
    if (n > ORR_MOST_TAGS - first)
        return -ENOSPC;
    if (orr_grow(&kept->ranges, &kept->ranges_room, kept->nranges + 1, sizeof(*all)) < 0)
        return -ENOMEM;
    all = kept->ranges;
    memmove(&all[at + 1], &all[at], (kept->nranges - at) * sizeof(*all));
    all[at] = (struct orr_tag_range){first, n};
    kept->nranges++;
    return first;
}

int64_t orr_tags_take(int64_t n)
{
    struct orr_kept *kept = orr_kept_enter();
    int64_t first = take(kept, n);

    orr_kept_leave(kept);
    return first;
}

int orr_tags_give(int64_t first)
{
    struct orr_kept *kept = orr_kept_enter();
    struct orr_tag_range *all = kept->ranges;
    size_t at = 0;
    int rc = -EINVAL;

    while (at < kept->nranges && all[at].first != first)
        at++;
    if (at < kept->nranges) {
        kept->nranges--;
        memmove(&all[at], &all[at + 1], (kept->nranges - at) * sizeof(*all));
        rc = 0;
    }
    orr_kept_leave(kept);
    return rc;
}

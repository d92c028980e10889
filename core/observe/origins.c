/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/origins.c - see origins.h. One thread. */
#include "core/observe/origins.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/out.h"
#include "core/observe/entities.h"
#include "perfmodel/origin.h"

/* Tasks of one type on one type of worker. */
struct orr_origin_group {
    const char *name, *worker; /* lent by the record; "CUDA1_0" */
    uint32_t footprint;
    enum orr_origin origin;
};

/* "CUDA" of "CUDA1_0". */
static int type_length(const char *worker)
{
    int n = 0;

    while (isalpha((unsigned char)worker[n]))
        n++;
    return n;
}

static int compare_workers(const char *x, const char *y)
{
    int nx = type_length(x), ny = type_length(y);
    int order = strncmp(x, y, (size_t)(nx < ny ? nx : ny));

    return order ? order : nx - ny;
}

static int origin_group_compare(const void *a, const void *b)
{
    const struct orr_origin_group *x = a, *y = b;
    /* Most tasks of a buffer share their names. */
    int order = x->name == y->name ? 0 : strcmp(x->name, y->name);

    if (!order)
        order = (x->footprint > y->footprint) - (x->footprint < y->footprint);
    if (!order)
        order = compare_workers(x->worker, y->worker);
    return order ? order : (int)x->origin - (int)y->origin;
}

static void write_group(const struct orr_origin_group *group, const char *begin,
                        struct orr_out *out)
{
    char *safe = orr_trace_safe_text(group->name);

    orr_print(out, "%s\"%s\" %08x on ", begin, safe ? safe : "-",
              group->footprint);
    orr_put(out, group->worker, (size_t)type_length(group->worker));
    orr_print(out, ": %s\n", orr_origin_name((enum orr_origin)group->origin));
    free(safe);
}

enum { MEMOS = 128 };

/* Whether the group is the one that was last at its place among the memos; it is from
 * now on. */
static bool origin_memo_matches(struct orr_origin_group *memos,
                                const struct orr_origin_group *group)
{
    uintptr_t hash = (uintptr_t)group->name / 16 + (uintptr_t)group->worker / 8;
    struct orr_origin_group *memo;

    hash += group->footprint;
    memo = &memos[(hash ^ hash / MEMOS) % MEMOS];
    if (memo->name == group->name && memo->worker == group->worker &&
        memo->footprint == group->footprint && memo->origin == group->origin)
        return true;
    *memo = *group;
    return false;
}

static int origins_add_group(struct orr_origins *origins,
                             const struct orr_origin_group *group)
{
    struct orr_origin_group *added;

    if (origin_memo_matches(origins->memos, group))
        return 0;
    added = orr_array_add(origins->all, origins->n);
    if (!added)
        return -ENOMEM;
    *added = *group;
    return 0;
}

int orr_origins_add(struct orr_origins *origins, const struct orr_trace *trace,
                    const struct orr_timeline *part)
{
    int rc = 0;

    if (!origins->memos)
        origins->memos = calloc(MEMOS, sizeof(*origins->memos));
    if (!origins->memos)
        return -ENOMEM;
    for (size_t i = 0; i < part->n && rc == 0; i++) {
        const struct orr_event *event = part->moments[i].event;
        struct orr_origin_group group;

        if (event->type != ORR_EVENT_TASK || part->moments[i].end ||
            event->worker >= trace->nworkers ||
            event->u.task.origin == ORR_ORIGIN_UNKNOWN)
            continue;
        group = (struct orr_origin_group){
            event->u.task.name, trace->workers[event->worker].name,
            event->u.task.footprint, (enum orr_origin)event->u.task.origin};
        rc = origins_add_group(origins, &group);
    }
    return rc;
}

void orr_origins_done(struct orr_origins *origins)
{
    free(origins->all);
    free(origins->memos);
    *origins = (struct orr_origins){0};
}

void orr_origins_write(struct orr_origins *origins, const char *begin,
                       struct orr_out *out)
{
    struct orr_origin_group *all = origins->all;

    if (origins->n)
        qsort(all, origins->n, sizeof(*all), origin_group_compare);
    for (size_t i = 0; i < origins->n; i++)
        if (i == 0 || origin_group_compare(&all[i - 1], &all[i]) != 0)
            write_group(&all[i], begin, out);
}

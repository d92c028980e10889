/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/origins.c - see origins.h. One thread. */
#include "core/observe/origins.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/observe/entities.h"
#include "perfmodel/origin.h"

/* Tasks of one type on one type of worker. */
struct group {
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

static int compare(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    /* Most tasks of a buffer share their names. */
    int order = x->name == y->name ? 0 : strcmp(x->name, y->name);

    if (!order)
        order = (x->footprint > y->footprint) - (x->footprint < y->footprint);
    if (!order)
        order = compare_workers(x->worker, y->worker);
    return order ? order : (int)x->origin - (int)y->origin;
}

static void write_group(const struct group *group, const char *begin,
                        FILE *file)
{
    char *safe = orr_trace_safe_text(group->name);

    fprintf(file, "%s\"%s\" %08x on %.*s: %s\n", begin, safe ? safe : "-",
            group->footprint, type_length(group->worker), group->worker,
            orr_origin_name(group->origin));
    free(safe);
}

enum { MEMOS = 128 };

/* Whether the group is the one that was last at its place among the memos; it is from
 * now on. */
static bool is_remembered(struct group *memos, const struct group *group)
{
    uintptr_t hash = (uintptr_t)group->name / 16 + (uintptr_t)group->worker / 8;
    struct group *memo;

    hash += group->footprint;
    memo = &memos[(hash ^ hash / MEMOS) % MEMOS];
    if (memo->name == group->name && memo->worker == group->worker &&
        memo->footprint == group->footprint && memo->origin == group->origin)
        return true;
    *memo = *group;
    return false;
}

/* Those of all tasks, most of them few times, to `all`. */
static size_t gather(const struct orr_trace *trace,
                     const struct orr_timeline *line, struct group *all)
{
    struct group memos[MEMOS] = {{0}};
    size_t n = 0;

    for (size_t i = 0; i < line->n; i++) {
        const struct orr_event *event = line->moments[i].event;
        struct group group;

        if (event->type != ORR_EVENT_TASK || line->moments[i].end ||
            event->worker >= trace->nworkers ||
            event->u.task.origin == ORR_ORIGIN_UNKNOWN)
            continue;
        group = (struct group){
            event->u.task.name, trace->workers[event->worker].name,
            event->u.task.footprint, (enum orr_origin)event->u.task.origin};
        if (!is_remembered(memos, &group))
            all[n++] = group;
    }
    return n;
}

int orr_origins_write(const struct orr_trace *trace,
                      const struct orr_timeline *line, const char *begin,
                      FILE *file)
{
    struct group *all = calloc(line->ntasks + 1, sizeof(*all));
    size_t n;

    if (!all)
        return -ENOMEM;
    n = gather(trace, line, all);
    qsort(all, n, sizeof(*all), compare);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || compare(&all[i - 1], &all[i]) != 0)
            write_group(&all[i], begin, file);
    free(all);
    return 0;
}

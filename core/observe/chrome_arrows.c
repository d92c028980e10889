/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/chrome_arrows.c - see chrome_arrows.h. */
#include "core/observe/chrome_arrows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"

/* What an arrow's end has behind its time, up to its number; the category is the name. */
#define DEPENDENCY ",\"cat\":\"dependency\",\"name\":\"dependency\",\"id\":"
#define TRANSFER   ",\"cat\":\"transfer\",\"name\":\"transfer\",\"id\":"

void orr_chrome_arrows_done(struct orr_chrome_arrows *a)
{
    free(a->tasks);
    free(a->copies);
    free(a->late);
}

/* An arrow from there, at the time of that text, to the begin of a task. */
static inline void put_arrow(struct orr_chrome_arrows *a, const char *category,
                             enum orr_chrome_group group, unsigned tid,
                             const char *time, size_t n,
                             const struct orr_chrome_task *to)
{
    char digits[ORR_OUT_LEAST], *end = orr_write_digits(digits, ++a->n, 1);
    size_t ndigits = (size_t)(end + 1 - digits);
    struct orr_out *out = a->events->out;

    *end = '}';
    orr_chrome_begin(a->events, 's', group, tid);
    ORR_PUT(out, ",\"ts\":");
    orr_put(out, time, n);
    orr_put_text(out, category);
    orr_out_room(out);
    memcpy(out->at, digits, sizeof(digits));
    out->at += ndigits;
    orr_chrome_begin(a->events, 'f', ORR_CHROME_WORKERS, to->tid);
    orr_chrome_put_time(a->events, to->start);
    ORR_PUT(out, ",\"bp\":\"e\"");
    orr_put_text(out, category);
    orr_out_room(out);
    memcpy(out->at, digits, sizeof(digits));
    out->at += ndigits;
}

/* When an arrow leaves the slice: inside, close to its end, since arrows bind to what is
 * there. */
static const char *leave_time(const struct orr_chrome_arrows *a, double start,
                              double end, char buffer[static ORR_DECIMAL_SIZE])
{
    double time = fmax(start, end - fmin((end - start) / 2, 0.002));

    return orr_decimal(time - a->events->start, 3, buffer);
}

static void put_dependency(struct orr_chrome_arrows *a,
                           struct orr_chrome_task *from,
                           const struct orr_chrome_task *to)
{
    char buffer[ORR_DECIMAL_SIZE];
    const char *text = from->leave;
    size_t n = from->nleave;

    if (n == 0) {
        text = leave_time(a, from->start, from->end, buffer);
        n = strlen(text);
        if (n <= sizeof(from->leave)) {
            memcpy(from->leave, text, n);
            from->nleave = (uint8_t)n;
        }
    }
    put_arrow(a, DEPENDENCY, ORR_CHROME_WORKERS, from->tid, text, n, to);
}

static struct orr_chrome_task *
chrome_task_find(const struct orr_chrome_arrows *a, uint64_t job)
{
    return job < a->njobs && a->tasks[job].tid ? &a->tasks[job] : NULL;
}

static int add_late(struct orr_chrome_arrows *a, uint64_t from, uint64_t to)
{
    if (orr_grow(&a->late, &a->room_late, a->nlate + 1, sizeof(*a->late)) < 0)
        return -ENOMEM;
    a->late[a->nlate++] = (struct orr_chrome_late){from, to};
    return 0;
}

/* What a task waited for has ended before it begins. It has not begun before that if it
 * took no time. */
static int chrome_write_waits(struct orr_chrome_arrows *a, uint64_t job)
{
    unsigned place = orr_edges_find(&a->edges, job), n;
    int rc = 0;

    if (place == a->edges.ntasks)
        return 0;
    n = orr_edges_count(&a->edges, place);
    for (unsigned d = 0; d < n && rc == 0; d++) {
        uint64_t before = orr_edges_before(&a->edges, place, d);
        struct orr_chrome_task *from = chrome_task_find(a, before);

        if (!from)
            rc = add_late(a, before, job);
        else if (from->end <= a->tasks[job].start)
            put_dependency(a, from, &a->tasks[job]);
    }
    return rc;
}

int orr_chrome_arrows_add_task(struct orr_chrome_arrows *a, uint64_t job,
                               struct orr_chrome_task task)
{
    bool is_first;

    if (orr_grow(&a->tasks, &a->njobs, job + 1, sizeof(task)) < 0)
        return -ENOMEM;
    is_first =
        a->tasks[job].tid == 0; /* some are executed by several workers */
    a->tasks[job] = task;
    return is_first ? chrome_write_waits(a, job) : 0;
}

void orr_chrome_arrows_fetch_ends(const struct orr_chrome_arrows *a,
                                  uint64_t job)
{
    unsigned place =
        a->edges.dense ? orr_edges_find(&a->edges, job) : a->edges.ntasks;

    if (place == a->edges.ntasks)
        return;
    if (job < a->njobs)
        __builtin_prefetch(&a->tasks[job], 1);
    for (unsigned d = orr_edges_count(&a->edges, place); d-- > 0;) {
        uint64_t before = orr_edges_before(&a->edges, place, d);

        if (before < a->njobs)
            __builtin_prefetch(&a->tasks[before], 1);
    }
}

int orr_chrome_arrows_add_copy(struct orr_chrome_arrows *a,
                               struct orr_chrome_copy copy)
{
    if (orr_grow(&a->copies, &a->room_copies, a->ncopies + 1, sizeof(copy)) < 0)
        return -ENOMEM;
    a->copies[a->ncopies++] = copy;
    return 0;
}

void orr_chrome_arrows_write_rest(struct orr_chrome_arrows *a)
{
    for (size_t i = 0; i < a->nlate; i++) {
        struct orr_chrome_task *from = chrome_task_find(a, a->late[i].from);
        const struct orr_chrome_task *to = chrome_task_find(a, a->late[i].to);

        if (from && from->end <= to->start)
            put_dependency(a, from, to);
    }
    for (size_t i = 0; i < a->ncopies; i++) {
        const struct orr_chrome_copy *copy = &a->copies[i];
        const struct orr_chrome_task *to = chrome_task_find(a, copy->job);
        char buffer[ORR_DECIMAL_SIZE];
        const char *text;

        if (!to || copy->end > to->start)
            continue;
        text = leave_time(a, copy->start, copy->end, buffer);
        put_arrow(a, TRANSFER, ORR_CHROME_LINKS, copy->tid, text, strlen(text),
                  to);
    }
}

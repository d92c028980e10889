/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/chrome_arrows.c - see chrome_arrows.h. */
#include "core/observe/chrome_arrows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/graph.h"
#include "core/base/grow.h"
#include "core/observe/waits.h"

/* What an arrow's end has behind its time, and its head; their category is their name. */
#define DEPENDENCY ",\"cat\":\"dependency\",\"name\":\"dependency\",\"id\":"
#define TRANSFER   ",\"cat\":\"transfer\",\"name\":\"transfer\",\"id\":"

void orr_chrome_arrows_done(struct orr_chrome_arrows *a)
{
    free(a->of_job);
    free(a->tasks);
    free(a->copies);
}

int orr_chrome_arrows_add_task(struct orr_chrome_arrows *a,
                               struct orr_chrome_slice slice)
{
    if (orr_grow(&a->tasks, &a->room_tasks, a->ntasks + 1, sizeof(slice)) < 0 ||
        orr_grow(&a->of_job, &a->njobs, slice.job + 1, sizeof(*a->of_job)) < 0)
        return -ENOMEM;
    a->tasks[a->ntasks++] = slice;
    a->repeats |= a->of_job[slice.job] != 0;
    a->of_job[slice.job] = (uint32_t)a->ntasks;
    return 0;
}

int orr_chrome_arrows_add_copy(struct orr_chrome_arrows *a,
                               struct orr_chrome_slice slice)
{
    if (orr_grow(&a->copies, &a->room_copies, a->ncopies + 1, sizeof(slice)) <
        0)
        return -ENOMEM;
    a->copies[a->ncopies++] = slice;
    return 0;
}

/* Where arrows end: the begin of a task. Most tasks have several. */
static void aim(struct orr_chrome_arrows *a, const struct orr_chrome_slice *to,
                const char *category)
{
    struct orr_out out = {NULL, a->target, a->target,
                          a->target + sizeof(a->target)};
    struct orr_out *file = a->events->out;

    a->events->out = &out;
    orr_chrome_begin(a->events, 'f', ORR_CHROME_WORKERS, to->tid);
    orr_chrome_put_time(a->events, to->start);
    ORR_PUT(&out, ",\"bp\":\"e\"");
    orr_put_text(&out, category);
    a->ntarget = (size_t)(out.at - out.begin);
    a->events->out = file;
}

/* An arrow from there, at the time of that text, to where it was aimed. */
static void put_arrow(struct orr_chrome_arrows *a, const char *category,
                      enum orr_chrome_group group, unsigned tid,
                      const char *time, size_t n)
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
    orr_put_long(out, a->target, a->ntarget);
    orr_out_room(out);
    memcpy(out->at, digits, sizeof(digits));
    out->at += ndigits;
}

/* Inside the slice, close to its end: arrows bind to what is there. */
static double just_before(double start, double end)
{
    return fmax(start, end - fmin((end - start) / 2, 0.002));
}

/* When an arrow leaves the slice. */
static const char *leave_time(const struct orr_chrome_arrows *a,
                              const struct orr_chrome_slice *slice,
                              char buffer[static ORR_DECIMAL_SIZE])
{
    double time = just_before(slice->start, slice->end);

    return orr_decimal(time - a->events->start, 3, buffer);
}

static void write_dependency(struct orr_chrome_arrows *a,
                             struct orr_chrome_slice *from)
{
    char buffer[ORR_DECIMAL_SIZE];
    const char *text = from->leave;
    size_t n = from->nleave;

    if (n == 0) {
        text = leave_time(a, from, buffer);
        n = strlen(text);
        if (n <= sizeof(from->leave)) {
            memcpy(from->leave, text, n);
            from->nleave = (uint8_t)n;
        }
    }
    put_arrow(a, DEPENDENCY, ORR_CHROME_WORKERS, from->tid, text, n);
}

static struct orr_chrome_slice *find(const struct orr_chrome_arrows *a,
                                     uint64_t job)
{
    uint32_t place = job < a->njobs ? a->of_job[job] : 0;

    return place ? &a->tasks[place - 1] : NULL;
}

void orr_chrome_arrows_write(struct orr_chrome_arrows *a,
                             const struct orr_graph *graph)
{
    a->n = 0; /* some may have been written in vain */
    for (unsigned t = 0; graph && t < graph->ntasks; t++) {
        const struct orr_graph_task *task = &graph->tasks[t];
        const struct orr_chrome_slice *to = find(a, task->id);
        struct orr_chrome_slice *from;

        if (to)
            aim(a, to, DEPENDENCY);
        for (unsigned d = 0; to && d < task->ndeps; d++) {
            from =
                find(a, graph->tasks[graph->deps[task->first_dep + d].task].id);
            if (from && from->end <= to->start)
                write_dependency(a, from);
        }
    }
}

static void write_waits_of(struct orr_chrome_arrows *a,
                           const struct orr_waits *waits,
                           const struct orr_waits_task *task,
                           const struct orr_chrome_slice *to)
{
    if (task->n > 0)
        aim(a, to, DEPENDENCY);
    for (uint32_t i = task->first; i < task->first + task->n; i++) {
        struct orr_chrome_slice *from =
            find(a, waits->tasks[waits->lists[i]].id);

        if (from && from->end <= to->start)
            write_dependency(a, from);
    }
}

/* What a task waits for has ended before it begins, and is there. */
int orr_chrome_arrows_write_waits(struct orr_chrome_arrows *a,
                                  const struct orr_waits *waits, bool is_all)
{
    for (; a->nwaits < waits->ntasks && !a->repeats; a->nwaits++) {
        const struct orr_waits_task *task = &waits->tasks[a->nwaits];
        const struct orr_chrome_slice *to = find(a, task->id);

        if (to)
            write_waits_of(a, waits, task, to);
        else if (!is_all)
            break;
    }
    return a->repeats ? -ESTALE : 0;
}

void orr_chrome_arrows_write_copies(struct orr_chrome_arrows *a)
{
    for (size_t i = 0; i < a->ncopies; i++) {
        const struct orr_chrome_slice *copy = &a->copies[i];
        const struct orr_chrome_slice *to = find(a, copy->job);
        char buffer[ORR_DECIMAL_SIZE];
        const char *text;

        if (!to || copy->end > to->start)
            continue;
        text = leave_time(a, copy, buffer);
        aim(a, to, TRANSFER);
        put_arrow(a, TRANSFER, ORR_CHROME_LINKS, copy->tid, text, strlen(text));
    }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/csv.c - the record as a table, docs/TRACES.md: RFC 4180, a row
 * per event, in order of their starts. One thread.
 */
#include "core/observe/trace_file.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/host.h"
#include "core/observe/decimal.h"

static const char header[] =
    "record,start_ms,end_ms,worker,job,name,priority,node,from,bytes,kind,"
    "handle,change,footprint,gflop,tag,iteration,subiteration\n";

struct csv {
    FILE *file;
    const struct orr_trace *trace;
    struct orr_general gflop;
};

/* A moment as ms. */
static const char *ms(const struct csv *csv, double time,
                      char buffer[static ORR_DECIMAL_SIZE])
{
    return orr_decimal((time - csv->trace->start) / 1000.0, 9, buffer);
}

/* Of what stays as it is; most texts are such. */
static size_t plain_length(const char *text)
{
    const char *at = text;

    while (*at >= ' ' && *at < 0x7f && *at != '"')
        at++;
    return (size_t)(at - text);
}

/* A field in quotation marks, on one line, UTF-8. */
static void write_text(const struct csv *csv, const char *text)
{
    fputc_unlocked('"', csv->file);
    while (text && *text) {
        size_t length = plain_length(text);

        if (length > 0) {
            fwrite_unlocked(text, 1, length, csv->file);
            text += length;
            continue;
        }
        length = orr_utf8_length(text);

        if (*text == '"')
            fputc_unlocked('"', csv->file);
        if (!length)
            fputc_unlocked('?', csv->file);
        else if ((unsigned char)*text < ' ')
            fputc_unlocked(' ', csv->file);
        else
            fwrite_unlocked(text, 1, length, csv->file);
        text += length ? length : 1;
    }
    fputc_unlocked('"', csv->file);
}

/* The first four fields; a worker that is none stays empty. */
static void begin(const struct csv *csv, const char *record, double start,
                  double end, unsigned worker)
{
    char from[ORR_DECIMAL_SIZE], to[ORR_DECIMAL_SIZE];
    const char *first = ms(csv, start, from);
    const char *last = start == end ? first : ms(csv, end, to);

    if (worker < csv->trace->nworkers)
        orr_print(csv->file, "%s,%s,%s,%u,", record, first, last, worker);
    else
        orr_print(csv->file, "%s,%s,%s,,", record, first, last);
}

static void write_task(struct csv *csv, unsigned worker,
                       const struct orr_trace_task *task)
{
    const int64_t *levels =
        orr_trace_iteration_levels(csv->trace, task->iteration);

    begin(csv, "task", task->start, task->end, worker);
    orr_print(csv->file, "%llu,", (unsigned long long)task->job);
    write_text(csv, task->name);
    orr_print(csv->file, ",%d,", task->priority);
    if (worker < csv->trace->nworkers)
        orr_print(csv->file, "%u", csv->trace->workers[worker].node);
    orr_print(csv->file, ",,%zu,,,,%08x,%s,%llx,", task->size, task->footprint,
              orr_general(&csv->gflop, task->gflop),
              (unsigned long long)task->tag);
    if (levels)
        orr_print(csv->file, "%lld", (long long)levels[0]);
    fputc_unlocked(',', csv->file);
    if (levels && levels[1] >= 0)
        orr_print(csv->file, "%lld", (long long)levels[1]);
    fputc_unlocked('\n', csv->file);
}

static void write_copy(const struct csv *csv, const struct orr_trace_copy *copy)
{
    begin(csv, "copy", copy->start, copy->end, ORR_TRACE_OUTSIDE);
    if (copy->job)
        orr_put_number(csv->file, copy->job);
    fputc_unlocked(',', csv->file);
    write_text(csv, copy->name);
    orr_print(csv->file, ",,%u,%u,%zu,%s,%llu,,,,,,\n", copy->dst, copy->src,
              copy->size, orr_trace_copy_name(copy->kind),
              (unsigned long long)copy->handle);
}

static void write_count(const struct csv *csv, const struct orr_event *event)
{
    static const char *const records[ORR_TRACE_NCOUNTERS] = {
        [ORR_TRACE_NSUBMITTED] = "submitted",
        [ORR_TRACE_NREADY] = "ready",
    };

    begin(csv, records[event->u.count.id], event->u.count.time,
          event->u.count.time, ORR_TRACE_OUTSIDE);
    if (event->u.count.job)
        orr_put_number(csv->file, event->u.count.job);
    orr_print(csv->file, ",,,,,,,,%d,,,,,\n", event->u.count.change);
}

static void write_event(struct csv *csv, const struct orr_moment *moment)
{
    const struct orr_event *event = moment->event;

    switch (event->type) {
    case ORR_EVENT_TASK:
        write_task(csv, event->worker, &event->u.task);
        break;
    case ORR_EVENT_COPY:
        write_copy(csv, &event->u.copy);
        break;
    case ORR_EVENT_COUNT:
        write_count(csv, event);
        break;
    case ORR_EVENT_STATE:
        begin(csv, "state", moment->time, moment->time, event->worker);
        orr_print(csv->file, ",,,,,,%s,,,,,,,\n",
                  orr_trace_state_name(event->u.state.id));
        break;
    case ORR_EVENT_MEMORY:
        begin(csv, "memory", moment->time, moment->time, ORR_TRACE_OUTSIDE);
        orr_print(csv->file, ",,,%u,,,,,%lld,,,,,\n", event->u.memory.node,
                  (long long)event->u.memory.change);
        break;
    case ORR_EVENT_SUSPENSION:
        begin(csv, "suspended", event->u.suspension.start,
              event->u.suspension.end, event->worker);
        orr_put_number(csv->file, event->u.suspension.job);
        fputs(",,,,,,,,,,,,,\n", csv->file);
        break;
    case ORR_EVENT_MARK:
        begin(csv, "mark", moment->time, moment->time, ORR_TRACE_OUTSIDE);
        fputc(',', csv->file);
        write_text(csv, event->u.mark.text);
        fputs(",,,,,,,,,,,,\n", csv->file);
        break;
    }
}

int orr_csv_write(const struct orr_trace_source *source, FILE *file)
{
    struct csv csv = {.file = file, .trace = source->trace};
    const struct orr_trace *trace = source->trace;

    fputs(header, file);
    for (unsigned w = 0; w < trace->nworkers; w++) {
        begin(&csv, "worker", trace->start, source->line->end, w);
        fputc(',', file);
        write_text(&csv, trace->workers[w].name);
        fprintf(file, ",,%u,,,,,,,,,,\n", trace->workers[w].node);
    }
    if (orr_trace_dropped(trace) > 0)
        fprintf(file, "dropped,0,0,,,,,,,,,,%llu,,,,,\n",
                (unsigned long long)orr_trace_dropped(trace));
    for (size_t i = 0; i < source->line->n; i++)
        if (!source->line->moments[i].end)
            write_event(&csv, &source->line->moments[i]);
    return 0;
}

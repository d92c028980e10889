/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/csv.c - the record as a table, docs/TRACES.md: RFC 4180, a row
 * per event, in order of their starts. One thread.
 */
#include "core/observe/formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/out.h"
#include "core/base/shown.h"
#include "core/observe/sources.h"

static const char header[] =
    "record,start_ms,end_ms,worker,job,name,priority,node,from,bytes,kind,"
    "handle,change,footprint,gflop,tag,iteration,subiteration,color\n";

/* µs: less is no wait. */
#define LEAST_REQUEST_US 1.0

struct csv {
    struct orr_out *out; /* where it writes now */
    const struct orr_trace *trace;
    struct orr_same start; /* ms */
    struct orr_general gflop;
};

/* A field in quotation marks, on one line, UTF-8. */
static void write_text(struct csv *csv, const char *text)
{
    struct orr_out *out = csv->out;

    orr_put_byte(out, '"');
    while (text && *text) {
        size_t length = orr_shown_plain(text, (const char[]){'"', '"'});
        const char *shown;

        orr_put(out, text, length);
        text += length;
        if (!*text)
            break;
        if (*text == '"')
            orr_put_byte(out, '"');
        shown = orr_shown_next(&text, &length);
        orr_put(out, shown, length);
    }
    orr_put_byte(out, '"');
}

/* Behind the name of the record: start, end and worker; a worker that is none stays
 * empty. */
static void put_when(struct csv *csv, double start, double end, unsigned worker)
{
    struct orr_out *out = csv->out;
    double zero = csv->trace->start;

    orr_put_same(out, &csv->start, (start - zero) / 1000.0, 9);
    orr_put_byte(out, ',');
    if (start == end)
        orr_put_same(out, &csv->start, (start - zero) / 1000.0, 9);
    else
        orr_put_decimal(out, (end - zero) / 1000.0, 9);
    orr_put_byte(out, ',');
    if (worker < csv->trace->nworkers)
        orr_put_unsigned(out, worker);
    orr_put_byte(out, ',');
}

static void csv_write_task(struct csv *csv, unsigned worker,
                           const struct orr_trace_task *task)
{
    struct orr_out *out = csv->out;
    const int64_t *levels =
        orr_trace_iteration_levels(csv->trace, task->iteration);

    ORR_PUT(out, "task,");
    put_when(csv, task->start, task->end, worker);
    orr_put_unsigned(out, task->job);
    orr_put_byte(out, ',');
    write_text(csv, task->name);
    orr_put_byte(out, ',');
    orr_put_signed(out, task->priority);
    orr_put_byte(out, ',');
    if (worker < csv->trace->nworkers)
        orr_put_unsigned(out, csv->trace->workers[worker].node);
    ORR_PUT(out, ",,");
    orr_put_unsigned(out, task->size);
    ORR_PUT(out, ",,,,");
    orr_put_hex(out, task->footprint, 8);
    orr_put_byte(out, ',');
    orr_put_text(out, orr_general(&csv->gflop, task->gflop));
    orr_put_byte(out, ',');
    orr_put_hex(out, task->tag, 1);
    orr_put_byte(out, ',');
    if (levels)
        orr_put_signed(out, levels[0]);
    orr_put_byte(out, ',');
    if (levels && levels[1] >= 0)
        orr_put_signed(out, levels[1]);
    orr_put_byte(out, ',');
    if (task->colour) {
        orr_put_byte(out, '#');
        orr_put_hex(out, task->colour, 6);
    }
    orr_put_byte(out, '\n');
}

static void csv_write_copy(struct csv *csv, const struct orr_trace_copy *copy)
{
    struct orr_out *out = csv->out;

    ORR_PUT(out, "copy,");
    put_when(csv, copy->start, copy->end, ORR_TRACE_OUTSIDE);
    if (copy->job)
        orr_put_unsigned(out, copy->job);
    orr_put_byte(out, ',');
    write_text(csv, copy->name);
    ORR_PUT(out, ",,");
    orr_put_unsigned(out, copy->dst);
    orr_put_byte(out, ',');
    orr_put_unsigned(out, copy->src);
    orr_put_byte(out, ',');
    orr_put_unsigned(out, copy->size);
    orr_put_byte(out, ',');
    orr_put_text(out, orr_trace_copy_name(copy->kind));
    orr_put_byte(out, ',');
    orr_put_unsigned(out, copy->handle);
    orr_put_byte(out, ',');
    if (copy->waited > 0)
        orr_put_decimal(out, copy->waited / 1000.0, 9);
    ORR_PUT(out, ",,,,,,\n");
}

static void write_count(struct csv *csv, const struct orr_event *event)
{
    static const char *const records[ORR_TRACE_NCOUNTERS] = {
        [ORR_TRACE_NSUBMITTED] = "submitted,",
        [ORR_TRACE_NREADY] = "ready,",
    };
    struct orr_out *out = csv->out;
    double time = event->u.count.time;
    bool is_submission =
        event->which == ORR_TRACE_NSUBMITTED && event->step > 0;
    const char *source =
        is_submission ? orr_sources_text(csv->trace->sources, event->u.count.job) : NULL;

    orr_put_text(out, records[event->which]);
    put_when(csv, time, time,
             is_submission ? event->worker : ORR_TRACE_OUTSIDE);
    if (event->u.count.job)
        orr_put_unsigned(out, event->u.count.job);
    orr_put_byte(out, ',');
    if (source)
        write_text(csv, source);
    ORR_PUT(out, ",,,,,");
    if (is_submission && event->worker == ORR_TRACE_THREAD)
        ORR_PUT(out, "thread");
    ORR_PUT(out, ",,");
    orr_put_signed(out, event->step);
    ORR_PUT(out, ",,,,,,\n");
}

static void write_application(struct csv *csv, const struct orr_event *event)
{
    static const char *const doings[ORR_TRACE_NDOINGS] = {
        [ORR_TRACE_WAITS] = "waiting",
        [ORR_TRACE_OWN] = "own",
    };
    struct orr_out *out = csv->out;

    ORR_PUT(out, "application,");
    put_when(csv, event->u.application.start, event->u.application.end,
             ORR_TRACE_OUTSIDE);
    orr_put_byte(out, ',');
    if (event->u.application.call)
        write_text(csv, event->u.application.call);
    ORR_PUT(out, ",,,,,");
    orr_put_text(out, doings[event->u.application.doing]);
    ORR_PUT(out, ",,,,,,,,\n");
}

/* Whom it is from or for, and what both rows of a message end with. */
static void write_peer(struct csv *csv, const struct orr_trace_message *message)
{
    struct orr_out *out = csv->out;

    orr_put_byte(out, ',');
    write_text(csv, message->name);
    ORR_PUT(out, ",,,");
    orr_put_signed(out, message->peer);
    orr_put_byte(out, ',');
    orr_put_unsigned(out, message->size);
    orr_put_text(out, message->received ? ",received," : ",sent,");
    orr_put_unsigned(out, message->handle);
    orr_put_byte(out, ',');
    orr_put_unsigned(out, message->number);
    ORR_PUT(out, ",,,");
    orr_put_signed(out, message->tag);
    ORR_PUT(out, ",,,\n");
}

/* Of one whose datum was there at the call there is no more to say. */
static void csv_write_message(struct csv *csv,
                              const struct orr_trace_message *message)
{
    if (message->start - message->called >= LEAST_REQUEST_US) {
        ORR_PUT(csv->out, "request,");
        put_when(csv, message->called, message->start, ORR_TRACE_OUTSIDE);
        write_peer(csv, message);
    }
    ORR_PUT(csv->out, "message,");
    put_when(csv, message->start, message->end, ORR_TRACE_OUTSIDE);
    write_peer(csv, message);
}

/* The rank's clock was compared with rank 0's. */
static void csv_write_clocks(struct csv *csv, const struct orr_clocks_told *clocks)
{
    struct orr_out *out = csv->out;

    ORR_PUT(out, "clocks,");
    put_when(csv, clocks->start, clocks->end, ORR_TRACE_OUTSIDE);
    ORR_PUT(out, ",,,,,,,,");
    orr_put_decimal(out, clocks->offset / 1000.0, 9);
    ORR_PUT(out, ",,,,,,\n");
}

static void write_event(struct csv *csv, const struct orr_moment *moment)
{
    const struct orr_event *event = moment->event;
    struct orr_out *out = csv->out;

    switch (event->type) {
    case ORR_EVENT_TASK:
        csv_write_task(csv, event->worker, &event->u.task);
        break;
    case ORR_EVENT_COPY:
        csv_write_copy(csv, &event->u.copy);
        break;
    case ORR_EVENT_COUNT:
        write_count(csv, event);
        break;
    case ORR_EVENT_APPLICATION:
        write_application(csv, event);
        break;
    case ORR_EVENT_MESSAGE:
        csv_write_message(csv, &event->u.message);
        break;
    case ORR_EVENT_CLOCKS:
        csv_write_clocks(csv, &event->u.clocks);
        break;
    case ORR_EVENT_ALLOCATION:
        ORR_PUT(out, "allocation,");
        put_when(csv, event->u.allocation.start, event->u.allocation.end,
                 event->worker);
        ORR_PUT(out, ",,,");
        orr_put_unsigned(out, event->u.allocation.node);
        ORR_PUT(out, ",,");
        orr_put_unsigned(out, event->u.allocation.size);
        orr_put_text(out, event->u.allocation.frees ? ",free" : ",allocate");
        ORR_PUT(out, ",,,,,,,,\n");
        break;
    case ORR_EVENT_STATE:
        ORR_PUT(out, "state,");
        put_when(csv, moment->time, moment->time, event->worker);
        ORR_PUT(out, ",,,,,,");
        orr_put_text(out, orr_trace_state_name(event->which));
        ORR_PUT(out, ",,,,,,,,\n");
        break;
    case ORR_EVENT_MEMORY:
        ORR_PUT(out, "memory,");
        put_when(csv, moment->time, moment->time, ORR_TRACE_OUTSIDE);
        ORR_PUT(out, ",,,");
        orr_put_unsigned(out, event->u.memory.node);
        ORR_PUT(out, ",,,,,");
        orr_put_signed(out, event->u.memory.change);
        ORR_PUT(out, ",,,,,,\n");
        break;
    case ORR_EVENT_SUSPENSION:
        ORR_PUT(out, "suspended,");
        put_when(csv, event->u.suspension.start, event->u.suspension.end,
                 event->worker);
        orr_put_unsigned(out, event->u.suspension.job);
        ORR_PUT(out, ",,,,,,,,,,,,,,\n");
        break;
    case ORR_EVENT_STEAL:
        ORR_PUT(out, "steal,");
        put_when(csv, moment->time, moment->time, event->worker);
        orr_put_unsigned(out, event->u.steal.job);
        ORR_PUT(out, ",,,,");
        orr_put_unsigned(out, event->u.steal.victim);
        ORR_PUT(out, ",,,,,,,,,,\n");
        break;
    case ORR_EVENT_MARK:
        ORR_PUT(out, "mark,");
        put_when(csv, moment->time, moment->time, ORR_TRACE_OUTSIDE);
        orr_put_byte(out, ',');
        write_text(csv, event->u.mark.text);
        ORR_PUT(out, ",,,,,,,,,,,,,\n");
        break;
    }
}

static int csv_begin(const struct orr_trace *trace, void **ret)
{
    struct csv *csv = calloc(1, sizeof(*csv));

    if (!csv)
        return -ENOMEM;
    csv->trace = trace;
    orr_same_init(&csv->start);
    *ret = csv;
    return 0;
}

static int csv_write_moments(void *writer, const struct orr_timeline *part,
                             struct orr_out *out)
{
    struct csv *csv = writer;

    csv->out = out;
    for (size_t i = 0; i < part->n; i++)
        if (!part->moments[i].end)
            write_event(csv, &part->moments[i]);
    return 0;
}

static int csv_write_head(void *writer, const struct orr_trace_whole *whole,
                          struct orr_out *out)
{
    struct csv *csv = writer;
    const struct orr_trace *trace = csv->trace;

    csv->out = out;
    orr_put_text(out, header);
    for (unsigned w = 0; w < trace->nworkers; w++) {
        ORR_PUT(out, "worker,");
        put_when(csv, trace->start, whole->end, w);
        orr_put_byte(out, ',');
        write_text(csv, trace->workers[w].name);
        orr_print(out, ",,%u,,,,,,,,,,,\n", trace->workers[w].node);
    }
    if (trace->nranks > 0) {
        orr_print(out, "rank,0,0,,,,,%d,%u,,,,", trace->rank, trace->nranks);
        orr_put_decimal(out, trace->start / 1000.0, 6);
        ORR_PUT(out, ",,,,,,\n");
    }
    if (orr_trace_dropped(trace) > 0)
        orr_print(out, "dropped,0,0,,,,,,,,,,%llu,,,,,,\n",
                  (unsigned long long)orr_trace_dropped(trace));
    return 0;
}

static int csv_write_tail(void *writer, const struct orr_trace_whole *whole,
                          struct orr_out *out)
{
    (void)writer;
    (void)whole;
    (void)out;
    return 0;
}

const struct orr_trace_parts orr_csv_parts = {
    .begin = csv_begin,
    .moments = csv_write_moments,
    .head = csv_write_head,
    .tail = csv_write_tail,
    .free = free,
};

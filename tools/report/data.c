/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/report/data.c - the data of a page as JSON: the trace in columns, so that
 * a hundred thousand tasks are few megabytes. Times are integers, nanoseconds
 * since the first submission, each less the one before where `steps` says so.
 */
#include "tools/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/observe/source_line.h"
#include "tools/common/json.h"

struct data {
    const struct trace *trace;
    struct report_beside beside;
    FILE *file;
    const char **names; /* owned: the texts in order, each once */
    size_t nnames;
    const char **sources; /* owned: likewise, where tasks were submitted */
    size_t nsources;
    const char *links; /* the scheme of links to them, NULL: none */
    int64_t *column; /* owned: room for the longest */
    bool lost;       /* no memory */
};

static int64_t ms_to_ns(double ms)
{
    return llround(ms * 1e6);
}

static int64_t ns_since_start(const struct data *d, double ms)
{
    return ms_to_ns(ms - d->trace->begin);
}

static int compare_name_pointers(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of tasks, sorts of copies and states, each once, sorted. */
static bool collect_names(struct data *d)
{
    size_t n = 0;
    size_t all = d->trace->ntasks + d->trace->ncopies + d->beside.nstretches;

    d->names = malloc((all + 1) * sizeof(*d->names));
    if (!d->names)
        return false;
    for (size_t t = 0; t < d->trace->ntasks; t++)
        d->names[n++] = d->trace->tasks[t].name;
    for (size_t c = 0; c < d->trace->ncopies; c++)
        d->names[n++] = d->trace->copies[c].kind;
    for (size_t s = 0; s < d->beside.nstretches; s++)
        d->names[n++] = d->beside.stretches[s].kind;
    if (n)
        qsort(d->names, n, sizeof(*d->names), compare_name_pointers);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(d->names[i], d->names[d->nnames - 1]) != 0)
            d->names[d->nnames++] = d->names[i];
    return true;
}

/* Where tasks were submitted, each once, sorted. */
static bool collect_sources(struct data *d)
{
    size_t n = 0;

    d->sources = malloc((d->trace->ntasks + 1) * sizeof(*d->sources));
    if (!d->sources)
        return false;
    for (size_t t = 0; t < d->trace->ntasks; t++)
        if (d->trace->tasks[t].source)
            d->sources[n++] = d->trace->tasks[t].source;
    if (n)
        qsort(d->sources, n, sizeof(*d->sources), compare_name_pointers);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(d->sources[i], d->sources[d->nsources - 1]) != 0)
            d->sources[d->nsources++] = d->sources[i];
    return true;
}

/* -1: it is not known. */
static int64_t source_index(const struct data *d, const char *source)
{
    const char **found = source ? bsearch(&source, d->sources, d->nsources,
                                          sizeof(*d->sources), compare_name_pointers)
                                : NULL;

    return found ? found - d->sources : -1;
}

static int64_t name_index(const struct data *d, const char *name)
{
    const char **found = bsearch(&name, d->names, d->nnames, sizeof(*d->names),
                                 compare_name_pointers);

    return found - d->names;
}

static void write_json_text(struct data *d, const char *text)
{
    json_t *json = tool_json_text(text);

    d->lost |= !json || json_dumpf(json, d->file, JSON_ENCODE_ANY) < 0;
    json_decref(json);
}

/* The first n of the column; `steps`: each less the one before. */
static void write_column(const struct data *d, const char *name, size_t n,
                         bool steps)
{
    int64_t before = 0;

    fprintf(d->file, "\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        fprintf(d->file, i ? ",%" PRId64 : "%" PRId64, d->column[i] - before);
        before = steps ? d->column[i] : 0;
    }
    fputc(']', d->file);
}

enum task_column {
    TASK_JOB,
    TASK_WORKER,
    TASK_NAME,
    TASK_START,
    TASK_LENGTH,
    TASK_PRIORITY,
    TASK_SUBMITTED,
    TASK_READY,
    TASK_TAKEN,
    TASK_SOURCE,
    TASK_ITERATION,
    TASK_SUBITERATION,
    TASK_NCOLUMNS
};

static int64_t task_value(const struct data *d, const struct trace_task *task,
                          enum task_column column)
{
    switch (column) {
    case TASK_JOB:
        return (int64_t)task->job;
    case TASK_WORKER:
        return task->worker;
    case TASK_NAME:
        return name_index(d, task->name);
    case TASK_START:
        return ns_since_start(d, task->start);
    case TASK_LENGTH:
        return ms_to_ns(task->end - task->start);
    case TASK_PRIORITY:
        return task->priority;
    case TASK_SUBMITTED:
        return ms_to_ns(task->start - task->submitted);
    case TASK_READY:
        return ms_to_ns(task->start - task->ready);
    case TASK_TAKEN:
        return ms_to_ns(task->start - task->taken);
    case TASK_SOURCE:
        return source_index(d, task->source);
    case TASK_ITERATION:
        return task->iteration;
    default:
        return task->subiteration;
    }
}

/* Tags are texts: they have more bits than numbers in a browser. */
static void write_tags(const struct data *d)
{
    fputs(",\n\"tag\":[", d->file);
    for (size_t t = 0; t < d->trace->ntasks; t++) {
        uint64_t tag = d->trace->tasks[t].tag;

        fputs(t ? ",\"" : "\"", d->file);
        if (tag)
            fprintf(d->file, "%" PRIx64, tag);
        fputc('"', d->file);
    }
    fputc(']', d->file);
}

static void write_tasks(const struct data *d)
{
    static const char *const columns[TASK_NCOLUMNS] = {
        "job",       "worker", "name",  "start",     "length",      "priority",
        "submitted", "ready",  "taken", "source",    "iteration",   "subiteration"};
    bool tags = false, loops = false;

    for (size_t t = 0; t < d->trace->ntasks; t++) {
        tags |= d->trace->tasks[t].tag != 0;
        loops |= d->trace->tasks[t].iteration >= 0;
    }
    fputs(",\n\"tasks\":{", d->file);
    for (enum task_column c = 0; c < TASK_NCOLUMNS; c++) {
        if (c >= TASK_ITERATION && !loops)
            break;
        if (c == TASK_SOURCE && !d->nsources)
            continue;
        for (size_t t = 0; t < d->trace->ntasks; t++)
            d->column[t] = task_value(d, &d->trace->tasks[t], c);
        fputs(c ? ",\n" : "", d->file);
        write_column(d, columns[c], d->trace->ntasks, c == TASK_START);
    }
    if (tags)
        write_tags(d);
    fputc('}', d->file);
}

/* Kernels that wait, by the places of their tasks. */
static void write_wait_columns(const struct data *d)
{
    const struct trace_wait *waits = d->trace->waits;
    size_t n = d->trace->nwaits;

    fputs(",\n\"waits\":{", d->file);
    for (size_t i = 0; i < n; i++)
        d->column[i] = (int64_t)waits[i].task;
    write_column(d, "task", n, true);
    fputc(',', d->file);
    for (size_t i = 0; i < n; i++)
        d->column[i] = ns_since_start(d, waits[i].start);
    write_column(d, "start", n, false);
    fputc(',', d->file);
    for (size_t i = 0; i < n; i++)
        d->column[i] = ms_to_ns(waits[i].end - waits[i].start);
    write_column(d, "length", n, false);
    fputc('}', d->file);
}

enum state_column {
    STATE_WORKER,
    STATE_START,
    STATE_LENGTH,
    STATE_KIND,
    STATE_NCOLUMNS
};

static int64_t state_value(const struct data *d,
                           const struct report_stretch *stretch,
                           enum state_column column)
{
    switch (column) {
    case STATE_WORKER:
        return stretch->worker;
    case STATE_START:
        return ns_since_start(d, stretch->start);
    case STATE_LENGTH:
        return ms_to_ns(stretch->end - stretch->start);
    default:
        return name_index(d, stretch->kind);
    }
}

static void write_states(const struct data *d)
{
    static const char *const columns[STATE_NCOLUMNS] = {"worker", "start",
                                                        "length", "kind"};

    fputs(",\n\"states\":{", d->file);
    for (enum state_column c = 0; c < STATE_NCOLUMNS; c++) {
        for (size_t i = 0; i < d->beside.nstretches; i++)
            d->column[i] = state_value(d, &d->beside.stretches[i], c);
        fputs(c ? ",\n" : "", d->file);
        write_column(d, columns[c], d->beside.nstretches, c == STATE_START);
    }
    fputc('}', d->file);
}

static void write_steals(const struct data *d)
{
    const struct trace_steal *steals = d->trace->steals;
    size_t n = d->trace->nsteals;

    fputs(",\n\"steals\":{", d->file);
    for (size_t i = 0; i < n; i++)
        d->column[i] = ns_since_start(d, steals[i].time);
    write_column(d, "time", n, true);
    fputc(',', d->file);
    for (size_t i = 0; i < n; i++)
        d->column[i] = steals[i].thief;
    write_column(d, "thief", n, false);
    fputc(',', d->file);
    for (size_t i = 0; i < n; i++)
        d->column[i] = steals[i].victim;
    write_column(d, "victim", n, false);
    fputc(',', d->file);
    for (size_t i = 0; i < n; i++)
        d->column[i] = (int64_t)steals[i].job;
    write_column(d, "job", n, false);
    fputc('}', d->file);
}

/* Of the application. */
static void write_marks(struct data *d)
{
    fputs(",\n\"marks\":[", d->file);
    for (size_t i = 0; i < d->trace->nmarks; i++) {
        const struct trace_mark *mark = &d->trace->marks[i];

        fprintf(d->file, "%s{\"time\":%" PRId64 ",\"text\":", i ? "," : "",
                ns_since_start(d, mark->time));
        write_json_text(d, mark->text);
        fputc('}', d->file);
    }
    fputc(']', d->file);
}

enum copy_column {
    COPY_FROM,
    COPY_TO,
    COPY_START,
    COPY_LENGTH,
    COPY_BYTES,
    COPY_JOB,
    COPY_HANDLE,
    COPY_KIND,
    COPY_NCOLUMNS
};

static int64_t copy_value(const struct data *d, const struct trace_copy *copy,
                          enum copy_column column)
{
    switch (column) {
    case COPY_FROM:
        return copy->from;
    case COPY_TO:
        return copy->to;
    case COPY_START:
        return ns_since_start(d, copy->start);
    case COPY_LENGTH:
        return ms_to_ns(copy->end - copy->start);
    case COPY_BYTES:
        return llround(copy->bytes);
    case COPY_JOB:
        return (int64_t)copy->job;
    case COPY_HANDLE:
        return (int64_t)copy->handle;
    default:
        return name_index(d, copy->kind);
    }
}

static void write_copy_columns(const struct data *d)
{
    static const char *const columns[COPY_NCOLUMNS] = {
        "from", "to", "start", "length", "bytes", "job", "handle", "kind"};

    fputs(",\n\"copies\":{", d->file);
    for (enum copy_column c = 0; c < COPY_NCOLUMNS; c++) {
        for (size_t i = 0; i < d->trace->ncopies; i++)
            d->column[i] = copy_value(d, &d->trace->copies[i], c);
        fputs(c ? ",\n" : "", d->file);
        write_column(d, columns[c], d->trace->ncopies, c == COPY_START);
    }
    fputc('}', d->file);
}

/* A count over time; of memory with the node of each step. */
static void write_steps(const struct data *d, const char *name,
                        const struct trace_steps *steps, bool nodes)
{
    fprintf(d->file, ",\n\"%s\":{", name);
    for (size_t i = 0; i < steps->n; i++)
        d->column[i] = ns_since_start(d, steps->items[i].time);
    write_column(d, "time", steps->n, true);
    fputc(',', d->file);
    for (size_t i = 0; i < steps->n; i++)
        d->column[i] = llround(steps->items[i].change);
    write_column(d, "change", steps->n, false);
    if (nodes) {
        fputc(',', d->file);
        for (size_t i = 0; i < steps->n; i++)
            d->column[i] = steps->items[i].node;
        write_column(d, "node", steps->n, false);
    }
    fputc('}', d->file);
}

static void write_worker_list(struct data *d)
{
    fprintf(d->file, ",\n\"nodes\":%u,\n\"workers\":[", d->trace->nnodes);
    for (unsigned w = 0; w < d->trace->nworkers; w++) {
        fputs(w ? ",{\"name\":" : "{\"name\":", d->file);
        write_json_text(d, d->trace->workers[w].name);
        fprintf(d->file, ",\"node\":%u}", d->trace->workers[w].node);
    }
    fputs("],\n\"names\":[", d->file);
    for (size_t i = 0; i < d->nnames; i++) {
        fputs(i ? "," : "", d->file);
        write_json_text(d, d->names[i]);
    }
    fputc(']', d->file);
}

/* With their links, if a scheme was named. */
static void write_sources(struct data *d)
{
    fputs(",\n\"sources\":[", d->file);
    for (size_t i = 0; i < d->nsources; i++) {
        char *link = orr_source_link(d->links, d->sources[i]);

        fputs(i ? ",{\"text\":" : "{\"text\":", d->file);
        write_json_text(d, d->sources[i]);
        if (link) {
            fputs(",\"link\":", d->file);
            write_json_text(d, link);
        }
        fputc('}', d->file);
        free(link);
    }
    fputc(']', d->file);
}

static void write_json(const struct data *d, const char *name,
                       const json_t *json)
{
    fprintf(d->file, ",\n\"%s\":", name);
    if (!json || json_dumpf(json, d->file, JSON_COMPACT) < 0)
        fputs("null", d->file);
}

static void write_about(struct data *d, const struct report_page *page)
{
    fputs("{\"version\":\"" ORR_VERSION "\",\"title\":", d->file);
    write_json_text(d, page->title);
    fputs(",\"command\":", d->file);
    write_json_text(d, page->command);
    fprintf(d->file, ",\"dropped\":%.0f,\"end\":%" PRId64, d->trace->dropped,
            ns_since_start(d, d->trace->end));
}

int report_data(const struct report_page *page, FILE *file)
{
    const struct trace *trace = &page->trace;
    struct data d = {.trace = trace, .links = page->links, .file = file};
    size_t most = trace->ntasks + trace->ncopies + trace->memory.n +
                  trace->ready.n + trace->submitted.n;
    int rc = report_beside(trace, &d.beside);

    most += d.beside.nstretches + trace->nwaits + trace->nsteals;
    d.column = malloc((most + 1) * sizeof(*d.column));
    if (rc == 0 && d.column && collect_names(&d) && collect_sources(&d)) {
        write_about(&d, page);
        write_worker_list(&d);
        write_sources(&d);
        write_tasks(&d);
        write_copy_columns(&d);
        write_wait_columns(&d);
        write_states(&d);
        write_steals(&d);
        write_marks(&d);
        write_steps(&d, "submitted", &trace->submitted, false);
        write_steps(&d, "ready", &trace->ready, false);
        write_steps(&d, "memory", &trace->memory, true);
        if (page->other) {
            fprintf(file, ",\n\"other\":{\"node\":%u,\"label\":", page->other_node);
            write_json_text(&d, page->other);
            fputc('}', file);
        }
        write_json(&d, "ranks", page->ranks);
        write_json(&d, "run", page->run);
        write_json(&d, "explanation", page->explanation);
        write_json(&d, "bounds", page->bounds);
        write_json(&d, "comparisons", page->comparisons);
        fputs(",\n\"picture\":", file);
        write_json_text(&d, page->picture);
        fputs("}\n", file);
    } else {
        d.lost = true;
    }
    free(d.names);
    free(d.sources);
    free(d.column);
    report_beside_done(&d.beside);
    return d.lost || tool_json_lacks() ? -ENOMEM : 0;
}

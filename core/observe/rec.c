/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/rec.c - tasks.rec, data.rec and sched.rec as StarPU's tools write and
 * read them: a record per task that has ended, per datum, per decision of the
 * scheduler. Data are called by their numbers, not their addresses. Needs the
 * submissions and, for tasks.rec, the graph. One thread.
 */
#include "core/observe/formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "core/base/grow.h"
#include "core/base/out.h"
#include "core/base/spool.h"
#include "core/observe/edges.h"
#include "core/observe/entities.h"
#include "core/observe/source_line.h"
#include "core/observe/sources.h"
#include "core/observe/trace_events.h"

/* Names that were written: each lies at one place, and most are the same few. */
enum { NNAMES = 64 };
struct name {
    const char *text;
    char *safe; /* owned */
};

struct rec {
    const struct orr_trace *trace;
    struct orr_out *out;
    /* -- submissions, as far as they were read -- */
    struct orr_chain_place place;
    const struct orr_submitted **of_job; /* owned, by the job's number */
    size_t njobs;
    struct orr_chain_place advice; /* advice was written before that */
    bool advises;                  /* some are no tasks */
    /* -- tasks.rec -- */
    struct orr_edges edges;
    /* -- sched.rec -- */
    uint64_t *done; /* owned, by worker: tasks that it has begun */
    struct name names[NNAMES];
};

/* --- beginning and end --- */

static void rec_done(void *writer)
{
    struct rec *rec = writer;

    free(rec->of_job);
    free(rec->done);
    for (size_t i = 0; i < NNAMES; i++)
        free(rec->names[i].safe);
    free(rec);
}

static int rec_begin(const struct orr_trace *trace, void **ret)
{
    struct rec *rec = calloc(1, sizeof(*rec));

    if (!rec)
        return -ENOMEM;
    rec->trace = trace;
    rec->done = calloc((size_t)trace->nworkers + 1, sizeof(*rec->done));
    if (!rec->done) {
        rec_done(rec);
        return -ENOMEM;
    }
    if (trace->submissions)
        rec->advice = rec->place = orr_submissions_first(trace->submissions);
    *ret = rec;
    return 0;
}

/* A task that has begun was submitted before. Errors: -ENOMEM. */
static int read_submissions(struct rec *rec)
{
    const struct orr_submitted *entry;

    while (rec->trace->submissions &&
           (entry = orr_submissions_next(&rec->place))) {
        rec->advises |= entry->job == 0;
        if (orr_grow(&rec->of_job, &rec->njobs, entry->job + 1,
                     sizeof(*rec->of_job)) < 0)
            return -ENOMEM;
        rec->of_job[entry->job] = entry->job ? entry : NULL;
    }
    return 0;
}

static const struct orr_submitted *submission_of(const struct rec *rec,
                                                 uint64_t job)
{
    return job < rec->njobs ? rec->of_job[job] : NULL;
}

static double rec_ms(const struct rec *rec, double time)
{
    return (time - rec->trace->start) / 1000;
}

/* --- fields --- */

/* Writes the number as %f would. */
static void rec_put_number(struct rec *rec, const char *field, double value)
{
    orr_put_text(rec->out, field);
    ORR_PUT(rec->out, ": ");
    orr_put_decimal(rec->out, value, 6);
    orr_put_byte(rec->out, '\n');
}

/* The text on one line; NULL without memory. */
static const char *safe_text(struct rec *rec, const char *text)
{
    struct name *name = &rec->names[(uintptr_t)text / 16 % NNAMES];

    if (name->text != text || !name->safe) {
        free(name->safe);
        name->text = text;
        name->safe = orr_trace_safe_text(text);
    }
    return name->safe;
}

static void put_text(struct rec *rec, const char *field, const char *text)
{
    const char *safe = text ? safe_text(rec, text) : NULL;

    if (!safe)
        return;
    orr_put_text(rec->out, field);
    ORR_PUT(rec->out, ": ");
    orr_put_text(rec->out, safe);
    orr_put_byte(rec->out, '\n');
}

/* A line with a number behind a literal. */
#define PUT_COUNT(out, field, value)                                           \
    (ORR_PUT(out, field ": "), orr_put_unsigned(out, value),                   \
     orr_put_byte(out, '\n'))

static void put_mode(struct orr_out *out, uint32_t mode)
{
    static const struct {
        uint32_t bit;
        char letter;
    } letters[] = {{STARPU_R, 'R'},
                   {STARPU_W, 'W'},
                   {STARPU_SCRATCH, 'S'},
                   {STARPU_REDUX, 'X'},
                   {STARPU_COMMUTE, 'C'}};

    orr_put_byte(out, ' ');
    for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
        if (mode & letters[i].bit)
            orr_put_byte(out, letters[i].letter);
}

static void put_uses(struct orr_out *out, const struct orr_submitted *entry)
{
    const struct orr_submitted_use *uses = entry->uses;

    if (!entry->nuses)
        return;
    ORR_PUT(out, "Handles:");
    for (size_t u = 0; u < entry->nuses; u++) {
        orr_put_byte(out, ' ');
        orr_put_hex(out, uses[u].handle, 1);
    }
    ORR_PUT(out, "\nModes:");
    for (size_t u = 0; u < entry->nuses; u++)
        put_mode(out, uses[u].mode);
    ORR_PUT(out, "\nSizes:");
    for (size_t u = 0; u < entry->nuses; u++) {
        orr_put_byte(out, ' ');
        orr_put_unsigned(out, uses[u].bytes);
    }
    ORR_PUT(out, "\nNumaNodes:");
    for (size_t u = 0; u < entry->nuses; u++)
        ORR_PUT(out, " -1");
    orr_put_byte(out, '\n');
}

static void put_iteration(struct rec *rec, const struct orr_trace_task *task)
{
    const int64_t *levels =
        orr_trace_iteration_levels(rec->trace, task->iteration);

    if (!levels)
        return;
    orr_print(rec->out, "Iteration: %lld", (long long)levels[0]);
    if (levels[1] >= 0)
        orr_print(rec->out, " %lld", (long long)levels[1]);
    orr_put_byte(rec->out, '\n');
}

/* Where it was submitted. */
static void put_source(struct rec *rec, uint64_t job)
{
    const char *source = orr_sources_text(rec->trace->sources, job);
    char *safe = source ? orr_trace_safe_text(source) : NULL;
    unsigned long line;
    int length;

    if (safe && orr_source_split(safe, &length, &line)) {
        ORR_PUT(rec->out, "File: ");
        for (int i = 0; i < length; i++)
            orr_put_byte(rec->out, safe[i]);
        ORR_PUT(rec->out, "\n");
        PUT_COUNT(rec->out, "Line", line);
    }
    free(safe);
}

/* --- what tasks wait for --- */

static void put_waits(struct rec *rec, unsigned place)
{
    unsigned n = orr_edges_count(&rec->edges, place);

    if (!n)
        return;
    ORR_PUT(rec->out, "DependsOn:");
    for (unsigned d = 0; d < n; d++) {
        orr_put_byte(rec->out, ' ');
        orr_put_unsigned(rec->out, orr_edges_before(&rec->edges, place, d));
    }
    orr_put_byte(rec->out, '\n');
}

static void put_waits_of(struct rec *rec, uint64_t job)
{
    unsigned place = orr_edges_find(&rec->edges, job);

    if (place < rec->edges.ntasks)
        put_waits(rec, place);
}

/* --- tasks.rec --- */

/* So many moments ahead what is known of a task is fetched, and what that leads to. */
enum { FAR = 32, NEAR = 16 };

static void put_task(struct rec *rec, const struct orr_event *event)
{
    const struct orr_trace *trace = rec->trace;
    const struct orr_trace_task *task = &event->u.task;
    const struct orr_submitted *entry = submission_of(rec, task->job);
    struct orr_out *out = rec->out;

    put_text(rec, "Name", task->name);
    if (entry)
        put_text(rec, "Model", entry->model);
    PUT_COUNT(out, "JobId", task->job);
    if (entry)
        PUT_COUNT(out, "SubmitOrder", entry->order);
    ORR_PUT(out, "Priority: ");
    orr_put_signed(out, task->priority);
    orr_put_byte(out, '\n');
    put_waits_of(rec, task->job);
    ORR_PUT(out, "Tag: ");
    orr_put_hex(out, task->tag, 1);
    ORR_PUT(out, "\nWorkerId: ");
    orr_put_unsigned(out, event->worker);
    orr_put_byte(out, '\n');
    if (event->worker < trace->nworkers)
        PUT_COUNT(out, "MemoryNode", trace->workers[event->worker].node);
    if (entry)
        rec_put_number(rec, "SubmitTime", rec_ms(rec, entry->time));
    rec_put_number(rec, "StartTime", rec_ms(rec, task->start));
    rec_put_number(rec, "EndTime", rec_ms(rec, task->end));
    ORR_PUT(out, "Footprint: ");
    orr_put_hex(out, task->footprint, 1);
    orr_put_byte(out, '\n');
    if (task->gflop > 0)
        rec_put_number(rec, "GFlop", task->gflop);
    put_iteration(rec, task);
    put_source(rec, task->job);
    if (entry)
        put_uses(out, entry);
    ORR_PUT(out, "MPIRank: -1\n\n");
}

/* Nodes of the graph that only join dependencies: tasks without a kernel. */
static void put_joins(struct rec *rec)
{
    for (unsigned t = 0; t < rec->edges.ntasks; t++) {
        uint64_t id = orr_edges_id(&rec->edges, t);

        if (submission_of(rec, id))
            continue;
        orr_print(rec->out, "JobId: %llu\nPriority: 0\n",
                  (unsigned long long)id);
        put_waits(rec, t);
        ORR_PUT(rec->out, "MPIRank: -1\n\n");
    }
}

/* What was read, and not written yet. */
static void put_advice(struct rec *rec)
{
    const struct orr_submitted *entry;

    while (rec->advises && (entry = orr_submissions_next(&rec->advice))) {
        if (entry->job)
            continue;
        /* Behind the numbers of all tasks and joins. */
        orr_print(
            rec->out, "Control: WontUse\nJobId: w%llu\nSubmitOrder: %llu\n",
            (unsigned long long)entry->order, (unsigned long long)entry->order);
        rec_put_number(rec, "SubmitTime", rec_ms(rec, entry->time));
        orr_print(rec->out, "Handles: %llx\nMPIRank: -1\n\n",
                  (unsigned long long)entry->uses[0].handle);
    }
}

static int rec_take_waits(void *writer, const struct orr_waits *waits,
                          bool is_all, struct orr_out *out,
                          struct orr_out *behind)
{
    struct rec *rec = writer;
    int rc = read_submissions(rec);

    (void)is_all;
    (void)out;
    rec->edges = orr_edges_of(NULL, waits);
    rec->out = behind;
    if (rc == 0)
        put_advice(rec);
    return rc;
}

/* What is known of the next tasks. */
static void rec_prefetch(const struct rec *rec, const struct orr_timeline *part,
                         size_t at)
{
    const struct orr_submitted *entry;
    uint64_t job;

    if (at + FAR >= part->n)
        return;
    job = orr_moment_job(&part->moments[at + FAR]);
    orr_edges_fetch_task(&rec->edges, job);
    __builtin_prefetch(submission_of(rec, job));
    job = orr_moment_job(&part->moments[at + NEAR]);
    orr_edges_fetch_list(&rec->edges, job);
    entry = submission_of(rec, job);
    if (entry && entry->nuses) {
        __builtin_prefetch(entry->uses);
        __builtin_prefetch(entry->uses + entry->nuses - 1);
    }
}

static int write_ended(void *writer, const struct orr_timeline *part,
                       struct orr_out *out)
{
    struct rec *rec = writer;
    int rc = read_submissions(rec);

    rec->out = out;
    for (size_t i = 0; rc == 0 && i < part->n; i++) {
        const struct orr_moment *moment = &part->moments[i];

        rec_prefetch(rec, part, i);
        if (moment->event->type == ORR_EVENT_TASK && moment->end)
            put_task(rec, moment->event);
    }
    return rc;
}

static int take_graph(void *writer, const struct orr_trace_whole *whole,
                      struct orr_out *out)
{
    struct rec *rec = writer;

    (void)out;
    rec->edges = orr_edges_of(whole->graph, NULL);
    return 0;
}

/* A graph that is not needed has tasks alone. */
static int write_rest(void *writer, const struct orr_trace_whole *whole,
                      struct orr_out *out)
{
    struct rec *rec = writer;

    if (whole->behind) {
        orr_out_flush(out);
        return orr_spool_append(whole->behind, 0, out->file);
    }
    rec->out = out;
    put_joins(rec);
    put_advice(rec);
    return 0;
}

const struct orr_trace_parts orr_tasks_rec_parts = {
    .begin = rec_begin,
    .moments = write_ended,
    .waits = rec_take_waits,
    .head = take_graph,
    .tail = write_rest,
    .has_early_head = true,
    .free = rec_done,
};

/* --- data.rec --- */

static int compare_data(const void *a, const void *b)
{
    const struct orr_submitted_datum *const *x = a, *const *y = b;

    return ((*x)->handle > (*y)->handle) - ((*x)->handle < (*y)->handle);
}

/* Finds all data, in the order of their handles. Errors: -ENOMEM. */
static int find_data(const struct rec *rec,
                     const struct orr_submitted_datum ***ret, size_t *ret_n)
{
    const struct orr_submitted_datum **all = NULL, *datum;
    struct orr_chain_place place;
    size_t n = 0, room = 0;

    if (rec->trace->submissions) {
        place = orr_submissions_first_datum(rec->trace->submissions);
        for (; (datum = orr_submissions_next_datum(&place)); all[n++] = datum)
            if (orr_grow(&all, &room, n + 1, sizeof(*all)) < 0) {
                free(all);
                return -ENOMEM;
            }
    }
    if (n > 0)
        qsort(all, n, sizeof(*all), compare_data);
    *ret = all;
    *ret_n = n;
    return 0;
}

static void put_datum(struct rec *rec, const struct orr_submitted_datum *datum)
{
    struct orr_out *out = rec->out;

    orr_print(out, "Handle: %llx\nHomeNode: %d\n",
              (unsigned long long)datum->handle, datum->home);
    put_text(rec, "Name", datum->name);
    orr_print(out, "Size: %zu\n", datum->bytes);
    if (datum->ncoordinates)
        ORR_PUT(out, "Coordinates:");
    for (unsigned i = 0; i < datum->ncoordinates; i++)
        orr_print(out, " %d", datum->coordinates[i]);
    orr_put_text(out, datum->ncoordinates ? "\n\n" : "\n");
}

static int write_data(void *writer, const struct orr_trace_whole *whole,
                      struct orr_out *out)
{
    struct rec *rec = writer;
    const struct orr_submitted_datum **all;
    size_t n;
    int rc = find_data(rec, &all, &n);

    (void)whole;
    if (rc)
        return rc;
    rec->out = out;
    for (size_t d = 0; d < n; d++)
        put_datum(rec, all[d]);
    free(all);
    return 0;
}

const struct orr_trace_parts orr_data_rec_parts = {
    .begin = rec_begin,
    .tail = write_data,
    .free = rec_done,
};

/* --- sched.rec --- */

/* Which worker executed each task, in which order: starts on a worker are in the order
 * of the timeline. */
static void put_start(struct rec *rec, const struct orr_event *event)
{
    const struct orr_submitted *entry = submission_of(rec, event->u.task.job);
    struct orr_out *out = rec->out;

    if (!entry)
        return;
    PUT_COUNT(out, "SubmitOrder", entry->order);
    ORR_PUT(out, "Priority: ");
    orr_put_signed(out, event->u.task.priority);
    orr_put_byte(out, '\n');
    PUT_COUNT(out, "SpecificWorker", event->worker);
    PUT_COUNT(out, "Workerorder", ++rec->done[event->worker]);
    orr_put_byte(out, '\n');
}

static int write_starts(void *writer, const struct orr_timeline *part,
                        struct orr_out *out)
{
    struct rec *rec = writer;
    int rc = read_submissions(rec);

    rec->out = out;
    for (size_t i = 0; rc == 0 && i < part->n; i++) {
        const struct orr_moment *moment = &part->moments[i];

        if (moment->event->type == ORR_EVENT_TASK && !moment->end &&
            moment->event->worker < rec->trace->nworkers)
            put_start(rec, moment->event);
    }
    return rc;
}

const struct orr_trace_parts orr_sched_rec_parts = {
    .begin = rec_begin,
    .moments = write_starts,
    .free = rec_done,
};

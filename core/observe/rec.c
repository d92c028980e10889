/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/rec.c - tasks.rec, data.rec and sched.rec as StarPU's tools write and
 * read them: a record per task that has ended, per datum, per decision of the
 * scheduler. Data are called by their numbers, not their addresses. Needs the graph
 * and the submissions. One thread.
 */
#include "core/observe/formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "bound/graph.h"
#include "core/observe/entities.h"
#include "core/observe/out.h"

struct rec {
    struct orr_out out;
    const struct orr_trace_source *source;
    const struct orr_submissions *submissions;
    size_t *of_job; /* by the job's number: its place among submissions + 1 */
    uint64_t last_job;
};

/* --- beginning and end --- */

static void rec_done(struct rec *rec)
{
    if (rec->out.begin)
        orr_out_done(&rec->out);
    free(rec->of_job);
}

/* Ended with rec_done, also where it fails. Errors: -ENOMEM. */
static int rec_init(struct rec *rec, const struct orr_trace_source *source,
                    FILE *file)
{
    const struct orr_submissions *s = source->trace->submissions;

    int rc;

    *rec = (struct rec){.source = source, .submissions = s};
    rc = orr_out_init(&rec->out, file);
    if (rc)
        return rc;
    for (size_t i = 0; s && i < s->n; i++)
        if (s->all[i].job > rec->last_job)
            rec->last_job = s->all[i].job;
    rec->of_job = calloc(rec->last_job + 1, sizeof(*rec->of_job));
    if (!rec->of_job)
        return -ENOMEM;
    for (size_t i = 0; s && i < s->n; i++)
        if (s->all[i].job)
            rec->of_job[s->all[i].job] = i + 1;
    return 0;
}

static const struct orr_submitted *submission_of(const struct rec *rec,
                                                 uint64_t job)
{
    size_t place = job <= rec->last_job ? rec->of_job[job] : 0;

    return place ? &rec->submissions->all[place - 1] : NULL;
}

/* The graph's tasks are in the order of their numbers. */
static const struct orr_graph_task *task_of(const struct rec *rec, uint64_t job)
{
    const struct orr_graph *graph = rec->source->graph;
    unsigned low = 0, high = graph ? graph->ntasks : 0;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (graph->tasks[middle].id < job)
            low = middle + 1;
        else
            high = middle;
    }
    return graph && low < graph->ntasks && graph->tasks[low].id == job
               ? &graph->tasks[low]
               : NULL;
}

static double ms(const struct rec *rec, double time)
{
    return (time - rec->source->trace->start) / 1000;
}

/* --- fields --- */

/* As %f. */
static void put_number(struct rec *rec, const char *field, double value)
{
    orr_put_text(&rec->out, field);
    ORR_PUT(&rec->out, ": ");
    orr_put_decimal(&rec->out, value, 6);
    orr_put_byte(&rec->out, '\n');
}

/* On one line. */
static void put_text(struct rec *rec, const char *field, const char *text)
{
    char *safe = text ? orr_trace_safe_text(text) : NULL;

    if (safe)
        orr_print(&rec->out, "%s: %s\n", field, safe);
    free(safe);
}

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

static void put_uses(struct rec *rec, const struct orr_submitted *entry)
{
    const struct orr_submitted_use *uses =
        &rec->submissions->uses[entry->first_use];
    struct orr_out *out = &rec->out;

    if (!entry->nuses)
        return;
    ORR_PUT(out, "Handles:");
    for (size_t u = 0; u < entry->nuses; u++)
        orr_print(out, " %llx", (unsigned long long)uses[u].handle);
    ORR_PUT(out, "\nModes:");
    for (size_t u = 0; u < entry->nuses; u++)
        put_mode(out, uses[u].mode);
    ORR_PUT(out, "\nSizes:");
    for (size_t u = 0; u < entry->nuses; u++)
        orr_print(out, " %zu", uses[u].bytes);
    ORR_PUT(out, "\nNumaNodes:");
    for (size_t u = 0; u < entry->nuses; u++)
        ORR_PUT(out, " -1");
    orr_put_byte(out, '\n');
}

static void put_iteration(struct rec *rec, const struct orr_trace_task *task)
{
    const int64_t *levels =
        orr_trace_iteration_levels(rec->source->trace, task->iteration);

    if (!levels)
        return;
    orr_print(&rec->out, "Iteration: %lld", (long long)levels[0]);
    if (levels[1] >= 0)
        orr_print(&rec->out, " %lld", (long long)levels[1]);
    orr_put_byte(&rec->out, '\n');
}

static void put_waits(struct rec *rec, const struct orr_graph_task *task)
{
    const struct orr_graph *graph = rec->source->graph;

    if (!task || !task->ndeps)
        return;
    ORR_PUT(&rec->out, "DependsOn:");
    for (unsigned d = 0; d < task->ndeps; d++)
        orr_print(&rec->out, " %llu",
                  (unsigned long long)graph
                      ->tasks[graph->deps[task->first_dep + d].task]
                      .id);
    orr_put_byte(&rec->out, '\n');
}

/* --- tasks.rec --- */

static void put_task(struct rec *rec, const struct orr_event *event)
{
    const struct orr_trace *trace = rec->source->trace;
    const struct orr_trace_task *task = &event->u.task;
    const struct orr_submitted *entry = submission_of(rec, task->job);
    struct orr_out *out = &rec->out;

    put_text(rec, "Name", task->name);
    if (entry)
        put_text(rec, "Model", entry->model);
    orr_print(out, "JobId: %llu\n", (unsigned long long)task->job);
    if (entry)
        orr_print(out, "SubmitOrder: %zu\n",
                  (size_t)(entry - rec->submissions->all) + 1);
    orr_print(out, "Priority: %d\n", task->priority);
    put_waits(rec, task_of(rec, task->job));
    orr_print(out, "Tag: %llx\n", (unsigned long long)task->tag);
    orr_print(out, "WorkerId: %u\n", event->worker);
    if (event->worker < trace->nworkers)
        orr_print(out, "MemoryNode: %u\n", trace->workers[event->worker].node);
    if (entry)
        put_number(rec, "SubmitTime", ms(rec, entry->time));
    put_number(rec, "StartTime", ms(rec, task->start));
    put_number(rec, "EndTime", ms(rec, task->end));
    orr_print(out, "Footprint: %x\n", task->footprint);
    if (task->gflop > 0)
        put_number(rec, "GFlop", task->gflop);
    put_iteration(rec, task);
    if (entry)
        put_uses(rec, entry);
    ORR_PUT(out, "MPIRank: -1\n\n");
}

/* Nodes of the graph that only join dependencies: tasks without a kernel. */
static void put_joins(struct rec *rec)
{
    const struct orr_graph *graph = rec->source->graph;

    for (unsigned t = 0; graph && t < graph->ntasks; t++) {
        const struct orr_graph_task *task = &graph->tasks[t];

        if (submission_of(rec, task->id))
            continue;
        orr_print(&rec->out, "JobId: %llu\nPriority: 0\n",
                  (unsigned long long)task->id);
        put_waits(rec, task);
        ORR_PUT(&rec->out, "MPIRank: -1\n\n");
    }
}

static void put_advice(struct rec *rec)
{
    const struct orr_submissions *s = rec->submissions;

    for (size_t i = 0; s && i < s->n; i++) {
        if (s->all[i].job || !s->all[i].nuses)
            continue;
        /* Behind the numbers of all tasks and joins. */
        orr_print(&rec->out,
                  "Control: WontUse\nJobId: w%zu\nSubmitOrder: %zu\n", i + 1,
                  i + 1);
        put_number(rec, "SubmitTime", ms(rec, s->all[i].time));
        orr_print(&rec->out, "Handles: %llx\nMPIRank: -1\n\n",
                  (unsigned long long)s->uses[s->all[i].first_use].handle);
    }
}

int orr_tasks_rec_write(const struct orr_trace_source *source, FILE *file)
{
    const struct orr_timeline *line = source->line;
    struct rec rec;
    int rc = rec_init(&rec, source, file);

    for (size_t i = 0; !rc && i < line->n; i++)
        if (line->moments[i].event->type == ORR_EVENT_TASK &&
            line->moments[i].end)
            put_task(&rec, line->moments[i].event);
    if (!rc) {
        put_joins(&rec);
        put_advice(&rec);
    }
    rec_done(&rec);
    return rc;
}

/* --- data.rec --- */

int orr_data_rec_write(const struct orr_trace_source *source, FILE *file)
{
    const struct orr_submissions *s = source->trace->submissions;
    struct rec rec = {.source = source};
    struct orr_out *out = &rec.out;
    int rc = orr_out_init(out, file);

    if (rc)
        return rc;
    for (size_t d = 0; s && d < s->ndata; d++) {
        const struct orr_submitted_datum *datum = &s->data[d];

        if (!datum->handle)
            continue;
        orr_print(out, "Handle: %llx\nHomeNode: %d\n",
                  (unsigned long long)datum->handle, datum->home);
        put_text(&rec, "Name", datum->name);
        orr_print(out, "Size: %zu\n", datum->bytes);
        if (datum->ncoordinates)
            ORR_PUT(out, "Coordinates:");
        for (unsigned i = 0; i < datum->ncoordinates; i++)
            orr_print(out, " %d", datum->coordinates[i]);
        orr_put_text(out, datum->ncoordinates ? "\n\n" : "\n");
    }
    rec_done(&rec);
    return 0;
}

/* --- sched.rec --- */

/* Who executed each task, in which order: starts on a worker are in the order of
 * the timeline. */
int orr_sched_rec_write(const struct orr_trace_source *source, FILE *file)
{
    const struct orr_timeline *line = source->line;
    unsigned nworkers = source->trace->nworkers;
    uint64_t *done = calloc((size_t)nworkers + 1, sizeof(*done));
    struct rec rec;
    int rc = rec_init(&rec, source, file);

    if (!rc && !done)
        rc = -ENOMEM;
    for (size_t i = 0; !rc && i < line->n; i++) {
        const struct orr_event *event = line->moments[i].event;
        const struct orr_submitted *entry;

        if (event->type != ORR_EVENT_TASK || line->moments[i].end ||
            event->worker >= nworkers)
            continue;
        entry = submission_of(&rec, event->u.task.job);
        if (entry)
            orr_print(&rec.out,
                      "SubmitOrder: %zu\nPriority: %d\nSpecificWorker: %u\n"
                      "Workerorder: %llu\n\n",
                      (size_t)(entry - rec.submissions->all) + 1,
                      event->u.task.priority, event->worker,
                      (unsigned long long)++done[event->worker]);
    }
    free(done);
    rec_done(&rec);
    return rc;
}

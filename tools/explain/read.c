/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/read.c - a run from its trace (docs/TRACES.md, CSV) and its
 * graph (docs/GRAPH.md).
 */
#include "tools/explain/explain.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound/graph_text.h"

enum {
    RECORD,
    START,
    END,
    WORKER,
    JOB,
    NAME,
    PRIORITY,
    NODE,
    FROM,
    BYTES,
    KIND,
    HANDLE,
    CHANGE,
    NFIELDS = 16
};

/* A step of a count: more, or less, from `time` on. */
struct step {
    double time;
    int change;
};

struct steps {
    struct step *items;
    size_t n, room;
};

/* When a job was submitted, became ready and was taken at last. */
struct stages {
    double submitted, ready, taken;
};

struct reader {
    struct explain_run *run;
    struct stages *stages; /* by job */
    uint64_t njobs;
    size_t room_tasks, room_copies, room_empty;
    struct steps ready, *room, *moves; /* per node */
    long pending;
};

/* Makes room for one more item; false without memory. */
static bool grow(void *items, size_t n, size_t *room, size_t size)
{
    void **at = items, *moved;

    if (n < *room)
        return true;
    moved = realloc(*at, (*room ? 2 * *room : 256) * size);
    if (!moved)
        return false;
    *at = moved;
    *room = *room ? 2 * *room : 256;
    return true;
}

static bool add_step(struct steps *steps, double time, int change)
{
    if (!grow(&steps->items, steps->n, &steps->room, sizeof(*steps->items)))
        return false;
    steps->items[steps->n++] = (struct step){time, change};
    return true;
}

/* Splits a line of RFC 4180 in place; false: it has not NFIELDS of them. */
static bool split(char *line, char *fields[NFIELDS])
{
    unsigned n = 0;
    char *at = line;

    while (n < NFIELDS) {
        char *to = at;
        bool quoted = *at == '"';

        fields[n++] = to;
        at += quoted;
        while (*at && (quoted || (*at != ',' && *at != '\n'))) {
            if (quoted && *at == '"' && *++at != '"') {
                quoted = false;
                continue;
            }
            *to++ = *at++;
        }
        if (*at != ',') {
            *to = '\0';
            break;
        }
        at++;
        *to = '\0';
    }
    return n == NFIELDS;
}

static struct stages *stages_of(struct reader *r, uint64_t job)
{
    uint64_t n = r->njobs;

    if (job >= n) {
        struct stages *moved;

        n = job < 1024 ? 1024 : 2 * job;
        moved = realloc(r->stages, n * sizeof(*moved));
        if (!moved)
            return NULL;
        for (uint64_t j = r->njobs; j < n; j++)
            moved[j] = (struct stages){NAN, NAN, NAN};
        r->stages = moved;
        r->njobs = n;
    }
    return &r->stages[job];
}

static bool take_task(struct reader *r, char **f)
{
    struct explain_run *run = r->run;

    if (!grow(&run->tasks, run->ntasks, &r->room_tasks, sizeof(*run->tasks)))
        return false;
    run->tasks[run->ntasks++] =
        (struct explain_task){.job = strtoull(f[JOB], NULL, 10),
                              .worker = (unsigned)atoi(f[WORKER]),
                              .number = UINT_MAX,
                              .start = atof(f[START]),
                              .end = atof(f[END]),
                              .before = EXPLAIN_NONE};
    return run->tasks[run->ntasks - 1].worker < run->graph->nworkers;
}

static bool take_copy(struct reader *r, char **f)
{
    struct explain_run *run = r->run;
    struct explain_copy copy = {.from = (unsigned)atoi(f[FROM]),
                                .to = (unsigned)atoi(f[NODE]),
                                .job = strtoull(f[JOB], NULL, 10),
                                .handle = strtoull(f[HANDLE], NULL, 10),
                                .bytes = atof(f[BYTES]),
                                .start = atof(f[START]),
                                .end = atof(f[END]),
                                .writeback = !strcmp(f[KIND], "write-back")};

    if (copy.from >= run->graph->nnodes || copy.to >= run->graph->nnodes ||
        !grow(&run->copies, run->ncopies, &r->room_copies,
              sizeof(*run->copies)))
        return false;
    run->copies[run->ncopies++] = copy;
    if (copy.writeback && (!add_step(&r->room[copy.from], copy.start, 1) ||
                           !add_step(&r->room[copy.from], copy.end, -1)))
        return false;
    return add_step(&r->moves[copy.to], copy.start, 1) &&
           add_step(&r->moves[copy.to], copy.end, -1);
}

static bool take_ready(struct reader *r, char **f)
{
    struct stages *stages = stages_of(r, strtoull(f[JOB], NULL, 10));
    double time = atof(f[START]);
    int change = atoi(f[CHANGE]);

    if (!stages)
        return false;
    if (change > 0)
        stages->ready = time;
    else
        stages->taken = time;
    return add_step(&r->ready, time, change);
}

static bool take_submitted(struct reader *r, char **f)
{
    struct explain_run *run = r->run;
    struct stages *stages = stages_of(r, strtoull(f[JOB], NULL, 10));
    double time = atof(f[START]);
    int change = atoi(f[CHANGE]);

    r->pending += change;
    if (!stages)
        return false;
    if (change > 0) {
        stages->submitted = time;
        run->begin = fmin(run->begin, time);
        run->last_submission = time;
    }
    if (r->pending > 0)
        return true;
    if (!grow(&run->empty, run->nempty, &r->room_empty, sizeof(*run->empty)))
        return false;
    run->empty[run->nempty++] = time;
    return true;
}

static bool take_row(struct reader *r, char **f)
{
    if (!strcmp(f[RECORD], "task"))
        return take_task(r, f);
    if (!strcmp(f[RECORD], "copy"))
        return take_copy(r, f);
    if (!strcmp(f[RECORD], "ready"))
        return take_ready(r, f);
    if (!strcmp(f[RECORD], "submitted"))
        return take_submitted(r, f);
    return true;
}

/* --- in order --- */

static int compare_steps(const void *a, const void *b)
{
    const struct step *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return y->change - x->change;
}

/* When the count is above 0. */
static bool make_spans(struct steps *steps, struct explain_spans *ret)
{
    struct explain_spans spans = {malloc((2 * steps->n + 1) * sizeof(double)),
                                  malloc((2 * steps->n + 1) * sizeof(double)),
                                  0};
    long count = 0;
    double sum = 0;

    *ret = spans;
    if (!spans.at || !spans.sum)
        return false;
    if (steps->n)
        qsort(steps->items, steps->n, sizeof(*steps->items), compare_steps);
    for (size_t i = 0; i < steps->n; i++) {
        bool was = count > 0;

        count += steps->items[i].change;
        if (was == (count > 0))
            continue;
        if (was)
            sum += steps->items[i].time - spans.at[spans.n - 1];
        spans.at[spans.n] = steps->items[i].time;
        spans.sum[spans.n++] = sum;
    }
    *ret = spans;
    return true;
}

/* The sum up to `time`. */
static double sum_to(const struct explain_spans *spans, double time)
{
    size_t low = 0, high = spans->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (spans->at[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    return spans->sum[low - 1] + (low % 2 ? time - spans->at[low - 1] : 0);
}

double explain_spans_within(const struct explain_spans *spans, double a,
                            double b)
{
    return b > a ? sum_to(spans, b) - sum_to(spans, a) : 0;
}

static int compare_tasks(const void *a, const void *b)
{
    const struct explain_task *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

static int compare_copies(const void *a, const void *b)
{
    const struct explain_copy *x = a, *y = b;

    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

/* The number of the task of that job in the graph, whose tasks are in order of
 * their jobs. */
static unsigned number_of(const struct orr_graph *graph, uint64_t job)
{
    unsigned low = 0, high = graph->ntasks;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (graph->tasks[middle].id < job)
            low = middle + 1;
        else
            high = middle;
    }
    return low < graph->ntasks && graph->tasks[low].id == job ? low : UINT_MAX;
}

/* A stage cannot be later than the next one. */
static double at_most(double time, double limit)
{
    return time <= limit ? time : limit;
}

static bool complete(struct reader *r)
{
    struct explain_run *run = r->run;
    size_t *last = malloc((run->graph->nworkers + 1) * sizeof(*last));
    bool good = last && make_spans(&r->ready, &run->ready);

    for (unsigned w = 0; last && w < run->graph->nworkers; w++)
        last[w] = EXPLAIN_NONE;
    for (unsigned n = 0; good && n < run->graph->nnodes; n++)
        good = make_spans(&r->room[n], &run->room[n]) &&
               make_spans(&r->moves[n], &run->moves[n]);
    if (run->ntasks)
        qsort(run->tasks, run->ntasks, sizeof(*run->tasks), compare_tasks);
    if (run->ncopies)
        qsort(run->copies, run->ncopies, sizeof(*run->copies), compare_copies);
    for (size_t t = 0; good && t < run->ntasks; t++) {
        struct explain_task *task = &run->tasks[t];
        struct stages *stages = stages_of(r, task->job);

        good = stages != NULL;
        if (!good)
            break;
        task->number = number_of(run->graph, task->job);
        task->taken = at_most(stages->taken, task->start);
        task->ready = at_most(stages->ready, task->taken);
        task->submitted = at_most(stages->submitted, task->ready);
        task->before = last[task->worker];
        last[task->worker] = t;
        run->end = fmax(run->end, task->end);
    }
    free(last);
    return good;
}

static int read_rows(struct reader *r, FILE *file, const char *path,
                     struct orr_error *err)
{
    char *line = NULL, *fields[NFIELDS];
    size_t size = 0;
    unsigned long number = 0;
    int rc = 0;

    while (rc == 0 && getline(&line, &size, file) > 0)
        if (!split(line, fields) || (number++ && !take_row(r, fields)))
            rc = orr_fail(err, -EINVAL, "%s:%lu: no record of a trace", path,
                          number);
    free(line);
    if (rc == 0 && r->run->ntasks == 0)
        rc =
            orr_fail(err, -ENODATA, "no task ran: there is nothing to explain");
    if (rc == 0 && !complete(r))
        rc = orr_fail(err, -ENOMEM, "out of memory");
    return rc;
}

static void reader_done(struct reader *r)
{
    for (unsigned n = 0; n < r->run->graph->nnodes; n++) {
        if (r->room)
            free(r->room[n].items);
        if (r->moves)
            free(r->moves[n].items);
    }
    free(r->room);
    free(r->moves);
    free(r->ready.items);
    free(r->stages);
}

int explain_run_read(const char *trace, const char *graph,
                     struct explain_run *ret, struct orr_error *err)
{
    struct explain_run run = {.begin = (double)INFINITY};
    struct reader r = {.run = &run};
    FILE *file;
    int rc = orr_graph_load(graph, &run.graph, err);

    if (rc)
        return rc;
    run.room = calloc(run.graph->nnodes, sizeof(*run.room));
    run.moves = calloc(run.graph->nnodes, sizeof(*run.moves));
    r.room = calloc(run.graph->nnodes, sizeof(*r.room));
    r.moves = calloc(run.graph->nnodes, sizeof(*r.moves));
    file = fopen(trace, "r");
    if (!run.room || !run.moves || !r.room || !r.moves)
        rc = orr_fail(err, -ENOMEM, "out of memory");
    else if (!file)
        rc = orr_fail(err, -errno, "%s: %s", trace, strerror(errno));
    else
        rc = read_rows(&r, file, trace, err);
    if (file)
        fclose(file);
    reader_done(&r);
    if (rc)
        explain_run_done(&run);
    else
        *ret = run;
    return rc;
}

static void spans_done(struct explain_spans *spans)
{
    free(spans->at);
    free(spans->sum);
}

void explain_run_done(struct explain_run *run)
{
    for (unsigned n = 0; run->graph && n < run->graph->nnodes; n++) {
        if (run->room)
            spans_done(&run->room[n]);
        if (run->moves)
            spans_done(&run->moves[n]);
    }
    spans_done(&run->ready);
    free(run->room);
    free(run->moves);
    free(run->empty);
    free(run->copies);
    free(run->tasks);
    orr_graph_free(run->graph);
}

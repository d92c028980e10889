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
#include "tools/common/trace_csv.h"

/* The number of the task of that job in the graph, whose tasks are in order of
 * their jobs. */
static unsigned find_task_of_job(const struct orr_graph *graph, uint64_t job)
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

static bool take_tasks(struct explain_run *run, const struct trace *trace)
{
    size_t *last = malloc((run->graph->nworkers + 1) * sizeof(*last));

    run->tasks = malloc((trace->ntasks + 1) * sizeof(*run->tasks));
    for (unsigned w = 0; last && w < run->graph->nworkers; w++)
        last[w] = EXPLAIN_NONE;
    for (size_t t = 0; last && run->tasks && t < trace->ntasks; t++) {
        const struct trace_task *from = &trace->tasks[t];
        const char *source =
            from->source ? orr_texts_add(&run->names, from->source) : NULL;

        run->tasks[t] = (struct explain_task){
            .job = from->job,
            .worker = from->worker,
            .number = find_task_of_job(run->graph, from->job),
            .submitted = from->submitted,
            .ready = from->ready,
            .taken = from->taken,
            .start = from->start,
            .end = from->end,
            .by_main = from->by == TRACE_BY_MAIN,
            .by_worker = from->by == TRACE_BY_TASK ? from->by_worker : UINT_MAX,
            .source = source,
            .before = last[from->worker]};
        last[from->worker] = t;
        run->nsubmitted += run->tasks[t].by_main;
        run->ntasks = t + 1;
    }
    free(last);
    return run->ntasks == trace->ntasks;
}

struct ended {
    double end;
    size_t task;
};

/* Of those that end at once the first one is the last. */
static int compare_ended(const void *a, const void *b)
{
    const struct ended *x = a, *y = b;

    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->task > y->task ? -1 : x->task < y->task;
}

/* Where tasks are, by their ends and by their numbers in the graph. */
static bool index_tasks(struct explain_run *run)
{
    struct ended *ended = malloc((run->ntasks + 1) * sizeof(*ended));
    unsigned n = run->graph->ntasks;

    run->by_number = malloc((n + 1) * sizeof(*run->by_number));
    run->by_end = malloc((run->ntasks + 1) * sizeof(*run->by_end));
    if (ended && run->by_number && run->by_end) {
        for (unsigned t = 0; t < n; t++)
            run->by_number[t] = EXPLAIN_NONE;
        for (size_t t = 0; t < run->ntasks; t++) {
            ended[t] = (struct ended){run->tasks[t].end, t};
            if (run->tasks[t].number != UINT_MAX)
                run->by_number[run->tasks[t].number] = t;
        }
        if (run->ntasks)
            qsort(ended, run->ntasks, sizeof(*ended), compare_ended);
        for (size_t t = 0; t < run->ntasks; t++)
            run->by_end[t] = ended[t].task;
    }
    free(ended);
    return ended && run->by_number && run->by_end;
}

static bool take_messages(struct explain_run *run, const struct trace *trace)
{
    run->rank = trace->rank;
    run->sent = malloc((trace->nmessages + 1) * sizeof(*run->sent));
    run->received = malloc((trace->nmessages + 1) * sizeof(*run->received));
    if (!run->sent || !run->received)
        return false;
    for (size_t m = 0; m < trace->nmessages; m++) {
        const struct trace_message *from = &trace->messages[m];
        struct explain_message message = {from->peer, from->called, from->start,
                                          from->end, EXPLAIN_NONE};

        if (from->received)
            run->received[run->nreceived++] = message;
        else
            run->sent[run->nsent++] = message;
    }
    return true;
}

/* Nodes of the graph that stand for something else are none. */
static size_t count_left(const struct orr_graph *graph)
{
    size_t n = 0;

    for (unsigned t = 0; t < graph->ntasks; t++)
        n += graph->tasks[t].worker == ORR_GRAPH_NOT_RUN && orr_graph_is_task(graph, t);
    return n;
}

static int explain_piece_compare_start(const void *a, const void *b)
{
    const struct explain_piece *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* Tasks without the waits of their kernels. */
static bool take_pieces(struct explain_run *run, const struct trace *trace)
{
    size_t n = trace->ntasks + trace->nwaits, w = 0;

    run->pieces = malloc((n + 1) * sizeof(*run->pieces));
    for (size_t t = 0; run->pieces && t < trace->ntasks; t++) {
        struct explain_piece piece = {t, false, trace->tasks[t].start, 0};

        for (; w < trace->nwaits && trace->waits[w].task == t; w++) {
            piece.end = trace->waits[w].start;
            run->pieces[run->npieces++] = piece;
            piece.start = trace->waits[w].end;
            piece.goes_on = true;
        }
        piece.end = trace->tasks[t].end;
        run->pieces[run->npieces++] = piece;
    }
    if (run->pieces && trace->nwaits)
        qsort(run->pieces, n, sizeof(*run->pieces),
              explain_piece_compare_start);
    return run->pieces != NULL;
}

/* Where a job ran. */
struct place {
    uint64_t job;
    unsigned node;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return (x->job > y->job) - (x->job < y->job);
}

/* By job; NULL without memory. */
static struct place *job_places(const struct explain_run *run)
{
    struct place *places = malloc((run->ntasks + 1) * sizeof(*places));

    for (size_t t = 0; places && t < run->ntasks; t++)
        places[t] = (struct place){
            run->tasks[t].job, run->graph->workers[run->tasks[t].worker].node};
    if (places)
        qsort(places, run->ntasks, sizeof(*places), compare_places);
    return places;
}

/* Where the job that waits for the copy needs the value: without a link of their own two
 * memories exchange it through a third one, to which it is written back. A job that waits
 * for room waits for what leaves its own. */
static unsigned copy_destination_node(const struct explain_run *run,
                                      const struct place *places,
                                      const struct trace_copy *copy)
{
    const struct place key = {.job = copy->job},
                       *place = copy->job
                                    ? bsearch(&key, places, run->ntasks,
                                              sizeof(*places), compare_places)
                                    : NULL;

    return place && place->node != copy->from ? place->node : copy->to;
}

static bool take_copies(struct explain_run *run, const struct trace *trace)
{
    struct place *places = job_places(run);

    if (places)
        run->copies = malloc((trace->ncopies + 1) * sizeof(*run->copies));
    for (size_t c = 0; run->copies && c < trace->ncopies; c++) {
        const struct trace_copy *from = &trace->copies[c];
        unsigned onto = copy_destination_node(run, places, from);

        run->copies[c] = (struct explain_copy){
            .from = from->from,
            .to = from->to,
            .onto = onto,
            .job = from->job,
            .handle = from->handle,
            .bytes = from->bytes,
            .start = from->start,
            .end = from->end,
            .writeback = !strcmp(from->kind, "write-back") && onto == from->to};
        run->ncopies = c + 1;
    }
    free(places);
    return run->copies != NULL;
}

/* The states of a node. A state hides those of a higher rank. */
enum node_case { ROOM, COPY, ALLOCATION, NCASES };

/* Adds to the spans of `sought`: state `found` holds from start to end. */
static void add_case(struct span_steps *steps, double start, double end,
                     unsigned found, unsigned sought)
{
    if (found <= sought)
        span_steps_add(steps, start, end, found < sought);
}

/* When that is the case on the node, and nothing that hides it. */
static bool take_spans(const struct explain_run *run, const struct trace *trace,
                       unsigned node, const unsigned rank[NCASES],
                       enum node_case wanted, struct explain_spans *ret)
{
    unsigned sought = rank[wanted];
    struct span_steps steps;

    span_steps_init(&steps, 2 * run->ncopies + trace->nallocations);
    for (size_t c = 0; steps.items && c < run->ncopies; c++) {
        const struct explain_copy *copy = &run->copies[c];

        if (copy->writeback && copy->from == node)
            add_case(&steps, copy->start, copy->end, rank[ROOM], sought);
        if (copy->to == node || copy->onto == node)
            add_case(&steps, copy->start, copy->end, rank[COPY], sought);
    }
    for (size_t i = 0; steps.items && i < trace->nallocations; i++) {
        const struct trace_allocation *a = &trace->allocations[i];

        if (a->node == node)
            add_case(&steps, a->start, a->end,
                     rank[a->frees ? ROOM : ALLOCATION], sought);
    }
    return span_steps_make(&steps, ret);
}

/* When memory of the node is allocated or freed, whatever else is done. */
static bool take_pays(const struct trace *trace, unsigned node,
                      struct explain_spans *ret)
{
    struct span_steps steps;

    span_steps_init(&steps, trace->nallocations);
    for (size_t i = 0; steps.items && i < trace->nallocations; i++)
        if (trace->allocations[i].node == node)
            span_steps_add(&steps, trace->allocations[i].start,
                           trace->allocations[i].end, false);
    return span_steps_make(&steps, ret);
}

static bool take_node(struct explain_run *run, const struct trace *trace,
                      unsigned node)
{
    static const unsigned before[] = {[ROOM] = 0, [COPY] = 1, [ALLOCATION] = 2};
    static const unsigned behind[] = {[ROOM] = 0, [ALLOCATION] = 1, [COPY] = 2};

    return take_spans(run, trace, node, before, ROOM, &run->room[node]) &&
           take_spans(run, trace, node, before, COPY, &run->moves[node]) &&
           take_spans(run, trace, node, before, ALLOCATION,
                      &run->allocates[node]) &&
           take_spans(run, trace, node, behind, ALLOCATION,
                      &run->own_allocates[node]) &&
           take_spans(run, trace, node, behind, COPY,
                      &run->other_moves[node]) &&
           take_pays(trace, node, &run->pays[node]);
}

/* Tasks that wait in the scheduler. */
static void add_ready(struct span_steps *steps, const struct trace *trace,
                      bool hides)
{
    for (size_t i = 0; steps->items && i < trace->ready.n; i++)
        span_steps_change(steps, trace->ready.items[i].time,
                          (long)trace->ready.items[i].change, hides);
}

static bool read_ready_spans(struct explain_run *run, const struct trace *trace)
{
    struct span_steps steps;

    span_steps_init(&steps, trace->ready.n);
    add_ready(&steps, trace, false);
    return span_steps_make(&steps, &run->ready);
}

static bool can_run(const struct orr_graph *graph, unsigned type, unsigned w)
{
    return !isinf(graph->types[type].mean_ms[w]);
}

static bool can_run_all(const struct orr_graph *graph, unsigned w)
{
    for (unsigned k = 0; k < graph->ntypes; k++)
        if (!can_run(graph, k, w))
            return false;
    return true;
}

static bool can_run_the_same(const struct orr_graph *graph, unsigned a,
                             unsigned b)
{
    for (unsigned k = 0; k < graph->ntypes; k++)
        if (can_run(graph, k, a) != can_run(graph, k, b))
            return false;
    return true;
}

/* Tasks that are not in the graph may be for anybody. */
static bool take_able(struct explain_run *run, unsigned w)
{
    const struct orr_graph *graph = run->graph;
    struct span_steps steps;

    span_steps_init(&steps, run->ntasks);
    for (size_t t = 0; steps.items && t < run->ntasks; t++) {
        const struct explain_task *task = &run->tasks[t];

        if (task->number == UINT_MAX ||
            can_run(graph, graph->tasks[task->number].type, w))
            span_steps_add(&steps, task->ready, task->taken, false);
    }
    return span_steps_make(&steps, &run->able[w]);
}

/* Workers that can run all tasks need no spans of their own. */
static bool take_all_able(struct explain_run *run)
{
    unsigned n = run->graph->nworkers;
    bool good;

    run->able = calloc(n + 1, sizeof(*run->able));
    run->like = calloc(n + 1, sizeof(*run->like));
    good = run->able && run->like;
    for (unsigned w = 0; good && w < n; w++) {
        while (run->like[w] < w &&
               !can_run_the_same(run->graph, run->like[w], w))
            run->like[w]++;
        if (run->like[w] == w && !can_run_all(run->graph, w))
            good = take_able(run, w);
    }
    return good;
}

const struct explain_spans *explain_ready_for(const struct explain_run *run,
                                              unsigned worker)
{
    return can_run_all(run->graph, worker) ? &run->ready
                                           : &run->able[run->like[worker]];
}

static bool take_doings(struct explain_run *run, const struct trace *trace)
{
    run->doings = malloc((trace->ndoings + 1) * sizeof(*run->doings));
    for (size_t i = 0; run->doings && i < trace->ndoings; i++) {
        const struct trace_doing *from = &trace->doings[i];
        const char *call = orr_texts_add(&run->names, from->call);

        if (!call)
            return false;
        run->doings[run->ndoings++] =
            (struct explain_doing){call, from->waits, from->start, from->end};
    }
    return run->doings != NULL;
}

/* When the application did that and no task waited in the scheduler. */
static bool take_doing_spans(const struct trace *trace, bool waits,
                             struct explain_spans *ret)
{
    struct span_steps steps;

    span_steps_init(&steps, trace->ready.n + trace->ndoings);
    add_ready(&steps, trace, true);
    for (size_t i = 0; steps.items && i < trace->ndoings; i++)
        if (trace->doings[i].waits == waits)
            span_steps_add(&steps, trace->doings[i].start,
                           trace->doings[i].end, false);
    return span_steps_make(&steps, ret);
}

/* When the application had submitted no task that was not done. */
static bool take_empty(struct explain_run *run, const struct trace *trace)
{
    double pending = 0;

    run->empty = malloc((trace->submitted.n + 1) * sizeof(*run->empty));
    for (size_t i = 0; run->empty && i < trace->submitted.n; i++) {
        pending += trace->submitted.items[i].change;
        if (pending <= 0)
            run->empty[run->nempty++] = trace->submitted.items[i].time;
    }
    return run->empty != NULL;
}

/* Takes from the trace what there is; -ENOMEM. */
static int run_read_trace(struct explain_run *run, const struct trace *trace,
                          struct orr_error *err)
{
    unsigned n = run->graph->nnodes;
    bool good;

    run->begin = trace->begin;
    run->end = run->own_end = trace->end;
    run->last_submission = trace->last_submission;
    run->last_by_main = trace->last_by == TRACE_BY_MAIN;
    run->room = calloc(n, sizeof(*run->room));
    run->moves = calloc(n, sizeof(*run->moves));
    run->allocates = calloc(n, sizeof(*run->allocates));
    run->pays = calloc(n, sizeof(*run->pays));
    run->own_allocates = calloc(n, sizeof(*run->own_allocates));
    run->other_moves = calloc(n, sizeof(*run->other_moves));
    good = run->room && run->moves && run->allocates && run->pays &&
           run->own_allocates && run->other_moves && take_tasks(run, trace) &&
           take_pieces(run, trace) && take_copies(run, trace) &&
           read_ready_spans(run, trace) && take_all_able(run) &&
           index_tasks(run) && take_messages(run, trace) &&
           take_empty(run, trace) && take_doings(run, trace) &&
           take_doing_spans(trace, true, &run->waits) &&
           take_doing_spans(trace, false, &run->own);
    for (unsigned node = 0; good && node < n; node++)
        good = take_node(run, trace, node);
    return good ? 0 : orr_fail(err, -ENOMEM, "out of memory");
}

/* Of a run without tasks there is none: one with its workers. NULL without memory. */
static struct orr_graph *graph_without_tasks(const struct trace *trace)
{
    struct orr_graph *graph = calloc(1, sizeof(*graph));

    if (!graph)
        return NULL;
    graph->makespan_ms = NAN;
    graph->workers = calloc(trace->nworkers + 1, sizeof(*graph->workers));
    graph->nodes = calloc(trace->nnodes + 1, sizeof(*graph->nodes));
    for (; graph->workers && graph->nworkers < trace->nworkers; graph->nworkers++) {
        struct orr_graph_worker *worker = &graph->workers[graph->nworkers];

        worker->node = trace->workers[graph->nworkers].node;
        worker->name = strdup(trace->workers[graph->nworkers].name);
        if (!worker->name)
            break;
    }
    if (graph->nodes && graph->nworkers == trace->nworkers) {
        graph->nnodes = trace->nnodes;
        return graph;
    }
    orr_graph_free(graph);
    return NULL;
}

int explain_run_take(const struct trace *trace, const char *name, const char *path,
                     struct explain_run *ret, struct orr_error *err)
{
    struct explain_run run = {0};
    int rc = 0;

    if (trace->ntasks > 0)
        rc = orr_graph_load(path, &run.graph, err);
    else if (!(run.graph = graph_without_tasks(trace)))
        rc = orr_fail(err, -ENOMEM, "out of memory");
    if (rc == 0) {
        if (trace->nworkers != run.graph->nworkers ||
            trace->nnodes > run.graph->nnodes)
            rc = orr_fail(err, -EINVAL, "%s and %s are of different runs", name, path);
        else
            rc = run_read_trace(&run, trace, err);
        run.nleft = count_left(run.graph);
    }
    if (rc)
        explain_run_done(&run);
    else
        *ret = run;
    return rc;
}

int explain_run_read(const char *path, const char *graph,
                     struct explain_run *ret, struct orr_error *err)
{
    struct trace trace;
    int rc = trace_csv_read(path, &trace, err);

    if (rc)
        return rc;
    if (trace.ntasks == 0)
        rc =
            orr_fail(err, -ENODATA, "no task ran: there is nothing to explain");
    else
        rc = explain_run_take(&trace, path, graph, ret, err);
    trace_csv_done(&trace);
    return rc;
}

void explain_run_done(struct explain_run *run)
{
    for (unsigned n = 0; run->graph && n < run->graph->nnodes; n++) {
        if (run->room)
            explain_spans_done(&run->room[n]);
        if (run->moves)
            explain_spans_done(&run->moves[n]);
        if (run->allocates)
            explain_spans_done(&run->allocates[n]);
        if (run->pays)
            explain_spans_done(&run->pays[n]);
        if (run->own_allocates)
            explain_spans_done(&run->own_allocates[n]);
        if (run->other_moves)
            explain_spans_done(&run->other_moves[n]);
    }
    explain_spans_done(&run->ready);
    for (unsigned w = 0; run->able && w < run->graph->nworkers; w++)
        explain_spans_done(&run->able[w]);
    free(run->able);
    free(run->like);
    explain_spans_done(&run->waits);
    explain_spans_done(&run->own);
    orr_texts_done(&run->names);
    free(run->doings);
    free(run->room);
    free(run->moves);
    free(run->allocates);
    free(run->pays);
    free(run->own_allocates);
    free(run->other_moves);
    free(run->empty);
    free(run->copies);
    free(run->pieces);
    free(run->tasks);
    free(run->by_number);
    free(run->by_end);
    free(run->sent);
    free(run->received);
    orr_graph_free(run->graph);
}

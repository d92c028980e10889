/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/watch/graph.c - see graph.h. Tasks and edges lie in rings, so that what is old
 * makes room: an edge that was written over no longer names the task in whose list it was,
 * and all behind it in that list are older still.
 */
#include "tools/watch/graph.h"

#include <stdlib.h>
#include <string.h>

#include "watch/shared.h"

enum {
    DATA = 1 << 20,     /* data whose turns are known, by number */
    JOBS = 1 << 18,     /* addresses of jobs that are remembered */
    DECLARED = 1 << 17, /* dependencies of jobs that are not submitted yet */
    TURN = 512,         /* jobs of a turn that those of the next wait for, at most */
    SAME = 32,          /* edges among which one alike is looked for */
};

struct edge {
    uint64_t from, to;
    uint32_t next_before, next_behind; /* + 1 */
};

struct turn {
    uint64_t *jobs; /* owned */
    uint32_t n, room;
};

struct datum {
    uint32_t number; /* of the turn `last` */
    struct turn last, before;
};

/* A job by its address: who was there last. */
struct job {
    uint64_t address, id; /* 0: it is not submitted yet */
    uint32_t declared;    /* + 1 */
};

struct declared {
    uint64_t address, id; /* of the one that it waits for */
    uint32_t next;
};

struct graph {
    struct graph_task *tasks;
    struct edge *edges;
    struct datum *data; /* by number, ndata */
    struct job *jobs;
    struct declared *declared;
    size_t ndata;
    uint64_t last, ntasks, nedges, left_out;
    uint32_t ndeclared;
};

struct graph *graph_new(void)
{
    struct graph *graph = calloc(1, sizeof(*graph));

    if (!graph)
        return NULL;
    graph->tasks = calloc(GRAPH_TASKS, sizeof(*graph->tasks));
    graph->edges = calloc(GRAPH_EDGES, sizeof(*graph->edges));
    graph->jobs = calloc(JOBS, sizeof(*graph->jobs));
    graph->declared = calloc(DECLARED, sizeof(*graph->declared));
    if (graph->tasks && graph->edges && graph->jobs && graph->declared)
        return graph;
    graph_free(graph);
    return NULL;
}

static void free_data(struct graph *graph)
{
    for (size_t i = 0; i < graph->ndata; i++) {
        free(graph->data[i].last.jobs);
        free(graph->data[i].before.jobs);
    }
    free(graph->data);
    graph->data = NULL;
    graph->ndata = 0;
}

void graph_free(struct graph *graph)
{
    if (!graph)
        return;
    free_data(graph);
    free(graph->tasks);
    free(graph->edges);
    free(graph->jobs);
    free(graph->declared);
    free(graph);
}

void graph_clear(struct graph *graph)
{
    free_data(graph);
    memset(graph->tasks, 0, GRAPH_TASKS * sizeof(*graph->tasks));
    memset(graph->jobs, 0, JOBS * sizeof(*graph->jobs));
    graph->last = graph->ntasks = graph->nedges = graph->left_out = 0;
    graph->ndeclared = 0;
}

static struct graph_task *task_at(struct graph *graph, uint64_t id)
{
    struct graph_task *task = &graph->tasks[id % GRAPH_TASKS];

    return task->id == id ? task : NULL;
}

const struct graph_task *graph_find(const struct graph *graph, uint64_t id)
{
    const struct graph_task *task = &graph->tasks[id % GRAPH_TASKS];

    return id && task->id == id ? task : NULL;
}

uint64_t graph_last(const struct graph *graph)
{
    return graph->last;
}

uint64_t graph_size(const struct graph *graph)
{
    return graph->ntasks < GRAPH_TASKS ? graph->ntasks : GRAPH_TASKS;
}

uint64_t graph_left_out(const struct graph *graph)
{
    return graph->left_out;
}

/* --- edges --- */

/* The edge, if it still is in the task's list. */
static const struct edge *edge_of(const struct graph *graph, uint32_t place, uint64_t id,
                                  bool before)
{
    const struct edge *edge = place ? &graph->edges[place - 1] : NULL;

    return edge && (before ? edge->to : edge->from) == id ? edge : NULL;
}

static bool has_edge(const struct graph *graph, const struct graph_task *task, uint64_t from)
{
    const struct edge *edge;
    uint32_t place = task->before;

    for (int i = 0; i < SAME && (edge = edge_of(graph, place, task->id, true)); i++) {
        if (edge->from == from)
            return true;
        place = edge->next_before;
    }
    return false;
}

static void add_edge(struct graph *graph, uint64_t from, uint64_t to)
{
    struct graph_task *a = task_at(graph, from), *b = task_at(graph, to);
    uint32_t place = (uint32_t)(graph->nedges % GRAPH_EDGES);

    if (!a || !b || a == b || has_edge(graph, b, from))
        return;
    graph->nedges++;
    graph->edges[place] = (struct edge){from, to, b->before, a->behind};
    a->behind = b->before = place + 1;
}

unsigned graph_neighbours(const struct graph *graph, const struct graph_task *task, bool before,
                          uint64_t *ret, unsigned max)
{
    uint32_t place = before ? task->before : task->behind;
    const struct edge *edge;
    unsigned n = 0;

    while (n < max && (edge = edge_of(graph, place, task->id, before))) {
        uint64_t other = before ? edge->from : edge->to;

        if (graph_find(graph, other))
            ret[n++] = other;
        place = before ? edge->next_before : edge->next_behind;
    }
    return n;
}

/* --- records --- */

static struct graph_task *make_task(struct graph *graph, uint64_t id, enum graph_state state,
                                    uint32_t kernel)
{
    struct graph_task *task = &graph->tasks[id % GRAPH_TASKS];

    *task = (struct graph_task){.id = id, .state = (uint8_t)state, .kernel = (uint8_t)kernel};
    graph->ntasks++;
    if (id > graph->last)
        graph->last = id;
    return task;
}

static struct job *job_at(struct graph *graph, uint64_t address)
{
    struct job *job = &graph->jobs[(address >> 6) % JOBS];

    if (job->address != address)
        *job = (struct job){.address = address};
    return job;
}

/* What it was declared to wait for counts now. */
static void on_submit(struct graph *graph, const struct watch_record *record)
{
    struct job *job = job_at(graph, record->other);
    uint32_t place = job->declared;

    make_task(graph, record->id, GRAPH_WAITS, record->arg)->place =
        (uint8_t)record->before;
    job->id = record->id;
    job->declared = 0;
    while (place) {
        const struct declared *one = &graph->declared[place - 1];
        uint64_t before = one->id ? one->id : job_at(graph, one->address)->id;

        if (before)
            add_edge(graph, before, record->id);
        else
            graph->left_out++;
        place = one->next;
    }
}

static void on_dep(struct graph *graph, const struct watch_record *record)
{
    struct job *job = job_at(graph, record->id);

    if (graph->ndeclared == DECLARED) { /* the oldest are of tasks that came long ago */
        for (size_t i = 0; i < JOBS; i++)
            graph->jobs[i].declared = 0;
        graph->ndeclared = 0;
    }
    if (job->id) /* another one was there before */
        *job = (struct job){.address = record->id};
    if (!record->before)
        job_at(graph, record->other)->id = 0;
    graph->declared[graph->ndeclared++] =
        (struct declared){record->other, record->before, job->declared};
    job->declared = graph->ndeclared;
}

static struct datum *datum_at(struct graph *graph, uint64_t number)
{
    size_t room = graph->ndata ? graph->ndata : 256;
    struct datum *data;

    if (number >= DATA)
        return NULL;
    while (room <= number)
        room *= 2;
    if (number >= graph->ndata) {
        data = realloc(graph->data, room * sizeof(*data));
        if (!data)
            return NULL;
        memset(data + graph->ndata, 0, (room - graph->ndata) * sizeof(*data));
        graph->data = data;
        graph->ndata = room;
    }
    return &graph->data[number];
}

static void join_turn(struct graph *graph, struct turn *turn, uint64_t job)
{
    uint32_t room = turn->room ? 2 * turn->room : 4;
    uint64_t *jobs;

    if (turn->n == TURN) {
        graph->left_out++;
        return;
    }
    if (turn->n == turn->room) {
        jobs = realloc(turn->jobs, room * sizeof(*jobs));
        if (!jobs)
            return;
        turn->jobs = jobs;
        turn->room = room;
    }
    turn->jobs[turn->n++] = job;
}

/* The job waits for those of the turn before its own. */
static void on_access(struct graph *graph, const struct watch_record *record)
{
    struct datum *datum = datum_at(graph, record->other);
    struct turn spare;

    if (!task_at(graph, record->id))
        make_task(graph, record->id, GRAPH_JOIN, WATCH_KERNELS);
    if (!datum) {
        graph->left_out++;
        return;
    }
    if (datum->number != record->arg) {
        spare = datum->before;
        datum->before = datum->last;
        datum->last = spare;
        datum->last.n = 0;
        datum->number = record->arg;
    }
    join_turn(graph, &datum->last, record->id);
    for (uint32_t i = 0; i < datum->before.n; i++)
        add_edge(graph, datum->before.jobs[i], record->id);
}

/* One whose submission was missed is shown from here on. */
static void on_end(struct graph *graph, const struct watch_record *record)
{
    struct graph_task *task = task_at(graph, record->id);

    if (!task)
        task = make_task(graph, record->id, GRAPH_ENDED, WATCH_KERNELS);
    task->state = GRAPH_ENDED;
    task->start = record->start;
    task->end = record->date;
    if (record->kind == WATCH_END)
        task->worker = (uint16_t)record->arg;
}

/* One that was seen to run was ready before, but if it came back. */
static void on_ready(struct graph *graph, const struct watch_record *record)
{
    struct graph_task *task = task_at(graph, record->id);

    if (!task)
        make_task(graph, record->id, GRAPH_READY, WATCH_KERNELS);
    else if (task->state == GRAPH_WAITS ||
             (task->state == GRAPH_RUNS && record->kind == WATCH_RETURN))
        task->state = GRAPH_READY;
}

void graph_runs(struct graph *graph, uint64_t id, uint32_t worker, double since)
{
    struct graph_task *task = task_at(graph, id);

    if (!task || task->state == GRAPH_ENDED)
        return;
    task->state = GRAPH_RUNS;
    task->start = since;
    task->worker = (uint16_t)worker;
}

void graph_add(struct graph *graph, const struct watch_record *record)
{
    switch ((enum watch_kind)record->kind) {
    case WATCH_SUBMIT:
        on_submit(graph, record);
        break;
    case WATCH_ACCESS:
        on_access(graph, record);
        break;
    case WATCH_DEP:
        on_dep(graph, record);
        break;
    case WATCH_READY:
    case WATCH_RETURN:
        on_ready(graph, record);
        break;
    case WATCH_END:
    case WATCH_SKIP:
        on_end(graph, record);
        break;
    }
}

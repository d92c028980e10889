/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/dot.c - tasks and dependencies for Graphviz, with the names of
 * nodes that StarPU's dag.dot has. Needs the graph. One thread.
 */
#include "core/observe/formats.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bound/graph.h"
#include "core/base/out.h"
#include "core/base/spool.h"
#include "core/device/machine.h"
#include "core/exec/runtime.h"
#include "core/observe/entities.h"
#include "core/observe/source_line.h"
#include "core/observe/sources.h"
#include "core/observe/views.h"
#include "core/observe/waits.h"

/* The text in quotation marks, on one line. */
static void put_quoted(struct orr_out *out, const char *text)
{
    char *safe = orr_trace_safe_text(text ? text : "");

    orr_put_byte(out, '"');
    for (const char *at = safe ? safe : "-"; *at; at++) {
        if (*at == '\\')
            orr_put_byte(out, '\\');
        orr_put_byte(out, *at);
    }
    orr_put_byte(out, '"');
    free(safe);
}

struct dot {
    const struct orr_trace *trace;
    uint32_t nnodes,
        nedges; /* tasks that were written, and what they wait for */
};

/* A task in the file. */
struct vertex {
    uint64_t id;
    const char *symbol;
    const char *worker; /* NULL: it has not run */
    bool on_device;
    unsigned colour; /* 0xrrggbb, 0: by where it ran */
    double start_ms, end_ms;
};

/* Where it was submitted, as Graphviz shows it: with a link, where a scheme was named. */
static void put_vertex_source(struct orr_out *out, const struct orr_trace *trace, uint64_t id)
{
    const char *source = orr_sources_text(trace->sources, id);
    char *link = source ? orr_source_link(trace->links, source) : NULL;

    if (!source)
        return;
    ORR_PUT(out, ", source=");
    put_quoted(out, source);
    if (link) {
        ORR_PUT(out, ", URL=");
        put_quoted(out, link);
    }
    free(link);
}

static void put_vertex(struct orr_out *out, const struct orr_trace *trace,
                       const struct vertex *vertex)
{
    const char *source = orr_sources_text(trace->sources, vertex->id);
    char tooltip[600];

    ORR_PUT(out, "\"task_");
    orr_put_unsigned(out, vertex->id);
    ORR_PUT(out, "\" [style=filled, label=");
    put_quoted(out, vertex->symbol);
    ORR_PUT(out, ", fillcolor=\"#");
    orr_put_hex(out,
                vertex->colour      ? vertex->colour
                : !vertex->worker   ? 0xaaaaaa
                : vertex->on_device ? 0xfdd49e
                                    : 0xc7e9c0,
                6);
    orr_put_byte(out, '"');
    put_vertex_source(out, trace, vertex->id);
    if (!vertex->worker) {
        ORR_PUT(out, "]\n");
        return;
    }
    snprintf(tooltip, sizeof(tooltip), "%.100s%s%.490s", vertex->worker, source ? ", " : "",
             source ? source : "");
    ORR_PUT(out, ", tooltip=");
    put_quoted(out, tooltip);
    ORR_PUT(out, ", start_ms=\"");
    orr_put_decimal(out, vertex->start_ms, 9);
    ORR_PUT(out, "\", end_ms=\"");
    orr_put_decimal(out, vertex->end_ms, 9);
    ORR_PUT(out, "\"]\n");
}

static void put_edge(struct orr_out *out, uint64_t from, uint64_t to,
                     bool is_tag)
{
    ORR_PUT(out, "\"task_");
    orr_put_unsigned(out, from);
    ORR_PUT(out, "\"->\"task_");
    orr_put_unsigned(out, to);
    if (is_tag)
        ORR_PUT(out, "\" [style=dashed]\n");
    else
        ORR_PUT(out, "\"\n");
}

/* --- of a graph --- */

static void dot_write_task(struct orr_out *out, const struct orr_trace *trace,
                           const struct orr_graph *graph,
                           const struct orr_graph_task *task)
{
    struct vertex vertex = {.id = task->id,
                            .symbol = graph->types[task->type].symbol,
                            .colour = task->colour};

    if (task->worker != ORR_GRAPH_NOT_RUN) {
        vertex.worker = graph->workers[task->worker].name;
        vertex.on_device = graph->workers[task->worker].node != 0;
        vertex.start_ms = task->start_ms;
        vertex.end_ms = task->end_ms;
    }
    put_vertex(out, trace, &vertex);
}

static void dot_write_graph(struct orr_out *out, const struct orr_trace *trace,
                            const struct orr_graph *graph)
{
    for (unsigned t = 0; t < graph->ntasks; t++)
        dot_write_task(out, trace, graph, &graph->tasks[t]);
    for (unsigned t = 0; t < graph->ntasks; t++) {
        const struct orr_graph_task *task = &graph->tasks[t];

        for (unsigned d = 0; d < task->ndeps; d++) {
            const struct orr_graph_dep *dep = &graph->deps[task->first_dep + d];

            put_edge(out, graph->tasks[dep->task].id, task->id, dep->tag);
        }
    }
}

/* --- as it becomes known --- */

/* Times are those that graph_make.c makes. */
static void write_waiter(struct orr_out *out, const struct orr_trace *trace,
                         const struct orr_waits *waits,
                         const struct orr_waits_task *task)
{
    const struct orr_runtime *rt = waits->log->runtime;
    struct vertex vertex = {.id = task->id,
                            .symbol = task->symbol ? task->symbol : "",
                            .colour = task->colour};

    if (task->worker != UINT32_MAX) {
        double begin = atomic_load(&rt->views->first_submit);

        vertex.worker = rt->machine->workers[task->worker].name;
        vertex.on_device = rt->machine->workers[task->worker].node != 0;
        vertex.start_ms = fmax(0, (task->start - begin) / 1e3);
        vertex.end_ms = fmax(vertex.start_ms, (task->end - begin) / 1e3);
    }
    put_vertex(out, trace, &vertex);
}

/* Tasks in their order, up to the first one that has not run; edges, of all. */
static int dot_write_waits(void *writer, const struct orr_waits *waits,
                           bool is_all, struct orr_out *out,
                           struct orr_out *behind)
{
    struct dot *dot = writer;

    for (; dot->nnodes < waits->ntasks; dot->nnodes++) {
        const struct orr_waits_task *task = &waits->tasks[dot->nnodes];

        if (task->worker == UINT32_MAX && !is_all)
            break;
        write_waiter(out, dot->trace, waits, task);
    }
    for (; dot->nedges < waits->ntasks; dot->nedges++) {
        const struct orr_waits_task *task = &waits->tasks[dot->nedges];

        for (uint32_t i = task->first; i < task->first + task->n; i++)
            put_edge(behind, waits->tasks[waits->lists[i]].id, task->id, false);
    }
    return 0;
}

/* --- the file --- */

static int dot_begin(const struct orr_trace *trace, void **ret)
{
    struct dot *dot = calloc(1, sizeof(*dot));

    if (!dot)
        return -ENOMEM;
    dot->trace = trace;
    *ret = dot;
    return 0;
}

/* In graphs with more tasks Graphviz is told to look less long for a good layout:
 * without that 851 tasks took it minutes. */
enum { MANY_TASKS = 300 };
static const char hurry[] =
    "nslimit=0.5\nnslimit1=1\nmclimit=0.1\nsplines=line\n";

static int dot_write_head(void *writer, const struct orr_trace_whole *whole,
                          struct orr_out *out)
{
    struct dot *dot = writer;
    uint32_t ntasks = whole->graph ? whole->graph->ntasks : dot->nnodes;

    /* Tasks that were written are those of the graph only if that is not needed. */
    if (dot->nnodes > 0 && !whole->behind)
        return -ESTALE;
    ORR_PUT(out, "digraph G {\ncolor=white\nrankdir=LR\n");
    if (ntasks >= MANY_TASKS)
        orr_put_text(out, hurry);
    return 0;
}

static int dot_write_tail(void *writer, const struct orr_trace_whole *whole,
                          struct orr_out *out)
{
    const struct dot *dot = writer;
    int rc = 0;

    if (whole->behind) {
        orr_out_flush(out);
        rc = orr_spool_append(whole->behind, 0, out->file);
    } else if (whole->graph) {
        dot_write_graph(out, dot->trace, whole->graph);
    }
    ORR_PUT(out, "}\n");
    return rc;
}

const struct orr_trace_parts orr_dot_parts = {
    .begin = dot_begin,
    .waits = dot_write_waits,
    .head = dot_write_head,
    .tail = dot_write_tail,
    .free = free,
};

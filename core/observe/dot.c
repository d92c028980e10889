/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/dot.c - tasks and dependencies for Graphviz, with the names of
 * nodes that StarPU's dag.dot has. Needs the graph. One thread.
 */
#include "core/observe/formats.h"

#include <stdlib.h>

#include "bound/graph.h"
#include "core/observe/entities.h"
#include "core/observe/out.h"

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

static void write_task(struct orr_out *out, const struct orr_graph *graph,
                       const struct orr_graph_task *task)
{
    ORR_PUT(out, "\"task_");
    orr_put_unsigned(out, task->id);
    ORR_PUT(out, "\" [style=filled, label=");
    put_quoted(out, graph->types[task->type].symbol);
    if (task->worker == ORR_GRAPH_NOT_RUN) {
        ORR_PUT(out, ", fillcolor=\"#aaaaaa\"]\n");
        return;
    }
    if (graph->workers[task->worker].node)
        ORR_PUT(out, ", fillcolor=\"#fdd49e\", tooltip=");
    else
        ORR_PUT(out, ", fillcolor=\"#c7e9c0\", tooltip=");
    put_quoted(out, graph->workers[task->worker].name);
    ORR_PUT(out, ", start_ms=\"");
    orr_put_decimal(out, task->start_ms, 9);
    ORR_PUT(out, "\", end_ms=\"");
    orr_put_decimal(out, task->end_ms, 9);
    ORR_PUT(out, "\"]\n");
}

static void write_edges(struct orr_out *out, const struct orr_graph *graph,
                        const struct orr_graph_task *task)
{
    for (unsigned d = 0; d < task->ndeps; d++) {
        const struct orr_graph_dep *dep = &graph->deps[task->first_dep + d];

        ORR_PUT(out, "\"task_");
        orr_put_unsigned(out, graph->tasks[dep->task].id);
        ORR_PUT(out, "\"->\"task_");
        orr_put_unsigned(out, task->id);
        if (dep->tag)
            ORR_PUT(out, "\" [style=dashed]\n");
        else
            ORR_PUT(out, "\"\n");
    }
}

int orr_dot_write(const struct orr_trace_source *source, FILE *file)
{
    const struct orr_graph *graph = source->graph;
    struct orr_out out;
    int result = orr_out_init(&out, file);

    if (result < 0)
        return result;
    ORR_PUT(&out, "digraph G {\ncolor=white\nrankdir=LR\n");
    for (unsigned t = 0; graph && t < graph->ntasks; t++)
        write_task(&out, graph, &graph->tasks[t]);
    for (unsigned t = 0; graph && t < graph->ntasks; t++)
        write_edges(&out, graph, &graph->tasks[t]);
    ORR_PUT(&out, "}\n");
    orr_out_done(&out);
    return 0;
}

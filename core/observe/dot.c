/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/dot.c - tasks and dependencies for Graphviz, with the names of
 * nodes that StarPU's dag.dot has. Needs the graph. One thread.
 */
#include "core/observe/trace_file.h"

#include <stdlib.h>

#include "bound/graph.h"
#include "core/observe/decimal.h"
#include "core/observe/entities.h"

/* The text in quotation marks, on one line. */
static void write_text(FILE *file, const char *text)
{
    char *safe = orr_trace_safe_text(text ? text : "");

    fputc_unlocked('"', file);
    for (const char *at = safe ? safe : "-"; *at; at++) {
        if (*at == '\\')
            fputc_unlocked('\\', file);
        fputc_unlocked(*at, file);
    }
    fputc_unlocked('"', file);
    free(safe);
}

static void write_task(const struct orr_trace_source *source,
                       const struct orr_graph_task *task, FILE *file)
{
    const struct orr_graph *graph = source->graph;
    unsigned long long id = task->id;
    char start[ORR_DECIMAL_SIZE], end[ORR_DECIMAL_SIZE];

    orr_print(file, "\"task_%llu\" [style=filled, label=", id);
    write_text(file, graph->types[task->type].symbol);
    if (task->worker == ORR_GRAPH_NOT_RUN) {
        fputs(", fillcolor=\"#aaaaaa\"]\n", file);
        return;
    }
    orr_print(file, ", fillcolor=\"%s\", tooltip=",
              graph->workers[task->worker].node ? "#fdd49e" : "#c7e9c0");
    write_text(file, graph->workers[task->worker].name);
    orr_print(file, ", start_ms=\"%s\", end_ms=\"%s\"]\n",
              orr_decimal(task->start_ms, 9, start),
              orr_decimal(task->end_ms, 9, end));
}

int orr_dot_write(const struct orr_trace_source *source, FILE *file)
{
    const struct orr_graph *graph = source->graph;

    fputs("digraph G {\ncolor=white\nrankdir=LR\n", file);
    for (unsigned t = 0; graph && t < graph->ntasks; t++)
        write_task(source, &graph->tasks[t], file);
    for (unsigned t = 0; graph && t < graph->ntasks; t++) {
        const struct orr_graph_task *task = &graph->tasks[t];

        for (unsigned d = 0; d < task->ndeps; d++) {
            const struct orr_graph_dep *dep = &graph->deps[task->first_dep + d];

            orr_print(file, "\"task_%llu\"->\"task_%llu\"%s\n",
                      (unsigned long long)graph->tasks[dep->task].id,
                      (unsigned long long)task->id,
                      dep->tag ? " [style=dashed]" : "");
        }
    }
    fputs("}\n", file);
    return 0;
}

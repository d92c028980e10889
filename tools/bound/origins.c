/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/origins.c - where the times of a graph come from: shares of the time
 * of its tasks, and those of each task type. One thread.
 */
#include "tools/bound/bound.h"

#include "tools/common/json.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ms of the executed tasks per origin; [0]: not known. Returns the sum. */
static double sum_origin_times(const struct orr_graph *graph,
                               double ms[UINT8_MAX + 1])
{
    double sum = 0;

    memset(ms, 0, (UINT8_MAX + 1) * sizeof(*ms));
    for (unsigned t = 0; t < graph->ntasks; t++) {
        const struct orr_graph_task *task = &graph->tasks[t];
        const struct orr_graph_task_type *type = &graph->types[task->type];
        double took = task->end_ms - task->start_ms;

        if (task->worker == ORR_GRAPH_NOT_RUN || !(took > 0))
            continue;
        ms[type->origin ? type->origin[task->worker] : 0] += took;
        sum += took;
    }
    return sum;
}

void bounds_times(const struct bounds *b, char *text, size_t size)
{
    const char *told = orr_graph_about(b->graph, "times");
    double ms[UINT8_MAX + 1], sum = sum_origin_times(b->graph, ms);
    size_t used = 0;

    snprintf(text, size, "%s", told ? told : "");
    if (told)
        return;
    for (unsigned o = 1; o < b->graph->norigins && used < size; o++)
        if (ms[o] > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%.1f %% %s",
                                     used ? ", " : "", 100 * ms[o] / sum,
                                     b->graph->origins[o]);
}

json_t *bounds_json_times(const struct bounds *b)
{
    double ms[UINT8_MAX + 1], sum = sum_origin_times(b->graph, ms);
    json_t *list = json_array();

    for (unsigned o = 1; o < b->graph->norigins; o++)
        if (ms[o] > 0)
            json_array_append_new(list, json_pack("{s:s, s:f}", "origin",
                                                  b->graph->origins[o], "share",
                                                  ms[o] / sum));
    return list;
}

static bool variants_are_same(const struct orr_graph *graph,
                              const struct orr_graph_task_type *type,
                              unsigned v, unsigned w)
{
    return memcmp(&type->mean_ms[v], &type->mean_ms[w], sizeof(double)) == 0 &&
           strcmp(orr_graph_origin_of(graph, type, v),
                  orr_graph_origin_of(graph, type, w)) == 0;
}

/* Workers in turn that take the same time, as in the file; those that cannot run
 * the type are left out. */
static json_t *json_workers(const struct orr_graph *graph,
                            const struct orr_graph_task_type *type)
{
    json_t *list = json_array();

    for (unsigned w = 0, n; w < graph->nworkers; w += n) {
        const char *origin = orr_graph_origin_of(graph, type, w);

        for (n = 1; w + n < graph->nworkers &&
                    variants_are_same(graph, type, w, w + n);
             n++)
            ;
        if (!isinf(type->mean_ms[w]))
            json_array_append_new(
                list, json_pack("{s:s, s:i, s:o, s:s?}", "worker",
                                graph->workers[w].name, "workers", (int)n, "ms",
                                tool_json_number(type->mean_ms[w]), "origin",
                                *origin ? origin : NULL));
    }
    return list;
}

json_t *bounds_json_types(const struct bounds *b)
{
    json_t *list = json_array();

    for (unsigned k = 0; k < b->graph->ntypes; k++) {
        const struct orr_graph_task_type *type = &b->graph->types[k];
        char footprint[16];
        int ntasks = 0;

        for (unsigned t = 0; t < b->graph->ntasks; t++)
            ntasks += b->graph->tasks[t].type == k;
        snprintf(footprint, sizeof(footprint), "%08x", type->footprint);
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:i, s:o}", "symbol", type->symbol,
                            "footprint", footprint, "tasks", ntasks, "times",
                            json_workers(b->graph, type)));
    }
    return list;
}

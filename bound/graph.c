/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/graph.c - frees a graph and checks whether it is sound. No threads.
 */
#include "bound/graph.h"

#include "core/base/grow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void orr_graph_free(struct orr_graph *graph)
{
    if (!graph)
        return;
    for (unsigned w = 0; graph->workers && w < graph->nworkers; w++)
        free(graph->workers[w].name);
    for (unsigned n = 0; graph->nodes && n < graph->nnodes; n++)
        free(graph->nodes[n].name);
    for (unsigned l = 0; graph->links && l < graph->nlinks; l++)
        free(graph->links[l].name);
    for (unsigned k = 0; graph->types && k < graph->ntypes; k++) {
        free(graph->types[k].symbol);
        free(graph->types[k].mean_ms);
        free(graph->types[k].deviation_ms);
        free(graph->types[k].origin);
        free(graph->types[k].awaited);
    }
    for (unsigned d = 0; graph->data && d < graph->ndata; d++)
        free(graph->data[d].name);
    for (unsigned i = 0; i < graph->nabout; i++) {
        free(graph->about[i].what);
        free(graph->about[i].text);
    }
    free(graph->about);
    for (unsigned o = 0; o < graph->norigins; o++)
        free(graph->origins[o]);
    free(graph->origins);
    free(graph->machine);
    free(graph->figures);
    free(graph->workers);
    free(graph->nodes);
    free(graph->links);
    free(graph->routes);
    free(graph->route_links);
    free(graph->types);
    free(graph->data);
    free(graph->tasks);
    free(graph->deps);
    free(graph->accesses);
    free(graph->messages);
    free(graph);
}

bool orr_graph_type_is_task(const struct orr_graph_task_type *type)
{
    return strcmp(type->symbol, ORR_GRAPH_JOIN) != 0 &&
           strcmp(type->symbol, ORR_GRAPH_MESSAGE) != 0;
}

bool orr_graph_is_task(const struct orr_graph *graph, unsigned task)
{
    return orr_graph_type_is_task(&graph->types[graph->tasks[task].type]);
}

int orr_graph_add_about(struct orr_graph *graph, const char *what,
                        const char *text)
{
    struct orr_graph_about *about = orr_array_add(graph->about, graph->nabout);

    if (!about)
        return -ENOMEM;
    *about = (struct orr_graph_about){strdup(what), strdup(text)};
    return about->what && about->text ? 0 : -ENOMEM;
}

const char *orr_graph_about(const struct orr_graph *graph, const char *what)
{
    for (unsigned i = 0; i < graph->nabout; i++)
        if (!strcmp(graph->about[i].what, what))
            return graph->about[i].text;
    return NULL;
}

int orr_graph_origin(struct orr_graph *graph, const char *name)
{
    unsigned n = graph->norigins ? graph->norigins : 1;
    char **origins;

    if (!name || !*name)
        return 0;
    for (unsigned o = 1; o < n; o++)
        if (!strcmp(graph->origins[o], name))
            return (int)o;
    if (n > UINT8_MAX)
        return -E2BIG;
    origins = realloc(graph->origins, (n + 1) * sizeof(*origins));
    if (!origins)
        return -ENOMEM;
    origins[0] = NULL;
    graph->origins = origins;
    graph->norigins = n;
    origins[n] = strdup(name);
    if (!origins[n])
        return -ENOMEM;
    graph->norigins = n + 1;
    return (int)n;
}

const char *orr_graph_origin_of(const struct orr_graph *graph,
                                const struct orr_graph_task_type *type,
                                unsigned worker)
{
    unsigned o = type->origin ? type->origin[worker] : 0;

    return o ? graph->origins[o] : "";
}

/* Finite and not negative; a NaN is neither. */
static bool is_amount(double value)
{
    return value >= 0 && isfinite(value);
}

static bool is_slice(unsigned first, unsigned n, unsigned total)
{
    return first <= total && n <= total - first;
}

/* --- the machine --- */

static int check_places(const struct orr_graph *graph, struct orr_error *err)
{
    for (unsigned w = 0; w < graph->nworkers; w++) {
        if (!graph->workers[w].name)
            return orr_fail(err, -EINVAL, "worker %u has no name", w);
        if (graph->workers[w].node >= graph->nnodes)
            return orr_fail(err, -EINVAL,
                            "worker %u computes in memory node %u, and there "
                            "are %u",
                            w, graph->workers[w].node, graph->nnodes);
    }
    for (unsigned n = 0; n < graph->nnodes; n++) {
        if (!graph->nodes[n].name)
            return orr_fail(err, -EINVAL, "memory node %u has no name", n);
        if (!(graph->nodes[n].capacity >= 0))
            return orr_fail(err, -EINVAL, "memory node %u has capacity %g", n,
                            graph->nodes[n].capacity);
    }
    return 0;
}

static int graph_check_route(const struct orr_graph *graph, unsigned r,
                             struct orr_error *err)
{
    const struct orr_graph_route *route = &graph->routes[r];

    if (route->src >= graph->nnodes || route->dst >= graph->nnodes)
        return orr_fail(err, -EINVAL,
                        "route %u leads from memory node %u to %u, and there "
                        "are %u",
                        r, route->src, route->dst, graph->nnodes);
    if (!is_slice(route->first_link, route->nlinks, graph->nroute_links))
        return orr_fail(err, -EINVAL, "the links of route %u are out of range",
                        r);
    for (unsigned i = 0; i < route->nlinks; i++) {
        unsigned link = graph->route_links[route->first_link + i];

        if (link >= graph->nlinks)
            return orr_fail(err, -EINVAL,
                            "route %u passes link %u, and there are %u", r,
                            link, graph->nlinks);
    }
    if (!is_amount(route->latency_ms))
        return orr_fail(err, -EINVAL, "route %u has latency %g ms", r,
                        route->latency_ms);
    return 0;
}

static int graph_check_links(const struct orr_graph *graph,
                             struct orr_error *err)
{
    int rc = 0;

    for (unsigned l = 0; l < graph->nlinks; l++) {
        if (!graph->links[l].name)
            return orr_fail(err, -EINVAL, "link %u has no name", l);
        if (!(graph->links[l].bandwidth > 0))
            return orr_fail(err, -EINVAL, "link %u has bandwidth %g bytes/ms",
                            l, graph->links[l].bandwidth);
    }
    for (unsigned r = 0; !rc && r < graph->nroutes; r++)
        rc = graph_check_route(graph, r, err);
    return rc;
}

/* --- tasks --- */

static int graph_check_type(const struct orr_graph *graph, unsigned k,
                            struct orr_error *err)
{
    const struct orr_graph_task_type *type = &graph->types[k];

    if (!type->symbol)
        return orr_fail(err, -EINVAL, "task type %u has no symbol", k);
    if (!is_amount(type->flops))
        return orr_fail(err, -EINVAL, "task type %u (%s) has %g flop", k,
                        type->symbol, type->flops);
    if (graph->nworkers && (!type->mean_ms || !type->deviation_ms))
        return orr_fail(err, -EINVAL, "task type %u (%s) has no durations", k,
                        type->symbol);
    for (unsigned w = 0; w < graph->nworkers; w++) {
        if (type->mean_ms[w] < 0)
            return orr_fail(err, -EINVAL,
                            "task type %u (%s) takes %g ms on worker %u", k,
                            type->symbol, type->mean_ms[w], w);
        if (!is_amount(type->deviation_ms[w]))
            return orr_fail(err, -EINVAL,
                            "task type %u (%s) deviates by %g ms on worker %u",
                            k, type->symbol, type->deviation_ms[w], w);
        if (type->origin && type->origin[w] &&
            type->origin[w] >= graph->norigins)
            return orr_fail(err, -EINVAL,
                            "task type %u (%s) has origin %u on worker %u, and "
                            "there are %u",
                            k, type->symbol, type->origin[w], w,
                            graph->norigins);
    }
    return 0;
}

static int check_datum(const struct orr_graph *graph, unsigned d,
                       struct orr_error *err)
{
    const struct orr_graph_datum *datum = &graph->data[d];

    if (!is_amount(datum->bytes))
        return orr_fail(err, -EINVAL, "datum %u has %g bytes", d, datum->bytes);
    if (datum->home >= graph->nnodes)
        return orr_fail(err, -EINVAL,
                        "datum %u is at home in memory node %u, and there are "
                        "%u",
                        d, datum->home, graph->nnodes);
    return 0;
}

/* What the run did with it. */
static int check_run(const struct orr_graph *graph, unsigned t,
                     struct orr_error *err)
{
    const struct orr_graph_task *task = &graph->tasks[t];

    if (task->worker != ORR_GRAPH_NOT_RUN && task->worker >= graph->nworkers)
        return orr_fail(err, -EINVAL,
                        "task %u ran on worker %u, and there are %u", t,
                        task->worker, graph->nworkers);
    if ((!isnan(task->start_ms) && !is_amount(task->start_ms)) ||
        (!isnan(task->end_ms) && !is_amount(task->end_ms)) ||
        task->end_ms < task->start_ms)
        return orr_fail(err, -EINVAL, "task %u ran from %g ms to %g ms", t,
                        task->start_ms, task->end_ms);
    return 0;
}

static int graph_check_task(const struct orr_graph *graph, unsigned t,
                            struct orr_error *err)
{
    const struct orr_graph_task *task = &graph->tasks[t];

    if (task->by == ORR_GRAPH_BY_TASK && task->submitter >= t)
        return orr_fail(err, -EINVAL,
                        "task %u is submitted by task %u, which is not before it", t,
                        task->submitter);
    if (task->by == ORR_GRAPH_BY_THREAD && task->submitter > graph->ntasks)
        return orr_fail(err, -EINVAL,
                        "task %u is submitted by thread %u, more than there are "
                        "tasks",
                        t, task->submitter);
    if (task->type >= graph->ntypes)
        return orr_fail(err, -EINVAL, "task %u is of type %u, and there are %u",
                        t, task->type, graph->ntypes);
    if (!is_slice(task->first_dep, task->ndeps, graph->ndeps))
        return orr_fail(err, -EINVAL,
                        "the dependencies of task %u are out of range", t);
    if (!is_slice(task->first_access, task->naccesses, graph->naccesses))
        return orr_fail(err, -EINVAL,
                        "the accesses of task %u are out of range", t);
    for (unsigned i = 0; i < task->ndeps; i++) {
        unsigned earlier = graph->deps[task->first_dep + i].task;

        if (earlier >= graph->ntasks)
            return orr_fail(err, -EINVAL,
                            "task %u depends on task %u, and there are %u", t,
                            earlier, graph->ntasks);
        if (earlier == t)
            return orr_fail(err, -EINVAL, "task %u depends on itself", t);
    }
    for (unsigned i = 0; i < task->naccesses; i++) {
        const struct orr_graph_access *access =
            &graph->accesses[task->first_access + i];

        if (access->datum >= graph->ndata)
            return orr_fail(err, -EINVAL,
                            "task %u accesses datum %u, and there are %u", t,
                            access->datum, graph->ndata);
        if (access->mode < ORR_GRAPH_READ ||
            access->mode > (ORR_GRAPH_READ | ORR_GRAPH_WRITE))
            return orr_fail(err, -EINVAL,
                            "task %u accesses datum %u in mode %u", t,
                            access->datum, access->mode);
    }
    return check_run(graph, t, err);
}

static int check_message(const struct orr_graph *graph, unsigned m, struct orr_error *err)
{
    const struct orr_graph_message *message = &graph->messages[m];

    if (message->task >= graph->ntasks || (m > 0 && message->task < message[-1].task))
        return orr_fail(err, -EINVAL, "message %u is of task %u, out of order or of %u", m,
                        message->task, graph->ntasks);
    if (strcmp(graph->types[graph->tasks[message->task].type].symbol, ORR_GRAPH_MESSAGE) != 0)
        return orr_fail(err, -EINVAL, "task %u has a message and is not of the type \"%s\"",
                        message->task, ORR_GRAPH_MESSAGE);
    return 0;
}

/* Removes repeatedly tasks on which no other depends (Kahn 1962, from the end):
 * what is left when there are none lies on a cycle or before one. */
static int check_cycles(const struct orr_graph *graph, struct orr_error *err)
{
    unsigned *later = calloc((size_t)graph->ntasks + 1, sizeof(*later));
    unsigned *stack = calloc((size_t)graph->ntasks + 1, sizeof(*stack));
    unsigned depth = 0, taken = 0, t = 0;
    int rc = 0;

    if (!later || !stack) {
        rc = orr_fail(err, -ENOMEM, "out of memory");
        goto out;
    }
    for (t = 0; t < graph->ntasks; t++)
        for (unsigned i = 0; i < graph->tasks[t].ndeps; i++)
            later[graph->deps[graph->tasks[t].first_dep + i].task]++;
    for (t = 0; t < graph->ntasks; t++)
        if (later[t] == 0)
            stack[depth++] = t;
    for (; depth > 0; taken++) {
        const struct orr_graph_task *task = &graph->tasks[stack[--depth]];

        for (unsigned i = 0; i < task->ndeps; i++) {
            unsigned earlier = graph->deps[task->first_dep + i].task;

            if (--later[earlier] == 0)
                stack[depth++] = earlier;
        }
    }
    if (taken < graph->ntasks) {
        for (t = 0; later[t] == 0; t++)
            ;
        rc = orr_fail(err, -EINVAL,
                      "dependencies form a cycle: task %u is on it or before "
                      "it",
                      t);
    }
out:
    free(later);
    free(stack);
    return rc;
}

/* As in graphs that were recorded: tasks are in the order of their submission. */
static bool deps_go_back(const struct orr_graph *graph)
{
    for (unsigned t = 0; t < graph->ntasks; t++)
        for (unsigned i = 0; i < graph->tasks[t].ndeps; i++)
            if (graph->deps[graph->tasks[t].first_dep + i].task >= t)
                return false;
    return true;
}

int orr_graph_check(const struct orr_graph *graph, struct orr_error *err)
{
    int rc = check_places(graph, err);

    if (!rc)
        rc = graph_check_links(graph, err);
    for (unsigned k = 0; !rc && k < graph->ntypes; k++)
        rc = graph_check_type(graph, k, err);
    for (unsigned d = 0; !rc && d < graph->ndata; d++)
        rc = check_datum(graph, d, err);
    for (unsigned t = 0; !rc && t < graph->ntasks; t++)
        rc = graph_check_task(graph, t, err);
    for (unsigned m = 0; !rc && m < graph->nmessages; m++)
        rc = check_message(graph, m, err);
    if (!rc && !isnan(graph->makespan_ms) && !is_amount(graph->makespan_ms))
        rc =
            orr_fail(err, -EINVAL, "the makespan is %g ms", graph->makespan_ms);
    return rc || deps_go_back(graph) ? rc : check_cycles(graph, err);
}

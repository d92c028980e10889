/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/graph_write.c - a graph as text, see graph_text.h. Everything is
 * numbered by its order, so that few numbers need be written.
 */
#include "bound/graph_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base/number.h"
#include "core/base/result.h"

static void graph_write_string(FILE *f, const char *text)
{
    fputs(" \"", f);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < ' ' || c == 127)
            fprintf(f, "\\x%02x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

/* Seventeen digits distinguish any two doubles. */
static void write_number(FILE *f, double value)
{
    if (isnan(value))
        fputs(" nan", f);
    else if (isinf(value))
        fputs(" inf", f);
    else
        orr_fprintf(f, " %.17g", value);
}

static void graph_write_costs(const struct orr_graph_costs *costs, FILE *f)
{
    const double all[] = {costs->submit_ms,   costs->submit_access_ms,
                          costs->submit_ready_ms, costs->push_ms,
                          costs->progress_ms, costs->fetch_ms, costs->queue_ms};
    const unsigned n = sizeof(all) / sizeof(*all);
    double sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += all[i];
    if (!(sum > 0))
        return;
    fputs("costs", f);
    for (unsigned i = 0; i < n; i++)
        write_number(f, all[i]);
    fputc('\n', f);
}

static void graph_write_machine(const struct orr_graph *graph, FILE *f)
{
    if (graph->machine) {
        fputs("machine", f);
        graph_write_string(f, graph->machine);
        fputc('\n', f);
    }
    if (graph->figures) {
        fputs("figures", f);
        graph_write_string(f, graph->figures);
        fputc('\n', f);
    }
    for (unsigned i = 0; i < graph->nabout; i++) {
        fputs("about", f);
        graph_write_string(f, graph->about[i].what);
        graph_write_string(f, graph->about[i].text);
        fputc('\n', f);
    }
    fprintf(f, "run %s", graph->simulated ? "simulated" : "real");
    write_number(f, graph->makespan_ms);
    fputc('\n', f);
    graph_write_costs(&graph->costs, f);
    for (unsigned n = 0; n < graph->nnodes; n++) {
        fputs("node", f);
        graph_write_string(f, graph->nodes[n].name);
        write_number(f, graph->nodes[n].capacity);
        fputc('\n', f);
    }
    for (unsigned w = 0; w < graph->nworkers; w++) {
        fputs("worker", f);
        graph_write_string(f, graph->workers[w].name);
        fprintf(f, " %u%s\n", graph->workers[w].node,
                graph->workers[w].blocking ? " blocking" : "");
    }
    for (unsigned l = 0; l < graph->nlinks; l++) {
        fputs("link", f);
        graph_write_string(f, graph->links[l].name);
        write_number(f, graph->links[l].bandwidth);
        fputc('\n', f);
    }
    for (unsigned r = 0; r < graph->nroutes; r++) {
        const struct orr_graph_route *route = &graph->routes[r];

        fprintf(f, "route %u %u", route->src, route->dst);
        write_number(f, route->latency_ms);
        for (unsigned i = 0; i < route->nlinks; i++)
            fprintf(f, " %u", graph->route_links[route->first_link + i]);
        fputc('\n', f);
    }
}

/* As bits: any difference is written separately. */
static bool doubles_are_identical(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Workers of a class follow each other and take the same time. */
static void write_type(const struct orr_graph *graph,
                       const struct orr_graph_task_type *type, FILE *f)
{
    fputs("kind", f);
    graph_write_string(f, type->symbol);
    fprintf(f, " %" PRIx32, type->footprint);
    write_number(f, type->flops);
    for (unsigned w = 0, n; w < graph->nworkers; w += n) {
        for (n = 1;
             w + n < graph->nworkers &&
             doubles_are_identical(type->mean_ms[w], type->mean_ms[w + n]) &&
             doubles_are_identical(type->deviation_ms[w],
                                   type->deviation_ms[w + n]);
             n++)
            ;
        fprintf(f, " %u", n);
        write_number(f, type->mean_ms[w]);
        write_number(f, type->deviation_ms[w]);
    }
    fputc('\n', f);
}

static bool same_origin(const struct orr_graph *graph,
                        const struct orr_graph_task_type *type, unsigned v,
                        unsigned w)
{
    return strcmp(orr_graph_origin_of(graph, type, v),
                  orr_graph_origin_of(graph, type, w)) == 0;
}

/* The origins of those times; no line if none is known. */
static void write_origins(const struct orr_graph *graph,
                          const struct orr_graph_task_type *type, FILE *f)
{
    bool known = false;

    for (unsigned w = 0; w < graph->nworkers; w++)
        known = known || *orr_graph_origin_of(graph, type, w);
    if (!known)
        return;
    fputs("from", f);
    for (unsigned w = 0, n; w < graph->nworkers; w += n) {
        const char *origin = orr_graph_origin_of(graph, type, w);

        for (n = 1;
             w + n < graph->nworkers && same_origin(graph, type, w, w + n); n++)
            ;
        fprintf(f, " %u %s", n, *origin ? origin : "-");
    }
    fputc('\n', f);
}

/* Where the worker does nothing else meanwhile; no line if that is nowhere. */
static void write_awaited(const struct orr_graph *graph,
                          const struct orr_graph_task_type *type, FILE *f)
{
    if (!type->awaited)
        return;
    fputs("awaited", f);
    for (unsigned w = 0, n; w < graph->nworkers; w += n) {
        for (n = 1; w + n < graph->nworkers &&
                    type->awaited[w] == type->awaited[w + n];
             n++)
            ;
        fprintf(f, " %u %u", n, type->awaited[w] != 0);
    }
    fputc('\n', f);
}

static void write_submitter(const struct orr_graph_task *task, FILE *f)
{
    if (task->by == ORR_GRAPH_BY_TASK)
        fprintf(f, " in %u", task->submitter);
    else if (task->by == ORR_GRAPH_BY_OTHER)
        fputs(" by -", f);
    else if (task->submitter)
        fprintf(f, " by %u", task->submitter);
}

static void graph_write_task(const struct orr_graph *graph,
                             const struct orr_graph_task *task, FILE *f)
{
    static const char *const modes[] = {"", "r", "w", "rw"};

    fprintf(f, "task %u %" PRIu64 " %d", task->type, task->id, task->priority);
    if (task->has_tag)
        fprintf(f, " tag %" PRIx64, task->tag);
    write_submitter(task, f);
    if (task->worker != ORR_GRAPH_NOT_RUN || !isnan(task->start_ms) ||
        !isnan(task->end_ms)) {
        if (task->worker == ORR_GRAPH_NOT_RUN)
            fputs(" ran -", f);
        else
            fprintf(f, " ran %u", task->worker);
        write_number(f, task->start_ms);
        write_number(f, task->end_ms);
    }
    fputc('\n', f);
    for (unsigned i = 0; i < task->ndeps; i++) {
        const struct orr_graph_dep *dep = &graph->deps[task->first_dep + i];

        fprintf(f, "after %u %" PRIu64 "%s\n", dep->task, dep->bytes,
                dep->tag ? " tag" : "");
    }
    for (unsigned i = 0; i < task->naccesses; i++) {
        const struct orr_graph_access *access =
            &graph->accesses[task->first_access + i];

        fprintf(f, "uses %u %s\n", access->datum, modes[access->mode]);
    }
}

static void write_message(const struct orr_graph_message *message, FILE *f)
{
    fprintf(f, "message %s %u %" PRId64 " %" PRIu64 " %" PRIu64 "%s\n",
            message->received ? "received" : "sent", message->peer, message->tag,
            message->number, message->bytes, message->early ? " early" : "");
}

static void write_datum(const struct orr_graph_datum *datum, FILE *f)
{
    fprintf(f, "datum %u %s", datum->home, datum->valued ? "valued" : "new");
    write_number(f, datum->bytes);
    if (datum->name)
        graph_write_string(f, datum->name);
    fputc('\n', f);
}

int orr_graph_write(const struct orr_graph *graph, FILE *f)
{
    unsigned m = 0;

    fputs("orrery-graph 1\n", f);
    graph_write_machine(graph, f);
    for (unsigned k = 0; k < graph->ntypes; k++) {
        write_type(graph, &graph->types[k], f);
        write_origins(graph, &graph->types[k], f);
        write_awaited(graph, &graph->types[k], f);
        if (graph->types[k].unmodelled)
            fputs("unmodelled\n", f);
    }
    for (unsigned d = 0; d < graph->ndata; d++)
        write_datum(&graph->data[d], f);
    for (unsigned t = 0; t < graph->ntasks; t++) {
        graph_write_task(graph, &graph->tasks[t], f);
        for (; m < graph->nmessages && graph->messages[m].task == t; m++)
            write_message(&graph->messages[m], f);
    }
    fputs("end\n", f);
    return ferror(f) ? -EIO : 0;
}

/* --- files --- */

static int check_size(const struct orr_graph *graph, const char *path,
                      struct orr_error *err)
{
    if (graph->nworkers > ORR_GRAPH_MAX_WORKERS ||
        graph->nnodes > ORR_GRAPH_MAX_WORKERS ||
        graph->nlinks > ORR_GRAPH_MAX_WORKERS ||
        (uint64_t)graph->ntypes * graph->nworkers > ORR_GRAPH_MAX_DURATIONS)
        return orr_fail(err, -EINVAL,
                        "%s: %u task types on %u workers with %u memory "
                        "nodes and %u links are more than a file may hold "
                        "(docs/GRAPH.md)",
                        path, graph->ntypes, graph->nworkers, graph->nnodes,
                        graph->nlinks);
    return 0;
}

int orr_graph_save(const struct orr_graph *graph, const char *path,
                   struct orr_error *err)
{
    struct orr_result out;
    int rc = check_size(graph, path, err);

    if (rc)
        return rc;
    rc = orr_result_open(path, &out);
    if (!rc) {
        rc = orr_graph_write(graph, out.file);
        if (rc == -EIO && errno)
            rc = -errno;
        rc = orr_result_close(&out, rc);
    }
    return rc ? orr_fail(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

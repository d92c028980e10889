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

#include "core/base/out.h"
#include "core/base/result.h"

static void graph_write_string(struct orr_out *out, const char *text)
{
    ORR_PUT(out, " \"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < ' ' || c == 127) {
            ORR_PUT(out, "\\x");
            orr_put_hex(out, c, 2);
            continue;
        }
        if (c == '"' || c == '\\')
            orr_put_byte(out, '\\');
        orr_put_byte(out, *text);
    }
    orr_put_byte(out, '"');
}

/* Seventeen digits distinguish any two doubles. */
static void write_number(struct orr_out *out, double value)
{
    if (isnan(value)) {
        ORR_PUT(out, " nan");
    } else if (isinf(value)) {
        ORR_PUT(out, " inf");
    } else {
        orr_put_byte(out, ' ');
        orr_put_exact(out, value);
    }
}

static void graph_write_costs(const struct orr_graph_costs *costs,
                              struct orr_out *out)
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
    ORR_PUT(out, "costs");
    for (unsigned i = 0; i < n; i++)
        write_number(out, all[i]);
    orr_put_byte(out, '\n');
}

static void graph_write_machine(const struct orr_graph *graph,
                                struct orr_out *out)
{
    if (graph->machine) {
        ORR_PUT(out, "machine");
        graph_write_string(out, graph->machine);
        orr_put_byte(out, '\n');
    }
    if (graph->figures) {
        ORR_PUT(out, "figures");
        graph_write_string(out, graph->figures);
        orr_put_byte(out, '\n');
    }
    for (unsigned i = 0; i < graph->nabout; i++) {
        ORR_PUT(out, "about");
        graph_write_string(out, graph->about[i].what);
        graph_write_string(out, graph->about[i].text);
        orr_put_byte(out, '\n');
    }
    orr_print(out, "run %s", graph->simulated ? "simulated" : "real");
    write_number(out, graph->makespan_ms);
    orr_put_byte(out, '\n');
    graph_write_costs(&graph->costs, out);
    for (unsigned n = 0; n < graph->nnodes; n++) {
        ORR_PUT(out, "node");
        graph_write_string(out, graph->nodes[n].name);
        write_number(out, graph->nodes[n].capacity);
        orr_put_byte(out, '\n');
    }
    for (unsigned w = 0; w < graph->nworkers; w++) {
        ORR_PUT(out, "worker");
        graph_write_string(out, graph->workers[w].name);
        orr_print(out, " %u%s\n", graph->workers[w].node,
                  graph->workers[w].blocking ? " blocking" : "");
    }
    for (unsigned l = 0; l < graph->nlinks; l++) {
        ORR_PUT(out, "link");
        graph_write_string(out, graph->links[l].name);
        write_number(out, graph->links[l].bandwidth);
        orr_put_byte(out, '\n');
    }
    for (unsigned r = 0; r < graph->nroutes; r++) {
        const struct orr_graph_route *route = &graph->routes[r];

        orr_print(out, "route %u %u", route->src, route->dst);
        write_number(out, route->latency_ms);
        for (unsigned i = 0; i < route->nlinks; i++)
            orr_print(out, " %u", graph->route_links[route->first_link + i]);
        orr_put_byte(out, '\n');
    }
}

/* As bits: any difference is written separately. */
static bool doubles_are_identical(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Workers of a class follow each other and take the same time. */
static void write_type(const struct orr_graph *graph,
                       const struct orr_graph_task_type *type,
                       struct orr_out *out)
{
    ORR_PUT(out, "kind");
    graph_write_string(out, type->symbol);
    orr_print(out, " %" PRIx32, type->footprint);
    write_number(out, type->flops);
    for (unsigned w = 0, n; w < graph->nworkers; w += n) {
        for (n = 1;
             w + n < graph->nworkers &&
             doubles_are_identical(type->mean_ms[w], type->mean_ms[w + n]) &&
             doubles_are_identical(type->deviation_ms[w],
                                   type->deviation_ms[w + n]);
             n++)
            ;
        orr_print(out, " %u", n);
        write_number(out, type->mean_ms[w]);
        write_number(out, type->deviation_ms[w]);
    }
    orr_put_byte(out, '\n');
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
                          const struct orr_graph_task_type *type,
                          struct orr_out *out)
{
    bool known = false;

    for (unsigned w = 0; w < graph->nworkers; w++)
        known = known || *orr_graph_origin_of(graph, type, w);
    if (!known)
        return;
    ORR_PUT(out, "from");
    for (unsigned w = 0, n; w < graph->nworkers; w += n) {
        const char *origin = orr_graph_origin_of(graph, type, w);

        for (n = 1;
             w + n < graph->nworkers && same_origin(graph, type, w, w + n); n++)
            ;
        orr_print(out, " %u %s", n, *origin ? origin : "-");
    }
    orr_put_byte(out, '\n');
}

/* Where the worker does nothing else meanwhile; no line if that is nowhere. */
static void write_awaited(const struct orr_graph *graph,
                          const struct orr_graph_task_type *type,
                          struct orr_out *out)
{
    if (!type->awaited)
        return;
    ORR_PUT(out, "awaited");
    for (unsigned w = 0, n; w < graph->nworkers; w += n) {
        for (n = 1; w + n < graph->nworkers &&
                    type->awaited[w] == type->awaited[w + n];
             n++)
            ;
        orr_print(out, " %u %u", n, type->awaited[w] != 0);
    }
    orr_put_byte(out, '\n');
}

static void write_submitter(const struct orr_graph_task *task,
                            struct orr_out *out)
{
    if (task->by == ORR_GRAPH_BY_TASK)
        orr_print(out, " in %u", task->submitter);
    else if (task->by == ORR_GRAPH_BY_OTHER)
        ORR_PUT(out, " by -");
    else if (task->submitter)
        orr_print(out, " by %u", task->submitter);
}

static void graph_write_task(const struct orr_graph *graph,
                             const struct orr_graph_task *task,
                             struct orr_out *out)
{
    static const char *const modes[] = {"", "r", "w", "rw"};

    ORR_PUT(out, "task ");
    orr_put_unsigned(out, task->type);
    orr_put_byte(out, ' ');
    orr_put_unsigned(out, task->id);
    orr_put_byte(out, ' ');
    orr_put_signed(out, task->priority);
    if (task->has_tag)
        orr_print(out, " tag %" PRIx64, task->tag);
    write_submitter(task, out);
    if (task->worker != ORR_GRAPH_NOT_RUN || !isnan(task->start_ms) ||
        !isnan(task->end_ms)) {
        if (task->worker == ORR_GRAPH_NOT_RUN)
            ORR_PUT(out, " ran -");
        else
            orr_print(out, " ran %u", task->worker);
        write_number(out, task->start_ms);
        write_number(out, task->end_ms);
    }
    orr_put_byte(out, '\n');
    for (unsigned i = 0; i < task->ndeps; i++) {
        const struct orr_graph_dep *dep = &graph->deps[task->first_dep + i];

        ORR_PUT(out, "after ");
        orr_put_unsigned(out, dep->task);
        orr_put_byte(out, ' ');
        orr_put_unsigned(out, dep->bytes);
        orr_put_text(out, dep->tag ? " tag\n" : "\n");
    }
    for (unsigned i = 0; i < task->naccesses; i++) {
        const struct orr_graph_access *access =
            &graph->accesses[task->first_access + i];

        ORR_PUT(out, "uses ");
        orr_put_unsigned(out, access->datum);
        orr_put_byte(out, ' ');
        orr_put_text(out, modes[access->mode]);
        orr_put_byte(out, '\n');
    }
}

static void write_message(const struct orr_graph_message *message,
                          struct orr_out *out)
{
    orr_print(out, "message %s %u %" PRId64 " %" PRIu64 " %" PRIu64 "%s\n",
              message->received ? "received" : "sent", message->peer,
              message->tag, message->number, message->bytes,
              message->early ? " early" : "");
}

static void write_datum(const struct orr_graph_datum *datum,
                        struct orr_out *out)
{
    orr_print(out, "datum %u %s", datum->home,
              datum->valued ? "valued" : "new");
    write_number(out, datum->bytes);
    if (datum->name)
        graph_write_string(out, datum->name);
    orr_put_byte(out, '\n');
}

static void write_graph(const struct orr_graph *graph, struct orr_out *out)
{
    unsigned m = 0;

    ORR_PUT(out, "orrery-graph 1\n");
    graph_write_machine(graph, out);
    for (unsigned k = 0; k < graph->ntypes; k++) {
        write_type(graph, &graph->types[k], out);
        write_origins(graph, &graph->types[k], out);
        write_awaited(graph, &graph->types[k], out);
        if (graph->types[k].unmodelled)
            ORR_PUT(out, "unmodelled\n");
    }
    for (unsigned d = 0; d < graph->ndata; d++)
        write_datum(&graph->data[d], out);
    for (unsigned t = 0; t < graph->ntasks; t++) {
        graph_write_task(graph, &graph->tasks[t], out);
        for (; m < graph->nmessages && graph->messages[m].task == t; m++)
            write_message(&graph->messages[m], out);
    }
    ORR_PUT(out, "end\n");
}

int orr_graph_write(const struct orr_graph *graph, FILE *f)
{
    struct orr_out out;
    int rc = orr_out_init(&out, f);

    if (rc)
        return rc;
    write_graph(graph, &out);
    orr_out_done(&out);
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-bounds.c - whatever the problem, each bound has a proved
 * value or a reason, and none is above another's schedule. Bytes are the
 * machine, then durations, variants of several workers, tasks and edges. For
 * libFuzzer.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/methods.h"
#include "tests/fuzz/fuzz.h"

enum { WORKERS = 6, TYPES = 5, TASKS = 30 };

struct bytes {
    const uint8_t *at;
    size_t left;
};

static unsigned take(struct bytes *b, unsigned below)
{
    unsigned value = b->left ? *b->at % below : 0;

    if (b->left) {
        b->at++;
        b->left--;
    }
    return value;
}

/* 0, whole numbers, powers of ten, none, unknown. */
static double take_ms(struct bytes *b)
{
    unsigned byte = take(b, 256);

    if (byte < 128)
        return byte;
    if (byte < 240)
        return pow(10, (byte - 184) / 6.);
    return byte < 248 ? (double)INFINITY : (double)NAN;
}

static char text[] = "worker";

static void make_graph(struct bytes *b, struct orr_graph *g)
{
    static struct orr_graph_worker workers[WORKERS];
    static struct orr_graph_node nodes[2];
    static struct orr_graph_task_type types[TYPES];
    static struct orr_graph_task tasks[TASKS];
    static struct orr_graph_dep deps[TASKS * TASKS];
    static double mean[TYPES][WORKERS], deviation[WORKERS];

    *g = (struct orr_graph){.makespan_ms = NAN,
                            .nworkers = 1 + take(b, WORKERS),
                            .nnodes = 2,
                            .ntypes = 1 + take(b, TYPES),
                            .ntasks = 1 + take(b, TASKS),
                            .workers = workers,
                            .nodes = nodes,
                            .types = types,
                            .tasks = tasks,
                            .deps = deps};
    nodes[0] = nodes[1] = (struct orr_graph_node){text, INFINITY};
    for (unsigned w = 0; w < g->nworkers; w++)
        workers[w] = (struct orr_graph_worker){text, take(b, 2), take(b, 2) != 0};
    for (unsigned k = 0; k < g->ntypes; k++) {
        types[k] = (struct orr_graph_task_type){.symbol = text,
                                                .footprint = k,
                                                .mean_ms = mean[k],
                                                .deviation_ms = deviation};
        for (unsigned w = 0; w < g->nworkers; w++)
            mean[k][w] = w && take(b, 3) ? mean[k][w - 1] : take_ms(b);
    }
    for (unsigned t = 0; t < g->ntasks; t++) {
        unsigned edges = t ? take(b, 4) : 0;

        tasks[t] = (struct orr_graph_task){.type = take(b, g->ntypes),
                                           .id = t,
                                           .first_dep = g->ndeps,
                                           .ndeps = edges,
                                           .worker = ORR_GRAPH_NOT_RUN,
                                           .start_ms = NAN,
                                           .end_ms = NAN};
        for (unsigned e = 0; e < edges; e++)
            deps[g->ndeps++] = (struct orr_graph_dep){.task = take(b, t)};
    }
}

/* Makes some variants wider, perhaps too wide. */
static void widen(struct bytes *b, struct orr_bound_instance *in)
{
    for (unsigned w = 0; w < in->nvariants; w++)
        if (take(b, 8) == 1)
            in->variants[w].width = take(b, WORKERS + 2);
}

static void check(const struct orr_bound_result *r)
{
    if (isnan(r->ms) ? !r->why : !r->proved || !(r->ms >= 0))
        abort();
    if (r->outcome == ORR_BOUND_OPTIMAL && isnan(r->ms))
        abort();
    if (r->upper_ms < r->ms * (1 - 1e-9))
        abort();
}

static void compute_all(const struct orr_bound_instance *in)
{
    const struct orr_bound_options options = {.seconds = 0.02};
    double optimum = INFINITY, highest = 0;

    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++) {
        struct orr_bound_result r;

        if (orr_bound_compute(in, (enum orr_bound_method)m, &options, &r))
            continue;
        check(&r);
        if (r.ms > highest)
            highest = r.ms;
        if (m == ORR_BOUND_EXACT)
            optimum = fmin(optimum, r.upper_ms);
        orr_bound_result_done(&r);
    }
    if (highest > optimum * (1 + 1e-9))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct orr_bound_instance_options how = {.across_nodes = true};
    struct bytes bytes = {data, size};
    struct orr_graph graph;
    struct orr_bound_instance *in;
    struct orr_error err = {""};

    make_graph(&bytes, &graph);
    if (orr_graph_check(&graph, &err))
        abort();
    if (orr_bound_instance_new(&graph, &how, &in, NULL, &err) == 0) {
        widen(&bytes, in);
        compute_all(in);
        orr_bound_instance_free(in);
    } else if (!err.text[0]) {
        abort();
    }
    return 0;
}

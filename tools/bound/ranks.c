/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/ranks.c - bounds of a program of several ranks on a cluster: where its tasks and
 * data stay where it puts them (bound/ranks.h has the proofs), and with each task on any node.
 * One thread.
 *
 * Where tasks may go anywhere, a run is a schedule of all tasks on all workers, each behind those
 * whose values it reads (join.c); what messages take is left out, since on one node there are none. A
 * run with the program's distribution is one of these as well, so that the second bound is
 * one of the first kind, too.
 */
#include "tools/bound/cluster.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bound/graph_text.h"
#include "bound/solver.h"
#include "core/base/module.h"
#include "perfmodel/sampling.h"
#include "platforms/edit.h"
#include "tools/common/modules.h"
#include "tools/common/run_files.h"
#include "tools/common/run_ranks.h"
#include "tools/common/tool.h"

/* By how much two bounds may differ by rounding. */
#define ROUNDING 1e-6

/* --- tasks, without messages --- */

static int bound_tasks(struct bound_options options, struct orr_graph *graph,
                       struct tasks_bound *ret)
{
    struct bounds b = {.options = &options, .graph = graph, .makespan_ms = graph->makespan_ms};
    int rc = bounds_make_instances(&b);

    if (rc == 0)
        rc = bounds_compute(&b, NULL);
    *ret = (struct tasks_bound){.nworkers = graph->nworkers, .ms = (double)NAN,
                                .method = bounds_best(&b)};
    for (unsigned t = 0; t < graph->ntasks; t++)
        ret->ntasks += orr_graph_is_task(graph, t);
    if (rc == 0 && ret->method < ORR_BOUND_NMETHODS) {
        ret->ms = b.results[ret->method].ms;
        ret->proved = bounds_is_proved(&b, ret->method);
    }
    if (b.stopped)
        rc = b.stopped;
    b.graph = NULL; /* the caller's */
    bounds_done(&b);
    return rc;
}

/* Those that are computed of a rank, or of all: of a rank alone paths, since the rest is
 * known better with the others. */
static struct bound_options kinds_of_ranks(const struct bound_options *options, bool all)
{
    struct bound_options ret = *options;

    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        ret.wanted[m] = options->wanted[m] &&
                        (m == ORR_BOUND_PATHS ||
                         (all && (m == ORR_BOUND_CRITICAL_PATH || m == ORR_BOUND_AREA)));
    return ret;
}

/* Half of the time is for all ranks, the other half for their tasks anywhere. */
static double seconds_of_rank(const struct cluster_bounds *c)
{
    unsigned ntasks = 0;

    for (unsigned r = 0; r < c->n; r++)
        ntasks += c->graphs[r] ? c->graphs[r]->ntasks : 0;
    return (c->options->seconds > 0 ? c->options->seconds : bounds_usual_seconds(ntasks)) / 2 /
           c->n;
}

static int bound_each(struct cluster_bounds *c)
{
    struct bound_options options = kinds_of_ranks(c->options, false);
    int rc = 0;

    options.seconds = seconds_of_rank(c);
    for (unsigned r = 0; r < c->n && rc == 0 && options.wanted[ORR_BOUND_PATHS]; r++)
        if (c->result.ranks[r].ntasks)
            rc = bound_tasks(options, c->graphs[r], &c->of[r]);
    return rc;
}

static int bound_anywhere(struct cluster_bounds *c)
{
    struct bound_options options = kinds_of_ranks(c->options, true);
    struct orr_graph *all = NULL;
    int rc = bounds_join(c->graphs, c->n, &c->messages, &all);

    if (rc < 0)
        return tool_fail(-1, "out of memory");
    options.seconds = c->n * seconds_of_rank(c);
    rc = bound_tasks(options, all, &c->anywhere);
    orr_graph_free(all);
    return rc;
}

/* --- where the program puts them --- */

static int bound_distributed(struct cluster_bounds *c)
{
    struct orr_bound_ranks problem = {.graphs = c->graphs, .n = c->n,
                                      .messages = c->messages.all,
                                      .nmessages = c->messages.n,
                                      .optimism = c->options->optimism};
    const struct orr_bound_solver *solver;
    struct orr_error err = {""};
    const void *table = NULL;
    int rc;

    tool_find_modules("bound");
    rc = orr_module_open("bound", &table, &err);
    if (rc < 0)
        return tool_fail(-1, "bound: %s", err.text);
    solver = table;
    bound_network_fill(&c->network, &problem);
    rc = solver->ranks(&problem, &c->result, &err);
    c->result_done = solver->ranks_done;
    return rc < 0 ? tool_fail(-1, "bound: %s", rc == -ENOMEM ? "out of memory" : err.text) : 0;
}

static bool raise_limit(struct cluster_bounds *c, double ms, bool proved,
                        enum cluster_limit limit)
{
    if (!isfinite(ms) || ms <= c->ms * (1 + ROUNDING))
        return false;
    c->ms = ms;
    c->proved = proved;
    c->limit = limit;
    return true;
}

static void choose_traffic(struct cluster_bounds *c)
{
    bool known = !c->result.unknown;

    for (unsigned cut = 0; cut < c->result.ncuts; cut++)
        for (unsigned i = 0; i < 2 * c->network.cuts[cut].nparts; i++)
            if (raise_limit(c, c->result.traffic[cut][i].ms, known, CLUSTER_TRAFFIC)) {
                c->cut = cut;
                c->part = i / 2;
                c->leaves = i % 2;
            }
}

/* The highest of what holds for the distribution. */
static void choose_limit(struct cluster_bounds *c)
{
    const bool *wanted = c->options->wanted;
    bool known = !c->result.unknown;

    c->ms = 0;
    if (wanted[ORR_BOUND_CRITICAL_PATH])
        raise_limit(c, c->result.path_ms, known, CLUSTER_PATH);
    for (unsigned r = 0; r < c->n; r++) {
        if (wanted[ORR_BOUND_AREA] &&
            raise_limit(c, c->result.ranks[r].ms, known, CLUSTER_TASKS))
            c->rank = r;
        if (raise_limit(c, c->of[r].ms, c->of[r].proved, CLUSTER_PATHS))
            c->rank = r;
    }
    if (wanted[ORR_BOUND_AREA])
        choose_traffic(c);
    /* Where a time is not known on some node, it may be too high. */
    if (c->anywhere.proved)
        raise_limit(c, c->anywhere.ms, true, CLUSTER_ANYWHERE);
    if (c->limit == CLUSTER_NOTHING)
        c->ms = (double)NAN;
}

double bound_ranks_cost(const struct cluster_bounds *c)
{
    return c->anywhere.ms > 0 ? c->ms / c->anywhere.ms - 1 : (double)NAN;
}

const struct orr_bound_traffic *bound_ranks_traffic(const struct cluster_bounds *c,
                                                    unsigned node)
{
    return &c->result.traffic[0][2 * (size_t)node];
}

/* --- the run --- */

static int open_cluster(struct cluster_bounds *c)
{
    const struct bound_options *options = c->options;
    const char *name = options->machine ? options->machine : getenv("ORRERY_MACHINE");
    const char *edits = options->edits ? options->edits : getenv("ORRERY_SET");
    struct orr_sampling *sampling = NULL;
    struct orr_error err = {""};
    int rc = orr_sampling_from_env(orr_getenv, NULL, &sampling);

    if (!name || !*name)
        return tool_fail(-1, "bound: which cluster did the ranks run on? -m '%u*MACHINE + ib "
                             "200Gb/s'",
                         c->n);
    c->machine = name;
    if (rc == 0)
        rc = orr_cluster_load(name, orr_sampling_dirs(sampling), &c->cluster, &err);
    if (rc == 0 && edits && *edits)
        rc = orr_cluster_edit(&c->cluster, edits, &err);
    orr_sampling_free(sampling);
    if (rc > 0)
        return tool_fail(-1, "bound: the records of several ranks need a cluster: -m "
                             "'%u*%s + ib 200Gb/s'",
                         c->n, name);
    if (rc < 0)
        return tool_fail(-1, "bound: %s", err.text);
    if (c->n > c->cluster.nnodes * c->cluster.ranks_per_node)
        return tool_fail(-1, "bound: %s has %u rank%s, and there are the graphs of %u: name the "
                             "cluster that they ran on",
                         name, c->cluster.nnodes * c->cluster.ranks_per_node,
                         c->cluster.nnodes * c->cluster.ranks_per_node == 1 ? "" : "s", c->n);
    return bound_network_init(&c->cluster, &c->network);
}

static int compute_cluster(struct cluster_bounds *c)
{
    int rc = bound_messages_find(c->graphs, c->n, &c->messages);

    if (rc < 0)
        return tool_fail(-1, "out of memory");
    rc = bound_distributed(c);
    if (rc == 0)
        rc = bound_each(c);
    if (rc == 0)
        rc = bound_anywhere(c);
    return rc;
}

static int compute_and_print(struct cluster_bounds *c)
{
    int rc = compute_cluster(c);

    if (rc > 0)
        return tool_fail(128 + rc, "interrupted: not all bounds are known");
    if (rc < 0)
        return TOOL_FAILED;
    choose_limit(c);
    rc = c->options->json ? bound_ranks_print_json(c) : bound_ranks_print(c);
    return rc < 0 || isnan(c->ms) ? TOOL_FAILED : TOOL_OK;
}

static void cluster_bounds_done(struct cluster_bounds *c)
{
    for (unsigned r = 0; c->graphs && r < c->n; r++)
        orr_graph_free(c->graphs[r]);
    free(c->graphs);
    free(c->of);
    if (c->result_done)
        c->result_done(&c->result);
    bound_messages_done(&c->messages);
    bound_network_done(&c->network);
    orr_cluster_free(&c->cluster);
}

static bool has_graph_options(const struct bound_options *options)
{
    return options->lp || options->lp_solve || options->mps || options->plot ||
           options->save_graph;
}

/* Of n ranks. Returns an exit code. */
static int cluster_bounds_init(struct cluster_bounds *c, unsigned n)
{
    c->n = n;
    c->makespan_us = (double)NAN;
    c->graphs = calloc(n, sizeof(*c->graphs));
    c->of = calloc(n, sizeof(*c->of));
    if (has_graph_options(c->options))
        return tool_fail(TOOL_USAGE, "bound: of several ranks there is no one graph: leave out "
                                     "--lp, --lp-solve, --mps, --plot and --save-graph");
    if (!c->options->wanted[ORR_BOUND_CRITICAL_PATH] && !c->options->wanted[ORR_BOUND_AREA] &&
        !c->options->wanted[ORR_BOUND_PATHS])
        return tool_fail(TOOL_USAGE, "bound: --kind of several ranks is critical-path, area or "
                                     "paths: the others know one machine");
    if (!c->graphs || !c->of)
        return tool_fail(TOOL_FAILED, "out of memory");
    for (unsigned r = 0; r < n; r++)
        c->of[r].ms = (double)NAN;
    return TOOL_OK;
}

static int load_graphs(struct cluster_bounds *c, const struct launch *launch,
                       const struct run_files *files)
{
    struct orr_error err = {""};
    int rc = 0;

    for (unsigned r = 0; r < c->n && rc == 0; r++) {
        char *path = tool_beside(files->traces[r], ".graph");

        if (!path)
            return tool_fail(-1, "out of memory");
        /* One without tasks may have passed messages on. */
        if ((launch->ranks[r].tasks > 0 || access(path, R_OK) == 0) &&
            orr_graph_load(path, &c->graphs[r], &err) < 0)
            rc = tool_fail(-1, "bound: rank %u: %s", r, err.text);
        free(path);
    }
    return rc;
}

static int run_and_bound(struct cluster_bounds *c, struct launch *launch,
                         const struct run_files *files)
{
    double *makespans = calloc(c->n, sizeof(*makespans));
    int rc = makespans ? run_ranks_silently(launch, "bound")
                       : tool_fail(TOOL_FAILED, "out of memory");

    for (unsigned r = 0; rc == 0 && r < c->n; r++)
        makespans[r] = launch->ranks[r].makespan_us;
    c->makespans_us = makespans;
    c->makespan_us = launch->report.makespan_us;
    if (rc == 0 && launch->report.tasks == 0)
        rc = tool_fail(TOOL_FAILED, "bound: no task was recorded");
    if (rc == 0)
        rc = load_graphs(c, launch, files) < 0 ? TOOL_FAILED : compute_and_print(c);
    c->makespans_us = NULL;
    free(makespans);
    return rc;
}

int bound_ranks(const struct bound_options *options, struct launch *launch)
{
    struct cluster_bounds c = {.options = options};
    struct run_files files = {0};
    const char *more[3] = {NULL};
    int code = cluster_bounds_init(&c, launch->nranks);

    if (code == TOOL_OK) {
        code = TOOL_FAILED;
        if (open_cluster(&c) == 0 && run_files_init(&files) && run_files_of_ranks(&files, launch->nranks)) {
            more[0] = files.setting;
            more[1] = "ORRERY_SIM_NOISE"; /* as of one process: one length of a kernel */
            launch->more = more;
            code = run_and_bound(&c, launch, &files);
            launch->more = NULL;
        }
    }
    run_files_done(&files);
    cluster_bounds_done(&c);
    return code;
}

/* --- graphs that are there --- */

/* Which rank of how many a graph is of. False: of none. */
static bool rank_of_graph(const struct orr_graph *graph, unsigned *rank, unsigned *n)
{
    const char *text = orr_graph_about(graph, "rank");

    return text && sscanf(text, "%u of %u", rank, n) == 2 && *rank < *n;
}

/* In any order. Returns an exit code. */
static int load_files(struct cluster_bounds *c, struct orr_graph *first)
{
    const struct bound_options *options = c->options;

    for (unsigned i = 0; i < options->nfiles; i++) {
        struct orr_graph *graph = i ? NULL : first;
        struct orr_error err = {""};
        unsigned rank, n;

        if (!graph && orr_graph_load(options->files[i], &graph, &err) < 0)
            return tool_fail(TOOL_FAILED, "bound: %s", err.text);
        if (!rank_of_graph(graph, &rank, &n) || n != c->n || c->graphs[rank]) {
            if (graph != first)
                orr_graph_free(graph);
            return tool_fail(TOOL_FAILED,
                             "bound: %s: several graphs are those of all ranks of one run, and "
                             "this is %s",
                             options->files[i],
                             orr_graph_about(first, "rank") ? "of another one, or named twice"
                                                            : "of no rank");
        }
        c->graphs[rank] = graph;
    }
    for (unsigned r = 0; r < c->n; r++)
        if (!c->graphs[r])
            return tool_fail(TOOL_FAILED, "bound: the graph of rank %u of %u is missing", r, c->n);
    return TOOL_OK;
}

int bound_rank_files(const struct bound_options *options)
{
    struct cluster_bounds c = {.options = options};
    struct orr_graph *first = NULL;
    struct orr_error err = {""};
    unsigned rank, n = options->nfiles;
    int code;

    if (orr_graph_load(options->files[0], &first, &err) < 0)
        return tool_fail(TOOL_FAILED, "bound: %s", err.text);
    (void)rank_of_graph(first, &rank, &n);
    code = cluster_bounds_init(&c, n);
    if (code == TOOL_OK)
        code = load_files(&c, first);
    if (!c.graphs || !rank_of_graph(first, &rank, &n) || c.graphs[rank] != first)
        orr_graph_free(first);
    if (code == TOOL_OK)
        code = open_cluster(&c) == 0 ? compute_and_print(&c) : TOOL_FAILED;
    cluster_bounds_done(&c);
    return code;
}

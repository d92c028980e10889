/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/ranks.c - bounds of a program of several ranks on a cluster: of each rank by its
 * own tasks, of all with each task on any node, and of what passes the NICs. One thread.
 *
 * Why they hold. Where ranks keep their tasks, a run is no shorter than any schedule of one
 * rank's tasks on its workers; messages, and tasks that wait for them, are left out. Where
 * tasks may go anywhere, a run is a schedule of all tasks on all workers, in the order that
 * each rank's own dependencies demand. A run with the program's distribution is one of these
 * as well, so that the second bound is one of the first kind, too.
 */
#include "tools/bound/bound.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound/graph_text.h"
#include "perfmodel/sampling.h"
#include "platforms/cluster.h"
#include "platforms/edit.h"
#include "tools/common/json.h"
#include "tools/common/run_files.h"
#include "tools/common/run_ranks.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"

/* By how much two bounds may differ by rounding. */
#define ROUNDING 1e-6

/* A bound of tasks, of a rank or of all. */
struct tasks_bound {
    unsigned ntasks, nworkers;
    double ms;                     /* NaN: none */
    enum orr_bound_method method;  /* of it */
    bool proved;
};

struct cluster_bounds {
    const struct bound_options *options;
    struct launch *launch;
    struct orr_graph **graphs;  /* owned, by rank; NULL: it had no tasks */
    struct tasks_bound *of, anywhere, distributed;
    unsigned slowest;           /* the rank whose bound is `distributed`; n: it is `anywhere` */
    struct orr_cluster_desc cluster;
    double nic_ms;              /* of the node with the most bytes, */
    unsigned nic_node;          /* which is this */
    double nic_bytes;
};

/* --- tasks --- */

static int bound_tasks(struct bound_options options, struct orr_graph *graph,
                       struct tasks_bound *ret)
{
    struct bounds b = {.options = &options, .graph = graph, .makespan_ms = graph->makespan_ms};
    int rc = bounds_make_instances(&b);

    if (rc == 0)
        rc = bounds_compute(&b, NULL);
    *ret = (struct tasks_bound){.ntasks = graph->ntasks, .nworkers = graph->nworkers,
                                .ms = (double)NAN, .method = bounds_best(&b)};
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

/* The highest of what holds for the distribution. */
static void choose_distributed(struct cluster_bounds *c)
{
    unsigned n = c->launch->nranks;

    c->slowest = n;
    c->distributed = (struct tasks_bound){.ms = (double)NAN, .method = ORR_BOUND_NMETHODS};
    for (unsigned r = 0; r < n; r++)
        if (c->graphs[r] && isfinite(c->of[r].ms) && !(c->of[r].ms <= c->distributed.ms)) {
            c->distributed = c->of[r];
            c->slowest = r;
        }
    /* Where a time is not known on some node, it may be too high. */
    if (c->anywhere.proved && !(c->anywhere.ms <= c->distributed.ms * (1 + ROUNDING))) {
        c->distributed = c->anywhere;
        c->slowest = n;
    }
}

/* Those that need no data: without the others' there are none of whole nodes. */
static struct bound_options kinds_of_ranks(const struct bound_options *options)
{
    struct bound_options ret = *options;

    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        ret.wanted[m] = options->wanted[m] &&
                        (m == ORR_BOUND_CRITICAL_PATH || m == ORR_BOUND_AREA ||
                         m == ORR_BOUND_PATHS);
    return ret;
}

static int bound_all_tasks(struct cluster_bounds *c)
{
    struct bound_options options = kinds_of_ranks(c->options);
    struct orr_graph *all = NULL;
    int rc = 0;

    for (unsigned r = 0; r < c->launch->nranks && rc == 0; r++)
        if (c->graphs[r])
            rc = bound_tasks(options, c->graphs[r], &c->of[r]);
    if (rc == 0 && bounds_join(c->graphs, c->launch->nranks, &all) < 0)
        rc = tool_fail(-1, "out of memory");
    if (rc == 0)
        rc = bound_tasks(options, all, &c->anywhere);
    orr_graph_free(all);
    choose_distributed(c);
    return rc;
}

/* --- the network --- */

/* Bytes that a node sends to others, and receives. */
struct traffic {
    double sent, received;
};

static void add_traffic(const struct cluster_bounds *c, unsigned rank, struct traffic *of)
{
    const json_t *messages = json_object_get(c->launch->ranks[rank].json, "messages"), *peer;
    unsigned per_node = c->cluster.ranks_per_node, node = rank / per_node;
    size_t i;

    json_array_foreach(messages, i, peer)
    {
        unsigned other = (unsigned)json_integer_value(json_object_get(peer, "rank")) / per_node;
        double bytes = json_number_value(json_object_get(peer, "sent_bytes"));

        if (other == node || other >= c->cluster.nnodes || node >= c->cluster.nnodes)
            continue;
        of[node].sent += bytes;
        of[other].received += bytes;
    }
}

static int bound_network(struct cluster_bounds *c)
{
    const struct orr_fabric *fabric = &c->cluster.fabric;
    struct traffic *of = calloc(c->cluster.nnodes, sizeof(*of));
    double rate = 1e3 * fabric->nics * fabric->bandwidth; /* bytes per ms */

    if (!of)
        return tool_fail(-1, "out of memory");
    for (unsigned r = 0; r < c->launch->nranks; r++)
        add_traffic(c, r, of);
    for (unsigned node = 0; node < c->cluster.nnodes; node++) {
        double bytes = fabric->half_duplex ? of[node].sent + of[node].received
                                           : fmax(of[node].sent, of[node].received);

        if (bytes > c->nic_bytes) {
            c->nic_bytes = bytes;
            c->nic_node = node;
        }
    }
    c->nic_ms = c->nic_bytes / rate;
    free(of);
    return 0;
}

static int open_cluster(struct cluster_bounds *c)
{
    const struct bound_options *options = c->options;
    const char *name = options->machine ? options->machine : getenv("ORRERY_MACHINE");
    const char *edits = options->edits ? options->edits : getenv("ORRERY_SET");
    struct orr_sampling *sampling = NULL;
    struct orr_error err = {""};
    int rc = orr_sampling_from_env(orr_getenv, NULL, &sampling);

    if (rc == 0)
        rc = orr_cluster_load(name, orr_sampling_dirs(sampling), &c->cluster, &err);
    if (rc == 0 && edits && *edits)
        rc = orr_cluster_edit(&c->cluster, edits, &err);
    orr_sampling_free(sampling);
    if (rc > 0)
        return tool_fail(-1, "bound: the records of several ranks need a cluster: -m "
                             "'%u*%s + ib 200Gb/s'",
                         c->launch->nranks, name);
    return rc < 0 ? tool_fail(-1, "bound: %s", err.text) : 0;
}

/* --- output --- */

static void text_of(const struct tasks_bound *bound, char *text, size_t size)
{
    char time[REPORT_TIME_MAX];

    if (isnan(bound->ms))
        snprintf(text, size, "no bound is known");
    else
        snprintf(text, size, "%s (%s%s)", report_time_text(1e3 * bound->ms, time),
                 orr_bound_method_name(bound->method), bound->proved ? "" : ", not proved");
}

static int print_rows(const struct cluster_bounds *c)
{
    static const struct table_column columns[] = {
        {"rank", true}, {"tasks", true}, {"workers", true}, {"time", true}, {"bound", false}};
    struct table table = {0};
    char time[REPORT_TIME_MAX], text[160];

    for (unsigned r = 0; r < c->launch->nranks; r++) {
        if (!c->graphs[r])
            continue;
        text_of(&c->of[r], text, sizeof(text));
        table_add(&table, "%u", r);
        table_add(&table, "%u", c->of[r].ntasks);
        table_add(&table, "%u", c->of[r].nworkers);
        table_add(&table, "%s", report_time_text(c->launch->ranks[r].makespan_us, time));
        table_add(&table, "%s", text);
    }
    return table_end(&table, columns, sizeof(columns) / sizeof(*columns));
}

static double cost_of_distribution(const struct cluster_bounds *c)
{
    return c->anywhere.ms > 0 ? c->distributed.ms / c->anywhere.ms - 1 : (double)NAN;
}

static int print_cluster(const struct cluster_bounds *c)
{
    const struct report *report = &c->launch->report;
    char time[REPORT_TIME_MAX], text[160], bytes[32], whose[32] = "of all";
    double cost = cost_of_distribution(c), above = report->makespan_us / c->distributed.ms / 1e3;

    printf("\nmachine     %s (simulated)\n", report->machine);
    puts("note        bounds ignore what tasks wait for from other ranks, messages, copies and "
         "memory");
    putchar('\n');
    if (print_rows(c) < 0)
        return tool_fail(-1, "out of memory");
    if (c->slowest < c->launch->nranks)
        snprintf(whose, sizeof(whose), "of rank %u", c->slowest);
    text_of(&c->distributed, text, sizeof(text));
    printf("\ndistributed as they are, tasks take at least  %s %s\n", text, whose);
    text_of(&c->anywhere, text, sizeof(text));
    printf("with each task on any node                    %s\n", text);
    if (!isnan(cost))
        printf("the distribution's bound is %.1f %% above that of any\n", 100 * cost);
    if (c->nic_bytes > 0)
        printf("all messages take at least                    %s: %s by the NICs of node %u\n",
               report_time_text(1e3 * c->nic_ms, time),
               report_bytes_text((json_int_t)c->nic_bytes, bytes), c->nic_node);
    printf("\nscheduled %s", report_time_text(report->makespan_us, time));
    if (isfinite(above))
        printf(", %.1f %% above the bound of the distribution", 100 * (above - 1));
    putchar('\n');
    return 0;
}

static json_t *json_of(const struct tasks_bound *bound)
{
    return json_pack("{s:o, s:s, s:b, s:i, s:i}", "ms", tool_json_number(bound->ms), "bound",
                     bound->method < ORR_BOUND_NMETHODS ? bounds_key(bound->method) : "none",
                     "proved", bound->proved, "tasks", (int)bound->ntasks, "workers",
                     (int)bound->nworkers);
}

static int print_cluster_json(const struct cluster_bounds *c)
{
    json_t *ranks = json_array(), *object;

    for (unsigned r = 0; r < c->launch->nranks; r++)
        json_array_append_new(ranks, c->graphs[r] ? json_of(&c->of[r]) : json_null());
    object = json_pack("{s:o, s:f, s:o, s:o, s:o, s:o, s:{s:f, s:i, s:f}}", "machine",
                       tool_json_text(c->launch->report.machine), "makespan_ms",
                       c->launch->report.makespan_us / 1e3, "ranks", ranks, "best",
                       json_of(&c->distributed), "anywhere", json_of(&c->anywhere),
                       "distribution_costs", tool_json_number(cost_of_distribution(c)), "messages",
                       "ms", c->nic_ms, "node", (int)c->nic_node, "bytes", c->nic_bytes);
    return tool_json_print(object) < 0 ? tool_fail(-1, "out of memory") : 0;
}

/* --- the run --- */

static int load_graphs(struct cluster_bounds *c, const struct run_files *files)
{
    struct orr_error err = {""};
    int rc = 0;

    for (unsigned r = 0; r < c->launch->nranks && rc == 0; r++) {
        char *path = tool_beside(files->traces[r], ".graph");

        if (!path)
            return tool_fail(-1, "out of memory");
        if (c->launch->ranks[r].tasks > 0 && orr_graph_load(path, &c->graphs[r], &err) < 0)
            rc = tool_fail(-1, "bound: rank %u: %s", r, err.text);
        free(path);
    }
    return rc;
}

static int run_and_bound(struct cluster_bounds *c, const struct run_files *files)
{
    int rc = run_ranks_silently(c->launch, "bound");

    if (rc)
        return rc;
    if (c->launch->report.tasks == 0)
        return tool_fail(TOOL_FAILED, "bound: no task was recorded");
    rc = load_graphs(c, files);
    if (rc == 0)
        rc = bound_all_tasks(c);
    if (rc > 0)
        return tool_fail(128 + rc, "interrupted: not all bounds are known");
    if (rc == 0)
        rc = bound_network(c);
    if (rc == 0)
        rc = c->options->json ? print_cluster_json(c) : print_cluster(c);
    return rc < 0 || isnan(c->distributed.ms) ? TOOL_FAILED : TOOL_OK;
}

static void done(struct cluster_bounds *c)
{
    for (unsigned r = 0; c->graphs && r < c->launch->nranks; r++)
        orr_graph_free(c->graphs[r]);
    free(c->graphs);
    free(c->of);
    orr_cluster_free(&c->cluster);
}

int bound_ranks(const struct bound_options *options, struct launch *launch)
{
    struct cluster_bounds c = {.options = options, .launch = launch,
                               .graphs = calloc(launch->nranks, sizeof(*c.graphs)),
                               .of = calloc(launch->nranks, sizeof(*c.of))};
    struct run_files files = {0};
    const char *more[3] = {NULL};
    int code = TOOL_FAILED;

    if (options->lp || options->lp_solve || options->mps || options->plot || options->save_graph)
        code = tool_fail(TOOL_USAGE, "bound: of several ranks there is no one graph: leave out "
                                     "--lp, --lp-solve, --mps, --plot and --save-graph");
    else if (!c.graphs || !c.of)
        tool_error("out of memory");
    else if (open_cluster(&c) == 0 && run_files_init(&files, "bound") &&
             run_files_of_ranks(&files, launch->nranks)) {
        more[0] = files.setting;
        more[1] = "ORRERY_SIM_NOISE"; /* as of one process: one length of a kernel */
        launch->more = more;
        code = run_and_bound(&c, &files);
        launch->more = NULL;
    }
    run_files_done(&files);
    done(&c);
    return code;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/graph.c - the source of the graph of `orrery bound`: a program
 * that records one, or a file. One thread.
 */
#include "tools/bound/bound.h"

#include "bound/graph_text.h"
#include "tools/common/launch.h"
#include "tools/common/program.h"
#include "tools/common/scratch.h"
#include "tools/common/tool.h"
#include "tools/common/trust.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int graph_no_memory(void)
{
    tool_error("out of memory");
    return -1;
}

/* Reads a whole file; owned. NULL with errno. */
static char *read_graph_text(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "r"), *to;
    char *text = NULL, buffer[1 << 14];
    size_t n, size;
    int error;

    if (!file)
        return NULL;
    to = open_memstream(&text, &size);
    while (to && (n = fread(buffer, 1, sizeof(buffer), file)) > 0)
        fwrite(buffer, 1, n, to);
    error = !to || ferror(to) ? ENOMEM : ferror(file) ? EIO : 0;
    fclose(file);
    if (to && fclose(to) != 0)
        error = ENOMEM;
    if (error) {
        free(text);
        errno = error;
        return NULL;
    }
    *ret_size = size;
    return text;
}

/* The graph in the text of the file that the program has left. */
static int bounds_read_graph(struct bounds *b, char *text, size_t size)
{
    struct orr_error err = {""};
    FILE *f = fmemopen(text, size, "r");
    int rc;

    if (!f)
        return graph_no_memory();
    rc = orr_graph_read(f, "the graph that was recorded", &b->graph, &err);
    fclose(f);
    if (rc) {
        tool_report(&err, rc);
        return -1;
    }
    if (b->options->save_graph)
        return tool_write_file(b->options->save_graph, text, size) < 0 ? -1 : 0;
    return 0;
}

static int take_file(struct bounds *b, const char *path)
{
    const char *program = b->options->argv[0];
    size_t size = 0;
    char *text = read_graph_text(path, &size);
    int rc;

    if (!text && errno == ENOMEM)
        return graph_no_memory();
    if (!text || size == 0) {
        tool_error("%s recorded no graph of its tasks: %s. Is its liborrery as "
                   "old as this command?",
                   program, text ? "the file is empty" : strerror(errno));
        free(text);
        return -1;
    }
    rc = bounds_read_graph(b, text, size);
    free(text);
    return rc;
}

/* Runs the program, its graph to go to `path`. */
static int run_recorded_program(struct bounds *b, const char *path)
{
    const struct bound_options *options = b->options;
    char *setting = tool_format("ORRERY_GRAPH=%s", path);
    /* Bounds have one length for a kernel, and what they are compared with as well. */
    const char *const more[] = {setting, "ORRERY_SIM_NOISE", NULL};
    struct launch launch = {.machine = options->machine,
                            .edits = options->edits,
                            .scheduler = options->scheduler,
                            .assume = options->assume,
                            .powers = options->powers,
                            .more = more,
                            .argv = options->argv,
                            .quiet = options->json};
    int rc;

    if (!setting)
        return graph_no_memory();
    rc = launch_all(&launch, 1, 1, NULL, NULL);
    b->stopped = rc > 0 ? rc : 0;
    launch_warn_policy(&launch, "bound");
    if (rc == 0 && *launch.problem) {
        if (launch.process.text)
            fwrite(launch.process.text, 1, launch.process.length, stderr);
        tool_error("%s", launch.problem);
        rc = -1;
    }
    if (rc == 0) {
        b->report = launch.report;
        launch.report = (struct report){0};
        trust_note(&b->report, options->machine);
    }
    launch_done(&launch);
    free(setting);
    return rc ? -1 : 0;
}

static int record_program_graph(struct bounds *b)
{
    char *folder = scratch_make();
    char *path = folder ? tool_format("%s/graph", folder) : NULL;
    int rc = -1;

    b->what = program_text(b->options->argv);
    if (folder && (!path || !b->what)) {
        rc = graph_no_memory();
    } else if (folder) {
        rc = run_recorded_program(b, path);
        fflush(stdout);
        if (rc == 0)
            rc = take_file(b, path);
    }
    free(path);
    scratch_remove(folder);
    return rc;
}

static int load_graph_file(struct bounds *b)
{
    struct orr_error err = {""};
    int rc;

    b->what = strdup(b->options->file);
    if (!b->what)
        return graph_no_memory();
    rc = orr_graph_load(b->options->file, &b->graph, &err);
    if (rc) {
        tool_report(&err, rc);
        return -1;
    }
    return 0;
}

/* --- durations without a model --- */

/* The times of the tasks of a type on a worker. */
struct taken {
    double n, sum, squares;
};

static void set_measured(struct orr_graph *graph,
                         struct orr_graph_task_type *type, size_t worker)
{
    int origin = orr_graph_origin(graph, "measured");

    if (origin > 0 && !type->origin)
        type->origin = calloc((size_t)graph->nworkers + 1, sizeof(uint8_t));
    if (origin > 0 && type->origin)
        type->origin[worker] = (uint8_t)origin;
}

/* A real run has measured its tasks, also those of kernels without a model or
 * with too few measures for one: their means are used. */
static int fill_durations(struct bounds *b)
{
    struct orr_graph *graph = b->graph;
    size_t workers = graph->nworkers;
    struct taken *taken = calloc(graph->ntypes * workers + 1, sizeof(*taken));

    if (!taken)
        return graph_no_memory();
    for (unsigned t = 0; t < graph->ntasks; t++) {
        const struct orr_graph_task *task = &graph->tasks[t];
        double ms = task->end_ms - task->start_ms;
        struct taken *pair;

        if (task->worker == ORR_GRAPH_NOT_RUN || isnan(ms))
            continue;
        pair = &taken[task->type * workers + task->worker];
        pair->n++;
        pair->sum += ms;
        pair->squares += ms * ms;
    }
    for (size_t i = 0; i < graph->ntypes * workers; i++) {
        struct orr_graph_task_type *type = &graph->types[i / workers];
        double mean = taken[i].sum / taken[i].n;

        if (taken[i].n < 1 || !isnan(type->mean_ms[i % workers]))
            continue;
        type->mean_ms[i % workers] = mean;
        type->deviation_ms[i % workers] =
            sqrt(fmax(0, taken[i].squares / taken[i].n - mean * mean));
        set_measured(graph, type, i % workers);
        b->filled++;
    }
    free(taken);
    return 0;
}

/* Tasks without a run, of a graph that has any run; of a graph that has none, its
 * makespan is what its maker says. */
static unsigned count_left(const struct orr_graph *graph)
{
    unsigned left = 0, ran = 0;

    for (unsigned t = 0; t < graph->ntasks; t++) {
        const struct orr_graph_task *task = &graph->tasks[t];

        ran += task->worker != ORR_GRAPH_NOT_RUN;
        left += task->worker == ORR_GRAPH_NOT_RUN && orr_graph_is_task(graph, t);
    }
    return ran ? left : 0;
}

int bounds_get_graph(struct bounds *b)
{
    int rc = b->options->file ? load_graph_file(b) : record_program_graph(b);

    if (rc == 0 && !b->graph->simulated)
        rc = fill_durations(b);
    if (rc < 0)
        return -1;
    b->makespan_ms = b->graph->makespan_ms;
    if (isnan(b->makespan_ms) && b->report.json && b->report.makespan_us > 0)
        b->makespan_ms = b->report.makespan_us / 1000;
    b->left = count_left(b->graph);
    if (b->left)
        b->makespan_ms = NAN;
    if (b->graph->ntasks == 0) {
        tool_error("%s: no task was recorded. Only tasks with a codelet count; "
                   "does the program submit any?",
                   b->what);
        return -1;
    }
    return 0;
}

void bounds_done(struct bounds *b)
{
    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        orr_bound_result_done(&b->results[m]);
    orr_bound_instance_free(b->in);
    orr_bound_instance_free(b->in_nodes);
    orr_graph_free(b->graph);
    report_done(&b->report);
    free(b->what);
}

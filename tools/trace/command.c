/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/trace/command.c - `orrery trace`: runs a program, keeps its Pajé file and
 * draws a Gantt chart of it. One thread.
 */
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/launch.h"
#include "tools/common/plot.h"
#include "tools/common/run_ranks.h"
#include "tools/common/schedule.h"
#include "tools/common/tool.h"
#include "tools/common/trust.h"
#include "tools/trace/gantt.h"
#include "tools/trace/gantt_ranks.h"
#include "tools/trace/join_paje.h"
#include "tools/trace/join_ranks.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery trace [-m MACHINE|CLUSTER] [--set EDIT] [-s SCHEDULER]\n"
    "                    [--assume TIMES]\n"
    "                    [-o FILE] [--gantt FILE.png] [--schedule FILE]\n"
    "                    [--graph FILE] [--lines] [-n RANKS] [--json]\n"
    "                    -- PROGRAM [ARGUMENTS]\n"
    "Runs the program, writes what its workers did as a Pajé file (for ViTE, PajeNG,\n"
    "StarVZ) and draws it: a row per worker that computed, a row per link with what\n"
    "it carried, and the memory used. Other formats, by the file's extension and\n"
    "without a picture: .json for Perfetto and chrome://tracing, .csv a table, .dot\n"
    "the graph of tasks for Graphviz, .rec a tasks.rec as StarPU's tools write\n"
    "(docs/TRACES.md). A record (orrery record; - from standard input) may stand in\n"
    "the place of the program.\n"
    "  -m, --machine MACHINE      simulate that machine, else run for real; on a\n"
    "                             cluster a program for StarPU-MPI is as many ranks\n"
    "  -s, --scheduler SCHEDULER  such as eager, lws, dmda, dmdas\n" EDITS_HELP
        ASSUME_HELP DEVICES_HELP "  -o, --output FILE          the trace (trace.paje)\n"
    "      --gantt FILE.png       the picture (the trace's name with .png)\n"
    "      --schedule FILE        who executed each task, for -s static=FILE\n"
    "      --graph FILE           its tasks and what each waited for (docs/GRAPH.md),\n"
    "                             for orrery explain, report and bound\n"
    "      --lines                name where in the program each task was submitted\n"
    "                             (docs/DEBUG.md; of .dot files with links, by the\n"
    "                             scheme ORRERY_LINKS)\n"
    "  -n, --ranks RANKS          so many processes of a program that is linked to\n"
    "                             StarPU-MPI and an MPI; what all of them did is in\n"
    "                             one file, .json or .paje, with an arrow for each\n"
    "                             message; --gantt draws a row per rank and kind of\n"
    "                             worker, of many ranks several in a row\n"
    "      --json                 print the report and the paths as JSON\n"
    "Exit codes: the program's own; 1 when nothing could be drawn or\n"
    "written; 2 for a wrong command line.\n"
    "example: orrery trace -m MACHINE -s dmdas -o chol.paje -- ./cholesky -size 9600\n";

/* Whether the library writes such a file as Pajé, from which pictures are
 * drawn. */
static bool is_paje(const char *trace)
{
    static const char *const others[] = {".json", ".csv", ".dot", ".rec"};
    const char *name = strrchr(trace, '/');
    const char *dot = strrchr(name ? name : trace, '.');

    for (size_t i = 0; dot && i < sizeof(others) / sizeof(*others); i++)
        if (!strcmp(dot, others[i]))
            return false;
    return true;
}

/* Whether the trace can be read again, and is not replaced by its picture:
 * otherwise a message and -1. */
static int check_names(const char *trace, const char *picture)
{
    struct stat st;

    if (picture && !is_paje(trace)) {
        tool_error("trace: --gantt %s: pictures are drawn from Pajé files; "
                   "give -o a name with .paje",
                   picture);
        return -1;
    }
    if (stat(trace, &st) == 0 && !S_ISREG(st.st_mode)) {
        tool_error("trace: -o %s: this must be a file, since it is read again "
                   "for the picture",
                   trace);
        return -1;
    }
    return 0;
}

static int check_file(const char *option, const char *path)
{
    if (!path || strcmp(path, "-") != 0)
        return tool_check_output(option, path);
    tool_error("%s -: name a file: standard output has what the program prints",
               option);
    return TOOL_USAGE;
}

/* Whether all of them can be made; an exit code. */
static int check_files(const char *trace, const char *picture,
                       const char *schedule, const char *graph)
{
    const struct {
        const char *option, *path;
    } files[] = {{"trace: -o", trace},
                 {"trace: --gantt", picture},
                 {"trace: --schedule", schedule},
                 {"trace: --graph", graph}};
    int code = check_names(trace, picture) < 0 ? TOOL_USAGE : TOOL_OK;

    for (size_t i = 0; code == TOOL_OK && i < sizeof(files) / sizeof(*files);
         i++)
        code = check_file(files[i].option, files[i].path);
    return code;
}

static char *make_title(const struct launch *launch)
{
    const struct report *report = &launch->report;
    const char *name = strrchr(launch->argv[0], '/');
    char figures[320], time[REPORT_TIME_MAX];

    name = name ? name + 1 : launch->argv[0];
    if (!report->json)
        return tool_format("%s", name);
    if (!report_is_whole(report))
        return tool_format("%s on %s, until it failed", name, report->machine);
    report_caption(report, figures, sizeof(figures));
    return tool_format("%s on %s%s%s%s, %s: %s", name, report->machine,
                       *figures ? " (" : "", figures, *figures ? ")" : "",
                       report->scheduler,
                       report_time_text(report->makespan_us, time));
}

static int draw_gantt_picture(const struct launch *launch, const char *picture)
{
    struct paje_chart chart;
    struct orr_error err = {""};
    char *title = make_title(launch);
    int result;

    if (paje_chart_read(launch->trace, &chart, &err) < 0) {
        tool_error("%s", err.text);
        free(title);
        return -1;
    }
    result = gantt_draw(&chart, picture, title ? title : launch->argv[0]);
    paje_chart_done(&chart);
    free(title);
    return result;
}

static void print_trace_result(const struct launch *launch, const char *picture,
                               bool json)
{
    json_t *object;

    if (!json) {
        if (report_is_whole(&launch->report)) {
            putchar('\n');
            report_print(&launch->report);
        }
        printf("trace       %s\n", launch->trace);
        if (picture)
            printf("gantt       %s\n", picture);
        return;
    }
    object = launch->report.json ? report_json(&launch->report) : json_object();
    json_object_set_new(object, "trace", tool_json_text(launch->trace));
    if (picture)
        json_object_set_new(object, "gantt", tool_json_text(picture));
    if (tool_json_print(object) < 0)
        tool_error("out of memory");
}

/* Whether the file is the run's, which was `before` as it began; else a message. */
static bool is_written(const char *path, const struct tool_seen *before)
{
    if (tool_is_new(path, before))
        return true;
    tool_error("%s was not written%s", path,
               before->there ? "; it is as it was before" : "");
    return false;
}

static int trace_finish_program(struct launch *launch,
                                const struct tool_seen *before,
                                const char *picture, bool json)
{
    int code = process_exit_code(&launch->process);
    bool drawn;

    if (launch->process.text && code != 0)
        fwrite(launch->process.text, 1, launch->process.length, stderr);
    launch_warn_policy(launch, "trace");
    if (*launch->problem)
        tool_error("%s", launch->problem);
    if (code == 0 && *launch->problem)
        code = TOOL_FAILED;
    if (!is_written(launch->trace, before))
        return code ? code : TOOL_FAILED;
    if (launch->report.json && !report_is_whole(&launch->report) &&
        launch->report.tasks == 0) {
        tool_error("%s: no task ran, so that nothing is drawn", launch->trace);
        return code ? code : TOOL_FAILED;
    }
    if (launch->report.simulated)
        trust_note(&launch->report, launch->machine);
    drawn = picture && draw_gantt_picture(launch, picture) == 0;
    fflush(stdout);
    print_trace_result(launch, drawn ? picture : NULL, json);
    return code == 0 && picture && !drawn ? TOOL_FAILED : code;
}

/* Of the graph that the run has left. */
static int write_schedule(const struct launch *launch, const char *path,
                          const char *graph_path)
{
    struct orr_graph *graph = schedule_graph(graph_path);
    char time[REPORT_TIME_MAX];
    char *note = tool_format("%s, %s, %s", launch->report.machine,
                             launch->report.scheduler,
                             report_time_text(launch->report.makespan_us, time));
    int rc = graph && note ? schedule_write(path, graph, NULL, NULL, note) : -1;

    orr_graph_free(graph);
    free(note);
    return rc;
}

/* By that signal; what it has saved is there. */
static int trace_interrupted_program(struct launch *launch,
                                     const struct tool_seen *before, int number,
                                     bool json)
{
    bool any = tool_is_new(launch->trace, before);

    fflush(stdout);
    if (any)
        print_trace_result(launch, NULL, json);
    return tool_fail(128 + number, "interrupted: %s was ended; %s %s",
                     launch->argv[0], launch->trace,
                     any ? "has what it had done, and there is no picture"
                         : "was not written, nor a picture");
}

static int trace_program(struct launch *launch, const char *picture, bool json,
                         const char *schedule, const char *graph)
{
    struct tool_seen before, graph_before;
    int result;

    tool_see(launch->trace, &before);
    tool_see(graph, &graph_before);
    launch_show_progress(launch, false);
    result = launch_all(launch, 1, 1, NULL, NULL);
    if (result > 0)
        result = trace_interrupted_program(launch, &before, result, json);
    else
        result = result < 0
                     ? TOOL_FAILED
                     : trace_finish_program(launch, &before, picture, json);
    /* There may have been no task, or no room. */
    if (graph && tool_is_new(launch->trace, &before) &&
        !is_written(graph, &graph_before) && result == TOOL_OK)
        result = TOOL_FAILED;
    if (result == TOOL_OK && schedule &&
        write_schedule(launch, schedule, graph) < 0)
        result = TOOL_FAILED;
    if (result == TOOL_OK && schedule && !json)
        printf("schedule    %s\n", schedule);
    launch_done(launch);
    return result;
}

/* Runs it with its tasks recorded: in the file `kept`, or, NULL, beside the
 * schedule until that is written. */
static int run_with_graph(struct launch *launch, const char *picture,
                          const char *schedule, const char *kept, bool json)
{
    char *graph = kept ? tool_format("%s", kept)
                       : tool_format("%s.%ld.graph", schedule, (long)getpid());
    char *setting = tool_format("ORRERY_GRAPH=%s", graph ? graph : "");
    const char *const more[] = {setting, NULL};
    int result = TOOL_FAILED;

    if (graph && setting) {
        launch->more = more;
        result = trace_program(launch, picture, json, schedule, graph);
        if (!kept)
            unlink(graph);
        else if (result == TOOL_OK && !json)
            printf("graph       %s\n", kept);
    } else {
        tool_error("out of memory");
    }
    free(graph);
    free(setting);
    return result;
}

/* --- several ranks --- */

/* Of what the file of all is made: events in JSON, else a table. */
static const char *part_extension(const char *path)
{
    return is_paje(path) ? ".csv" : ".json";
}

/* What each rank has left, as one picture. An exit code. */
static int draw_ranks(char *const *files, unsigned n, const struct launch *launch,
                      const char *picture)
{
    struct rank_traces traces;
    struct orr_error err = {""};
    char *title = make_title(launch);
    int rc = rank_traces_read(files, n, &traces, &err);

    if (rc < 0)
        tool_error("trace: %s", err.text);
    else
        rc = gantt_ranks_draw(&traces, picture, title ? title : launch->argv[0]);
    rank_traces_done(&traces);
    free(title);
    return rc < 0 ? TOOL_FAILED : TOOL_OK;
}

/* Puts the files of the ranks, whose names are made of `part`, together, draws them where there
 * is a picture, and removes them. `ran`: an exit code; where the ranks failed and left no file, nothing is said of that.
 * An exit code. */
static int join_files(const struct launch *launch, const char *path, const char *picture,
                      int ran, bool json)
{
    const char *part = launch->trace;
    unsigned n = launch->nranks;
    char **files = calloc(n, sizeof(*files));
    struct orr_error err = {""};
    size_t narrows = 0;
    int rc = files ? 0 : -ENOMEM, drawn = TOOL_OK;

    for (unsigned r = 0; r < n && rc == 0; r++) {
        char ending[32];

        snprintf(ending, sizeof(ending), ".rank%u%s", r, part_extension(path));
        files[r] = tool_beside(part, ending);
        rc = files[r] ? 0 : -ENOMEM;
    }
    if (rc == 0 && ran != TOOL_OK && access(files[0], F_OK) != 0)
        rc = 1;
    if (rc == 0)
        rc = (is_paje(path) ? join_paje : join_ranks)(files, n, path, &narrows, &err);
    if (rc == 0 && picture)
        drawn = draw_ranks(files, n, launch, picture);
    for (unsigned r = 0; files && r < n; r++) {
        if (files[r])
            unlink(files[r]);
        free(files[r]);
    }
    free(files);
    if (rc > 0)
        return ran;
    if (rc)
        return tool_fail(TOOL_FAILED, "trace: %s was not written: %s", path,
                         *err.text ? err.text : "out of memory");
    if (!json)
        printf("trace       %s, %zu messages\n", path, narrows);
    if (!json && picture && drawn == TOOL_OK)
        printf("gantt       %s\n", picture);
    return drawn;
}

/* Refuses what is of one process alone. An exit code. */
static int check_ranks(const struct launch *launch, const char *picture,
                       const char *schedule, const char *graph)
{
    size_t n = strlen(launch->trace);
    bool json = n >= 5 && !strcmp(launch->trace + n - 5, ".json");

    if (schedule || graph)
        return tool_fail(TOOL_USAGE,
                         "trace: several ranks: schedules and graphs are of one process: leave "
                         "out --%s",
                         schedule ? "schedule" : "graph");
    if (plot_check_name("trace: --gantt", picture) != TOOL_OK ||
        (picture && check_names(launch->trace, picture) < 0))
        return TOOL_USAGE;
    if (!json && !is_paje(launch->trace))
        return tool_fail(TOOL_USAGE,
                         "trace: several ranks: -o %s: what several ranks did is written as .json (for "
                         "Perfetto, chrome://tracing) or .paje (ViTE, PajeNG): give -o such a "
                         "name; ORRERY_TRACE=%s of the ranks writes a file of each",
                         launch->trace, launch->trace);
    return check_file("trace: -o", launch->trace);
}

static int trace_ranks(struct launch *launch, const char *picture, bool json)
{
    const char *path = launch->trace;
    char *part = tool_format("%s.%ld%s", path, (long)getpid(), part_extension(path));
    int result, joined;

    if (!part)
        return tool_fail(TOOL_FAILED, "out of memory");
    launch->trace = part;
    result = run_ranks(launch, "trace", json);
    joined = join_files(launch, path, picture, result, json);
    launch_done(launch);
    free(part);
    return result ? result : joined;
}

/* The trace itself is no picture, whatever it is called. */
static int refuse_picture_name(const char *trace)
{
    static const char *const endings[] = {".png", ".svg", ".pdf", ".jpg"};
    size_t n = strlen(trace);

    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
        if (n > 4 && !strcasecmp(trace + n - 4, endings[i]))
            return tool_fail(
                TOOL_USAGE,
                "trace: -o %s: that is the trace, a file of data; the picture is "
                "--gantt, such as --gantt trace.svg",
                trace);
    return TOOL_OK;
}

int cmd_trace(int argc, char **argv)
{
    struct launch launch = {.trace = "trace.paje"};
    const char *picture = NULL, *schedule = NULL, *graph = NULL;
    char *named = NULL;
    bool json = false, lines = false;
    int result = TOOL_USAGE;
    const char *devices = NULL, *ranks = NULL;
    const struct tool_option options[] = {
        {'m', "machine", &launch.machine, NULL},
        {'s', "scheduler", &launch.scheduler, NULL},
        {TOOL_JOINED, "set", &launch.edits, NULL},
        {TOOL_JOINED, "assume", &launch.assume, NULL},
        {TOOL_DEVICES, "devices", &devices, NULL},
        {'n', "ranks", &ranks, NULL},
        {'o', "output", &launch.trace, NULL},
        {0, "gantt", &picture, NULL},
        {0, "schedule", &schedule, NULL},
        {0, "graph", &graph, NULL},
        {0, "lines", NULL, &lines},
        {0, "json", NULL, &json},
        {0}};
    int first = tool_parse_program(argc, argv, options, &launch_words, help);

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (first == argc) {
        tool_error("trace: which program? See orrery trace --help");
        goto free_edits;
    }
    if (refuse_picture_name(launch.trace) != TOOL_OK)
        goto free_edits;
    if (lines && is_paje(launch.trace)) {
        tool_error("trace: --lines: a Pajé file has no place for them; name a .json, .csv, .dot "
                   "or .rec file (-o)");
        goto free_edits;
    }
    if (lines)
        setenv("ORRERY_SOURCE_LINES", "1", 1); /* of the program, too */
    launch.argv = argv + first;
    launch.quiet = json;
    result = run_ranks_choose(&launch, "trace", ranks);
    if (result == TOOL_OK && launch.nranks) {
        result = check_ranks(&launch, picture, schedule, graph);
        if (result == TOOL_OK)
            result = trace_ranks(&launch, picture, json);
        goto free_edits;
    }
    if (result == TOOL_OK)
        result = plot_check_name("trace: --gantt", picture);
    if (result != TOOL_OK)
        goto free_edits;
    if (!picture && is_paje(launch.trace)) {
        picture = named = tool_beside(launch.trace, ".png");
        if (!picture) {
            result = tool_fail(TOOL_FAILED, "out of memory");
            goto free_edits;
        }
    }
    result = check_files(launch.trace, picture, schedule, graph);
    if (result != TOOL_OK)
        goto free_edits;
    result = schedule || graph
                 ? run_with_graph(&launch, picture, schedule, graph, json)
                 : trace_program(&launch, picture, json, NULL, NULL);
free_edits:
    free(named);
    free((char *)(uintptr_t)launch.edits);
    free((char *)(uintptr_t)launch.assume);
    return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/report/command.c - `orrery report`: all that is known of a run as one page
 * for a browser. One thread.
 */
#include "tools/report/report.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/observe/source_line.h"
#include "record/read.h"
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/energy.h"
#include "tools/common/input.h"
#include "tools/common/json.h"
#include "tools/common/rank_bounds.h"
#include "tools/common/rank_shares.h"
#include "tools/common/rank_traces.h"
#include "tools/common/run_files.h"
#include "tools/common/run_ranks.h"
#include "tools/common/tool.h"
#include "tools/common/trust.h"

static const char help[] =
    "usage: orrery report [-m MACHINE|CLUSTER] [--set EDIT] [-s SCHEDULER]\n"
    "                     [--assume TIMES] [--costs FILE]\n"
    "                     [-o FILE.html] [--beside RUN] [--compare FILE.json]\n"
    "                     [--links SCHEME] [--plain] [--json]\n"
    "                     -- PROGRAM [ARGUMENTS]\n"
    "       orrery report [-o FILE.html] [--graph FILE] [--beside RUN]\n"
    "                     [--compare FILE.json] [--links SCHEME] [--plain] [--json]\n"
    "                     TRACE.csv\n"
    "       orrery report [-o FILE.html] [--plain] [--json] -n RANKS -- PROGRAM ...\n"
    "       orrery report [-o FILE.html] [--plain] [--json] RUN.rank0.csv ...\n"
    "Runs the program and writes one file for a browser, which needs no network: what\n"
    "its workers and links did over time, to be zoomed, filtered and searched; ready\n"
    "tasks, memory, bandwidth; times of kernels and where they come from; what stood\n"
    "in the way (orrery explain), lower bounds (orrery bound), the machine's picture.\n"
    "Of a run that has ended it shows what its trace has and, with the graph of its\n"
    "tasks (orrery trace -o run.csv --graph run.graph), the same. A record (orrery\n"
    "record) may stand in the place of the program. Trace, graph or record may be -,\n"
    "standard input.\n"
    "Of the ranks of one program, run by -n or on a cluster, such as\n"
    "'4*MACHINE + ib 200Gb/s', or of the traces of all, the page has\n"
    "the workers of all on one clock, and a line per rank, the bytes that ranks sent\n"
    "to each other, and their imbalance, which are printed as well.\n"
    "  -m, --machine MACHINE      simulate that machine, else run for real\n"
    "  -s, --scheduler SCHEDULER  such as eager, lws, dmda, dmdas\n" EDITS_HELP
        ASSUME_HELP DEVICES_HELP COSTS_HELP
    "  -n, --ranks RANKS          so many processes of a program that is linked to\n"
    "                             StarPU-MPI and an MPI, for real\n"
    "  -o, --output FILE.html     the page (report.html)\n"
    "      --beside RUN           another run in the same chart: a trace, or a\n"
    "                             profiler's timeline (docs/IMPORT.md)\n"
    "      --compare FILE.json    what orrery compare --json printed, as a table; may\n"
    "                             be repeated\n"
    "      --graph FILE           the graph of the trace's run (its name with .graph)\n"
    "      --links SCHEME         links to lines of the program: vscode, vscodium,\n"
    "                             zed, idea, textmate, file, or an address with\n"
    "                             {file} and {line} (ORRERY_LINKS; none)\n"
    "      --title TEXT           of the page, else the program, or the trace's name\n"
    "      --plain                neither explanation nor bounds, which cost further\n"
    "                             simulations\n"
    "      --json                 print the report and the path of the page as JSON\n"
    "Exit codes: the program's own when it fails; 1 when the page could not be\n"
    "written or no task ran; 2 for a wrong command line.\n"
    "example: orrery report -m MACHINE -s dmdas -o run.html -- ./cholesky -size 9600\n";

struct options {
    const char *output, *graph, *compare, *beside, *links, *title;
    bool plain, json;
};

/* The words with blanks between them, of the first the name alone. */
static char *command_line(char *const *argv)
{
    const char *name = strrchr(argv[0], '/');
    char *line = tool_format("%s", name ? name + 1 : argv[0]);

    for (char *const *word = argv + 1; line && *word; word++) {
        char *longer = tool_format("%s %s", line, *word);

        free(line);
        line = longer;
    }
    return line;
}

/* The files of --compare, one a line. */
static int add_comparisons(const char *paths, struct report_page *page)
{
    int rc = 0;

    while (rc == 0 && paths && *paths) {
        size_t length = strcspn(paths, "\n");
        char *path = tool_format("%.*s", (int)length, paths);

        rc = path ? report_comparison(path, page) : -1;
        free(path);
        paths += length + (paths[length] == '\n');
    }
    return rc;
}

static void print_page_path(const struct report_page *page,
                            const struct launch *launch,
                            const struct options *options)
{
    json_t *json;

    if (!strcmp(options->output, "-"))
        return;
    if (options->json) {
        json = page->run ? json_deep_copy(page->run) : json_object();
        json_object_set_new(json, "page", tool_json_text(options->output));
        if (tool_json_print(json) < 0)
            tool_error("out of memory");
        return;
    }
    if (launch && report_is_whole(&launch->report)) {
        putchar('\n');
        report_print(&launch->report);
    }
    printf("page        %s\n", options->output);
}

/* Makes the page of a run that left these files. */
static int make_page(const struct report_parts *parts,
                     const struct options *options, struct report_page *page)
{
    struct orr_error err = {""};
    int stopped, rc = trace_csv_read(parts->trace, &page->trace, &err);

    if (rc < 0)
        return tool_fail(TOOL_FAILED, "%s", err.text);
    if (page->trace.ntasks == 0)
        return tool_fail(TOOL_FAILED,
                         "report: no task ran: there is nothing to show");
    if (parts->launch && parts->launch->report.json)
        page->run = report_json(&parts->launch->report);
    if (options->beside &&
        report_other_run(options->beside,
                         parts->launch && parts->launch->report.simulated ? "simulated"
                                                                          : "measured",
                         page) < 0)
        return TOOL_FAILED;
    if (add_comparisons(options->compare, page) < 0)
        return TOOL_FAILED;
    stopped = report_parts(parts, page);
    if (stopped)
        return tool_fail(128 + stopped, "interrupted: %s was not written",
                         options->output);
    if (report_write(page, options->output) < 0)
        return TOOL_FAILED;
    print_page_path(page, parts->launch, options);
    return TOOL_OK;
}

static int report_make_page(struct launch *launch,
                            const struct run_files *files,
                            const struct options *options)
{
    const struct report_parts parts = {
        .launch = launch,
        .trace = files->trace,
        .graph = access(files->graph, R_OK) == 0 ? files->graph : NULL,
        .plain = options->plain};
    struct report_page page = {.command = command_line(launch->argv), .links = options->links};
    int code = process_exit_code(&launch->process);
    int made = TOOL_FAILED;

    if (launch->process.text && code != 0)
        fwrite(launch->process.text, 1, launch->process.length, stderr);
    fflush(stdout);
    launch_warn_policy(launch, "report");
    if (*launch->problem)
        tool_error("%s", launch->problem);
    if (launch->report.simulated)
        trust_note(&launch->report, launch->machine);
    page.title =
        options->title
            ? tool_format("%s", options->title)
            : tool_format("%s on %s", page.command,
                          launch->report.json ? launch->report.machine : "a machine");
    if (access(files->trace, R_OK) == 0)
        made = make_page(&parts, options, &page);
    report_page_done(&page);
    return code ? code : *launch->problem ? TOOL_FAILED : made;
}

static int report_run_program(struct launch *launch,
                              const struct options *options)
{
    struct run_files files;
    int result = TOOL_FAILED;

    if (run_files_init(&files)) {
        launch->more = files.more;
        launch->trace = files.trace;
        result = launch_all(launch, 1, 1, NULL, NULL);
        if (result > 0)
            result = tool_fail(128 + result,
                               "interrupted: %s was ended; %s was not written",
                               launch->argv[0], options->output);
        else
            result = result < 0 ? TOOL_FAILED
                                : report_make_page(launch, &files, options);
    }
    run_files_done(&files);
    launch_done(launch);
    return result;
}

static int show_trace(const char *trace, const struct options *options)
{
    const char *name = strrchr(trace, '/');
    char *named =
        !strcmp(trace, INPUT_NAME) ? NULL : tool_beside(trace, ".graph");
    struct report_parts parts = {.trace = trace, .plain = options->plain};
    struct report_page page = {.title =
                                   tool_format("%s", options->title ? options->title
                                                     : name         ? name + 1
                                                                    : trace),
                               .command = tool_format("%s", trace),
                               .links = options->links};
    int result;

    if (options->graph)
        parts.graph = options->graph;
    else if (named && access(named, R_OK) == 0)
        parts.graph = named;
    result = make_page(&parts, options, &page);
    if (result == TOOL_OK && !parts.graph && !parts.plain)
        tool_error("report: note: without %s, the graph of its tasks, neither "
                   "explanation nor bounds",
                   named ? named : "a graph");
    report_page_done(&page);
    free(named);
    return result;
}

/* Whether the words are wrong, before anything is run; prints why. */
static bool report_words_are_wrong(const struct launch *launch,
                                   const struct options *options,
                                   const char *devices, const char *costs,
                                   const char *trace)
{
    bool asks = launch->machine || launch->scheduler || launch->edits ||
                launch->assume || devices || costs;

    if (trace && asks)
        tool_error("report: %s has its machine and schedule: -m, -s, --set, "
                   "--assume, --devices and --costs need a program",
                   trace);
    else if (!trace && options->graph)
        tool_error("report: --graph is for a trace: of a program the graph is "
                   "made");
    else if (options->json && !strcmp(options->output, "-"))
        tool_error("report: --json and the page cannot both be on standard "
                   "output");
    else if (options->links && *options->links && !orr_source_scheme_is_known(options->links))
        tool_error("report: --links %s: no scheme: there are %s, or an address with {file} and "
                   "{line}",
                   options->links, orr_source_scheme_names);
    else if (options->beside && access(options->beside, R_OK) < 0)
        tool_error("report: --beside %s: %s", options->beside, strerror(errno));
    else
        return false;
    return true;
}

/* --- several ranks --- */

static char *graph_beside(const char *trace)
{
    char *graph = tool_beside(trace, ".graph");

    if (graph && access(graph, R_OK) == 0)
        return graph;
    free(graph);
    return NULL;
}

/* Whether there is the graph of each rank that had tasks: else a note. */
static bool have_graphs(const struct rank_traces *traces, const struct options *options)
{
    for (unsigned r = 0; r < traces->n; r++) {
        const char *path = traces->paths[r];
        char *graph = graph_beside(path);
        bool found = graph || !traces->of[r].ntasks;

        free(graph);
        if (found)
            continue;
        if (!options->plain)
            tool_error("report: note: without the graph of the tasks of %s beside it no "
                       "explanation",
                       path);
        return false;
    }
    return true;
}

static int print_ranks(const struct rank_shares *shares, json_t *json,
                       const struct options *options)
{
    if (!strcmp(options->output, "-"))
        return 0;
    if (options->json) {
        json_object_set_new(json, "page", tool_json_text(options->output));
        return tool_json_print(json_incref(json));
    }
    putchar('\n');
    if (rank_shares_print(shares) < 0)
        return -ENOMEM;
    if (json_object_get(json, "bounds"))
        printf("\n%s\n",
               json_string_value(json_object_get(json_object_get(json, "bounds"), "words")));
    printf("page        %s\n", options->output);
    return 0;
}

/* Of the page's jobs, how many more each rank's have than the same of the rank alone. */
static json_t *json_jobs_before(const struct rank_traces *traces)
{
    json_t *list = json_array();

    for (unsigned r = 0; r < traces->n; r++)
        json_array_append_new(
            list, json_integer((json_int_t)rank_traces_jobs_before(traces, r)));
    return list;
}

/* On a cluster; beside the values the page has them in words. */
static int take_rank_bounds(const struct report_parts *parts, struct report_page *page)
{
    const struct launch *launch = parts->launch;
    struct rank_bounds bounds;
    char *words = NULL;
    size_t size;
    FILE *out;
    int rc = 0;

    if (parts->plain || !launch || !launch->hosted ||
        rank_bounds_of_files(parts->traces, parts->ntraces, launch->report.machine,
                             launch->edits, &bounds) < 0)
        return 0;
    out = open_memstream(&words, &size);
    if (out) {
        rank_bounds_put(&bounds, launch->report.makespan_us / 1e3, out);
        rc = fclose(out);
    }
    if (!out || rc || json_object_set_new(bounds.json, "words", tool_json_text(words)) < 0 ||
        json_object_set_new(bounds.json, "makespan_ms",
                            json_real(launch->report.makespan_us / 1e3)) < 0 ||
        json_object_set(page->ranks, "bounds", bounds.json) < 0)
        rc = -1;
    page->bounds = json_incref(bounds.json);
    free(words);
    rank_bounds_done(&bounds);
    return rc;
}

/* Fills the page from the traces, whose ranks' shares are these. An exit code. */
static int write_ranks(const struct rank_traces *traces, const struct rank_shares *shares,
                       const struct report_parts *parts, const struct options *options,
                       struct report_page *page)
{
    int stopped;

    page->ranks = json_pack("{s:o, s:o}", "ranks", rank_shares_json(shares), "jobs_before",
                            json_jobs_before(traces));
    if (!page->ranks || rank_traces_join(traces, &page->trace) < 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    rank_shares_json_add(shares, page->ranks);
    if (page->trace.ntasks == 0)
        return tool_fail(TOOL_FAILED, "report: no task ran: there is nothing to show");
    if (add_comparisons(options->compare, page) < 0)
        return TOOL_FAILED;
    stopped = report_parts(parts, page);
    if (stopped)
        return tool_fail(128 + stopped, "interrupted: %s was not written", options->output);
    if (take_rank_bounds(parts, page) < 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    if (report_write(page, options->output) < 0)
        return TOOL_FAILED;
    return print_ranks(shares, page->ranks, options) < 0
               ? tool_fail(TOOL_FAILED, "out of memory")
               : TOOL_OK;
}

/* The traces of n ranks, of a run that `launch` (may be NULL) has made. */
static int show_ranks(const struct launch *launch, char *const *paths, unsigned n,
                      const struct options *options)
{
    struct report_parts parts = {.launch = launch, .traces = paths, .ntraces = n,
                                 .plain = options->plain};
    struct report_page page = {.links = options->links};
    struct rank_shares shares = {0};
    struct rank_traces traces;
    struct orr_error err = {""};
    int result = TOOL_FAILED;

    page.command = launch ? command_line(launch->argv)
                          : tool_format("%s and %u more", paths[0], n - 1);
    page.title = options->title ? tool_format("%s", options->title)
                 : launch && launch->hosted
                     ? tool_format("%s on %s", page.command, launch->report.machine)
                 : launch ? tool_format("%s, %u ranks", page.command, n)
                          : tool_format("%u ranks", n);
    if (rank_traces_read(paths, n, &traces, &err) < 0) {
        tool_error("report: %s", err.text);
    } else if (rank_shares_of_traces(&traces, &shares) < 0) {
        tool_error("out of memory");
    } else {
        parts.plain |= !have_graphs(&traces, options);
        result = write_ranks(&traces, &shares, &parts, options, &page);
    }
    rank_shares_done(&shares);
    rank_traces_done(&traces);
    report_page_done(&page);
    return result;
}

static int report_run_ranks(struct launch *launch, const struct options *options)
{
    struct run_files files;
    int result = TOOL_FAILED;

    if (run_files_init(&files) && run_files_of_ranks(&files, launch->nranks)) {
        launch->more = files.more;
        launch->trace = files.trace;
        result = run_ranks_silently(launch, "report");
        if (result == TOOL_OK)
            result = show_ranks(launch, files.traces, launch->nranks, options);
    }
    run_files_done(&files);
    launch_done(launch);
    return result;
}

static bool is_trace_or_record(const char *path)
{
    return trace_csv_is_one(path) || orr_record_is_one(path);
}

int cmd_report(int argc, char **argv)
{
    static const struct tool_words words = {launch_names, is_trace_or_record};
    struct launch launch = {0};
    struct options options = {.output = "report.html", .links = getenv("ORRERY_LINKS")};
    const char *devices = NULL, *ranks = NULL, *costs_path = NULL;
    struct costs costs = {0};
    struct powers *powers = NULL;
    const struct tool_option list[] = {
        {'m', "machine", &launch.machine, NULL},
        {'s', "scheduler", &launch.scheduler, NULL},
        {TOOL_JOINED, "set", &launch.edits, NULL},
        {TOOL_JOINED, "assume", &launch.assume, NULL},
        {TOOL_DEVICES, "devices", &devices, NULL},
        {'o', "output", &options.output, NULL},
        {TOOL_JOINED, "compare", &options.compare, NULL},
        {0, "graph", &options.graph, NULL},
        {0, "beside", &options.beside, NULL},
        {0, "links", &options.links, NULL},
        {0, "title", &options.title, NULL},
        {'n', "ranks", &ranks, NULL},
        {0, "costs", &costs_path, NULL},
        {0, "plain", NULL, &options.plain},
        {0, "json", NULL, &options.json},
        {0}};
    int first = tool_parse_program(argc, argv, list, &words, help);
    const char *trace = NULL;
    unsigned nfiles;
    int result = TOOL_USAGE;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    result = input_take("report", &options.graph);
    if (result != TOOL_OK)
        return result;
    result = TOOL_USAGE;
    nfiles = rank_traces_are(argv + first, (unsigned)(argc - first)) ? (unsigned)(argc - first)
                                                                     : 0;
    if (nfiles || (first == argc - 1 && trace_csv_is_one(argv[first])))
        trace = argv[first];
    if (first == argc) {
        tool_error("report: which program, or which trace? See orrery report "
                   "--help");
    } else if (!trace && trace_csv_is_one(argv[first])) {
        tool_error("report: one trace: %s is too much", argv[first + 1]);
    } else if (nfiles && options.graph) {
        tool_error("report: --graph is for one trace: the graph of each rank lies beside "
                   "its own");
    } else if (trace && ranks) {
        tool_error("report: -n needs a program, and %s is a trace", trace);
    } else if (!report_words_are_wrong(&launch, &options, devices, costs_path, trace)) {
        result = tool_check_output("report: -o", options.output);
    }
    launch.argv = argv + first;
    if (result == TOOL_OK && !trace)
        result = run_ranks_choose(&launch, "report", ranks);
    if (result == TOOL_OK && options.beside && (nfiles || launch.nranks))
        result = tool_fail(TOOL_USAGE, "report: --beside is for a run of one process");
    if (result == TOOL_OK && !trace)
        result = powers_choose("report", costs_path, launch.machine, launch.edits, &costs,
                               &powers);
    launch.powers = powers;
    if (result == TOOL_OK) {
        launch.quiet = options.json || !strcmp(options.output, "-");
        result = nfiles       ? show_ranks(NULL, argv + first, nfiles, &options)
                 : launch.nranks ? report_run_ranks(&launch, &options)
                 : trace ? show_trace(trace, &options)
                       : report_run_program(&launch, &options);
    }
    powers_close(powers);
    costs_done(&costs);
    free((char *)(uintptr_t)launch.edits);
    free((char *)(uintptr_t)launch.assume);
    free((char *)(uintptr_t)options.compare);
    return result;
}

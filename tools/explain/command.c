/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/command.c - `orrery explain`: what stood in the way of a run, and
 * what would help. One thread.
 */
#include "tools/explain/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/energy.h"
#include "tools/common/input.h"
#include "tools/common/json.h"
#include "tools/common/rank_traces.h"
#include "tools/common/run_files.h"
#include "tools/common/run_ranks.h"
#include "tools/common/tool.h"
#include "tools/common/trace_csv.h"
#include "tools/explain/run_pair.h"

static const char help[] =
    "usage: orrery explain [-m MACHINE|CLUSTER] [--set EDIT] [-s SCHEDULER]\n"
    "                      [--assume TIMES]\n"
    "                      [--costs FILE] [--json] -- PROGRAM [ARGUMENTS]\n"
    "       orrery explain [--json] [--graph FILE] TRACE.csv\n"
    "       orrery explain [--json] -m MACHINE -s A,B -- PROGRAM [ARGUMENTS]\n"
    "       orrery explain [--json] A.csv B.csv\n"
    "       orrery explain [--json] -n RANKS -- PROGRAM [ARGUMENTS]\n"
    "       orrery explain [--json] RUN.rank0.csv RUN.rank1.csv ...\n"
    "Runs the program and says why it took that long: the chain of tasks, transfers\n"
    "and waits from its end back to its begin; the idle time of each worker by cause;\n"
    "kernels on slower workers, full links; the changes that help most, simulated.\n"
    "Of a run that has ended it says the same, without changes, from its trace and\n"
    "the graph of its tasks: orrery trace -o run.csv --graph run.graph writes both.\n"
    "A record (orrery record) may stand in the place of the program; each file may be\n"
    "-, standard input.\n"
    "Of two runs it says why they differ: the first moment at which a task fares\n"
    "differently, the first task that a worker chose differently, what followed. They\n"
    "are the program's with two machines, clusters or policies, or those of two\n"
    "traces or records; of clusters also messages, and what bounds each.\n"
    "Of the ranks of one program, run by -n or on a cluster, such as\n"
    "'4*MACHINE + ib 200Gb/s', or of the traces of all, it says what\n"
    "each waited for: idle time by cause and rank, for messages of which rank, and\n"
    "what that did meanwhile; the chain goes from rank to rank.\n"
    "  -m, --machine MACHINE      simulate that machine, else run for real: then no\n"
    "                             change is simulated\n"
    "  -s, --scheduler SCHEDULER  such as eager, lws, dmda, dmdas\n" EDITS_HELP
        ASSUME_HELP DEVICES_HELP COSTS_HELP
    "  -n, --ranks RANKS          so many processes of a program that is linked to\n"
    "                             StarPU-MPI and an MPI, for real\n"
    "      --graph FILE           the graph of the trace's run (its name with .graph)\n"
    "      --json                 print it as JSON, the critical path link by link\n"
    "Causes of idle time: no ready task (dependencies); the next task was not\n"
    "submitted: application waits (for tasks or data, before its last submission),\n"
    "application (it did something else, slept), submission (what submitting takes).\n"
    "Messages: data had to come from another rank; other ranks: they had tasks still.\n"
    "Scheduler: tasks that it can run went elsewhere, or nobody took them; data:\n"
    "copies for the next task; memory: copies that make room for it; allocation: of\n"
    "memory of its device; waiting kernel: it waits inside, for tasks or data;\n"
    "overhead: the rest.\n"
    "Exit codes: the program's own when it fails; 1 when there is nothing to\n"
    "explain; 2 for a wrong command line.\n"
    "example: orrery explain -m MACHINE -s dmdas -- ./cholesky -size 9600\n"
    "         orrery explain -m MACHINE -s dmda,dmdas -- ./cholesky -size 9600\n";

static void explanation_done(struct explanation *e)
{
    explain_changes_done(&e->changes);
    free(e->links);
    free(e->application.waits);
    free(e->misplaced);
    free(e->alone);
    free(e->wrong);
    free(e->chain);
    free(e->idle);
}

static int print_explanation(const struct explanation *e, bool json)
{
    if ((json ? tool_json_print(explain_json(e)) : explain_print(e)) < 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    if (e->changes.stopped)
        return tool_fail(128 + e->changes.stopped,
                         "interrupted: what would help is not known");
    return TOOL_OK;
}

/* `launch`: NULL for a run that others have made. */
static int explain_one_run(const struct launch *launch,
                           const struct explain_run *run, bool json)
{
    struct explanation e = {.run = run,
                            .report = launch ? &launch->report : NULL};
    int code = TOOL_FAILED;

    e.idle = explain_idle_all(run, NULL, NULL);
    e.chain = explain_chain(run, &e.nchain);
    e.misplaced = explain_misplaced_all(run, &e.nmisplaced);
    e.alone = explain_alone_all(run);
    if (launch)
        e.wrong = explain_wrong_models(&launch->report, &e.nwrong);
    e.links = explain_link_use(run);
    if (explain_application_find(run, &e.application) < 0 || !e.idle ||
        !e.chain || !e.misplaced || !e.alone || !e.links ||
        (launch && !e.wrong))
        tool_error("out of memory");
    else if (!launch || !launch->report.simulated ||
             explain_changes_try(run, e.idle, e.chain, e.nchain, launch,
                                 &e.changes) == 0)
        code = print_explanation(&e, json);
    explanation_done(&e);
    return code;
}

static int explain_files(const struct launch *launch, const char *trace,
                         const char *graph, bool json)
{
    struct explain_run run;
    struct orr_error err = {""};
    int code;

    if (explain_run_read(trace, graph, &run, &err) < 0) {
        tool_error("%s", err.text);
        return TOOL_FAILED;
    }
    code = explain_one_run(launch, &run, json);
    explain_run_done(&run);
    return code;
}

/* A trace, and the graph that lies beside it unless `graph` names it. */
static int explain_trace(const char *trace, const char *graph, bool json)
{
    bool nameless = !strcmp(trace, INPUT_NAME);
    char *named = graph || nameless ? NULL : tool_beside(trace, ".graph");
    int code = TOOL_FAILED;

    if (!graph && nameless)
        tool_error("explain: beside a trace on standard input the graph of its "
                   "tasks is needed: --graph FILE");
    else if (!graph && !named)
        tool_error("out of memory");
    else if (access(graph ? graph : named, R_OK) < 0)
        tool_error("explain: %s, the graph of the tasks of %s, cannot be read: "
                   "%s; orrery trace -o %s --graph %s writes both",
                   graph ? graph : named, trace, strerror(errno), trace,
                   graph ? graph : named);
    else
        code = explain_files(NULL, trace, graph ? graph : named, json);
    free(named);
    return code;
}

/* The program has ended: reads what it left. */
static int explain_ended_program(struct launch *launch,
                                 const struct run_files *files, bool json)
{
    int code = process_exit_code(&launch->process);

    if (launch->process.text && code != 0)
        fwrite(launch->process.text, 1, launch->process.length, stderr);
    fflush(stdout);
    launch_warn_policy(launch, "explain");
    if (*launch->problem) {
        tool_error("%s", launch->problem);
        /* What would help a run that ended early is not known. */
        if (access(files->trace, R_OK) == 0 && access(files->graph, R_OK) == 0)
            (void)explain_files(NULL, files->trace, files->graph, json);
        return code ? code : TOOL_FAILED;
    }
    return explain_files(launch, files->trace, files->graph, json);
}

static int explain_program(struct launch *launch, bool json)
{
    struct run_files files;
    int result = TOOL_FAILED;

    if (run_files_init(&files)) {
        launch->more = files.more;
        launch->trace = files.trace;
        result = launch_all(launch, 1, 1, NULL, NULL);
        if (result > 0)
            result = tool_fail(128 + result, "interrupted: %s was ended",
                               launch->argv[0]);
        else if (result < 0)
            result = TOOL_FAILED;
        else
            result = explain_ended_program(launch, &files, json);
    }
    run_files_done(&files);
    launch_done(launch);
    return result;
}

/* Whether options that need a program are there, with a message. */
static bool asks_for_a_run(const struct launch *launch, const char *devices,
                           const char *costs, const char *trace)
{
    if (!launch->machine && !launch->scheduler && !launch->edits &&
        !launch->assume && !devices && !costs)
        return false;
    tool_error("explain: %s has its machine and schedule: -m, -s, --set, "
               "--assume, --devices and --costs need a program",
               trace);
    return true;
}

/* Behind a trace that is one of two. */
static int refuse_second(char **words, int n)
{
    if (n > 2)
        return tool_fail(TOOL_USAGE, "explain: one trace, or two: %s is too much", words[2]);
    return tool_fail(TOOL_FAILED, "explain: %s: %s", words[1],
                     access(words[1], R_OK) < 0
                         ? strerror(errno)
                         : "neither a trace in CSV nor a record: with a trace goes "
                           "another one");
}

int cmd_explain(int argc, char **argv)
{
    static const struct tool_words words = {launch_names, explain_is_file};
    struct launch launch = {0};
    const char *graph = NULL, *ranks = NULL;
    bool json = false;
    int result = TOOL_USAGE;
    const char *devices = NULL, *costs_path = NULL;
    struct costs costs = {0};
    struct powers *powers = NULL;
    const struct tool_option options[] = {
        {'m', "machine", &launch.machine, NULL},
        {'s', "scheduler", &launch.scheduler, NULL},
        {TOOL_JOINED, "set", &launch.edits, NULL},
        {TOOL_JOINED, "assume", &launch.assume, NULL},
        {TOOL_DEVICES, "devices", &devices, NULL},
        {0, "graph", &graph, NULL},
        {0, "costs", &costs_path, NULL},
        {'n', "ranks", &ranks, NULL},
        {0, "json", NULL, &json},
        {0}};
    int first = tool_parse_program(argc, argv, options, &words, help);

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    result = input_take("explain", &graph);
    if (result != TOOL_OK)
        return result;
    result = TOOL_USAGE;
    if (first == argc) {
        tool_error("explain: which program? See orrery explain --help");
    } else if (ranks && trace_csv_is_one(argv[first])) {
        tool_error("explain: -n needs a program, and %s is a trace", argv[first]);
    } else if (rank_traces_are(argv + first, (unsigned)(argc - first))) {
        if (graph)
            tool_error("explain: --graph is for one trace: the graph of each rank lies "
                       "beside its own");
        else if (!asks_for_a_run(&launch, devices, costs_path, argv[first]))
            result = explain_rank_files(argv + first, (unsigned)(argc - first), NULL, NULL, json);
    } else if (first == argc - 1 && trace_csv_is_one(argv[first])) {
        if (!asks_for_a_run(&launch, devices, costs_path, argv[first]))
            result = explain_trace(argv[first], graph, json);
    } else if (trace_csv_is_one(argv[first]) &&
               !explain_are_two(argv + first)) {
        result = refuse_second(argv + first, argc - first);
    } else if (graph) {
        tool_error("explain: --graph is for a trace: of a program the graph is "
                   "made");
    } else {
        launch.argv = argv + first;
        launch.quiet = json;
        if (explain_are_two(launch.argv) || explain_is_list(&launch)) {
            if (ranks)
                tool_error("explain: -n is of one run: two that are compared have their ranks "
                           "on clusters");
            else if (costs_path)
                tool_error("explain: --costs is of one run: orrery compare --costs has the "
                           "energy of several");
            else
                result = explain_two(&launch, devices, json);
        } else {
            result = run_ranks_choose(&launch, "explain", ranks);
            if (result == TOOL_OK)
                result = powers_choose("explain", costs_path, launch.machine, launch.edits,
                                       &costs, &powers);
            launch.powers = powers;
            if (result == TOOL_OK)
                result = launch.nranks ? explain_rank_program(&launch, json)
                                       : explain_program(&launch, json);
        }
    }
    powers_close(powers);
    costs_done(&costs);
    free((char *)(uintptr_t)launch.edits);
    free((char *)(uintptr_t)launch.assume);
    return result;
}

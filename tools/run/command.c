/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/run/command.c - `orrery run`: one program on one machine, then its
 * report. One thread.
 */
#include "tools/common/assume.h"
#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/launch.h"
#include "tools/common/tool.h"
#include "tools/common/trust.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: orrery run [-m MACHINE] [--set EDIT] [-s SCHEDULER] [--assume TIMES]\n"
    "                  [--json] -- PROGRAM [ARGUMENTS]\n"
    "Runs the program and reports how long its tasks took. Its output passes through.\n"
    "  -m, --machine MACHINE      simulate that machine (orrery machine list); else\n"
    "                             that of ORRERY_MACHINE, else run for real\n"
    "  -s, --scheduler SCHEDULER  such as eager, lws, dmda, dmdas\n" EDITS_HELP
        ASSUME_HELP
    "      --json                 print the report as JSON, the program's output\n"
    "                             only when it fails\n"
    "Exit codes: the program's own, also when it never started the library; 1 when\n"
    "its report cannot be read, or is asked for as JSON and there is none; 2 for a\n"
    "wrong command line.\n"
    "example: orrery run -m MACHINE -s dmdas -- ./cholesky -size 9600\n";

/* The makespan of the same run without its edits, µs; NaN: it failed. */
static double without_edits(const struct launch *edited)
{
    static const char *const none[] = {"ORRERY_SET", NULL};
    struct launch launch = {.machine = edited->machine,
                            .scheduler = edited->scheduler,
                            .assume = edited->assume,
                            .argv = edited->argv,
                            .more = none,
                            .quiet = true};
    double us = (double)NAN;

    if (launch_all(&launch, 1, 1, NULL) == 0 && !*launch.problem)
        us = launch.report.makespan_us;
    launch_done(&launch);
    return us;
}

/* What the edits did, when that cannot be seen from what the run used. */
static void compare_without(struct launch *launch, bool json)
{
    double us, edited = launch->report.makespan_us;

    if (*launch->problem || !edits_any_unused(launch->report.json))
        return;
    us = without_edits(launch);
    if (json)
        json_object_set_new(
            launch->report.json, "without_edits",
            json_pack("{s:o}", "makespan_us", tool_json_number(us)));
    else if (isnan(us))
        puts("without     the edits it failed: what they changed is not known");
    else
        printf("without     the edits %.3f ms: they made it %s\n", us / 1000,
               edited > us   ? "longer"
               : edited < us ? "shorter"
                             : "neither longer nor shorter");
}

static int finish(struct launch *launch, bool json)
{
    int code = process_exit_code(&launch->process);

    if (launch->process.text && code != 0)
        fwrite(launch->process.text, 1, launch->process.length, stderr);
    fflush(stdout);
    if (launch->report.simulated)
        trust_note(&launch->report, launch->machine);
    if (launch->report.json && json) {
        compare_without(launch, true);
        if (tool_json_print(report_json(&launch->report)) < 0)
            tool_error("out of memory");
    } else if (report_is_whole(&launch->report)) {
        putchar('\n');
        report_print(&launch->report);
        compare_without(launch, false);
    }
    launch_warn_policy(launch, "run");
    if (*launch->problem)
        tool_error("%s", launch->problem);
    /* Programs may ask for --help, or skip themselves. */
    if (code == 0 && *launch->problem && (json || !launch->no_run))
        return TOOL_FAILED;
    return code;
}

int cmd_run(int argc, char **argv)
{
    struct launch launch = {0};
    bool json = false;
    const struct tool_option options[] = {
        {'m', "machine", &launch.machine, NULL},
        {'s', "scheduler", &launch.scheduler, NULL},
        {TOOL_JOINED, "set", &launch.edits, NULL},
        {TOOL_JOINED, "assume", &launch.assume, NULL},
        {0, "json", NULL, &json},
        {0}};
    int first = tool_parse_program(argc, argv, options, launch_names, help);
    int result;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (first == argc) {
        tool_error("run: which program? See orrery run --help");
        free((char *)(uintptr_t)launch.edits);
        free((char *)(uintptr_t)launch.assume);
        return TOOL_USAGE;
    }
    launch.argv = argv + first;
    launch.quiet = json;
    result = launch_all(&launch, 1, 1, NULL);
    if (result > 0)
        result = tool_fail(128 + result,
                           "interrupted: %s was ended; it left no report, and "
                           "what it may have measured is not kept",
                           launch.argv[0]);
    else if (result < 0)
        result = TOOL_FAILED;
    else
        result = finish(&launch, json);
    launch_done(&launch);
    free((char *)(uintptr_t)launch.edits);
    free((char *)(uintptr_t)launch.assume);
    return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/run_once.c - see run_once.h. */
#include "tools/common/run_once.h"

#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/common/trust.h"

#include <math.h>
#include <stdio.h>

/* The makespan of the same run without its edits, µs; NaN: it failed. The files that
 * the environment names are those of the run itself. */
static double without_edits(const struct launch *edited)
{
    static const char *const none[] = {"ORRERY_SET",      "ORRERY_GRAPH",
                                       "ORRERY_TRACE",    "ORRERY_RECORD",
                                       "ORRERY_BREAK_AT", NULL};
    struct launch launch = {.machine = edited->machine,
                            .scheduler = edited->scheduler,
                            .assume = edited->assume,
                            .argv = edited->argv,
                            .more = none,
                            .quiet = true};
    double us = (double)NAN;

    if (launch_all(&launch, 1, 1, NULL, NULL) == 0 && !*launch.problem)
        us = launch.report.makespan_us;
    launch_done(&launch);
    return us;
}

/* Prints what the edits did, if the report of the run does not show it. */
static void compare_without(struct launch *launch, bool json)
{
    double us, edited = launch->report.makespan_us;
    char time[REPORT_TIME_MAX];

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
        printf("without     the edits %s: they made it %s\n",
               report_time_text(us, time),
               edited > us   ? "longer"
               : edited < us ? "shorter"
                             : "neither longer nor shorter");
}

static int run_once_print(struct launch *launch, const char *command, bool json)
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
    launch_warn_policy(launch, command);
    if (*launch->problem)
        tool_error("%s", launch->problem);
    /* Programs may ask for --help, or skip themselves. */
    if (code == 0 && *launch->problem && (json || !launch->no_run))
        return TOOL_FAILED;
    return code;
}

/* By that signal. What it has saved is shown. */
static int run_once_end_by_signal(struct launch *launch, int number, bool json)
{
    bool any = launch->report.json;

    fflush(stdout);
    if (any && json && tool_json_print(report_json(&launch->report)) < 0)
        tool_error("out of memory");
    if (any && !json) {
        putchar('\n');
        report_print(&launch->report);
    }
    return tool_fail(128 + number, "interrupted: %s was ended; %s",
                     launch->argv[0],
                     any ? "the report is of what it had done"
                         : "it left no report, and what it may have measured "
                           "is not kept");
}

int run_once(struct launch *launch, const char *command, bool json)
{
    int result;

    launch->quiet = json;
    result = launch_all(launch, 1, 1, NULL, NULL);
    if (result > 0)
        return run_once_end_by_signal(launch, result, json);
    return result < 0 ? TOOL_FAILED : run_once_print(launch, command, json);
}

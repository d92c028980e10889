/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/main.c - the `orrery` command: finds the sub-command and calls it.
 * One thread.
 */
#include "tools/common/interrupt.h"
#include "tools/common/json.h"
#include "tools/common/printed.h"
#include "tools/common/run_rank.h"
#include "tools/common/tool.h"
#include "tools/common/variables.h"

#include <stdio.h>
#include <string.h>

static const struct tool_command list[] = {
    {.name = "try",
     .run = cmd_try,
     .what = "the first command for a program: what it takes here and elsewhere"},
    {.name = "run",
     .run = cmd_run,
     .what = "run a program, for real or on a simulated machine"},
    {.name = "compare",
     .run = cmd_compare,
     .what = "compare machines and schedulers in one table"},
    {.name = "study",
     .run = cmd_study,
     .what = "a declared experiment: its runs, its table, its conclusions"},
    {.name = "advise",
     .run = cmd_advise,
     .what = "which machine to choose, how sure that is, what to measure"},
    {.name = "trace",
     .run = cmd_trace,
     .what = "run a program and draw what its workers did"},
    {.name = "explain",
     .run = cmd_explain,
     .what = "what stood in the way of a run, and what would help"},
    {.name = "debug",
     .run = cmd_debug,
     .what = "stop a simulated run, ask why, go forward and back"},
    {.name = "watch",
     .run = cmd_watch,
     .what = "a page that shows a run while it goes on"},
    {.name = "report",
     .run = cmd_report,
     .what = "a page that shows all of a run, for a browser"},
    {.name = "bound",
     .run = cmd_bound,
     .what = "what no scheduler can beat, and how far a run is off"},
    {.name = "optimise",
     .run = cmd_optimise,
     .verb = optimise_verb,
     .what = "search a better schedule than the policies make"},
    {.name = "record",
     .run = cmd_record,
     .what = "run a program and keep its calls in a file",
     .verb = record_verb},
    {.name = "replay",
     .run = cmd_replay,
     .what = "simulate the calls of such a file"},
    {.name = "sched",
     .run = cmd_sched,
     .what = "list and show the scheduling policies",
     .verb = sched_verb},
    {.name = "machine",
     .run = cmd_machine,
     .what = "list, show, copy or examine machines",
     .verb = machine_verb},
    {.name = "perfmodel",
     .run = cmd_perfmodel,
     .what = "show, check, draw and move kernel times",
     .verb = perfmodel_verb},
    {.name = "calibrate",
     .run = cmd_calibrate,
     .what = "measure a program's kernels until known",
     .verb = calibrate_verb},
    {.name = "validate",
     .run = cmd_validate,
     .what = "compare real and simulated runs, find drift"},
    {.name = "env",
     .run = cmd_env,
     .what = "the environment variables: those that are set, or all"},
    {0}};

static const struct tool_commands commands = {
    .name = "",
    .list = list,
    .head = "usage: orrery COMMAND [OPTIONS] [-- PROGRAM ARGUMENTS]\n"
            "Runs task-based programs on real and simulated machines.\n\n",
    .tail = "\norrery COMMAND --help has the options, orrery --version, or "
            "-v, the version.\n"
            "Exit codes: 0; 1 when something failed, also where a file cannot "
            "be made or\n"
            "written, whether that is seen before the work or after it; 2 for "
            "a wrong command\n"
            "line; others, such as the program's own, in each command's "
            "help.\n"
            "example: orrery compare -m MACHINE -s eager,dmdas -- "
            "./cholesky\n",
};

int main(int argc, char **argv)
{
    printed_begin();
    tool_json_begin();
    if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-v"))) {
        puts("orrery " ORR_VERSION);
        return tool_close(TOOL_OK);
    }
    if (argc > 2 && !strcmp(argv[1], "--rank"))
        return run_rank(argv + 2);
    interrupt_begin();
    if (argc > 1 && strcmp(argv[1], "env") != 0)
        variables_warn();
    return tool_close(tool_dispatch(&commands, argc, argv));
}

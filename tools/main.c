/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/main.c - the `orrery` command: finds the sub-command and calls it.
 * One thread.
 */
#include "tools/common/tool.h"

#include <stdio.h>
#include <string.h>

static const struct tool_command list[] = {
    {"run", cmd_run, "run a program, for real or on a simulated machine"},
    {"compare", cmd_compare, "compare machines and schedulers in one table"},
    {"trace", cmd_trace, "run a program and draw what its workers did"},
    {"bound", cmd_bound,
     "what no scheduler can beat, and how far a run is off"},
    {"machine", cmd_machine, "list, show, copy or examine machines"},
    {"perfmodel", cmd_perfmodel, "show, check, draw and move kernel times"},
    {"calibrate", cmd_calibrate, "measure a program's kernels until known"},
    {"validate", cmd_validate, "compare real and simulated runs, find drift"},
    {0}};

static const struct tool_commands commands = {
    .name = "",
    .list = list,
    .head = "usage: orrery COMMAND [OPTIONS] [-- PROGRAM ARGUMENTS]\n"
            "Runs task-based programs on real and simulated machines.\n\n",
    .tail = "\norrery COMMAND --help has the options, orrery --version the "
            "version.\n"
            "example: orrery compare -m MACHINE -s eager,dmdas -- "
            "./cholesky\n",
};

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        puts("orrery " ORR_VERSION);
        return tool_close(TOOL_OK);
    }
    return tool_close(tool_dispatch(&commands, argc, argv));
}

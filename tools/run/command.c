/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/run/command.c - `orrery run`: one program on one machine, then its
 * report. One thread.
 */
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/energy.h"
#include "tools/common/run_once.h"
#include "tools/common/run_ranks.h"
#include "tools/common/tool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery run [-m MACHINE|CLUSTER] [--set EDIT] [-s SCHEDULER]\n"
    "                  [--assume TIMES]\n"
    "                  [-n RANKS] [--clock CLOCK] [--break-at TIME] [--progress]\n"
    "                  [--prefix] [--costs FILE] [--json] -- PROGRAM [ARGUMENTS]\n"
    "Runs the program and reports how long its tasks took. Its output passes through.\n"
    "A record (orrery record; - from standard input) may stand in the place of the\n"
    "program.\n"
    "  -m, --machine MACHINE      simulate that machine (orrery machine list); else\n"
    "                             that of ORRERY_MACHINE, else run for real. On a\n"
    "                             cluster, '4*MACHINE + ib 200Gb/s', a program for\n"
    "                             StarPU-MPI is as many ranks; a table has each\n"
    "  -s, --scheduler SCHEDULER  such as eager, lws, dmda, dmdas\n"
    "  -n, --ranks RANKS          so many processes, for real, of a program that is\n"
    "                             linked to StarPU-MPI and an MPI, by its mpirun; the\n"
    "                             cores are shared out, and a table has each rank\n" EDITS_HELP
        ASSUME_HELP DEVICES_HELP COSTS_HELP
    "      --clock virtual        clocks of the C library, C++, OpenMP, MPI, Python\n"
    "                             tell the program the time of the simulation, and\n"
    "                             sleep in it; real: nothing is done about them, nor\n"
    "                             said; else it is said whether the program asked\n"
    "      --break-at 19.0s       tell at that virtual time what each worker does and\n"
    "                             what each task waits for, and stop in a debugger\n"
    "      --progress             a line on standard error each second: virtual time,\n"
    "                             tasks ended of those submitted, and their rate;\n"
    "                             simulated, on a terminal, without asking\n"
    "      --prefix               of ranks that are simulated: `rank 3: ' before each\n"
    "                             line that rank 3 writes to standard output; lines\n"
    "                             come whole, in the order of virtual time\n"
    "      --json                 print the report as JSON, the program's output\n"
    "                             only when it fails\n"
    "Exit codes: the program's own, also when it never started the library; 1 when\n"
    "its report cannot be read, or is asked for as JSON and there is none; 2 for a\n"
    "wrong command line.\n"
    "example: orrery run -m MACHINE -s dmdas -- ./cholesky -size 9600\n";

static int choose_clock(struct launch *launch, const char *clock)
{
    const char *machine = getenv("ORRERY_MACHINE");
    bool simulated = launch->machine || (machine && *machine);

    if (clock && strcmp(clock, "virtual") != 0 && strcmp(clock, "real") != 0)
        return tool_fail(TOOL_USAGE, "run: --clock %s: write virtual or real",
                         clock);
    if (clock && !strcmp(clock, "virtual") && !simulated)
        return tool_fail(TOOL_USAGE,
                         "run: --clock virtual: only a simulated run has such a "
                         "clock: name a machine with -m");
    if (simulated && (!clock || !strcmp(clock, "virtual")))
        launch->clock = clock ? clock : "count";
    return TOOL_OK;
}

static int choose_prefix(struct launch *launch, bool prefix)
{
    /* Fortran's library has a buffer for all ranks, unless it is told not to. */
    static const char *const settings[] = {"ORRERY_SIM_PREFIX=1",
                                           "GFORTRAN_UNBUFFERED_PRECONNECTED=y", NULL};

    if (prefix && !launch->hosted)
        return tool_fail(TOOL_USAGE,
                         "run: --prefix: only several ranks that are simulated share one "
                         "standard output: name a cluster, -m '4*MACHINE + ib 200Gb/s'; for "
                         "real ranks mpirun has an option (--tag-output, MPICH's -l)");
    if (prefix)
        launch->more = settings;
    return TOOL_OK;
}

int cmd_run(int argc, char **argv)
{
    struct launch launch = {0};
    const char *break_at = NULL, *clock = NULL;
    bool json = false, progress = false, prefix = false;
    const char *devices = NULL, *ranks = NULL, *costs_path = NULL;
    struct costs costs = {0};
    struct powers *powers = NULL;
    const struct tool_option options[] = {
        {'m', "machine", &launch.machine, NULL},
        {'s', "scheduler", &launch.scheduler, NULL},
        {'n', "ranks", &ranks, NULL},
        {TOOL_JOINED, "set", &launch.edits, NULL},
        {TOOL_JOINED, "assume", &launch.assume, NULL},
        {TOOL_DEVICES, "devices", &devices, NULL},
        {0, "costs", &costs_path, NULL},
        {0, "clock", &clock, NULL},
        {0, "break-at", &break_at, NULL},
        {0, "progress", NULL, &progress},
        {0, "prefix", NULL, &prefix},
        {0, "json", NULL, &json},
        {0}};
    int first = tool_parse_program(argc, argv, options, &launch_words, help);
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
    launch.break_at = break_at;
    result = choose_clock(&launch, clock);
    if (result == TOOL_OK)
        result = powers_choose("run", costs_path, launch.machine, launch.edits, &costs, &powers);
    launch.powers = powers;
    if (result == TOOL_OK)
        result = run_ranks_choose(&launch, "run", ranks);
    if (result == TOOL_OK)
        result = choose_prefix(&launch, prefix);
    launch_show_progress(&launch, progress);
    if (result == TOOL_OK)
        result = launch.nranks ? run_ranks(&launch, "run", json)
                               : run_once(&launch, "run", json);
    launch_done(&launch);
    powers_close(powers);
    costs_done(&costs);
    free((char *)(uintptr_t)launch.edits);
    free((char *)(uintptr_t)launch.assume);
    return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/replay/command.c - `orrery replay`: the calls of a record made again on a
 * simulated machine, then the report of that. One thread.
 */
#include "record/read.h"
#include "tools/common/assume.h"
#include "tools/common/edits.h"
#include "tools/common/notes.h"
#include "tools/common/once.h"
#include "tools/common/tool.h"

#include <stdint.h>
#include <stdlib.h>

static const char help[] =
    "usage: orrery replay FILE -m MACHINE [--set EDIT] [-s SCHEDULER]\n"
    "                     [--assume TIMES] [--json]\n"
    "Makes the calls of a record (orrery record) again on a simulated machine and\n"
    "reports how long its tasks took. Kernels take the times of their models.\n"
    "  -m, --machine MACHINE      simulate that machine (orrery machine list); else\n"
    "                             that of ORRERY_MACHINE\n"
    "  -s, --scheduler SCHEDULER  such as eager, lws, dmda, dmdas; else that of\n"
    "                             STARPU_SCHED, else the recorded one\n" EDITS_HELP
        ASSUME_HELP "      --json                 print the report as JSON\n"
    "What the record lacks is said on standard error. Records may also stand in the\n"
    "place of a program: orrery compare -m MACHINE -s eager,dmda -- FILE.\n"
    "Exit codes: 0; 1 when the record cannot be read or replayed; 2 for a wrong\n"
    "command line.\n"
    "example: orrery replay cholesky.rec -m MACHINE -s dmdas\n";

/* Whether the file is a whole record; says what it lacks, or what is wrong. */
static bool look_at(const char *path)
{
    struct orr_error err = {""};
    struct notes notes;

    if (notes_read(path, &notes, &err) < 0) {
        tool_error("replay: %s", err.text);
        return false;
    }
    notes_print(&notes, stderr);
    notes_done(&notes);
    return true;
}

int cmd_replay(int argc, char **argv)
{
    struct launch launch = {0};
    char *record[] = {NULL, NULL};
    bool json = false;
    const struct tool_option options[] = {
        {'m', "machine", &launch.machine, NULL},
        {'s', "scheduler", &launch.scheduler, NULL},
        {TOOL_JOINED, "set", &launch.edits, NULL},
        {TOOL_JOINED, "assume", &launch.assume, NULL},
        {0, "json", NULL, &json},
        {0}};
    int n, result = tool_parse_operands(argc, argv, options, help, &n);

    if (result <= 0)
        return result < 0 ? TOOL_USAGE : TOOL_OK;
    record[0] = argv[1];
    launch.argv = record;
    if (n != 1)
        result = tool_fail(TOOL_USAGE, "replay: which record? One file is "
                                       "named; see orrery replay --help");
    else if (!look_at(argv[1]))
        result = TOOL_FAILED;
    else
        result = once_run(&launch, "replay", json);
    launch_done(&launch);
    free((char *)(uintptr_t)launch.edits);
    free((char *)(uintptr_t)launch.assume);
    return result;
}

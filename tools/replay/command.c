/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/replay/command.c - `orrery replay`: the calls of a record made again on a
 * simulated machine, then the report of that. One thread.
 */
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/foreign.h"
#include "tools/common/here.h"
#include "tools/common/input.h"
#include "tools/common/notes.h"
#include "tools/common/run_once.h"
#include "tools/common/run_ranks.h"
#include "tools/common/scratch.h"
#include "tools/common/tool.h"

#include "perfmodel/sampling.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery replay FILE [SCHEDULE] [-m MACHINE] [--set EDIT] [-s SCHEDULER]\n"
    "                     [--times WHOSE] [--assume TIMES] [--static-workerid]\n"
    "                     [--break-at TIME] [--progress] [--json]\n"
    "       orrery replay FOLDER|FILE [-m CLUSTER] …\n"
    "Makes the calls of a record (orrery record) again on a simulated machine and\n"
    "reports how long its tasks took. Kernels take the times that the record has, if\n"
    "that was a real run of the same machine, else those of their models. Files of\n"
    "other programs are taken, too (orrery record import --help): StarPU's tasks.rec,\n"
    "with a sched.rec. The records of several ranks (orrery record --ranks) are\n"
    "played together, on the nodes of a cluster: their folder is named, or what\n"
    "followed -o, or rank 0's file.\n"
    "  -m, --machine MACHINE      simulate that machine (orrery machine list); else\n"
    "                             that of ORRERY_MACHINE, else this one, if the\n"
    "                             record is of a real run here\n"
    "  -s, --scheduler SCHEDULER  such as eager, lws, dmda, dmdas; else that of\n"
    "                             STARPU_SCHED, else the recorded one, or an\n"
    "                             OpenMP program's threads (openmp-threads)\n" EDITS_HELP
    "      --times record|models  kernels take the times of the record, whatever the\n"
    "                             machine; those of models, whatever the record\n" ASSUME_HELP
        DEVICES_HELP "      --break-at 19.0s       as in orrery run\n"
    "      --progress             as in orrery run\n"
    "      --static-workerid      a tasks.rec on the workers where its tasks ran\n"
    "      --json                 print the report as JSON\n"
    "What the record lacks is said on standard error. - is a record from standard\n"
    "input. Records may also stand in the place of a program: orrery compare -m\n"
    "MACHINE -s eager,dmda -- FILE.\n"
    "Exit codes: 0; 1 when the record cannot be read or replayed; 2 for a wrong\n"
    "command line.\n"
    "example: orrery replay cholesky.rec -m MACHINE -s dmdas\n"
    "         orrery replay cholesky/ -m '16*h100-pcie-4 + ib 200Gb/s'\n";

/* Whether real runs on this machine were recorded as of that host. */
static bool is_here(const char *host)
{
    const struct orr_host_options options = {
        .hostname = orr_getenv("STARPU_HOSTNAME")};
    struct orr_error err = {""};
    char *here = NULL;
    bool same = orr_host_name(&options, &here, &err) == 0 && !strcmp(here, host);

    free(here);
    return same;
}

static bool names_a_machine(const struct launch *launch)
{
    const char *machine = getenv("ORRERY_MACHINE");

    return launch->machine || (machine && *machine);
}

/* Whether the file is a whole record; says what it lacks, or what is wrong. *ret_here:
 * it has times of kernels on this machine. */
static bool check_record_file(const char *path, bool *ret_here, unsigned *ret_ranks)
{
    struct orr_error err = {""};
    struct notes notes;

    if (notes_read(path, &notes, &err) < 0) {
        tool_error("replay: %s", err.text);
        return false;
    }
    *ret_here = notes.host && is_here(notes.host);
    *ret_ranks = notes.ranks;
    notes_print(&notes, stderr);
    notes_done(&notes);
    return true;
}

/* The same for a file that is no record: of the one that is made of it. */
static bool look_at_foreign(char *const *argv)
{
    char *folder = scratch_make();
    char *path = folder ? tool_format("%s/tasks.orr", folder) : NULL;
    bool here, good = path && foreign_import(argv, NULL, path) == 0;
    unsigned nranks;

    good = good && check_record_file(path, &here, &nranks);
    free(path);
    scratch_remove(folder);
    return good;
}

static int replay_record_file(struct launch *launch, char **operands, int n,
                              bool pinned, bool json)
{
    int code = input_take_words("replay", n, operands);
    char *words[FOREIGN_WORDS];
    bool foreign = foreign_is_one(operands[0]), here = false;
    char *machine = NULL;
    unsigned nranks = 0;

    if (code != TOOL_OK)
        return code;
    if (!foreign && (n > 1 || pinned))
        return tool_fail(TOOL_USAGE,
                         "replay: %s is no tasks.rec: a schedule and "
                         "--static-workerid go with that only",
                         operands[0]);
    foreign_words(operands, n, pinned, words);
    launch->argv = words;
    if (foreign ? !look_at_foreign(words) : !check_record_file(words[0], &here, &nranks))
        return TOOL_FAILED;
    if (here && !names_a_machine(launch)) {
        if (here_make(&machine) < 0)
            return TOOL_FAILED;
        launch->machine = machine;
    }
    launch->nranks = nranks > 1 ? nranks : 0;
    launch->hosted = nranks > 1;
    code = launch->nranks ? run_ranks(launch, "replay", json) : run_once(launch, "replay", json);
    here_remove(machine);
    return code;
}

int cmd_replay(int argc, char **argv)
{
    struct launch launch = {0};
    bool json = false, pinned = false, progress = false;
    const char *times = NULL;
    const char *devices = NULL;
    char *first = NULL;
    const struct tool_option options[] = {
        {'m', "machine", &launch.machine, NULL},
        {'s', "scheduler", &launch.scheduler, NULL},
        {TOOL_JOINED, "set", &launch.edits, NULL},
        {TOOL_JOINED, "assume", &launch.assume, NULL},
        {0, "times", &times, NULL},
        {TOOL_DEVICES, "devices", &devices, NULL},
        {0, "break-at", &launch.break_at, NULL},
        {0, "static-workerid", NULL, &pinned},
        {0, "progress", NULL, &progress},
        {0, "json", NULL, &json},
        {0}};
    int n, result = tool_parse_operands(argc, argv, options, help, &n);

    if (result <= 0)
        return result < 0 ? TOOL_USAGE : TOOL_OK;
    launch_show_progress(&launch, progress);
    if (n > 0 && (first = launch_rank_record(argv[1])))
        argv[1] = first;
    if (times) /* of the run without edits, too */
        setenv("ORRERY_REPLAY_TIMES", times, 1);
    if (times && strcmp(times, "record") != 0 && strcmp(times, "models") != 0)
        result = tool_fail(TOOL_USAGE,
                           "replay: --times %s: write record or models", times);
    else if (n < 1 || n > 2)
        result =
            tool_fail(TOOL_USAGE, "replay: which record? One file is "
                                  "named, with a schedule behind it if it "
                                  "is a tasks.rec; see orrery replay --help");
    else
        result = replay_record_file(&launch, argv + 1, n, pinned, json);
    launch_done(&launch);
    free(first);
    free((char *)(uintptr_t)launch.edits);
    free((char *)(uintptr_t)launch.assume);
    return result;
}

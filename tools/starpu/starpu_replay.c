/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/starpu/starpu_replay.c - the program of that name: simulates the tasks of a
 * tasks.rec, perhaps as a sched.rec says. One thread.
 */
#include "tools/common/foreign.h"
#include "tools/common/input.h"
#include "tools/common/launch.h"
#include "tools/starpu/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "starpu_replay"

static const char help[] =
    "usage: " NAME " [-m MACHINE] [--static-workerid] tasks.rec [sched.rec]\n"
    "Submits the tasks that a run's trace has recorded again, on a simulated\n"
    "machine: that of ORRERY_MACHINE, or of the option. STARPU_SCHED names the\n"
    "scheduler. Their times are those of the machine's models; of a kernel that has\n"
    "none, those of the record, on the workers where its tasks ran.\n"
    "  -m, --machine MACHINE  the machine (orrery machine list)\n"
    "      --static-workerid  all tasks run on the workers where they ran\n"
    "  -h, --help             this text\n"
    "  -v, --version          the version\n"
    "Prints the milliseconds and, where tasks state their flops, GFlop/s. orrery\n"
    "replay tells more.\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: STARPU_SCHED=dmdas " NAME " -m MACHINE tasks.rec\n";

static int launch_replay(struct launch *launch)
{
    int result = launch_all(launch, 1, 1, NULL, NULL);

    if (result > 0)
        return tool_fail(128 + result, "interrupted");
    if (result < 0)
        return TOOL_FAILED;
    if (launch->process.text)
        fwrite(launch->process.text, 1, launch->process.length, stderr);
    if (*launch->problem)
        return tool_fail(TOOL_FAILED, "%s", launch->problem);
    printf("%g ms", launch->report.makespan_us / 1000);
    if (launch->report.flops > 0)
        printf("\t%g GF/s", report_gflops(&launch->report));
    putchar('\n');
    return TOOL_OK;
}

static int replay_tasks_rec(struct launch *launch, char **operands, int n,
                            bool pinned)
{
    char *words[FOREIGN_WORDS];

    if (n < 1 || n > 2)
        return tool_fail(TOOL_USAGE, "which tasks.rec? See " NAME " --help");
    if (input_take_words(NAME, n, operands) != TOOL_OK)
        return TOOL_FAILED;
    if (!foreign_is_one(operands[0]))
        return tool_fail(TOOL_FAILED, "%s cannot be read, or is no tasks.rec",
                         operands[0]);
    foreign_words(operands, n, pinned, words);
    launch->argv = words;
    launch->quiet = true;
    return launch_replay(launch);
}

int main(int argc, char **argv)
{
    struct launch launch = {0};
    bool pinned = false, version = false;
    const struct tool_option options[] = {
        {'m', "machine", &launch.machine, NULL},
        {0, "static-workerid", NULL, &pinned},
        {'v', "version", NULL, &version},
        {0}};
    int n, result;

    n = starpu_program_parse(NAME, argc, argv, options, &version, help,
                             &result);
    if (n < 0)
        return tool_close(result);
    result = replay_tasks_rec(&launch, argv + 1, n, pinned);
    launch_done(&launch);
    return tool_close(result);
}

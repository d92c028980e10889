/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/try/command.c - `orrery try`: what a program that nobody has simulated yet
 * takes here, in a simulation of this machine, and on others. One thread.
 */
#include "tools/try/try.h"

#include "record/read.h"
#include "tools/common/foreign.h"
#include "tools/common/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery try [-m MACHINE[,...]] [-s SCHEDULER] [-o FILE] [--json]\n"
    "                  -- PROGRAM [ARGUMENTS]\n"
    "The first thing to type with a program that was built for StarPU. Runs it for\n"
    "real, twice: to record its calls, and to measure its kernels. Simulates this\n"
    "machine from that and says how far it is from the real run; then three others,\n"
    "on all their devices where the program would leave some idle. Says where the\n"
    "times of kernels come from, by how much they may be off, what was lifted, and\n"
    "how to go on (docs/TRY.md). Performance models are not changed.\n"
    "  -m, --machine M,...        the others (orrery machine list); without,\n"
    "                             " TRY_MACHINES "\n"
    "      --machines M,...       the same\n"
    "  -s, --scheduler SCHEDULER  for all runs; without, the program's own here,\n"
    "                             and " TRY_POLICY " on others\n"
    "  -o, --output FILE          where the record goes (PROGRAM.rec)\n"
    "      --json                 print it as JSON\n"
    "Exit codes: the program's own when it fails; 1 when there is nothing to\n"
    "simulate, or no machine could be simulated; 2 for a wrong command line; 128\n"
    "plus the signal when interrupted.\n"
    "example: orrery try -- ./cholesky -size 9600\n";

static bool any_simulated(const struct try_result *r)
{
    for (size_t m = 0; m < r->n; m++) {
        const struct launch *run = try_run(&r->machines[m]);

        if (run->report.json && !*run->problem)
            return true;
    }
    return false;
}

static int try_program(const struct try_options *options)
{
    struct try_result result;
    int code = try_all(options, &result);

    fflush(stdout);
    if (options->json && code == TOOL_OK && try_print_json(&result) < 0)
        code = tool_fail(TOOL_FAILED, "out of memory");
    else if (!options->json && code != TOOL_USAGE)
        try_print(&result);
    if (code == TOOL_OK && !any_simulated(&result))
        code = tool_fail(TOOL_FAILED, "try: no machine could be simulated");
    try_done(&result);
    return code;
}

int cmd_try(int argc, char **argv)
{
    struct try_options options = {.machines = TRY_MACHINES};
    const char *output = NULL;
    char *record = NULL;
    const struct tool_option list[] = {{'m', "machine", &options.machines, NULL},
                                       {0, "machines", &options.machines, NULL},
                                       {'s', "scheduler", &options.scheduler, NULL},
                                       {'o', "output", &output, NULL},
                                       {0, "json", NULL, &options.json},
                                       {0}};
    int first = tool_parse_program(argc, argv, list, &launch_words, help);
    int code;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (first == argc)
        return tool_fail(TOOL_USAGE, "try: which program? See orrery try --help");
    options.argv = argv + first;
    if (orr_record_is_one(argv[first]) || foreign_is_one(argv[first]))
        return tool_fail(TOOL_USAGE,
                         "try: %s has no kernels that could run: orrery replay and "
                         "orrery compare simulate it",
                         argv[first]);
    if (!output) {
        const char *slash = strrchr(argv[first], '/');

        record = tool_format("%s.rec", slash ? slash + 1 : argv[first]);
        if (!record)
            return tool_fail(TOOL_FAILED, "out of memory");
    }
    options.record = output ? output : record;
    code = tool_check_output("try: -o", options.record);
    if (code == TOOL_OK)
        code = try_program(&options);
    free(record);
    return code;
}

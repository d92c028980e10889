/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/calibrate/command.c - `orrery calibrate`: its command line. One thread. */
#include "tools/calibrate/calibrate.h"
#include "tools/common/launch.h"
#include "tools/common/program.h"
#include "tools/common/tool.h"
#include "core/base/words.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery calibrate kernels [-t TIME] [--confidence 2%] [--sizes A,B,...]\n"
    "                                [-s SCHEDULER] [--ranks RANKS] [--assume TIMES]\n"
    "                                [--restart] [--seed N] [--dry-run] [--json]\n"
    "                                -- PROGRAM [ARGUMENTS]\n"
    "       orrery calibrate bus [--quick] [--json] [--plot FILE]\n"
    "       orrery calibrate runtime [--json]\n"
    "       orrery calibrate network [-n RANKS] [-o NAME] [--json] [-- LAUNCHER]\n"
    "`bus` measures copies between memory nodes, `runtime` the costs of the runtime\n"
    "itself, `network` messages between ranks of MPI; each has a --help of its own.\n"
    "Of `kernels`:\n"
    "Runs the program repeatedly on this machine, feeding the performance models of\n"
    "its kernels, until each is precise enough or the time is over, and reports why\n"
    "if one is not.\n"
    "  -t, --time-limit TIME      such as 90s, 10m, 1h (10m); the last run is\n"
    "                             finished\n"
    "      --confidence 2%        half the 95 % confidence interval of each mean, at\n"
    "                             most (2%)\n"
    "      --sizes A,B,...        replace {size} in ARGUMENTS, in random order\n"
    "  -s, --scheduler SCHEDULER  such as lws, dmda; else that of the program\n"
    "      --ranks RANKS          of a program for StarPU-MPI: run it as so many on\n"
    "                             this host: kernels take longer beside others\n"
    "      --assume 'kernel[NAME] on cuda = 5us'  simulations will be given this\n"
    "                             time: the kernel need not be measured; it enters no\n"
    "                             model (docs/ASSUME.md)\n"
    "      --restart              start anew: the models are emptied. With\n"
    "                             several sizes the first round only empties them\n"
    "      --seed N               of the random orders (1)\n"
    "      --dry-run              print what the first round would run\n"
    "      --json                 print the table as JSON\n"
    "Where a machine has several device types, some runs use one type alone, so that\n"
    "slow ones are measured too; or with the others for what it cannot do.\n"
    "Exit codes: 0 when all kernels are precise enough; 1 when not, or something\n"
    "failed; 2 for a wrong command line; 128 plus the signal when interrupted.\n"
    "example: orrery calibrate kernels --sizes 3840,7680 -- \\\n"
    "             ./cholesky -size {size} -nblocks 16\n";

/* The options as texts. */
struct texts {
    const char *time, *confidence, *sizes, *seed, *ranks, *assume;
};

static int read_assumptions(const struct texts *texts,
                            struct calibrate_options *options)
{
    struct orr_error err = {""};
    int rc = orr_assumptions_read(texts->assume, &options->assumptions, &err);

    orr_assumptions_set_machine(&options->assumptions, "");

    if (rc < 0)
        tool_error("calibrate kernels: %s", err.text);
    return rc;
}

static int read_calibrate_options(const struct texts *texts,
                                  struct calibrate_options *options)
{
    const char *wrong = NULL;

    if (program_seconds(texts->time, &options->time_limit_s) < 0)
        wrong = "--time-limit takes a time such as 90s or 10m";
    else if (program_share(texts->confidence, &options->confidence) < 0)
        wrong = "--confidence takes a share such as 2% or 0.02";
    else if (program_seed(texts->seed, &options->seed) < 0)
        wrong = "--seed takes a whole number";
    else if (texts->ranks &&
             program_number(texts->ranks, 2, &options->nranks) < 0)
        wrong =
            "--ranks takes how many, from 2 on; without it the program is one process";
    if (!wrong)
        return read_assumptions(texts, options);
    tool_error("calibrate kernels: %s; see orrery calibrate --help", wrong);
    return -1;
}

static int calibrate_program(const struct texts *texts,
                             struct calibrate_options *options)
{
    char **sizes = tool_split(texts->sizes ? texts->sizes : "");
    int result = TOOL_USAGE;

    if (!sizes)
        return tool_fail(TOOL_FAILED, "out of memory");
    options->sizes = sizes;
    if (read_calibrate_options(texts, options) == 0 &&
        program_check_sizes("calibrate kernels", options->argv, sizes) == 0)
        result = calibrate_kernels(options);
    orr_assumptions_done(&options->assumptions);
    free(sizes);
    return result;
}

static int run_kernels(int argc, char **argv)
{
    struct texts texts = {"10m", "2%", NULL, "1", NULL, NULL};
    struct calibrate_options options = {0};
    const struct tool_option list[] = {
        {'t', "time-limit", &texts.time, NULL},
        {0, "confidence", &texts.confidence, NULL},
        {0, "sizes", &texts.sizes, NULL},
        {'s', "scheduler", &options.sched, NULL},
        {0, "seed", &texts.seed, NULL},
        {0, "ranks", &texts.ranks, NULL},
        {TOOL_JOINED, "assume", &texts.assume, NULL},
        {0, "restart", NULL, &options.restart},
        {0, "json", NULL, &options.json},
        {0, "dry-run", NULL, &options.dry_run},
        {0}};
    int first = tool_parse_program(argc, argv, list, &launch_words, help);
    int result = first < 0 ? TOOL_USAGE : TOOL_OK;

    if (first == argc) {
        tool_error("calibrate kernels: which program? See orrery calibrate "
                   "--help");
        result = TOOL_USAGE;
    } else if (first > 0) {
        options.argv = argv + first;
        result = calibrate_program(&texts, &options);
    }
    free((char *)(uintptr_t)texts.assume);
    return result;
}

static const struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
} verbs[] = {
    {"kernels", run_kernels},
    {"bus", calibrate_bus},
    {"runtime", calibrate_runtime},
    {"network", calibrate_network},
    {NULL, NULL},
};

static const char *calibrate_verb_name(const void *list, size_t i)
{
    return ((const struct verb *)list)[i].name;
}

const char *calibrate_verb(size_t i)
{
    return verbs[i].name;
}

int cmd_calibrate(int argc, char **argv)
{
    const char *near;

    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(help, stdout);
        return TOOL_OK;
    }
    for (size_t i = 0; argc > 1 && verbs[i].name; i++)
        if (!strcmp(argv[1], verbs[i].name)) {
            char name[32];

            snprintf(name, sizeof(name), "calibrate %s", verbs[i].name);
            argv[1] = name; /* in messages */
            return verbs[i].run(argc - 1, argv + 1);
        }
    near = argc > 1 ? orr_words_nearest(argv[1], verbs, calibrate_verb_name)
                    : NULL;
    tool_error("calibrate: kernels, bus, runtime and network are what can be "
               "calibrated%s%s%s%s%s; see orrery calibrate --help",
               argc > 1 ? ", not " : "", argc > 1 ? argv[1] : "",
               near ? ": did you mean " : "", near ? near : "",
               near ? "?" : "");
    return TOOL_USAGE;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/command.c - `orrery validate`: its command line. One
 * thread. */
#include "core/base/plural.h"
#include "record/read.h"
#include "tools/common/edits.h"
#include "tools/common/plot.h"
#include "tools/common/program.h"
#include "tools/common/tool.h"
#include "tools/validate/validate.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Beside those of tools/common/tool.h. */
enum { WRONG = 3, CANNOT_TELL = 4 };

static const char help[] =
    "usage: orrery validate [-n REPETITIONS] [--sizes A,B,...] [-s SCHEDULER]\n"
    "                       [--ranks RANKS] [-m MACHINE] [--set EDIT] [--seed N]\n"
    "                       [--plot FILE.png] [--json] -- PROGRAM [ARGUMENTS]\n"
    "Runs the program for real and simulated on a copy of this machine, several times\n"
    "in random order, and reports the errors of the simulation: per kernel, per link\n"
    "between memories, from end to end. A kernel whose time differs from its model\n"
    "raises an alarm, and so does an error from end to end; a slowdown of all kernels\n"
    "alike is distinguished from drift. The models are those of orrery calibrate\n"
    "kernels; they are not changed. A record (orrery record) is not enough: it has no\n"
    "kernels that could run for real. Where kernels have no times, the runs are\n"
    "simulated from the times of their own kernels only.\n"
    "  -n, --repetitions N        of each size, real and simulated (5); drift is\n"
    "                             checked from 4 on\n"
    "      --sizes A,B,...        replace {size} in ARGUMENTS\n"
    "  -s, --scheduler SCHEDULER  such as lws, dmdas, for both\n"
    "      --ranks RANKS          of a program for StarPU-MPI, so many on this host:\n"
    "                             for real as orrery run -n has them, and simulated\n"
    "                             on one node, with messages as orrery calibrate\n"
    "                             network has measured them\n"
    "  -m, --machine MACHINE      simulate that description instead of a copy of this\n"
    "                             machine; of ranks a cluster\n" EDITS_HELP
    "      --seed N               of the random order (1)\n"
    "      --plot FILE.png        draw errors and times\n"
    "      --json                 print all results as JSON\n"
    "Exit codes: 0 without an alarm; 3 when a model has drifted, when a kernel takes\n"
    "two times of which its model knows one, or the program is off from end to end;\n"
    "4 when the machine is so noisy that nobody can tell (errors of 50 % would raise\n"
    "no alarm); 1 when something failed; 2 for a wrong command line; 128 plus the\n"
    "signal when interrupted.\n"
    "example: orrery validate --sizes 3840,7680 -- \\\n"
    "             ./cholesky -size {size} -nblocks 16\n";

static int validation_compare_and_print(struct validation *v,
                                        const struct validate_options *options,
                                        const struct quiet *quiet)
{
    v->quiet = *quiet;
    if (validation_compare(v) < 0 || validation_predict(v) < 0)
        return TOOL_FAILED;
    launch_warn_policy(validation_run(v, 0, 0, false), "validate");
    if ((options->json ? validation_print_json(v) : validation_print(v)) < 0)
        return TOOL_FAILED;
    if (options->plot && v->unmodelled)
        return tool_fail(TOOL_FAILED, "validate: --plot %s: no picture, since kernels "
                                      "have no times here",
                         options->plot);
    if (options->plot && validation_plot(v, options->plot) < 0)
        return TOOL_FAILED;
    if (options->plot && !options->json)
        printf("picture: %s\n", options->plot);
    if (v->stopped && !options->json)
        printf("interrupted after %u of %u repetition%s\n", v->nreps,
               options->nreps, orr_plural(options->nreps));
    if (v->stopped)
        return 128 + v->stopped;
    if (v->unmodelled)
        return TOOL_FAILED;
    if (validation_alarm(v))
        return WRONG;
    return validation_unclear(v) ? CANNOT_TELL : TOOL_OK;
}

static int validate_program(const struct validate_options *options)
{
    struct quiet quiet = quiet_measure();
    struct validation v;
    int result = TOOL_FAILED;

    if (!options->json)
        quiet_print(&quiet);
    if (validation_measure(&v, options) == 0)
        result = validation_compare_and_print(&v, options, &quiet);
    else if (v.stopped)
        result = 128 + v.stopped;
    validation_done(&v);
    return result;
}

static int read_validate_numbers(const char *reps, const char *seed, const char *ranks,
                                 struct validate_options *ret)
{
    if (ranks && program_number(ranks, 2, &ret->nranks) < 0)
        return tool_fail(-1,
                         "validate: --ranks %s: write how many ranks, from 2 on; without it "
                         "the program is one process",
                         ranks);
    if (program_number(reps, 1, &ret->nreps) < 0)
        return tool_fail(-1,
                         "validate: -n %s: repetitions are a whole number from "
                         "1 on; see orrery validate --help",
                         reps);
    if (program_seed(seed, &ret->seed) < 0)
        return tool_fail(-1,
                         "validate: --seed %s: a seed is a whole number; see "
                         "orrery validate --help",
                         seed);
    return 0;
}

int cmd_validate(int argc, char **argv)
{
    const char *reps = "5", *seed = "1", *sizes = "", *ranks = NULL;
    struct validate_options options = {0};
    const struct tool_option list[] = {
        {'n', "repetitions", &reps, NULL},
        {0, "sizes", &sizes, NULL},
        {'s', "scheduler", &options.sched, NULL},
        {0, "ranks", &ranks, NULL},
        {'m', "machine", &options.machine, NULL},
        {TOOL_JOINED, "set", &options.edits, NULL},
        {0, "seed", &seed, NULL},
        {0, "plot", &options.plot, NULL},
        {0, "json", NULL, &options.json},
        {0}};
    int first = tool_parse_program(argc, argv, list, &launch_words, help);
    int result;
    char **split;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (read_validate_numbers(reps, seed, ranks, &options) < 0)
        return TOOL_USAGE;
    if (first == argc)
        return tool_fail(TOOL_USAGE, "validate: which program? See orrery "
                                     "validate --help");
    if (orr_record_is_one(argv[first]))
        return tool_fail(TOOL_USAGE,
                         "validate: %s is a record, which has no kernels that "
                         "could run for real: the program itself is compared",
                         argv[first]);
    result = plot_check_name("validate: --plot", options.plot);
    if (result != TOOL_OK)
        return result;
    split = tool_split(sizes);
    if (!split) {
        tool_error("out of memory");
        return TOOL_FAILED;
    }
    options.argv = argv + first;
    options.sizes = split;
    result = program_check_sizes("validate", options.argv, split) == 0
                 ? validate_program(&options)
                 : TOOL_USAGE;
    free(split);
    free((char *)(uintptr_t)options.edits);
    return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/command.c - `orrery bound`: its command line, and the order of
 * its work. One thread.
 */
#include "record/read.h"
#include "tools/bound/bound.h"
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/energy.h"
#include "tools/common/input.h"
#include "tools/common/plot.h"
#include "tools/common/program.h"
#include "tools/common/tool.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery bound [-m MACHINE] [--set EDIT] [-s SCHEDULER] [--kind A,B,...]\n"
    "                    [--assume TIMES] [--optimistic[=N]] [--merge SHARE]\n"
    "                    [--time SECONDS]\n"
    "                    [--lp FILE] [--lp-solve FILE] [--mps FILE]\n"
    "                    [--plot FILE.png] [--json] [--save-graph FILE]\n"
    "                    -- PROGRAM [ARGUMENTS]\n"
    "       orrery bound [OPTIONS] FILE.graph\n"
    "       orrery bound [OPTIONS] -m CLUSTER RUN.rank0.graph RUN.rank1.graph ...\n"
    "Computes lower bounds on the time of the program's tasks under any scheduler:\n"
    "several, which ignore more or less of the machine, what limits each, and how far\n"
    "this run is from the best of them. docs/BOUNDS.md explains the bounds. A record\n"
    "(orrery record) may stand in the place of the program, also without --. It, or a\n"
    "graph, may be -, standard input.\n"
    "  -m, --machine MACHINE      simulate that machine (orrery machine list); else\n"
    "                             that of ORRERY_MACHINE, else run for real: then\n"
    "                             with the means that were measured. On a cluster,\n"
    "                             '4*MACHINE + ib 200Gb/s', of the workers and NICs\n"
    "                             of each node and the path through all, and with\n"
    "                             each task on any node\n"
    "  -s, --scheduler SCHEDULER  such as eager, lws, dmda, dmdas\n" EDITS_HELP
        ASSUME_HELP DEVICES_HELP
    "      --kind A,B,...         of critical-path, area, paths, precedence,\n"
    "                             transfers, runtime, memory, integer-area,\n"
    "                             integer, exact (all)\n"
    "      --optimistic[=N]       durations are means less N standard deviations (1;\n"
    "                             without the option 0)\n"
    "      --merge SHARE          devices whose durations differ by no more than\n"
    "                             that, such as 5%, all are as fast as the fastest\n"
    "                             of them (0): quicker, lower, proved nevertheless\n"
    "      --time SECONDS         for all bounds together, the cheap ones first;\n"
    "                             Ctrl-C keeps those that are known (0.85, more for\n"
    "                             many tasks; and until a while has bought nothing)\n"
    "      --lp FILE              write the bound as a linear program for glpsol --lp\n"
    "                             and cbc: precedence, or of those that --kind names\n"
    "                             the tightest that is one; - is standard output\n"
    "      --lp-solve FILE        the same for lp_solve\n"
    "      --mps FILE             the same as free MPS, for all three\n"
    "      --costs FILE           powers of parts (docs/ENERGY.md), for a bound of\n"
    "                             the energy\n"
    "      --plot FILE.png        draw bounds and schedule as bars\n"
    "      --json                 print everything as JSON, the program's output only\n"
    "                             when it fails\n"
    "      --save-graph FILE      keep the recorded graph, for FILE.graph above\n"
    "Exit codes: 0 when there is a bound, or what --lp and the like asked for is\n"
    "written; 1 when there is not or something failed; 2 for a wrong command line;\n"
    "128 plus the signal when interrupted.\n"
    "example: orrery bound -m MACHINE -s dmdas --plot bounds.png -- \\\n"
    "             ./cholesky -size 9600 -nblocks 10\n";

/* Options as they are read. */
struct arguments {
    const char *kinds, *optimistic, *merge, *seconds;
    bool is_optimistic;
};

static int bound_usage_error(const char *message, const char *what)
{
    tool_error("bound: %s%s; see orrery bound --help", message, what);
    return -1;
}

/* A list of all keys, for the message. */
static int wrong_kind(const char *name)
{
    char list[256] = "";

    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
                 m ? ", " : "", bounds_key(m));
    tool_error("bound: there is no bound %s; there are %s", name, list);
    return -1;
}

static int read_kinds(const char *text, bool wanted[ORR_BOUND_NMETHODS])
{
    char **list = tool_split(text ? text : "");
    int rc = 0;

    if (!list) {
        tool_error("out of memory");
        return -1;
    }
    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        wanted[m] = !list[0];
    for (char **name = list; rc == 0 && *name; name++) {
        unsigned m = 0;

        while (m < ORR_BOUND_NMETHODS && strcmp(*name, bounds_key(m)) != 0)
            m++;
        if (m == ORR_BOUND_NMETHODS)
            rc = wrong_kind(*name);
        else
            wanted[m] = true;
    }
    free(list);
    return rc;
}

static int read_amount(const char *text, double *ret)
{
    char *end;

    if (!isdigit((unsigned char)*text) && *text != '.')
        return -1;
    *ret = strtod(text, &end);
    return *end || !isfinite(*ret) ? -1 : 0;
}

static int read_number_options(const struct arguments *arguments,
                               struct bound_options *options)
{
    if (arguments->is_optimistic)
        options->optimism = 1;
    if (arguments->optimistic &&
        read_amount(arguments->optimistic, &options->optimism) < 0)
        return bound_usage_error("--optimistic= takes a number, not ",
                                 arguments->optimistic);
    if (arguments->merge &&
        program_share(arguments->merge, &options->merge) < 0)
        return bound_usage_error("--merge takes a share such as 5%, not ",
                                 arguments->merge);
    if (arguments->seconds &&
        (program_seconds(arguments->seconds, &options->seconds) < 0 ||
         options->seconds <= 0))
        return bound_usage_error("--time takes seconds, not ",
                                 arguments->seconds);
    return 0;
}

static bool is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static int check_outputs(const struct bound_options *options)
{
    const struct {
        const char *option, *path;
    } outputs[] = {{"bound: --lp", options->lp},
                   {"bound: --lp-solve", options->lp_solve},
                   {"bound: --mps", options->mps},
                   {"bound: --save-graph", options->save_graph}};

    int code = plot_check_name("bound: --plot", options->plot);

    for (size_t i = 0;
         code == TOOL_OK && i < sizeof(outputs) / sizeof(*outputs); i++)
        code = tool_check_output(outputs[i].option, outputs[i].path);
    return code;
}

/* Options that exclude each other. */
static int check_exclusive_options(const struct bound_options *options)
{
    bool exports = options->lp || options->lp_solve || options->mps;

    if (options->files && (options->assume || options->devices || options->scheduler))
        return bound_usage_error("recorded graphs have their schedule and times: -s, --assume and "
                                 "--devices need a program, which comes after --", "");
    if (options->file &&
        (options->machine || options->edits || options->assume ||
         options->devices || options->scheduler || options->save_graph))
        return bound_usage_error(
            "a recorded graph has its machine and schedule: -m, -s, "
            "--set, --assume, --devices and --save-graph need a program",
            "");
    if (exports && bounds_exported(options->wanted) == ORR_BOUND_NMETHODS)
        return bound_usage_error(
            "none of the bounds that --kind names is a linear "
            "program; area, paths, precedence, integer-area and "
            "integer are",
            "");
    if (options->json && (is_stdout(options->lp) || is_stdout(options->mps) ||
                          is_stdout(options->lp_solve)))
        return bound_usage_error(
            "--json and an export cannot both be on standard output", "");
    return 0;
}

/* Whether the file can be run: what a recorded graph never is. */
static bool is_program(const char *path)
{
    FILE *file = fopen(path, "re");
    char begin[4] = "";
    size_t n = file ? fread(begin, 1, sizeof(begin), file) : 0;

    if (file)
        fclose(file);
    return (n >= 2 && !memcmp(begin, "#!", 2)) ||
           (n == 4 && !memcmp(begin, "\177ELF", 4));
}

static int program_without_dashes(const char *path)
{
    tool_error("bound: %s is a program: write orrery bound [OPTIONS] -- %s "
               "[ARGUMENTS], with the options of orrery bound before the --",
               path, path);
    return -1;
}

/* A program stands behind --, a file does not, a record may. `dashes` is where they are in
 * argv as given, 0: nowhere. */
static int take_operands(int argc, char **argv, int noperands, int dashes,
                         struct bound_options *options)
{
    int behind = dashes ? argc - dashes - 1 : 0;

    argv[noperands + 1] = NULL;
    if (noperands == 0)
        return bound_usage_error("which program, or which recorded graph?", "");
    if (input_take_words("bound", 1, argv + 1) != TOOL_OK)
        return -1;
    if (behind == noperands)
        options->argv = argv + 1;
    else if (behind == 0 && is_program(argv[1]))
        return program_without_dashes(argv[1]);
    else if (behind == 0 && orr_record_is_one(argv[1]))
        options->argv = argv + 1;
    else if (behind == 0 && noperands == 1)
        options->file = argv[1];
    else if (behind == 0 && noperands > 1 && argv[2][0] != '-') {
        options->files = argv + 1;
        options->nfiles = (unsigned)noperands;
    }
    else
        return bound_usage_error(
            "a program and its arguments come after --, recorded "
            "graphs alone: not ",
            argv[1]);
    return 0;
}

static bool bounds_have_value(const struct bounds *b)
{
    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        if (b->options->wanted[m] && isfinite(b->results[m].ms))
            return true;
    return false;
}

static int bounds_compute_and_print(struct bounds *b)
{
    const struct bound_options *options = b->options;
    bool exports = options->lp || options->lp_solve || options->mps;

    if (bounds_make_instances(b) < 0 || bounds_export(b) < 0 ||
        (!options->json && bounds_print_head(b) < 0) ||
        bounds_compute(b, options->json ? NULL : bounds_print_row) < 0 ||
        (options->json ? bounds_print_json(b) : bounds_print_end(b)) < 0)
        return TOOL_FAILED;
    if (options->plot && bounds_plot(b) < 0)
        return TOOL_FAILED;
    if (options->plot && !options->json)
        printf("picture: %s\n", options->plot);
    if (b->stopped)
        return 128 + b->stopped;
    return bounds_have_value(b) || exports ? TOOL_OK : TOOL_FAILED;
}

/* Of one process. */
static int bound_one_rank(const struct bound_options *options)
{
    struct bounds b = {.options = options, .makespan_ms = NAN};
    int result = TOOL_FAILED;

    if (bounds_get_graph(&b) == 0)
        result = bounds_compute_and_print(&b);
    else if (b.stopped)
        result = tool_fail(128 + b.stopped,
                           "interrupted: the program was ended before its tasks "
                           "were known; no bound was computed");
    bounds_done(&b);
    return result;
}

static int bound_command_run(const struct bound_options *options)
{
    struct launch launch = {.machine = options->machine,
                            .edits = options->edits,
                            .scheduler = options->scheduler,
                            .assume = options->assume,
                            .argv = options->argv,
                            .quiet = options->json};
    bool cluster;
    int code = TOOL_OK;

    if (options->files)
        return bound_rank_files(options);
    if (options->argv)
        code = launch_place(&launch, "bound", &cluster);
    if (code == TOOL_OK)
        code = launch.nranks ? bound_ranks(options, &launch) : bound_one_rank(options);
    launch_done(&launch);
    return code;
}

int cmd_bound(int argc, char **argv)
{
    struct bound_options options = {0};
    struct arguments arguments = {0};
    struct costs costs = {0};
    struct powers *powers = NULL;
    const char *costs_path = NULL;
    const struct tool_option list[] = {
        {'m', "machine", &options.machine, NULL},
        {'s', "scheduler", &options.scheduler, NULL},
        {TOOL_JOINED, "set", &options.edits, NULL},
        {TOOL_JOINED, "assume", &options.assume, NULL},
        {TOOL_DEVICES, "devices", &options.devices, NULL},
        {TOOL_JOINED, "kind", &arguments.kinds, NULL},
        {0, "optimistic", &arguments.optimistic, &arguments.is_optimistic},
        {0, "merge", &arguments.merge, NULL},
        {0, "time", &arguments.seconds, NULL},
        {0, "lp", &options.lp, NULL},
        {0, "lp-solve", &options.lp_solve, NULL},
        {0, "mps", &options.mps, NULL},
        {0, "plot", &options.plot, NULL},
        {0, "costs", &costs_path, NULL},
        {0, "json", NULL, &options.json},
        {0, "save-graph", &options.save_graph, NULL},
        {0}};
    int dashes = 1, noperands = 0, result;

    while (dashes < argc && strcmp(argv[dashes], "--") != 0)
        dashes++;
    result = tool_parse_operands(argc, argv, list, help, &noperands);
    if (result <= 0)
        return result < 0 ? TOOL_USAGE : TOOL_OK;
    result = TOOL_USAGE;
    if (take_operands(argc, argv, noperands, dashes < argc ? dashes : 0,
                      &options) == 0 &&
        read_kinds(arguments.kinds, options.wanted) == 0 &&
        read_number_options(&arguments, &options) == 0 &&
        check_exclusive_options(&options) == 0)
        result = check_outputs(&options);
    if (result == TOOL_OK && options.argv)
        result = powers_choose("bound", costs_path, options.machine, options.edits, &costs,
                               &powers);
    else if (result == TOOL_OK && costs_path)
        result = tool_fail(TOOL_USAGE, "bound: a recorded graph has no machine whose powers "
                                       "could be known: --costs needs a program");
    options.powers = powers;
    if (result == TOOL_OK)
        result = bound_command_run(&options);
    powers_close(powers);
    costs_done(&costs);
    free((char *)(uintptr_t)options.edits);
    free((char *)(uintptr_t)options.assume);
    free((char *)(uintptr_t)arguments.kinds);
    return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compare/command.c - `orrery compare`: a program on every combination of
 * machines, values of edits and schedulers, one table; or two such tables. One
 * thread, several children.
 */
#include "record/read.h"
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/plot.h"
#include "tools/common/program.h"
#include "tools/common/tool.h"
#include "tools/common/trust.h"
#include "tools/common/comparison.h"
#include "tools/compare/bounds.h"
#include "tools/compare/difference.h"
#include "tools/compare/draw.h"
#include "tools/common/execute.h"
#include "tools/compare/remarks.h"
#include "tools/compare/rows.h"
#include "tools/compare/scaling.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery compare -m MACHINE[,...] [--set EDIT] [-s SCHEDULER[,...]]\n"
    "                      [--ranks-per-node N[,...]]\n"
    "                      [--assume TIMES] [--repeat N] [--noise SHARE] [-j N]\n"
    "                      [--bound] [--across] [--costs FILE] [--runs FILE]\n"
    "                      [--plot FILE.png] [--pareto FILE.png]\n"
    "                      [--json | --csv | --markdown] -- PROGRAM [ARGUMENTS]\n"
    "       orrery compare [--worse SHARE] [--json | --markdown] OLD.json "
    "NEW.json\n"
    "Simulates the program once per combination and prints one table; or says which\n"
    "rows of two tables, as --json prints them, differ. docs/COMPARE.md has both.\n"
    "A record (orrery record; - from standard input) may stand in the place of the\n"
    "program.\n"
    "  -m, --machine M,...      machines (orrery machine list); \"real\" is this one;\n"
    "                           clusters, for programs of StarPU-MPI:\n"
    "                           '4..64*MACHINE + ib 200Gb/s' is 4, 8, 16, 32 and 64\n"
    "                           nodes, '4,6,8*...' these, with speed-up and\n"
    "                           efficiency against the first\n"
    "      --ranks-per-node N,...  ranks of the program on each node of the clusters\n"
    "  -s, --scheduler S,...    schedulers (eager,lws,dmda,dmdas); \"all\" is every one\n"
    "      --set 'cuda.count = 1..8'  what if the machine were different; several are\n"
    "                             separated by ; (docs/WHAT_IF.md). Several values\n"
    "                             (1..8, 4GiB..16GiB..4GiB, 1..64..*2, 8GiB, 16GiB)\n"
    "                             are tried one after the other\n" ASSUME_HELP DEVICES_HELP COSTS_HELP
    "      --repeat N           runs of each combination, with other seeds (1):\n"
    "                             medians, and whether they differ\n"
    "      --draws N            N repetitions in each of which models are off by as\n"
    "                             much as they may be, alike for all: in how many\n"
    "                             which one is the best\n"
    "      --noise SHARE        how lengths of kernels vary: `measured', or 2%\n"
    "                             (measured if there are repetitions, else none)\n"
    "  -j, --jobs N             programs at a time (as many as processors)\n"
    "      --bound              compare with what no scheduler can go below\n"
    "      --across             `to best' is that of all machines, not of each\n"
    "      --runs FILE          keep what each run gives; if the command is given\n"
    "                             again, runs that FILE has are not repeated\n"
    "      --plot FILE.png      draw the times: bars; lines over one swept value;\n"
    "                             a map over two\n"
    "      --pareto FILE.png    draw energy over time, and what nothing beats in\n"
    "                             both\n"
    "      --json               print an array of reports instead\n"
    "      --csv, --markdown    print the table as such\n"
    "      --worse SHARE        OLD, NEW: medians that differ by less do not (0)\n"
    "Exit codes: 0; 1 when a simulation failed; 2 for a wrong command line; 3 when a\n"
    "row of NEW is slower than in OLD; 128 plus the signal when interrupted.\n"
    "example: orrery compare -m MACHINE -s eager,lws,dmda,dmdas --plot bars.png -- \\\n"
    "             ./cholesky -size 9600 -nblocks 10\n";

static bool any_good(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->ncells; i++)
        if (cell_is_good(&comparison->cells[i]))
            return true;
    return false;
}

static bool any_failed(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->ncells; i++)
        if (!cell_is_good(&comparison->cells[i]))
            return true;
    return false;
}

static int print_comparison_rows(const struct comparison *comparison)
{
    const struct compare_options *options = comparison->options;

    if (options->json)
        return rows_print_json(comparison);
    if (options->csv)
        return rows_print_csv(comparison);
    if (options->markdown)
        return rows_print_markdown(comparison);
    if (rows_print_table(comparison) < 0 || scaling_print(comparison) < 0)
        return -1;
    remarks_print(comparison);
    return 0;
}

/* An interrupt has ended the rest. */
static void tell_what_is_kept(const struct comparison *comparison)
{
    const struct compare_options *options = comparison->options;

    printf("interrupted: %zu of %zu have ended; ", comparison->nended, comparison->n);
    if (options->runs)
        printf("%s keeps them, and the same command goes on from there\n", options->runs);
    else
        puts("with --runs FILE they are kept, and the same command goes on from there");
}

/* Which power is missing. */
static const char *energy_missing(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->ncells; i++) {
        const json_t *energy =
            json_object_get(comparison->cells[i].launch->report.json, "energy");
        const char *missing = json_string_value(json_object_get(energy, "missing"));

        if (missing)
            return missing;
    }
    return "neither the descriptions nor --costs have powers";
}

/* `stopped`: by this signal; 0. */
static int comparison_print(struct comparison *comparison, int stopped)
{
    const struct compare_options *options = comparison->options;
    bool plain = !options->json && !options->csv && !options->markdown;

    for (size_t i = 0; i < comparison->ncells; i++) {
        struct report *report = &comparison->cells[i].launch->report;

        if (report->simulated)
            trust_note(report, comparison->cells[i].launch->nranks
                                   ? launch_node_machine(comparison->cells[i].launch)
                                   : comparison->cells[i].machine);
    }
    if (print_comparison_rows(comparison) < 0)
        return TOOL_FAILED;
    remarks_warn(comparison);
    if (options->plot && any_good(comparison)) {
        if (draw_comparison(comparison) < 0)
            return TOOL_FAILED;
        if (plain)
            printf("%s: %s\n", draw_kind(comparison), options->plot);
    }
    if (options->pareto && any_good(comparison)) {
        if (!comparison_has_energy(comparison))
            return tool_fail(TOOL_FAILED, "compare: --pareto: no energy is known: %s",
                             energy_missing(comparison));
        if (draw_pareto(comparison) < 0)
            return TOOL_FAILED;
        if (plain)
            printf("time and energy: %s\n", options->pareto);
    }
    if (stopped && plain)
        tell_what_is_kept(comparison);
    return stopped                  ? 128 + stopped
           : any_failed(comparison) ? TOOL_FAILED
                                    : TOOL_OK;
}

static int compare_command_run(const struct compare_options *options)
{
    struct comparison comparison;
    int code = comparison_init(&comparison, options);
    int stopped = 0;

    if (code == TOOL_OK && options->plot && draw_check(&comparison) < 0)
        code = TOOL_USAGE;
    if (code == TOOL_OK) {
        stopped = comparison_run(&comparison);
        if (!stopped && options->bound)
            stopped = comparison_bound(&comparison);
        code =
            stopped < 0 ? TOOL_FAILED : comparison_print(&comparison, stopped);
    }
    comparison_done(&comparison);
    return code;
}

/* Checks what each option says; an exit code, TOOL_OK for nothing wrong. */
static int check_compare_options(const struct compare_options *options)
{
    int code;

    if (!*options->argv || !options->machines)
        return tool_fail(TOOL_USAGE, "compare: %s; see orrery compare --help",
                         !*options->argv ? "which program?"
                                         : "which machines? (-m)");
    if (options->json + options->csv + options->markdown > 1)
        return tool_fail(TOOL_USAGE,
                         "compare: --json, --csv and --markdown: choose one");
    code = plot_check_name("compare: --plot", options->plot);
    if (code == TOOL_OK)
        code = plot_check_name("compare: --pareto", options->pareto);
    return code != TOOL_OK
               ? code
               : tool_check_output("compare: --runs", options->runs);
}

/* The same for two tables, whose runs have been. */
static int check_tables(const struct compare_options *options, const char *devices,
                        const char *costs, const char *jobs, const char *repeat)
{
    const struct {
        const char *name;
        bool given;
    } asks[] = {{"-m", options->machines},
                {"-s", options->schedulers},
                {"--set", options->edits},
                {"--assume", options->assume},
                {"--devices", devices},
                {"--repeat, --draws", repeat},
                {"--noise", options->noise},
                {"-j", jobs},
                {"--bound", options->bound},
                {"--across", options->across},
                {"--runs", options->runs},
                {"--plot", options->plot},
                {"--pareto", options->pareto},
                {"--costs", costs},
                {"--csv", options->csv}};

    for (size_t i = 0; i < sizeof(asks) / sizeof(*asks); i++)
        if (asks[i].given)
            return tool_fail(TOOL_USAGE,
                             "compare: %s needs a program: %s and %s are "
                             "tables of runs that have been",
                             asks[i].name, options->argv[0], options->argv[1]);
    if (options->json && options->markdown)
        return tool_fail(TOOL_USAGE,
                         "compare: --json and --markdown: choose one");
    return TOOL_OK;
}

static void set_defaults(struct compare_options *options)
{
    if (!options->machines)
        options->machines = getenv("ORRERY_MACHINE");
    if (!options->schedulers)
        options->schedulers = "eager,lws,dmda,dmdas";
}

/* Adds the edit "network = ranks-per-node=1, ranks-per-node=4" for "1,4". An exit code. */
static int edit_ranks_per_node(struct compare_options *options, const char *list)
{
    char **words = tool_split(list), *edits = NULL;
    size_t size, n = 0;
    FILE *out = words ? open_memstream(&edits, &size) : NULL;
    unsigned number;
    int code = TOOL_OK;

    if (out && options->edits)
        fprintf(out, "%s\n", options->edits);
    for (; out && words[n] && code == TOOL_OK; n++) {
        if (program_number(words[n], 1, &number) < 0)
            code = tool_fail(TOOL_USAGE, "compare: --ranks-per-node %s: write numbers from 1 on",
                             words[n]);
        fprintf(out, "%sranks-per-node=%s", n ? ", " : "network = ", words[n]);
    }
    if (out && fclose(out) == 0 && n > 0) {
        free((char *)(uintptr_t)options->edits);
        options->edits = edits;
    } else {
        free(edits);
        code = out ? tool_fail(TOOL_USAGE, "compare: --ranks-per-node: how many?")
                   : tool_fail(TOOL_FAILED, "out of memory");
    }
    free(words);
    return code;
}

static bool is_saved_comparison(const char *word)
{
    return difference_is_file(word) || orr_record_is_one(word);
}

int cmd_compare(int argc, char **argv)
{
    static const struct tool_words words = {launch_names, is_saved_comparison};
    const char *jobs = NULL, *repeat = NULL, *worse = NULL, *draws = NULL, *per_node = NULL;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct compare_options options = {
        .command = "compare",
        .jobs = processors > 0 ? (unsigned)processors : 1};
    const char *devices = NULL, *costs_path = NULL;
    struct costs costs = {0};
    const struct tool_option list[] = {
        {'m', "machine", &options.machines, NULL},
        {'s', "scheduler", &options.schedulers, NULL},
        {TOOL_JOINED, "set", &options.edits, NULL},
        {TOOL_JOINED, "assume", &options.assume, NULL},
        {TOOL_DEVICES, "devices", &devices, NULL},
        {0, "ranks-per-node", &per_node, NULL},
        {0, "repeat", &repeat, NULL},
        {0, "draws", &draws, NULL},
        {0, "noise", &options.noise, NULL},
        {'j', "jobs", &jobs, NULL},
        {0, "bound", NULL, &options.bound},
        {0, "across", NULL, &options.across},
        {0, "runs", &options.runs, NULL},
        {0, "plot", &options.plot, NULL},
        {0, "pareto", &options.pareto, NULL},
        {0, "costs", &costs_path, NULL},
        {0, "json", NULL, &options.json},
        {0, "csv", NULL, &options.csv},
        {0, "markdown", NULL, &options.markdown},
        {0, "worse", &worse, NULL},
        {0}};
    struct difference_options difference;
    int first = tool_parse_program(argc, argv, list, &words, help);
    int code = TOOL_OK;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    options.argv = argv + first;
    options.draws = draws != NULL;
    difference = (struct difference_options){.json = options.json,
                                             .markdown = options.markdown};
    if (jobs && program_number(jobs, 1, &options.jobs) < 0)
        code = tool_fail(TOOL_USAGE, "compare: -j takes a number from 1 on");
    else if (program_number(repeat ? repeat : "1", 1, &options.repeat) < 0)
        code =
            tool_fail(TOOL_USAGE, "compare: --repeat takes a number from 1 on");
    else if (draws && (repeat || program_number(draws, 2, &options.repeat) < 0))
        code = tool_fail(TOOL_USAGE, "compare: --draws takes a number from 2 on, "
                                     "and stands in the place of --repeat");
    else if (worse && program_share(worse, &difference.worse) < 0)
        code = tool_fail(TOOL_USAGE,
                         "compare: --worse takes a share, such as 2%%");
    else if (difference_is_meant(argc - first, argv + first)) {
        difference.before = argv[first];
        difference.after = argv[first + 1];
        code = check_tables(&options, devices, costs_path, jobs, repeat ? repeat : draws);
        if (code == TOOL_OK)
            code = difference_print(&difference);
    } else if (worse) {
        code = tool_fail(TOOL_USAGE, "compare: --worse is for two tables, "
                                     "OLD.json NEW.json");
    } else {
        set_defaults(&options);
        code = check_compare_options(&options);
        if (code == TOOL_OK && costs_path && costs_read(costs_path, &costs) < 0)
            code = TOOL_USAGE;
        options.costs = &costs;
        if (code == TOOL_OK && per_node)
            code = edit_ranks_per_node(&options, per_node);
        if (code == TOOL_OK)
            code = compare_command_run(&options);
    }
    costs_done(&costs);
    free((char *)(uintptr_t)options.edits);
    free((char *)(uintptr_t)options.assume);
    return code;
}

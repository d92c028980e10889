/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/advise/command.c - `orrery advise`: which machine to choose for programs, how sure
 * that is, and what to measure next. One thread, several children.
 */
#include "tools/advise/advise.h"

#include "core/base/config.h"
#include "perfmodel/sampling.h"
#include "platforms/units.h"
#include "record/read.h"
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/foreign.h"
#include "tools/common/program.h"
#include "tools/common/tool.h"
#include "tools/common/execute.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery advise [-m MACHINE[,...]] [--set EDIT] [-s SCHEDULER[,...]]\n"
    "                     [--costs FILE] [--budget PRICE] [--power WATTS]\n"
    "                     [--time LIMIT] [--by time|price|energy|value] [--draws N]\n"
    "                     [--assume TIMES] [-j N] [--json] -- PROGRAM [ARGUMENTS]\n"
    "       orrery advise [...] RECORD[=TIMES] [RECORD[=TIMES] ...]\n"
    "       orrery advise [-m MACHINE[,...]] --form\n"
    "Simulates the program, or records (orrery record), on machines and says which\n"
    "one to choose, how sure that is, and what to measure to be surer: times of\n"
    "kernels and figures of machines that were not measured are drawn as they may be\n"
    "(docs/ADVISE.md).\n"
    "  -m, --machine M,...      machines; without, those that come with Orrery\n"
    "      --set 'cuda.count = 1..8'  what if they were different; several values are\n"
    "                             candidates each (docs/COMPARE.md)\n"
    "  -s, --scheduler S,...    policies, of which each machine gets its best (dmdas)\n"
    "      --costs FILE         what machines cost and draw, a file of your own\n"
    "      --form               print such a file, with nothing filled in\n"
    "      --budget 60000EUR    leave out machines that cost more\n"
    "      --power 3kW          leave out those that may draw more\n"
    "      --time 10s           leave out those that take longer in more than one of\n"
    "                             ten draws; the cheapest is sought then, if prices\n"
    "                             are known\n"
    "      --by WHAT            rank by time, price, energy, or value: the product of\n"
    "                             price and time. Prices of an hour (0.4USD/h) are\n"
    "                             ranked, and limited, by what a run costs\n"
    "      --draws N            machines as they may be, of each (40)\n" ASSUME_HELP DEVICES_HELP
    "  -j, --jobs N             programs at a time (as many as processors)\n"
    "      --json               print it as JSON\n"
    "Exit codes: 0; 1 when nothing could be simulated; 2 for a wrong command line; 3\n"
    "when no machine is within the limits; 128 plus the signal when interrupted.\n"
    "example: orrery advise --time 2s --costs prices.txt -- ./cholesky -size 9600\n";

/* -- machines -- */

/* Those of the catalogue, with commas; owned. NULL without memory. */
static int add_name(const struct orr_machine_entry *entry, void *arg)
{
    if (entry->catalogue)
        fprintf(arg, "%s,", entry->name);
    return 0;
}

static char *catalogue(void)
{
    struct orr_sampling *sampling = NULL;
    char *names = NULL;
    size_t size;
    FILE *out = open_memstream(&names, &size);

    if (!out)
        return NULL;
    if (orr_sampling_from_env(orr_getenv, NULL, &sampling) == 0)
        (void)orr_machine_desc_list(orr_sampling_dirs(sampling), add_name, out);
    orr_sampling_free(sampling);
    fclose(out);
    return names;
}

/* -- workloads -- */

/* "app.rec=3" as a file and a number; -1 with a message. */
static int read_record(char *word, struct workload *workload)
{
    char *equals = strrchr(word, '=');

    *workload = (struct workload){.weight = 1, .is_owned = true};
    if (equals && !orr_record_is_one(word)) {
        if (orr_number_parse(equals + 1, &workload->weight) || !(workload->weight > 0))
            return tool_fail(-1, "advise: %s: how often the record is run is a number above 0",
                             word);
        *equals = '\0';
    }
    if (!orr_record_is_one(word) && !foreign_is_one(word))
        return tool_fail(-1, "advise: %s is no record: one program may be named, or several "
                             "records",
                         word);
    workload->argv = calloc(2, sizeof(*workload->argv));
    if (!workload->argv || !(workload->argv[0] = strdup(word)))
        return tool_fail(-1, "out of memory");
    return 0;
}

static bool is_record_with_weight(const char *word)
{
    char *file = strdup(word), *equals = file ? strrchr(file, '=') : NULL;
    bool is = orr_record_is_one(word) || foreign_is_one(word);

    if (equals && !is) {
        *equals = '\0';
        is = orr_record_is_one(file) || foreign_is_one(file);
    }
    free(file);
    return is;
}

static int read_workloads(struct advice *advice, char **words)
{
    size_t n = 0;

    while (words[n])
        n++;
    if (!is_record_with_weight(words[0]))
        n = 1;
    advice->workloads = calloc(n, sizeof(*advice->workloads));
    if (!advice->workloads)
        return tool_fail(TOOL_FAILED, "out of memory");
    if (!is_record_with_weight(words[0])) {
        advice->workloads[0] = (struct workload){.argv = words, .weight = 1};
        advice->nworkloads = 1;
        return TOOL_OK;
    }
    for (; advice->nworkloads < n; advice->nworkloads++)
        if (read_record(words[advice->nworkloads],
                        &advice->workloads[advice->nworkloads]) < 0)
            return TOOL_USAGE;
    return TOOL_OK;
}

/* All combinations are run for each, in the same draws. */
static int begin_workloads(struct advice *advice)
{
    const struct advise_options *options = advice->options;
    int code = TOOL_OK;

    for (size_t w = 0; w < advice->nworkloads && code == TOOL_OK; w++) {
        struct workload *workload = &advice->workloads[w];

        workload->options = (struct compare_options){.command = "advise",
                                                     .machines = options->machines,
                                                     .schedulers = options->schedulers,
                                                     .edits = options->edits,
                                                     .assume = options->assume,
                                                     .jobs = options->jobs,
                                                     .repeat = options->draws,
                                                     .draws = true,
                                                     .across = true,
                                                     .keeps_reports = true,
                                                     .costs = &advice->costs,
                                                     .argv = workload->argv};
        code = comparison_init(&workload->comparison, &workload->options);
    }
    return code;
}

static int run_workloads(struct advice *advice)
{
    int stopped = 0;

    for (size_t w = 0; w < advice->nworkloads && !stopped; w++)
        stopped = comparison_run(&advice->workloads[w].comparison);
    return stopped;
}

/* -- the command -- */

static int advise_conclude(struct advice *advice)
{
    if (advice_judge(advice) < 0 || advice_value_figures(advice) < 0 ||
        (advice->options->json ? advice_print_json(advice) : advice_print(advice)) < 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    if (choices_best(&advice->choices) < advice->n)
        return TOOL_OK;
    for (size_t c = 0; c < advice->n; c++)
        if (advice->candidates[c].cell)
            return 3; /* some ran, and none is within the limits */
    return TOOL_FAILED;
}

static int advise_run(const struct advise_options *options, char **words)
{
    struct advice advice = {.options = options};
    int code = TOOL_OK, stopped;

    if (options->costs && costs_read(options->costs, &advice.costs) < 0)
        code = TOOL_USAGE;
    if (code == TOOL_OK)
        code = read_workloads(&advice, words);
    if (code == TOOL_OK)
        code = begin_workloads(&advice);
    if (code == TOOL_OK)
        code = advice_make_candidates(&advice);
    if (code == TOOL_OK) {
        stopped = run_workloads(&advice);
        code = stopped < 0   ? TOOL_FAILED
               : stopped > 0 ? 128 + stopped
                             : advise_conclude(&advice);
    }
    advice_done(&advice);
    return code;
}

static int print_form(const struct advise_options *options)
{
    /* A program that is not run. */
    static char name[] = "program";
    char *argv[] = {name, NULL};
    struct advice advice = {.options = options};
    struct orr_machine_desc **machines;
    int code;

    advice.workloads = calloc(1, sizeof(*advice.workloads));
    if (!advice.workloads)
        return tool_fail(TOOL_FAILED, "out of memory");
    advice.workloads[0] = (struct workload){.argv = argv, .weight = 1};
    advice.nworkloads = 1;
    code = begin_workloads(&advice);
    if (code == TOOL_OK)
        code = advice_make_candidates(&advice);
    machines = calloc(advice.n + 1, sizeof(*machines));
    if (code == TOOL_OK && machines) {
        size_t n = 0;

        for (size_t c = 0; c < advice.n; c++)
            if (advice.candidates[c].desc)
                machines[n++] = advice.candidates[c].desc;
        costs_print_form(machines, n, stdout);
    }
    free(machines);
    advice_done(&advice);
    return code;
}

/* -- what the command line says -- */

static int read_by(const char *text, struct advise_options *options)
{
    static const char *const names[] = {"time", "price", "energy", "value"};

    options->has_by = text != NULL;
    if (!text)
        return TOOL_OK;
    for (int i = 0; i < 4; i++)
        if (!strcmp(text, names[i])) {
            options->by = (enum advise_by)i;
            return TOOL_OK;
        }
    return tool_fail(TOOL_USAGE, "advise: --by %s: it is time, price, energy or value", text);
}

static int read_limits(struct advise_options *options)
{
    char currency[8];
    double seconds;
    const char *wrong;

    if (options->budget && cost_parse_price(options->budget, &options->budget_price, currency))
        return tool_fail(TOOL_USAGE, "advise: --budget %s: write a price, such as 60000EUR",
                         options->budget);
    options->hourly_budget = options->budget && cost_is_hourly(currency);
    if (options->power && cost_parse_power(options->power, &options->power_w))
        return tool_fail(TOOL_USAGE, "advise: --power %s: write a power, such as 3kW",
                         options->power);
    if (options->time) {
        wrong = orr_quantity_parse(ORR_QUANTITY_TIME, options->time, &seconds);
        if (wrong || !(seconds > 0))
            return tool_fail(TOOL_USAGE, "advise: --time %s: write a time, such as 300ms or 15min",
                             options->time);
        options->time_us = seconds * 1e6;
    }
    if (!options->costs && (options->budget || options->power ||
                            (options->has_by && options->by != BY_TIME)))
        return tool_fail(TOOL_USAGE,
                         "advise: what do machines cost and draw? --costs names a file that "
                         "says so; orrery advise --form prints one to be filled in");
    if (!options->has_by && options->time && options->costs)
        options->by = BY_PRICE;
    return TOOL_OK;
}

int cmd_advise(int argc, char **argv)
{
    static const struct tool_words words = {launch_names, is_record_with_weight};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const char *jobs = NULL, *draws = NULL, *by = NULL, *devices = NULL;
    char *machines = NULL;
    bool form = false;
    struct advise_options options = {.jobs = processors > 0 ? (unsigned)processors : 1,
                                     .draws = 40,
                                     .budget_price = (double)NAN,
                                     .power_w = (double)NAN,
                                     .time_us = (double)NAN,
                                     .schedulers = "dmdas"};
    const struct tool_option list[] = {{'m', "machine", &options.machines, NULL},
                                       {'s', "scheduler", &options.schedulers, NULL},
                                       {TOOL_JOINED, "set", &options.edits, NULL},
                                       {TOOL_JOINED, "assume", &options.assume, NULL},
                                       {TOOL_DEVICES, "devices", &devices, NULL},
                                       {0, "costs", &options.costs, NULL},
                                       {0, "form", NULL, &form},
                                       {0, "budget", &options.budget, NULL},
                                       {0, "power", &options.power, NULL},
                                       {0, "time", &options.time, NULL},
                                       {0, "by", &by, NULL},
                                       {0, "draws", &draws, NULL},
                                       {'j', "jobs", &jobs, NULL},
                                       {0, "json", NULL, &options.json},
                                       {0}};
    int first = tool_parse_program(argc, argv, list, &words, help);
    int code;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    code = read_by(by, &options);
    if (code == TOOL_OK)
        code = read_limits(&options);
    if (code == TOOL_OK && jobs && program_number(jobs, 1, &options.jobs) < 0)
        code = tool_fail(TOOL_USAGE, "advise: -j takes a number from 1 on");
    if (code == TOOL_OK && draws && program_number(draws, 8, &options.draws) < 0)
        code = tool_fail(TOOL_USAGE, "advise: --draws takes a number from 8 on: fewer say "
                                     "nothing of shares");
    if (code == TOOL_OK && !form && !argv[first])
        code = tool_fail(TOOL_USAGE, "advise: which program? See orrery advise --help");
    if (code == TOOL_OK && !options.machines && !(options.machines = getenv("ORRERY_MACHINE"))) {
        machines = catalogue();
        options.machines = machines;
    }
    if (code == TOOL_OK)
        code = form ? print_form(&options) : advise_run(&options, argv + first);
    free(machines);
    free((char *)(uintptr_t)options.edits);
    free((char *)(uintptr_t)options.assume);
    return code;
}

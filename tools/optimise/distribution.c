/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/optimise/distribution.c - `orrery optimise distribution`: a program of several ranks
 * with each distribution of its data that its command line can be given, simulated and
 * bounded (`orrery bound`, which does both at once). One thread, several children.
 */
#include "tools/optimise/distribution.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/read.h"
#include "tools/common/assume.h"
#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/launch.h"
#include "tools/common/modules.h"
#include "tools/common/process.h"
#include "tools/common/program.h"
#include "tools/common/rank_bounds.h"
#include "tools/common/run_files.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/optimise/owners.h"

static const char help[] =
    "usage: orrery optimise distribution -m CLUSTER [-s SCHEDULER] [--set EDIT]\n"
    "                                    [--assume TIMES] [-o FILE] [-j N] [--json]\n"
    "                                    -- PROGRAM ARGUMENTS\n"
    "Runs the program on the cluster with one distribution of its data after the\n"
    "other, prints how long each takes, the fastest first, and beside it what no run\n"
    "with that distribution can beat (orrery bound). How the program is told of it\n"
    "are words in its arguments:\n"
    "  {p}, {q}       rows and columns of a grid of ranks, of which {q} may be left\n"
    "                 out: all p x q that are the number of ranks\n"
    "  {owners}       a file of owners, a pattern of ranks that the program repeats\n"
    "                 over the rows and columns of blocks (docs/CLUSTERS.md): the\n"
    "                 same grids; symmetric block-cyclic, where there is one of so\n"
    "                 many ranks; rows and columns by speed, where ranks differ\n"
    "A program that reads variables instead has env before it: -- env P={p} ./app.\n"
    "  -m, --machine CLUSTER      such as '16*MACHINE + ib 200Gb/s'\n"
    "  -s, --scheduler SCHEDULER  of all ranks, such as lws, dmdas\n" EDITS_HELP ASSUME_HELP
    "  -o, --output FILE          the owners of the fastest (PROGRAM.owners), with\n"
    "                             {owners}\n"
    "  -j, --jobs N               simulations at a time (one per processor)\n"
    "      --json                 print all as JSON\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line; 128 plus\n"
    "the signal when interrupted.\n"
    "example: orrery optimise distribution -m '16*MACHINE + ib 200Gb/s' -- \\\n"
    "             ./cholesky -size 61440 -nblocks 64 -p {p}\n";

static const char place_p[] = "{p}", place_q[] = "{q}", place_owners[] = "{owners}";

/* Ranks whose speeds differ by more are given different shares. */
#define SPEEDS_DIFFER 1.05

struct choice {
    struct owners owners;
    char *path;  /* owned: of its file; NULL: none is wanted */
    char **argv; /* owned: the program's */
    char **words; /* owned, its words are borrowed: of orrery bound */
    char problem[200];
    struct rank_bounds bounds;
    double ms; /* NaN: it failed */
    unsigned number;
};

struct distributions {
    const char *machine, *scheduler, *edits, *assume; /* borrowed */
    char *const *argv;
    unsigned nranks, jobs;
    bool by_file, json;
    char *orrery; /* owned: this program */
    struct run_files files;
    struct choice *all; /* owned */
    unsigned n;
};

/* --- the choices --- */

static char **choice_argv(const struct distributions *d, const struct choice *choice)
{
    char p[16], q[16];
    char **one, **two, **all;

    snprintf(p, sizeof(p), "%u", choice->owners.p);
    snprintf(q, sizeof(q), "%u", choice->owners.q);
    one = program_replace(d->argv, place_p, d->by_file ? NULL : p);
    two = one ? program_replace(one, place_q, d->by_file ? NULL : q) : NULL;
    all = two ? program_replace(two, place_owners, choice->path) : NULL;
    program_free(one);
    program_free(two);
    return all;
}

static int write_owners(const struct owners *owners, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int rc = -1;

    if (out) {
        owners_put(owners, out);
        rc = fclose(out);
    }
    rc = rc ? tool_fail(-1, "out of memory") : tool_write_file(path, text, size);
    free(text);
    return rc;
}

/* Takes the owners. */
static int add_choice(struct distributions *d, struct owners owners)
{
    struct choice *grown = realloc(d->all, (d->n + 1) * sizeof(*d->all)), *choice;

    if (!grown) {
        owners_done(&owners);
        return tool_fail(-1, "out of memory");
    }
    d->all = grown;
    choice = &d->all[d->n];
    *choice = (struct choice){.owners = owners, .ms = (double)NAN, .number = d->n};
    d->n++;
    if (d->by_file) {
        choice->path = tool_format("%s/owners%u", d->files.folder, choice->number);
        if (!choice->path)
            return tool_fail(-1, "out of memory");
        if (write_owners(&choice->owners, choice->path) < 0)
            return -1;
    }
    choice->argv = choice_argv(d, choice);
    return choice->argv ? 0 : tool_fail(-1, "out of memory");
}

/* Grids, the flattest first. */
static int add_grids(struct distributions *d)
{
    int rc = 0;

    for (unsigned p = 1; p <= d->nranks && rc == 0; p++) {
        struct owners owners;

        if (d->nranks % p != 0)
            continue;
        rc = owners_grid(p, d->nranks / p, &owners);
        if (rc == 0)
            rc = add_choice(d, owners);
    }
    return rc;
}

static int add_symmetric(struct distributions *d)
{
    struct owners owners;
    int rc = owners_symmetric(d->nranks, &owners);

    return rc == 0 ? add_choice(d, owners) : rc < 0 ? -1 : 0;
}

/* Tasks per ms of each rank's workers, as a run has found; false where that is not known of
 * all, or they are alike. */
static bool find_speeds(const struct distributions *d, double *speeds)
{
    double least = INFINITY, most = 0;
    const json_t *ranks = NULL;

    for (unsigned i = 0; i < d->n && !ranks; i++)
        ranks = json_object_get(d->all[i].bounds.json, "ranks");
    for (unsigned r = 0; r < d->nranks; r++) {
        const json_t *rank = json_array_get(ranks, r);
        double ms = json_number_value(json_object_get(rank, "area_ms"));

        if (!(ms > 0))
            return false;
        speeds[r] = json_number_value(json_object_get(rank, "tasks")) / ms;
        least = fmin(least, speeds[r]);
        most = fmax(most, speeds[r]);
    }
    return most > SPEEDS_DIFFER * least;
}

static int add_weighted(struct distributions *d)
{
    double *speeds = calloc(d->nranks, sizeof(*speeds));
    int rc = speeds ? 0 : tool_fail(-1, "out of memory");

    for (int columns = 0; columns < 2 && rc == 0 && find_speeds(d, speeds); columns++) {
        struct owners owners;

        rc = owners_weighted(d->nranks, speeds, columns, &owners);
        if (rc == 0)
            rc = add_choice(d, owners);
    }
    free(speeds);
    return rc;
}

/* --- simulations --- */

static char **bound_words(const struct distributions *d, const struct choice *choice)
{
    const struct {
        const char *option, *value;
    } options[] = {{"--kind", "critical-path,area"}, {"-m", d->machine}, {"-s", d->scheduler},
                   {"--set", d->edits},              {"--assume", d->assume}};
    size_t n = 0, nargs = 0;
    char **words;

    while (choice->argv[nargs])
        nargs++;
    words = calloc(nargs + 16, sizeof(*words));
    if (!words)
        return NULL;
    words[n++] = d->orrery;
    words[n++] = (char *)(uintptr_t) "bound";
    words[n++] = (char *)(uintptr_t) "--json";
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        if (options[i].value) {
            words[n++] = (char *)(uintptr_t)options[i].option;
            words[n++] = (char *)(uintptr_t)options[i].value;
        }
    words[n++] = (char *)(uintptr_t) "--";
    memcpy(words + n, choice->argv, nargs * sizeof(*words));
    return words;
}

/* What orrery bound, or the program, said last. */
static void take_problem(struct choice *choice, const struct process *process)
{
    static const char name[] = "orrery: ";
    char line[sizeof(choice->problem)];
    const char *words = line;

    (void)process_error_line(process, line, sizeof(line));
    if (!strncmp(words, name, sizeof(name) - 1))
        words += sizeof(name) - 1;
    words += strspn(words, " ");
    if (*words)
        snprintf(choice->problem, sizeof(choice->problem), "%s", words);
    else
        snprintf(choice->problem, sizeof(choice->problem), "ended with %d",
                 process_exit_code(process));
}

static void take_result(struct choice *choice, const struct process *process)
{
    if (process_exit_code(process) == 0 && rank_bounds_take(process->text, &choice->bounds))
        choice->ms = json_number_value(json_object_get(choice->bounds.json, "makespan_ms"));
    else
        take_problem(choice, process);
}

/* Those from `first` on. Returns 0, -1 after a message, or the signal that ended it. */
static int judge_from(struct distributions *d, unsigned first)
{
    unsigned n = d->n - first;
    struct process *processes = calloc(n + 1, sizeof(*processes));
    int rc = processes ? 0 : -1;

    for (unsigned i = 0; i < n && rc == 0; i++) {
        struct choice *choice = &d->all[first + i];

        choice->words = bound_words(d, choice);
        processes[i] = (struct process){.argv = choice->words, .quiet = true, .output = -1};
        rc = choice->words ? 0 : -1;
    }
    if (rc == 0)
        rc = process_run(processes, n, d->jobs, NULL, NULL);
    else
        tool_error("out of memory");
    for (unsigned i = 0; processes && i < n; i++) {
        if (rc == 0)
            take_result(&d->all[first + i], &processes[i]);
        process_done(&processes[i]);
    }
    free(processes);
    return rc;
}

static int compare_choices(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;

    if (isnan(x->ms) || isnan(y->ms))
        return isnan(x->ms) - isnan(y->ms);
    if (x->ms < y->ms || x->ms > y->ms)
        return x->ms < y->ms ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static int try_all(struct distributions *d)
{
    unsigned first;
    int rc = add_grids(d);

    if (rc == 0 && d->by_file)
        rc = add_symmetric(d);
    if (rc == 0)
        rc = judge_from(d, 0);
    first = d->n;
    if (rc == 0 && d->by_file)
        rc = add_weighted(d);
    if (rc == 0 && d->n > first)
        rc = judge_from(d, first);
    if (rc == 0)
        qsort(d->all, d->n, sizeof(*d->all), compare_choices);
    return rc;
}

/* --- output --- */

static double above(double ms, double bound)
{
    return bound > 0 ? ms / bound - 1 : (double)NAN;
}

static void add_row(struct table *table, const struct choice *choice, const struct choice *best)
{
    char time[REPORT_TIME_MAX];

    table_add(table, "%s", choice->owners.name);
    if (isnan(choice->ms)) {
        for (int i = 0; i < 4; i++)
            table_add(table, "-");
        table_add(table, "%s", choice->problem);
        return;
    }
    table_add(table, "%s", report_time_text(1e3 * choice->ms, time));
    table_add(table, "%.3f", choice->ms / best->ms);
    table_add(table, "%s", report_time_text(1e3 * choice->bounds.ms, time));
    table_add(table, "%.1f %%", 100 * above(choice->ms, choice->bounds.ms));
    table_add(table, "%s", choice->bounds.limit);
}

static int print_text(const struct distributions *d, const char *path)
{
    static const struct table_column columns[] = {
        {"distribution", false}, {"predicted", true}, {"to best", true}, {"bound", true},
        {"above it", true},      {"limited by", false}};
    const struct choice *best = &d->all[0], *slowest = best;
    char time[REPORT_TIME_MAX], *command = program_command(best->argv);
    struct table table = {0};

    printf("%u ranks on %s\n\n", d->nranks, d->machine);
    for (unsigned i = 0; i < d->n; i++) {
        add_row(&table, &d->all[i], best);
        slowest = isnan(d->all[i].ms) ? slowest : &d->all[i];
    }
    if (table_end(&table, columns, sizeof(columns) / sizeof(*columns)) < 0 || !command) {
        free(command);
        return -1;
    }
    printf("\nbest        %s: %s", best->owners.name, report_time_text(1e3 * best->ms, time));
    if (slowest != best)
        printf(", %.1f %% less than with %s", 100 * (1 - best->ms / slowest->ms),
               slowest->owners.name);
    if (best->bounds.anywhere_ms > 0)
        printf("\nbound       no distribution takes less than %s: the best is %.1f %% above",
               report_time_text(1e3 * best->bounds.anywhere_ms, time),
               100 * above(best->ms, best->bounds.anywhere_ms));
    if (path)
        printf("\nowners      %s", path);
    else
        printf("\nprogram     %s", command);
    putchar('\n');
    free(command);
    return 0;
}

static json_t *json_of_choice(const struct distributions *d, const struct choice *choice)
{
    const struct owners *owners = &choice->owners;
    json_t *json = json_pack("{s:s, s:i, s:i, s:o}", "distribution", owners->name, "rows",
                             (int)owners->rows, "columns", (int)owners->columns, "ms",
                             tool_json_number(choice->ms));

    if (owners->p)
        json_object_update_new(json, json_pack("{s:i, s:i}", "p", (int)owners->p, "q",
                                               (int)owners->q));
    if (isnan(choice->ms)) {
        json_object_set_new(json, "error", tool_json_text(choice->problem));
        return json;
    }
    json_object_update_new(
        json, json_pack("{s:f, s:o, s:o, s:b, s:o, s:o}", "to_best",
                        choice->ms / d->all[0].ms, "bound_ms",
                        tool_json_number(choice->bounds.ms), "above_bound",
                        tool_json_number(above(choice->ms, choice->bounds.ms)), "proved",
                        choice->bounds.proved, "limited_by", tool_json_text(choice->bounds.limit),
                        "anywhere_ms", tool_json_number(choice->bounds.anywhere_ms)));
    return json;
}

static int print_json(const struct distributions *d, const char *path)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < d->n; i++)
        json_array_append_new(list, json_of_choice(d, &d->all[i]));
    return tool_json_print(json_pack(
        "{s:o, s:i, s:o, s:s, s:f, s:o, s:o}", "machine", tool_json_text(d->machine), "ranks",
        (int)d->nranks, "distributions", list, "best", d->all[0].owners.name, "best_ms",
        d->all[0].ms, "above_any",
        tool_json_number(above(d->all[0].ms, d->all[0].bounds.anywhere_ms)), "owners",
        tool_json_text(path)));
}

/* --- the command --- */

static bool has_place(char *const *argv, const char *place)
{
    for (; *argv; argv++)
        if (strstr(*argv, place))
            return true;
    return false;
}

/* A record has no insertions: who sends what was decided as it was made, by the distribution.
 * True, after a message: it is one, or a folder of those of ranks. */
static bool refuse_record(const char *name)
{
    char *first = launch_rank_record(name);
    bool is_record = orr_record_is_one(first ? first : name);

    if (is_record)
        tool_error("optimise distribution: a record keeps the distribution that it was made "
                   "with: name the program that %s was made of, and which of its arguments says "
                   "it, -- ./cholesky -p {p}; orrery bound -m CLUSTER -- %s says how far from any "
                   "it is",
                   name, first ? first : name);
    free(first);
    return is_record;
}

/* Finds out how many ranks there are, and how the program is told. An exit code. */
static int read_program(struct distributions *d, const char *path)
{
    struct launch launch = {.machine = d->machine, .edits = d->edits, .argv = d->argv};
    bool grid = has_place(d->argv, place_p), cluster = false;
    int code;

    d->by_file = has_place(d->argv, place_owners);
    if (grid == d->by_file)
        return tool_fail(TOOL_USAGE,
                         grid ? "optimise distribution: {p} and {owners} are two ways to say it: "
                                "leave one out"
                              : "optimise distribution: which argument says how data are "
                                "distributed? -- ./cholesky -p {p}, or -owners {owners}");
    if (path && !d->by_file)
        return tool_fail(TOOL_USAGE, "optimise distribution: -o is for {owners}: a grid has no file");
    code = launch_place(&launch, "optimise distribution", &cluster);
    d->nranks = launch.nranks;
    launch_done(&launch);
    if (code == TOOL_OK && d->nranks < 2)
        return tool_fail(TOOL_USAGE, "optimise distribution: %s has one rank: -m "
                                     "'4*MACHINE + ib 200Gb/s' is a cluster",
                         d->machine);
    return code;
}

static int run_distributions(struct distributions *d, const char *path)
{
    int rc;

    d->orrery = tool_find_program(".", "orrery");
    if (!d->orrery)
        return tool_fail(TOOL_FAILED, "out of memory");
    rc = run_files_init(&d->files) ? try_all(d) : -1;
    if (rc > 0)
        return tool_fail(128 + rc, "interrupted: not all distributions were tried");
    if (rc < 0)
        return TOOL_FAILED;
    if (isnan(d->all[0].ms))
        return tool_fail(TOOL_FAILED, "optimise distribution: the program did not end well with "
                                      "any distribution (orrery run with the same arguments "
                                      "says why); its last line: %s",
                         d->all[0].problem);
    if (d->by_file && write_owners(&d->all[0].owners, path) < 0)
        return TOOL_FAILED;
    path = d->by_file ? path : NULL;
    if ((d->json ? print_json(d, path) : print_text(d, path)) < 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    return isnan(d->all[d->n - 1].ms) ? TOOL_FAILED : TOOL_OK;
}

static void distributions_done(struct distributions *d)
{
    for (unsigned i = 0; i < d->n; i++) {
        struct choice *choice = &d->all[i];

        if (choice->path)
            unlink(choice->path);
        free(choice->path);
        program_free(choice->argv);
        free(choice->words);
        rank_bounds_done(&choice->bounds);
        owners_done(&choice->owners);
    }
    free(d->all);
    free(d->orrery);
    run_files_done(&d->files);
}

/* "dir/cholesky" becomes "cholesky.owners"; owned. */
static char *owners_path(const char *program)
{
    const char *name = strrchr(program, '/');

    return tool_format("%s.owners", name ? name + 1 : program);
}

int optimise_distribution(int argc, char **argv)
{
    struct distributions d = {.jobs = 1};
    const char *path = NULL, *jobs = NULL;
    const struct tool_option options[] = {{'m', "machine", &d.machine, NULL},
                                          {'s', "scheduler", &d.scheduler, NULL},
                                          {TOOL_JOINED, "set", &d.edits, NULL},
                                          {TOOL_JOINED, "assume", &d.assume, NULL},
                                          {'o', "output", &path, NULL},
                                          {'j', "jobs", &jobs, NULL},
                                          {0, "json", NULL, &d.json},
                                          {0}};
    int first = tool_parse_program(argc, argv, options, &launch_words, help);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    char *named = NULL;
    int result = TOOL_USAGE;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    d.argv = argv + first;
    d.jobs = processors > 0 ? (unsigned)processors : 1;
    if (first == argc)
        tool_error("optimise distribution: which program? See orrery optimise distribution "
                   "--help");
    else if (refuse_record(argv[first]))
        result = TOOL_USAGE;
    else if (!d.machine)
        tool_error("optimise distribution: which cluster? -m '4*MACHINE + ib 200Gb/s'");
    else if (jobs && program_number(jobs, 1, &d.jobs) < 0)
        tool_error("optimise distribution: -j %s: a whole number from 1 on", jobs);
    else
        result = read_program(&d, path);
    if (result == TOOL_OK && d.by_file) {
        named = path ? NULL : owners_path(argv[first]);
        path = path ? path : named;
        result = path ? tool_check_output("optimise distribution: -o", path)
                      : tool_fail(TOOL_FAILED, "out of memory");
    }
    if (result == TOOL_OK)
        result = run_distributions(&d, path);
    distributions_done(&d);
    free(named);
    free((char *)(uintptr_t)d.edits);
    free((char *)(uintptr_t)d.assume);
    return result;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compare/command.c - `orrery compare`: a program on every combination of
 * machines and schedulers, one table. One thread, several children.
 */
#include "tools/common/assume.h"
#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/launch.h"
#include "tools/common/plot.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/common/trust.h"
#include "tools/common/untrusted.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery compare -m MACHINE[,...] [--set EDIT] [-s SCHEDULER[,...]]\n"
    "                      [--assume TIMES] [-j N] [--plot FILE.png] [--json]\n"
    "                      -- PROGRAM [ARGUMENTS]\n"
    "Simulates the program once per combination and prints one table.\n"
    "  -m, --machine M,...      machines (orrery machine list)\n"
    "  -s, --scheduler S,...    schedulers (eager,lws,dmda,dmdas)\n" EDITS_HELP
        ASSUME_HELP "  -j, --jobs N             programs at a time (2)\n"
    "      --plot FILE.png      draw the predicted times as bars\n"
    "      --json               print an array of reports instead\n"
    "Exit codes: 0; 1 when a simulation failed; 2 for a wrong command line.\n"
    "example: orrery compare -m MACHINE -s eager,lws,dmda,dmdas --plot bars.png -- \\\n"
    "             ./cholesky -size 9600 -nblocks 10\n";

struct comparison {
    char **machines, **schedulers; /* owned, NULL-terminated */
    size_t nmachines, nschedulers;
    struct launch *launches; /* machine by machine */
    size_t n;
};

static size_t length(char **list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

static void show_progress(size_t ended, size_t n)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%zu of %zu runs done%s", ended, n,
                ended == n ? "\r\033[K" : "");
}

static int comparison_init(struct comparison *comparison, const char *machines,
                           const char *schedulers, char *const *argv)
{
    struct comparison c = {.machines = tool_split(machines),
                           .schedulers = tool_split(schedulers)};

    c.nmachines = length(c.machines);
    c.nschedulers = length(c.schedulers);
    c.n = c.nmachines * c.nschedulers;
    c.launches = calloc(c.n ? c.n : 1, sizeof(*c.launches));
    *comparison = c;
    if (!c.machines || !c.schedulers || !c.launches) {
        tool_error("out of memory");
        return TOOL_FAILED;
    }
    if (c.n == 0) {
        tool_error("compare: no machine or no scheduler is named");
        return TOOL_USAGE;
    }
    for (size_t i = 0; i < c.n; i++)
        c.launches[i] =
            (struct launch){.machine = c.machines[i / c.nschedulers],
                            .scheduler = c.schedulers[i % c.nschedulers],
                            .argv = argv,
                            .quiet = true};
    return TOOL_OK;
}

static void comparison_done(struct comparison *comparison)
{
    for (size_t i = 0; comparison->launches && i < comparison->n; i++)
        launch_done(&comparison->launches[i]);
    free(comparison->launches);
    free(comparison->machines);
    free(comparison->schedulers);
}

static bool is_good(const struct launch *launch)
{
    return launch->report.json && !*launch->problem;
}

static void add_row(struct table *table, const struct launch *launch)
{
    const struct report *report = &launch->report;
    char figures[256] = "";

    table_add(table, "%s", launch->machine);
    table_add(table, "%s", launch_policy(launch));
    if (!is_good(launch)) {
        for (int c = 0; c < 3; c++)
            table_add(table, "-");
        table_add(table, "%s", launch->problem);
        return;
    }
    table_add(table, "%.3f", report->makespan_us / 1000);
    table_add(table, "%.1f", report_gflops(report));
    table_add(table, "%.2f", report->wall_s);
    report_figures(report, figures, sizeof(figures));
    table_add(table, "%s%s%s",
              report->provenance  ? report->provenance
              : report->simulated ? "unknown"
                                  : "real run",
              *figures ? "; times " : "", figures);
}

/* The effect of the edits on each machine. */
static void print_edits(const struct comparison *comparison)
{
    for (size_t m = 0; m < comparison->nmachines; m++)
        for (size_t s = 0; s < comparison->nschedulers; s++) {
            const struct launch *launch =
                &comparison->launches[m * comparison->nschedulers + s];

            if (!is_good(launch))
                continue;
            if (json_array_size(json_object_get(launch->report.json, "edits")))
                printf("\nwhat if, on %s\n", launch->machine);
            edits_print(launch->report.json, "  ");
            break;
        }
}

/* What was assumed, and where no task needed it. */
static void print_assumed(const struct comparison *comparison)
{
    for (size_t m = 0; m < comparison->nmachines; m++)
        for (size_t s = 0; s < comparison->nschedulers; s++) {
            const struct launch *launch =
                &comparison->launches[m * comparison->nschedulers + s];

            if (!is_good(launch))
                continue;
            if (json_array_size(
                    json_object_get(launch->report.json, "assumptions")))
                printf("\nassumed, on %s\n", launch->machine);
            assume_print(launch->report.json, "  ");
            break;
        }
}

/* The models that any row of a machine used and that are not to be trusted. */
static void print_untrusted(const struct comparison *comparison)
{
    for (size_t m = 0; m < comparison->nmachines; m++) {
        json_t *all = json_object();

        for (size_t s = 0; s < comparison->nschedulers; s++)
            untrusted_join(
                all,
                comparison->launches[m * comparison->nschedulers + s].report.json);
        if (json_array_size(json_object_get(all, "untrusted")))
            printf("\nuntrusted, on %s\n", comparison->machines[m]);
        untrusted_print(all, "  ");
        json_decref(all);
    }
}

static int print_table(const struct comparison *comparison)
{
    static const struct table_column columns[] = {
        {"machine", false}, {"scheduler", false},   {"predicted ms", true},
        {"GFlop/s", true},  {"simulation s", true}, {"figures", false}};
    struct table table = {0};

    for (size_t i = 0; i < comparison->n; i++)
        add_row(&table, &comparison->launches[i]);
    if (table_end(&table, columns, 6) < 0) {
        tool_error("out of memory");
        return -1;
    }
    print_edits(comparison);
    print_assumed(comparison);
    print_untrusted(comparison);
    return 0;
}

static int print_json(const struct comparison *comparison)
{
    json_t *array = json_array();

    for (size_t i = 0; i < comparison->n; i++) {
        const struct launch *launch = &comparison->launches[i];
        json_t *row = json_pack("{s:o, s:s, s:s}", "machine",
                                tool_json_text(launch->machine), "scheduler",
                                launch_policy(launch), "scheduler_asked",
                                launch->scheduler);

        if (is_good(launch)) {
            json_object_update_missing(row, launch->report.json);
            json_object_set_new(row, "gflops",
                                json_real(report_gflops(&launch->report)));
        } else {
            json_object_set_new(row, "error", tool_json_text(launch->problem));
        }
        if (!row || json_array_append_new(array, row) < 0) {
            json_decref(array);
            tool_error("out of memory");
            return -1;
        }
    }
    if (tool_json_print(array) == 0)
        return 0;
    tool_error("out of memory");
    return -1;
}

/* The machine's figures in the words of its first row that has some. */
static void caption(const struct comparison *comparison, size_t m, char *text,
                    size_t size)
{
    const struct launch *row = &comparison->launches[m * comparison->nschedulers];

    *text = '\0';
    for (size_t s = 0; s < comparison->nschedulers && !*text; s++)
        if (is_good(&row[s]))
            report_caption(&row[s].report, text, size);
}

/* A line below the title for each machine; for all together where they are alike. */
static void put_captions(FILE *pipe, const struct comparison *comparison)
{
    char first[320], text[320];
    bool alike = true;

    caption(comparison, 0, first, sizeof(first));
    for (size_t m = 1; m < comparison->nmachines; m++) {
        caption(comparison, m, text, sizeof(text));
        alike = alike && !strcmp(first, text);
    }
    for (size_t m = 0; m < (alike ? 1 : comparison->nmachines); m++) {
        char *line;

        caption(comparison, m, text, sizeof(text));
        line = alike ? tool_format("%s", text)
                     : tool_format("%s: %s", comparison->machines[m],
                                   *text ? text : "failed");
        fprintf(pipe, "set label %zu ", m + 1);
        plot_text(pipe, line ? line : text);
        fprintf(pipe,
                " at graph 0,1 offset 0,%.1f font 'Sans,9' tc rgb '#666666'\n",
                0.6 + 0.9 * (double)(alike ? 0 : comparison->nmachines - 1 - m));
        free(line);
    }
    if (!alike)
        fprintf(pipe, "set title offset 0,%.1f\nset tmargin %.1f\n",
                0.9 * (double)(comparison->nmachines - 1),
                2.8 + 0.9 * (double)(comparison->nmachines - 1));
}

/* What the bars of the s-th scheduler show: what ran, on the first machine that
 * any did on. */
static const char *title_of(const struct comparison *comparison, size_t s)
{
    size_t ns = comparison->nschedulers;

    for (size_t m = 0; m < comparison->nmachines; m++)
        if (is_good(&comparison->launches[m * ns + s]))
            return launch_policy(&comparison->launches[m * ns + s]);
    return comparison->schedulers[s];
}

/* One group of bars per machine, one bar per scheduler. */
static void plot_bars(struct plot *plot, const struct comparison *comparison,
                      const char *title)
{
    FILE *pipe = plot->pipe;
    size_t ns = comparison->nschedulers, nm = comparison->nmachines;
    double wide = 0.86 / (double)ns;

    fprintf(pipe, "set title ");
    plot_text(plot->pipe, title);
    fprintf(pipe,
            "\nset ylabel 'predicted time (ms)'\n"
            "set style fill solid 0.9 noborder\nset grid "
            "ytics lt 1 lc rgb '#dddddd'\nset key outside right top Left "
            "reverse samplen 1.5\n");
    put_captions(pipe, comparison);
    fputs("set xtics scale 0 (", pipe);
    for (size_t m = 0; m < nm; m++) {
        plot_tic(plot->pipe, comparison->machines[m]);
        fprintf(pipe, " %zu%s", m, m + 1 < nm ? ", " : ")\n");
    }
    fprintf(pipe,
            "set xrange [-0.6:%.2f]\nset yrange [0:*]\n"
            "set offsets 0,0,graph 0.08,0\nplot ",
            (double)nm - 0.4);
    for (size_t s = 0; s < ns; s++) {
        fprintf(pipe, "'-' using 1:2:(%.4f) with boxes lc rgb '%s' title ",
                wide * 0.9, plot_colour(s));
        plot_text(plot->pipe, title_of(comparison, s));
        fprintf(pipe,
                ", '-' using 1:2:3 with labels "
                "offset 0,0.6 font 'Sans,9' notitle%s",
                s + 1 < ns ? ", " : "\n");
    }
    for (size_t line = 0; line < 2 * ns; line++) {
        size_t s = line / 2;

        for (size_t m = 0; m < nm; m++) {
            const struct launch *launch = &comparison->launches[m * ns + s];

            double ms = launch->report.makespan_us / 1000;

            if (is_good(launch))
                fprintf(pipe, ms < 100 ? "%.4f %.6f %.3g\n" : "%.4f %.6f %.0f\n",
                        (double)m + ((double)s - (double)(ns - 1) / 2) * wide,
                        ms, ms);
        }
        fputs("e\n", pipe);
    }
}

static int draw(const struct comparison *comparison, const char *path,
                char *const *argv)
{
    struct plot plot;
    char title[256] = "";
    size_t used = 0;
    unsigned width =
        260 + 90 * (unsigned)(comparison->n < 20 ? comparison->n : 20);

    for (; *argv && used < sizeof(title); argv++) {
        const char *word = strrchr(*argv, '/');
        int n = snprintf(title + used, sizeof(title) - used, "%s%s",
                         used ? " " : "", word && !used ? word + 1 : *argv);

        used += n > 0 ? (size_t)n : 0;
    }
    if (plot_begin(&plot, path, width < 640 ? 640 : width, 480) < 0)
        return -1;
    plot_bars(&plot, comparison, title);
    return plot_end(&plot);
}

/* Rows that differ by nothing but what was asked for. */
static void warn_policies(const struct comparison *comparison)
{
    const struct launch *one = NULL;
    size_t n = 0;

    for (size_t i = 0; i < comparison->n; i++)
        if (is_good(&comparison->launches[i]) &&
            launch_chose_policy(&comparison->launches[i])) {
            one = one ? one : &comparison->launches[i];
            n++;
        }
    if (!one)
        return;
    fflush(stdout);
    launch_warn_policy(one, "compare");
    if (n > 1)
        tool_error(
            "compare: warning: so in %zu of %zu rows, which are labelled "
            "by what ran",
            n, comparison->n);
}

/* The errors that a program printed; owned, NULL without memory. */
static char *errors_of(const struct launch *launch)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    process_print_errors(&launch->process, file);
    fclose(file);
    return text;
}

/* All that the library said where a row has room for a line: each text once,
 * whatever warnings stood between. */
static void print_errors(const struct comparison *comparison)
{
    char *last = NULL;

    for (size_t i = 0; i < comparison->n; i++) {
        const struct launch *launch = &comparison->launches[i];
        char *errors;

        if (is_good(launch) || !launch->process.text ||
            !strstr(launch->process.text, "orrery: error: "))
            continue;
        errors = errors_of(launch);
        if (!errors || (last && !strcmp(last, errors))) {
            free(errors);
            continue;
        }
        fflush(stdout);
        tool_error("compare: %s, %s:", launch->machine, launch->scheduler);
        fputs(errors, stderr);
        free(last);
        last = errors;
    }
    free(last);
}

/* Rows that a signal kept from their end say so; returns how many did not end. */
static size_t note_interrupted(struct comparison *comparison, int stopped)
{
    size_t n = 0;

    for (size_t i = 0; i < comparison->n; i++) {
        struct launch *launch = &comparison->launches[i];
        int code = process_exit_code(&launch->process);

        if (is_good(launch) || (launch->report.json && code != 128 + stopped))
            continue;
        snprintf(launch->problem, sizeof(launch->problem), "interrupted");
        n++;
    }
    return n;
}

/* `stopped`: by this signal; 0. */
static int finish(struct comparison *comparison, int stopped, bool json,
                  const char *plot, char *const *argv)
{
    size_t cut = stopped ? note_interrupted(comparison, stopped) : 0;
    int result = TOOL_OK;
    bool any = false;

    for (size_t i = 0; i < comparison->n; i++)
        if (comparison->launches[i].report.simulated)
            trust_note(&comparison->launches[i].report,
                       comparison->launches[i].machine);
    if ((json ? print_json(comparison) : print_table(comparison)) < 0)
        return TOOL_FAILED;
    warn_policies(comparison);
    print_errors(comparison);
    for (size_t i = 0; i < comparison->n; i++) {
        if (is_good(&comparison->launches[i]))
            any = true;
        else
            result = TOOL_FAILED;
    }
    if (plot && any && draw(comparison, plot, argv) < 0)
        return TOOL_FAILED;
    if (plot && any && !json)
        printf("bars: %s\n", plot);
    if (stopped && !json)
        printf("interrupted: %zu of %zu have ended\n", comparison->n - cut,
               comparison->n);
    return stopped ? 128 + stopped : result;
}

int cmd_compare(int argc, char **argv)
{
    const char *machines = getenv("ORRERY_MACHINE"), *jobs = "2", *plot = NULL;
    const char *schedulers = "eager,lws,dmda,dmdas";
    const char *assume = NULL, *edits = NULL;
    bool json = false;
    const struct tool_option options[] = {
        {'m', "machine", &machines, NULL},
        {'s', "scheduler", &schedulers, NULL},
        {TOOL_JOINED, "set", &edits, NULL},
        {TOOL_JOINED, "assume", &assume, NULL},
        {'j', "jobs", &jobs, NULL},
        {0, "plot", &plot, NULL},
        {0, "json", NULL, &json},
        {0}};
    struct comparison comparison = {0};
    int first = tool_parse_program(argc, argv, options, launch_names, help);
    int result;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (first == argc || !machines || atoi(jobs) < 1) {
        tool_error("compare: %s; see orrery compare --help",
                   first == argc ? "which program?"
                   : !machines   ? "which machines? (-m)"
                                 : "-j takes a number from 1 on");
        free((char *)(uintptr_t)edits);
        free((char *)(uintptr_t)assume);
        return TOOL_USAGE;
    }
    if (plot_check_name("compare: --plot", plot) < 0) {
        free((char *)(uintptr_t)edits);
        free((char *)(uintptr_t)assume);
        return TOOL_USAGE;
    }
    result = comparison_init(&comparison, machines, schedulers, argv + first);
    for (size_t i = 0; result == TOOL_OK && i < comparison.n; i++) {
        comparison.launches[i].assume = assume;
        comparison.launches[i].edits = edits;
    }
    if (result == TOOL_OK) {
        int stopped = launch_all(comparison.launches, comparison.n,
                                 (unsigned)atoi(jobs), show_progress);

        result = stopped < 0
                     ? TOOL_FAILED
                     : finish(&comparison, stopped, json, plot, argv + first);
    }
    comparison_done(&comparison);
    free((char *)(uintptr_t)edits);
    free((char *)(uintptr_t)assume);
    return result;
}

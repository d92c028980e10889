/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/optimise/command.c - `orrery optimise`: searches a schedule of a program on
 * a simulated machine that is better than what the policies make, for
 * -s static=FILE. One thread, several children.
 */
#include "tools/optimise/judge.h"
#include "tools/optimise/distribution.h"

#include "bound/solver.h"
#include "core/base/module.h"
#include "core/policies/names.h"
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/launch.h"
#include "tools/common/modules.h"
#include "tools/common/program.h"
#include "tools/common/schedule.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery optimise -m MACHINE [--set EDIT] [--assume TIMES] [-o FILE]\n"
    "                       [--time 60s] [--runs N] [-j N] [--seed N] [--json]\n"
    "                       -- PROGRAM [ARGUMENTS]\n"
    "       orrery optimise distribution -m CLUSTER -- PROGRAM -p {p}\n"
    "Runs the program under every policy, then searches a better schedule: list\n"
    "scheduling with perturbed ranks, then changes of the best ones; the simulator\n"
    "says how long each takes. Prints each improvement and how far it is above the\n"
    "best lower bound, and writes the best schedule, for -s static=FILE.\n"
    "A record (orrery record; - from standard input) may stand in the place of the\n"
    "program. `distribution` searches a distribution of data over the nodes of a\n"
    "cluster: it has a --help of its own.\n"
    "  -m, --machine MACHINE  the simulated machine (orrery machine list)\n" EDITS_HELP
        ASSUME_HELP DEVICES_HELP "  -o, --output FILE      the schedule (PROGRAM.schedule)\n"
    "      --time SECONDS     how long to search, such as 90s, 10m (60s)\n"
    "      --runs N           end after so many simulations, too\n"
    "  -j, --jobs N           simulations at a time (one per processor)\n"
    "      --seed N           of the search (1)\n"
    "      --json             print policies and result as JSON instead\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line; 128 plus\n"
    "the signal when interrupted.\n"
    "example: orrery optimise -m MACHINE --time 60s -o chol.schedule -- \\\n"
    "             ./cholesky -size 9600 -nblocks 10\n";

#define NAME(name, ops) name,
static const char *const names[] = {ORR_SCHED_NAMES(NAME)};
#undef NAME

enum {
    NNAMES = sizeof(names) / sizeof(*names),
    NSTARTS = 4,
    ROUNDS_OF_LISTS = 8
};

/* Improvements by a smaller share are not printed. */
#define LEAST_PRINTED 1e-3

struct search {
    struct judge judge;
    struct trial trials[NNAMES];
    size_t ntrials;
    size_t nfailed;                /* trials without a time */
    struct trial *best_policy;     /* in trials */
    const struct orr_graph *graph; /* of its run */
    double bound_ms;               /* NaN: not known */
    double printed_ms;             /* of the last line */
    struct plan best;
    struct plan *batch; /* judge.at_once of them, owned */
    uint64_t random;
    double began, until; /* s */
    unsigned most_runs;
    bool json; /* print the result alone, as JSON */
};

static bool search_is_over(const struct search *s)
{
    return tool_now_s() >= s->until ||
           (s->most_runs && s->judge.nasked >= s->most_runs);
}

/* --- what there is to beat --- */

static int by_ms(const void *a, const void *b)
{
    const struct trial *left = a, *right = b;

    if (isnan(left->ms) || isnan(right->ms))
        return isnan(left->ms) - isnan(right->ms);
    return left->ms < right->ms ? -1 : left->ms > right->ms;
}

/* All of them, the best one first. */
static int try_policies(struct search *s)
{
    int rc;

    for (; s->ntrials < NNAMES; s->ntrials++)
        s->trials[s->ntrials].policy = names[s->ntrials];
    rc = judge_policies(&s->judge, s->trials, s->ntrials);
    if (rc)
        return rc;
    qsort(s->trials, s->ntrials, sizeof(*s->trials), by_ms);
    for (size_t i = 0; i < s->ntrials; i++)
        s->nfailed += isnan(s->trials[i].ms);
    s->best_policy = &s->trials[0];
    if (!isnan(s->best_policy->ms))
        return 0;
    tool_error("optimise: %s", s->best_policy->problem);
    return -1;
}

/* Trials that failed, those with one cause together: a schedule that is found beside
 * them is none of the best of all policies. */
static void tell_failed_policies(const struct search *s)
{
    const struct trial *failed = s->trials + s->ntrials - s->nfailed;

    for (size_t i = 0; i < s->nfailed; i++) {
        bool first = true;
        unsigned n = 0;

        for (size_t j = 0; j < s->nfailed; j++) {
            bool same = strcmp(failed[i].problem, failed[j].problem) == 0;

            first &= !(same && j < i);
            n += same;
        }
        if (!first)
            continue;
        tool_error("optimise: %u of %zu policies failed: %s", n, s->ntrials,
                   failed[i].problem);
        fputs(" ", stderr);
        for (size_t j = i; j < s->nfailed; j++)
            if (strcmp(failed[i].problem, failed[j].problem) == 0)
                fprintf(stderr, " %s", failed[j].policy);
        fputc('\n', stderr);
    }
}

/* The higher bound of methods that are good and quick; none without the module. */
static double find_bound(const struct orr_graph *graph)
{
    const struct orr_bound_instance_options how = {.across_nodes = true};
    static const enum orr_bound_method methods[] = {ORR_BOUND_PRECEDENCE,
                                                    ORR_BOUND_RUNTIME};
    const struct orr_bound_options limits = {.seconds = 2.5};
    struct orr_bound_instance *instance = NULL;
    struct orr_bound_result result;
    const struct orr_bound_solver *solver;
    const void *table = NULL;
    struct orr_error err = {""};
    double ms = (double)NAN;

    tool_find_modules("bound");
    if (orr_module_open("bound", &table, &err) < 0 ||
        orr_bound_instance_new(graph, &how, &instance, NULL, &err) < 0)
        return ms;
    solver = table;
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        if (solver->compute(instance, methods[i], &limits, &result) != 0)
            continue;
        if (result.proved && !isnan(result.ms))
            ms = isnan(ms) ? result.ms : fmax(ms, result.ms);
        orr_bound_result_done(&result);
    }
    orr_bound_instance_free(instance);
    return ms;
}

static void print_search_row(const struct search *s, double ms,
                             const char *what)
{
    char time[REPORT_TIME_MAX];

    if (s->json)
        return;
    printf("%7.1f s  %15s", tool_now_s() - s->began, report_time_text(1e3 * ms, time));
    if (s->bound_ms > 0) /* of tasks that take no time nothing is a multiple */
        printf("  bound + %5.2f %%", 100 * (ms / s->bound_ms - 1));
    printf("  %s\n", what);
    fflush(stdout);
}

/* --- the search --- */

/* Asks the simulator about the first n plans of the batch; keeps the best. */
static int search_simulate_batch(struct search *s, size_t n, const char *what)
{
    int rc = judge_plans(&s->judge, s->graph, s->batch, n);

    for (size_t i = 0; !rc && i < n; i++) {
        double ms = s->batch[i].ms;

        if (isnan(ms) || (!isnan(s->best.ms) && ms >= s->best.ms))
            continue;
        plan_copy(s->graph, &s->best, &s->batch[i]);
        if (ms < s->printed_ms * (1 - LEAST_PRINTED)) {
            s->printed_ms = ms;
            print_search_row(s, ms, what);
        }
    }
    return rc;
}

/* What the best policies did. */
static int start_from_policies(struct search *s)
{
    int rc = 0;

    for (size_t i = 0; i < NSTARTS && i < s->ntrials && !rc; i++) {
        struct trial *trial = &s->trials[i];

        if (isnan(trial->ms))
            break;
        if (!trial->graph)
            rc = judge_record(&s->judge, trial);
        if (rc || trial->graph->ntasks != s->graph->ntasks)
            continue;
        plan_from_run(trial->graph, &s->batch[0]);
        rc = search_simulate_batch(s, 1, trial->policy);
    }
    return rc;
}

static int try_lists(struct search *s)
{
    int rc = 0;

    for (unsigned round = 0;
         round < ROUNDS_OF_LISTS && !rc && !search_is_over(s); round++) {
        double noise = 0.05 * round;

        for (size_t i = 0; i < s->judge.at_once && !rc; i++)
            rc = plan_list(s->graph, noise, &s->random, &s->batch[i]);
        if (rc)
            tool_error("out of memory");
        else
            rc = search_simulate_batch(s, s->judge.at_once, "list scheduling");
    }
    return rc;
}

static int try_neighbours(struct search *s)
{
    int rc = 0;

    while (!rc && !search_is_over(s)) {
        for (size_t i = 0; i < s->judge.at_once; i++) {
            plan_copy(s->graph, &s->batch[i], &s->best);
            plan_change(s->graph, &s->random, &s->batch[i]);
        }
        rc = search_simulate_batch(s, s->judge.at_once, "local search");
    }
    return rc;
}

static int new_plans(struct search *s)
{
    int rc = plan_new(s->graph, &s->best);

    s->batch = calloc(s->judge.at_once, sizeof(*s->batch));
    for (size_t i = 0; !rc && s->batch && i < s->judge.at_once; i++)
        rc = plan_new(s->graph, &s->batch[i]);
    if (!rc && s->batch)
        return 0;
    tool_error("out of memory");
    return -1;
}

static int search_run(struct search *s)
{
    int rc = try_policies(s);

    if (!rc)
        tell_failed_policies(s);
    if (!rc)
        rc = judge_record(&s->judge, s->best_policy);
    if (rc)
        return rc;
    s->graph = s->best_policy->graph;
    if (s->graph->ntasks == 0)
        return tool_fail(-1, "optimise: no task was submitted, so that there is nothing "
                             "to schedule");
    s->bound_ms = find_bound(s->graph);
    if (new_plans(s) < 0)
        return -1;
    s->printed_ms = s->best_policy->ms;
    print_search_row(s, s->best_policy->ms, s->best_policy->policy);
    rc = start_from_policies(s);
    if (!rc)
        rc = try_lists(s);
    if (!rc)
        rc = try_neighbours(s);
    return rc;
}

/* --- the result --- */

static void print_search_text(const struct search *s, const char *path,
                              double ms)
{
    bool better = s->best.ms < s->best_policy->ms;
    char time[REPORT_TIME_MAX];

    putchar('\n');
    report_print_basis(&s->judge.report);
    printf("\nbest policy  %15s  %s", report_time_text(1e3 * s->best_policy->ms, time),
           s->best_policy->policy);
    if (s->nfailed)
        printf("  (of the %zu of %zu that ran)", s->ntrials - s->nfailed,
               s->ntrials);
    printf("\nschedule     %15s  %s", report_time_text(1e3 * ms, time), path);
    if (better)
        printf("  (%.2f %% less)", 100 * (1 - ms / s->best_policy->ms));
    else
        printf("  (nothing better was found: it names the policy)");
    if (s->bound_ms > 0)
        printf("\nbound        %15s  %.2f %% below, %.2f %% before",
               report_time_text(1e3 * s->bound_ms, time), 100 * (1 - s->bound_ms / ms),
               100 * (1 - s->bound_ms / s->best_policy->ms));
    else if (!isnan(s->bound_ms))
        printf("\nbound        %15s  no task takes any time", report_time_text(0, time));
    printf("\nsimulations  %12u\n", s->judge.nasked);
}

static int print_search_json(const struct search *s, const char *path,
                             double ms)
{
    json_t *policies = json_array();

    for (size_t i = 0; i < s->ntrials; i++)
        json_array_append_new(
            policies,
            json_pack("{s:s, s:o, s:o}", "policy", s->trials[i].policy, "ms",
                      tool_json_number(s->trials[i].ms), "problem",
                      isnan(s->trials[i].ms) ? tool_json_text(s->trials[i].problem)
                                             : json_null()));
    return tool_json_print(json_pack(
        "{s:o, s:i, s:o, s:f, s:b, s:s, s:f, s:o, s:i, s:O*, s:O*}", "policies",
        policies,
        "failed", (int)s->nfailed,
        "schedule", tool_json_text(path), "schedule_ms", ms, "better",
        s->best.ms < s->best_policy->ms, "best_policy", s->best_policy->policy,
        "best_policy_ms", s->best_policy->ms, "bound_ms",
        tool_json_number(s->bound_ms), "simulations", (int)s->judge.nasked,
        "assumptions", json_object_get(s->judge.report.json, "assumptions"),
        "figures", json_object_get(s->judge.report.json, "figures")));
}

static int search_write_schedule(const struct search *s, const char *path)
{
    bool better = s->best.ms < s->best_policy->ms;
    double ms = better ? s->best.ms : s->best_policy->ms;
    char time[REPORT_TIME_MAX];
    char *note = tool_format("%s on %s, %s as simulated", s->judge.argv[0],
                             s->judge.machine, report_time_text(1e3 * ms, time));
    int rc;

    if (!note) {
        tool_error("out of memory");
        return -1;
    }
    if (better)
        rc = schedule_write(path, s->graph, s->best.worker, s->best.when, note);
    else
        rc = schedule_write_policy(path, s->best_policy->policy, note);
    free(note);
    if (rc < 0)
        return -1;
    if (!s->json)
        print_search_text(s, path, ms);
    else if (print_search_json(s, path, ms) < 0)
        return tool_fail(-1, "out of memory");
    return 0;
}

static void search_free(struct search *s)
{
    for (size_t i = 0; s->batch && i < s->judge.at_once; i++)
        plan_done(&s->batch[i]);
    free(s->batch);
    plan_done(&s->best);
    for (size_t i = 0; i < s->ntrials; i++)
        orr_graph_free(s->trials[i].graph);
    judge_done(&s->judge);
}

static int optimise_program(struct search *s, const char *path)
{
    int rc = judge_begin(&s->judge), result = TOOL_FAILED;

    if (!rc)
        rc = search_run(s);
    if (rc > 0 && s->graph)
        fputs("interrupted: what was found so far is written\n", stderr);
    if (rc >= 0 && s->graph && search_write_schedule(s, path) == 0)
        result = rc > 0 ? 128 + rc : s->nfailed ? TOOL_FAILED : TOOL_OK;
    else if (rc > 0)
        result = tool_fail(128 + rc,
                           "interrupted: there is no schedule, %s was "
                           "not written",
                           path);
    search_free(s);
    return result;
}

/* "dir/cholesky" becomes "cholesky.schedule"; owned. */
static char *default_path(const char *program)
{
    const char *name = strrchr(program, '/');

    return tool_format("%s.schedule", name ? name + 1 : program);
}

/* Numbers of the command line. Prints what is wrong. */
static int read_search_numbers(struct search *s, const char *seconds,
                               const char *runs, const char *jobs,
                               const char *seed)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    double limit = 60;

    s->judge.at_once = processors > 0 ? (unsigned)processors : 1;
    s->random = 1;
    if (seconds && program_seconds(seconds, &limit) < 0)
        tool_error("optimise: --time %s: such as 90s, 10m", seconds);
    else if (runs && program_number(runs, 1, &s->most_runs) < 0)
        tool_error("optimise: --runs %s: a whole number from 1 on", runs);
    else if (jobs && program_number(jobs, 1, &s->judge.at_once) < 0)
        tool_error("optimise: -j %s: a whole number from 1 on", jobs);
    else if (seed && program_seed(seed, &s->random) < 0)
        tool_error("optimise: --seed %s: a whole number", seed);
    else {
        s->began = tool_now_s();
        s->until = s->began + limit;
        return 0;
    }
    return -1;
}

const char *optimise_verb(size_t i)
{
    return i == 0 ? "distribution" : NULL;
}

int cmd_optimise(int argc, char **argv)
{
    struct search s = {.best = {.ms = (double)NAN}, .bound_ms = (double)NAN};
    const char *path = NULL, *seconds = NULL, *runs = NULL, *jobs = NULL,
               *seed = NULL;
    char *named = NULL;
    int result = TOOL_USAGE;
    const char *devices = NULL;
    const struct tool_option options[] = {
        {'m', "machine", &s.judge.machine, NULL},
        {TOOL_JOINED, "set", &s.judge.edits, NULL},
        {TOOL_JOINED, "assume", &s.judge.assume, NULL},
        {TOOL_DEVICES, "devices", &devices, NULL},
        {'o', "output", &path, NULL},
        {0, "time", &seconds, NULL},
        {0, "runs", &runs, NULL},
        {'j', "jobs", &jobs, NULL},
        {0, "seed", &seed, NULL},
        {0, "json", NULL, &s.json},
        {0}};
    int first;

    if (argc > 1 && !strcmp(argv[1], "distribution"))
        return optimise_distribution(argc - 1, argv + 1);
    first = tool_parse_program(argc, argv, options, &launch_words, help);
    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (first == argc)
        tool_error("optimise: which program? See orrery optimise --help");
    else if (!s.judge.machine)
        tool_error("optimise: which machine? -m NAME; orrery machine list "
                   "shows some");
    else if (read_search_numbers(&s, seconds, runs, jobs, seed) == 0)
        result = tool_check_output("optimise: -o", path);
    if (result == TOOL_OK) {
        s.judge.argv = argv + first;
        named = path ? NULL : default_path(argv[first]);
        result = path || named ? optimise_program(&s, path ? path : named)
                               : tool_fail(TOOL_FAILED, "out of memory");
    }
    free(named);
    free((char *)(uintptr_t)s.judge.edits);
    free((char *)(uintptr_t)s.judge.assume);
    return result;
}

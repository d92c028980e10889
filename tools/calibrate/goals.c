/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/calibrate/goals.c - see calibrate.h. One thread. */
#include "core/base/grow.h"
#include "tools/calibrate/calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/plural.h"
#include "perfmodel/arch.h"
#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/common/trust.h"

/* Runs without a new sample, or that leave a precise time in doubt, after which
 * a kernel is given up. */
enum { PATIENCE = 3 };

/* Lag-1 autocorrelation from which it is mentioned. */
static const double related = 0.5;

/* Share of measures set aside, and distance of the row's mean from the estimate,
 * that are worth a warning; as for `orrery perfmodel check`. */
static const double aside_many = 0.05, means_apart = 0.1;

static void goal_done(struct calibrate_goal *goal)
{
    free((char *)(uintptr_t)goal->kernel.name);
    free((char *)(uintptr_t)goal->kernel.symbol);
    free((char *)(uintptr_t)goal->kernel.arch);
    free(goal->configs);
    free(goal->doubt);
}

/* The assumption about the kernel on its device: "cuda0", or "3 cores" of
 * several. */
static struct orr_assumption *
goals_find_assumption(const struct calibrate_goals *goals,
                      const struct report_kernel *kernel)
{
    char type[16] = "";
    int devid = 0;

    if (sscanf(kernel->arch, "%15[a-zA-Z]%d", type, &devid) < 1)
        return NULL;
    return orr_assumptions_find(goals->assumptions, kernel->name, NULL,
                                orr_device_type_find(type), devid);
}

static int add_goal(struct calibrate_goals *goals,
                    const struct report_kernel *kernel)
{
    struct calibrate_goal goal = {.kernel = *kernel}, *added = NULL;
    struct orr_assumption *assumption;

    goal.kernel.name = strdup(kernel->name);
    goal.kernel.symbol = strdup(kernel->symbol);
    goal.kernel.arch = strdup(kernel->arch);
    goal.configs = calloc(goals->nconfigs, sizeof(*goal.configs));
    assumption = goals_find_assumption(goals, kernel);
    if (assumption) {
        assumption->used = true;
        goal.assumed = assumption->text;
    }
    if (goal.kernel.name && goal.kernel.symbol && goal.kernel.arch && goal.configs)
        added = orr_array_add(goals->list, goals->n);
    if (!added) {
        goal_done(&goal);
        return -ENOMEM;
    }
    *added = goal;
    return 0;
}

static int take_kernels(struct calibrate_goals *goals,
                        const struct report *report, size_t config)
{
    for (size_t k = 0; k < report->nkernels; k++) {
        const struct report_kernel *kernel = &report->kernels[k];
        size_t g = 0;

        if (!kernel->model)
            continue;
        while (g < goals->n &&
               !report_same_kernel(&goals->list[g].kernel, kernel))
            g++;
        if (g == goals->n && add_goal(goals, kernel) < 0)
            return -ENOMEM;
        goals->list[g].configs[config] = true;
    }
    return 0;
}

static bool is_precise(const struct calibrate_goals *goals,
                       const struct calibrate_goal *goal)
{
    return goal->known.n >= goals->minimum &&
           goal->known.confidence <= goals->target;
}

static bool is_goal(const char *symbol, const void *arg)
{
    const struct calibrate_goals *goals = arg;

    for (size_t g = 0; g < goals->n; g++)
        if (!strcmp(goals->list[g].kernel.symbol, symbol))
            return true;
    return false;
}

/* Precision is not enough: two levels may have a precise mean. */
static int take_doubts(struct calibrate_goals *goals, const char *host,
                       struct orr_error *err)
{
    struct perfmodel_choice choice = {.host = host};
    struct check_options options = {
        .confidence = goals->target,
        .minimum = goals->minimum,
        .homogeneous = orr_homogeneous_from_env(orr_getenv)};
    struct trust trust;
    int rc = trust_open(&choice, is_goal, goals, &options, &trust, err);

    if (rc < 0)
        return rc;
    for (size_t g = 0; g < goals->n && rc == 0; g++) {
        struct calibrate_goal *goal = &goals->list[g];
        const struct orr_finding *doubt =
            is_precise(goals, goal) ? trust_doubt(&trust, &goal->kernel, NULL)
                                    : NULL;

        free(goal->doubt);
        goal->doubt = doubt ? strdup(doubt->text) : NULL;
        if (doubt && !goal->doubt)
            rc = orr_fail(err, -ENOMEM, "out of memory");
    }
    trust_done(&trust);
    return rc;
}

/* The progress of this goal by a run of `config`. */
static void goal_evaluate(const struct calibrate_goals *goals,
                          struct calibrate_goal *goal, size_t config)
{
    unsigned before = goal->before, now = goal->known.n;

    goal->reached = is_precise(goals, goal) && !goal->doubt;
    if (!goal->configs[config])
        return;
    /* Fewer than before: it was emptied, and has these. */
    goal->samples_per_run = now > before   ? now - before
                            : now < before ? now
                                           : 0;
    goal->idle_runs = goal->samples_per_run > 0 ? 0 : goal->idle_runs + 1;
    goal->doubted_runs = goal->doubt ? goal->doubted_runs + 1 : 0;
    goal->stuck =
        goal->idle_runs >= PATIENCE || goal->doubted_runs >= PATIENCE;
}

int calibrate_goals_update(struct calibrate_goals *goals,
                           const struct report *report, size_t config,
                           struct orr_error *err)
{
    int rc = 0;

    if (!goals->models)
        rc = kernel_models_new(report->host, &goals->models);
    if (rc == 0)
        rc = take_kernels(goals, report, config);
    if (rc < 0)
        return orr_fail(err, rc, "out of memory");
    kernel_models_forget(goals->models);
    for (size_t g = 0; g < goals->n && rc == 0; g++) {
        struct calibrate_goal *goal = &goals->list[g];

        goal->before = goal->known.n;
        rc =
            kernel_models_find(goals->models, &goal->kernel, &goal->known, err);
    }
    if (rc == 0)
        rc = take_doubts(goals, report->host, err);
    for (size_t g = 0; g < goals->n && rc == 0; g++)
        goal_evaluate(goals, &goals->list[g], config);
    return rc;
}

void calibrate_goals_done(struct calibrate_goals *goals)
{
    for (size_t g = 0; g < goals->n; g++)
        goal_done(&goals->list[g]);
    free(goals->list);
    kernel_models_free(goals->models);
}

/* Whether samples of it would still help. */
static bool goal_is_open(const struct calibrate_goal *goal)
{
    return !goal->reached && !goal->stuck && !goal->assumed;
}

bool calibrate_goals_need(const struct calibrate_goals *goals, size_t config)
{
    for (size_t g = 0; g < goals->n; g++)
        if (goals->list[g].configs[config] && goal_is_open(&goals->list[g]))
            return true;
    return false;
}

size_t calibrate_goals_assumed(const struct calibrate_goals *goals)
{
    size_t n = 0;

    for (size_t g = 0; g < goals->n; g++)
        n += goals->list[g].assumed != NULL;
    return n;
}

size_t calibrate_goals_missing(const struct calibrate_goals *goals)
{
    size_t missing = 0;

    for (size_t g = 0; g < goals->n; g++)
        missing += !goals->list[g].reached && !goals->list[g].assumed;
    return missing;
}

const struct calibrate_goal *
calibrate_goals_worst(const struct calibrate_goals *goals)
{
    const struct calibrate_goal *worst = NULL;

    for (size_t g = 0; g < goals->n; g++) {
        const struct calibrate_goal *goal = &goals->list[g];

        if (!goal_is_open(goal) || isnan(goal->known.confidence))
            continue;
        if (!worst || goal->known.confidence > worst->known.confidence)
            worst = goal;
    }
    return worst;
}

/* Samples that the goal lacks, NaN: not known. */
static double samples_left(const struct calibrate_goals *goals,
                           const struct calibrate_goal *goal)
{
    const struct kernel_knowledge *known = &goal->known;
    double ratio = known->confidence / goals->target;

    return fmax(known->n * (ratio * ratio - 1),
                goals->minimum - (double)known->n);
}

double calibrate_goals_runs_left(const struct calibrate_goals *goals)
{
    double runs = 0;

    for (size_t g = 0; g < goals->n; g++) {
        const struct calibrate_goal *goal = &goals->list[g];

        if (!goal_is_open(goal))
            continue;
        if (isnan(goal->known.confidence) || !(goal->samples_per_run > 0))
            return (double)NAN;
        runs = fmax(runs, samples_left(goals, goal) / goal->samples_per_run);
    }
    return runs;
}

/* --- summary --- */

/* Why a goal was not reached, or that it was; owned. */
static char *goal_explanation(const struct calibrate_goals *goals,
                              const struct calibrate_goal *goal)
{
    const struct kernel_knowledge *known = &goal->known;

    if (goal->assumed)
        return tool_format("assumed: %s", goal->assumed);
    if (goal->reached && known->confidence > CHECK_HOPELESS * CHECK_CONFIDENCE)
        return tool_format("reached; orrery perfmodel check says so with "
                           "--confidence %.3g%%",
                           100 * goals->target);
    if (goal->reached)
        return strdup("reached");
    if (goal->doubt)
        return tool_format("not to be trusted: %s%s", goal->doubt,
                           goal->stuck ? ", nor after three runs more" : "");
    if (goal->stuck && known->n < goals->minimum &&
        known->nseen >= goals->minimum)
        return tool_format("its times differ too much: %llu of %llu measures "
                           "were set aside",
                           (unsigned long long)known->noutliers,
                           (unsigned long long)known->nseen);
    if (goal->stuck && known->n < goals->minimum)
        return strdup(
            "three runs more did not measure it: its sizes are others "
            "in each run, or its model is not saved");
    if (known->n < goals->minimum)
        return tool_format("%u of %u samples", known->n, goals->minimum);
    if (known->mixed)
        return tool_format(
            "two populations in the same shares in each run, %.4g and %.4g "
            "µs: their mean is taken, which needs more samples",
            known->regimes[0], known->regimes[1]);
    if (known->nregimes == 2)
        return tool_format("two regimes, %.4g and %.4g µs", known->regimes[0],
                           known->regimes[1]);
    if (known->autocorrelation > related)
        return tool_format("samples follow each other (%.2f): each has little "
                           "information",
                           known->autocorrelation);
    if (isnan(known->confidence))
        return strdup("too few samples");
    return tool_format("about %.0f samples more", samples_left(goals, goal));
}

/* Share of the measures that was set aside; NaN: not known. */
static double share_aside(const struct kernel_knowledge *known)
{
    return known->nseen > 0 ? (double)known->noutliers / (double)known->nseen
                            : (double)NAN;
}

static void goal_add_row(struct table *table,
                         const struct calibrate_goals *goals,
                         const struct calibrate_goal *goal)
{
    const struct report_kernel *kernel = &goal->kernel;
    const struct kernel_knowledge *known = &goal->known;
    char *problem = goal_explanation(goals, goal);

    table_add(table, "%s", kernel->name);
    if (kernel->implementation)
        table_add(table, "%s/%u", kernel->arch, kernel->implementation);
    else
        table_add(table, "%s", kernel->arch);
    table_add(table, "%08x", kernel->footprint);
    table_add(table, "%lld", (long long)kernel->size);
    table_add(table, "%u", known->n);
    if (isnan(share_aside(known)))
        table_add(table, "-");
    else
        table_add(table, "%.0f %%", 100 * share_aside(known));
    table_add(table, isnan(known->mean) ? "-" : "%.4g", known->mean);
    table_add(table, isnan(known->estimate) ? "-" : "%.4g", known->estimate);
    table_add(table, isnan(known->confidence) ? "-" : "%.2f%s",
              100 * known->confidence, known->independent ? "?" : "");
    if (problem)
        table_add(table, "%s", problem);
    table->failed |= !problem;
    free(problem);
}

/* A precision is that of what was kept. */
static void warn_aside(const struct calibrate_goals *goals)
{
    for (size_t g = 0; g < goals->n; g++) {
        const struct report_kernel *kernel = &goals->list[g].kernel;
        const struct kernel_knowledge *known = &goals->list[g].known;

        if (known->mixed)
            printf(
                "%s on %s (%08x) has two populations in the same shares in each run, "
                "about %.4g and %.4g µs:\ntheir mean is taken, %.4g µs.\n",
                kernel->name, kernel->arch, kernel->footprint,
                known->regimes[0], known->regimes[1], known->estimate);
        else if (share_aside(known) > aside_many)
            printf(
                "warning: %s on %s (%08x): %llu of %llu measures (%.0f %%) "
                "were set aside; ± is that of the\nothers. Something disturbs "
                "this machine, or the kernel has two levels.\n",
                kernel->name, kernel->arch, kernel->footprint,
                (unsigned long long)known->noutliers,
                (unsigned long long)known->nseen, 100 * share_aside(known));
        if (fabs(known->mean / known->estimate - 1) > means_apart)
            printf(
                "warning: %s on %s (%08x): StarPU takes the mean of the row, "
                "%.4g µs; Orrery takes %.4g µs\n",
                kernel->name, kernel->arch, kernel->footprint, known->mean,
                known->estimate);
    }
}

/* What is assumed of kernels that did not run. */
static void print_unused(const struct orr_assumptions *assumptions)
{
    for (unsigned i = 0; i < assumptions->n; i++)
        if (!assumptions->all[i].used)
            printf("assumed: %s  (%s)\n", assumptions->all[i].text,
                   assumptions->all[i].elsewhere ? "for another machine"
                                                 : "no such kernel ran");
}

static void print_goals_summary(const struct calibrate_goals *goals,
                                const struct calibrate_result *result)
{
    size_t missing = calibrate_goals_missing(goals);
    size_t nassumed = calibrate_goals_assumed(goals), n = goals->n - nassumed;
    char assumed[64] = "";
    bool unsure = false;

    for (size_t g = 0; g < goals->n; g++)
        unsure = unsure || goals->list[g].known.independent;
    if (unsure)
        puts("?: as if samples were independent, the true value is larger");
    warn_aside(goals);
    print_unused(goals->assumptions);
    if (n == 0) {
        puts("all kernels are assumed: nothing is left to measure");
        return;
    }
    if (nassumed)
        snprintf(assumed, sizeof(assumed), ", %zu assumed and not required",
                 nassumed);
    printf("%zu of %zu kernels known to %.3g %%%s after %u run%s, %.0f s%s\n",
           n - missing, n, 100 * goals->target, assumed, result->runs,
           orr_plural(result->runs), result->seconds,
           result->stopped     ? " (interrupted)"
           : result->timed_out ? " (time limit)"
                               : "");
}

static int print_goals_table(const struct calibrate_goals *goals,
                             const struct calibrate_result *result)
{
    static const struct table_column columns[] = {
        {"kernel", false}, {"arch", false},       {"footprint", false},
        {"size", true},    {"samples", true},     {"set aside", true},
        {"mean µs", true}, {"estimate µs", true}, {"± %", true},
        {"", false}};
    struct table table = {0};
    int rc;

    for (size_t g = 0; g < goals->n; g++)
        goal_add_row(&table, goals, &goals->list[g]);
    rc = table_end(&table, columns, sizeof(columns) / sizeof(*columns));
    if (rc == 0)
        print_goals_summary(goals, result);
    return rc;
}

/* The two whose mean is taken; null: it is of one. */
static json_t *populations_json(const struct kernel_knowledge *known)
{
    return known->mixed
               ? json_pack("[f, f]", known->regimes[0], known->regimes[1])
               : NULL;
}

static json_t *goal_json(const struct calibrate_goals *goals,
                         const struct calibrate_goal *goal)
{
    const struct report_kernel *kernel = &goal->kernel;
    char *problem = goal_explanation(goals, goal), footprint[16];
    json_t *json;

    snprintf(footprint, sizeof(footprint), "%08x", kernel->footprint);
    json = json_pack(
        "{s:s, s:s, s:i, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:b, s:b, "
        "s:s?, s:s?, s:o?}",
        "name", kernel->name, "arch", kernel->arch, "implementation",
        (int)kernel->implementation, "footprint", footprint, "size",
        kernel->size, "samples", (json_int_t)goal->known.n, "measured",
        (json_int_t)goal->known.nseen, "set_aside",
        (json_int_t)goal->known.noutliers, "mean_us",
        tool_json_number(goal->known.mean), "estimate_us",
        tool_json_number(goal->known.estimate), "confidence",
        tool_json_number(goal->known.confidence), "independent",
        (int)goal->known.independent, "reached", (int)goal->reached, "problem",
        goal->reached || goal->assumed ? NULL : problem, "assumed",
        goal->assumed, "populations_us", populations_json(&goal->known));
    free(problem);
    return json;
}

static json_t *assumptions_json(const struct orr_assumptions *assumptions)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < assumptions->n; i++)
        json_array_append_new(list, json_pack("{s:s, s:b}", "text",
                                              assumptions->all[i].text, "used",
                                              (int)assumptions->all[i].used));
    return list;
}

static int print_goals_json(const struct calibrate_goals *goals,
                            const struct calibrate_result *result)
{
    json_t *kernels = json_array();
    json_t *json = json_pack(
        "{s:b, s:f, s:i, s:f, s:b, s:b, s:O?, s:o?}", "reached",
        calibrate_goals_missing(goals) == 0, "target", goals->target, "runs",
        (int)result->runs, "seconds", result->seconds, "time_limit",
        (int)result->timed_out, "interrupted", result->stopped != 0, "kernels",
        kernels, "assumptions", assumptions_json(goals->assumptions));
    int rc = kernels && json ? 0 : -ENOMEM;

    for (size_t g = 0; rc == 0 && g < goals->n; g++)
        if (json_array_append_new(kernels, goal_json(goals, &goals->list[g])))
            rc = -ENOMEM;
    if (rc == 0)
        rc = tool_json_print(json);
    else
        json_decref(json);
    json_decref(kernels);
    return rc;
}

int calibrate_goals_print(const struct calibrate_goals *goals,
                          const struct calibrate_result *result, bool json)
{
    return json ? print_goals_json(goals, result)
                : print_goals_table(goals, result);
}

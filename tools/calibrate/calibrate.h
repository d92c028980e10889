/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/calibrate.h - `orrery calibrate`. For `kernels`: lists the
 * kernels of a program and the precision of their models, and runs it until
 * that suffices. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cost/assume.h"
#include "tools/common/kernel_model.h"
#include "tools/common/report.h"

/* The goal for one kernel. */
struct calibrate_goal {
    struct report_kernel kernel; /* its texts are owned */
    bool *configs;               /* owned: which of them execute it */
    struct kernel_knowledge known;
    unsigned before;        /* samples before the last run */
    double samples_per_run; /* how many the last run that had it saved */
    unsigned idle_runs;     /* runs since that saved none of it */
    const char *assumed; /* the assumption that gives its time, so that it need
                          * not be measured; lent by `assumptions`; NULL */
    char *doubt;           /* owned: why `orrery perfmodel check` does not trust
                            * what is precise enough; NULL */
    unsigned doubted_runs; /* runs since that did not change that */
    bool reached;          /* precise enough, and trusted */
    bool stuck; /* runs bring no samples, or no trust: given up */
};

struct calibrate_goals {
    double target;    /* relative confidence */
    unsigned minimum; /* samples */
    const struct orr_assumptions *assumptions;
    size_t nconfigs;
    size_t n;
    struct calibrate_goal *list;  /* owned */
    struct kernel_models *models; /* owned; NULL before the first report */
};

/* Takes in the kernels that a run of configuration `config` had, and looks up
 * the precision of all again. Errors: -ENOMEM; those of reading models, with a
 * message. */
int calibrate_goals_update(struct calibrate_goals *goals,
                           const struct report *report, size_t config,
                           struct orr_error *err);
void calibrate_goals_done(struct calibrate_goals *goals);

/* Whether running that configuration again helps. */
bool calibrate_goals_need(const struct calibrate_goals *goals, size_t config);

/* Goals that are not to be measured. */
size_t calibrate_goals_assumed(const struct calibrate_goals *goals);

/* Goals that are not reached; the worst of them that could be, NULL without. */
size_t calibrate_goals_missing(const struct calibrate_goals *goals);
const struct calibrate_goal *
calibrate_goals_worst(const struct calibrate_goals *goals);

/* Runs that the slowest goal still takes if intervals shrink as 1/√n; NaN: not
 * known. */
double calibrate_goals_runs_left(const struct calibrate_goals *goals);

/* The outcome of a calibration, for the summary. */
struct calibrate_result {
    unsigned runs;
    double seconds;
    bool timed_out;
    int stopped; /* by this signal; 0 */
};

/* The table, or JSON, on stdout. Errors: -ENOMEM. */
int calibrate_goals_print(const struct calibrate_goals *goals,
                          const struct calibrate_result *result, bool json);

/* The options. */
struct calibrate_options {
    char *const *argv;  /* the program */
    char *const *sizes; /* NULL-terminated, or NULL */
    const char *sched;  /* or NULL */
    double time_limit_s;
    double confidence;
    uint64_t seed;
    unsigned nranks; /* as which it runs, 0: as one process */
    struct orr_assumptions assumptions; /* owned */
    bool restart, json, dry_run;
};

/* Runs the program until all goals are reached; the exit code of the process.
 */
int calibrate_kernels(const struct calibrate_options *options);

/* `orrery calibrate bus`, `runtime` and `network`; argv[0] is that name. The exit code. */
int calibrate_bus(int argc, char **argv);
int calibrate_runtime(int argc, char **argv);
int calibrate_network(int argc, char **argv);

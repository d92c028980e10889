/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/kernels.c - see calibrate.h: runs a program until the models
 * of its kernels are precise enough. A configuration is a size and a choice of
 * devices; each round runs those that still help, in a new random order, so
 * that changes of the machine during calibration do not favour one of them.
 */
#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/slowdown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/plural.h"
#include "perfmodel/disk.h"
#include "perfmodel/sampling.h"
#include "tools/common/launch.h"
#include "tools/common/program.h"
#include "tools/common/quiet.h"
#include "tools/common/ranks.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/perfmodel.h"

/* Choices of devices: all of them, and each type alone, since a scheduler
 * prefers the fast ones once they are calibrated. If a program cannot do without the
 * others, they only execute what that type cannot. */
static const struct {
    const char *kind;       /* as workers are named; NULL: all devices */
    const char *without[3]; /* settings that exclude the others */
} choices[] = {
    {NULL, {NULL}},
    {"CPU", {"STARPU_NCUDA=0", "STARPU_NOPENCL=0", "STARPU_NHIP=0"}},
    {"CUDA", {"STARPU_NCPU=0", "STARPU_NOPENCL=0", "STARPU_NHIP=0"}},
    {"OpenCL", {"STARPU_NCPU=0", "STARPU_NCUDA=0", "STARPU_NHIP=0"}},
    {"HIP", {"STARPU_NCPU=0", "STARPU_NCUDA=0", "STARPU_NOPENCL=0"}},
};

enum { NCHOICES = sizeof(choices) / sizeof(*choices) };

struct config {
    const char *size; /* borrowed; NULL */
    unsigned choice;
    char **argv;   /* owned */
    bool possible; /* there are such devices, and it did not fail */
    bool among;    /* it fails with these devices alone: others do what they
                    * cannot */
    bool tried;
};

struct calibration {
    const struct calibrate_options *options;
    struct calibrate_goals goals;
    struct calibrate_result result;
    struct calibrate_slowdown slowdown;
    struct config *configs;
    unsigned *order; /* of a round */
    unsigned nconfigs;
    unsigned round;
    uint64_t random;
    double start_s;
    double run_s; /* of a run, on average of late */
    bool failed;
};

/* --- beginning and end --- */

static int make_configs(struct calibration *c)
{
    char *const *sizes = c->options->sizes;
    unsigned nsizes = 0;

    while (sizes && sizes[nsizes])
        nsizes++;
    c->nconfigs = (nsizes ? nsizes : 1) * NCHOICES;
    c->goals.nconfigs = c->nconfigs;
    c->configs = calloc(c->nconfigs, sizeof(*c->configs));
    c->order = calloc(c->nconfigs, sizeof(*c->order));
    if (!c->configs || !c->order)
        return -1;
    for (unsigned i = 0; i < c->nconfigs; i++) {
        struct config *config = &c->configs[i];

        config->size = nsizes ? sizes[i / NCHOICES] : NULL;
        config->choice = i % NCHOICES;
        config->possible = config->choice == 0;
        config->argv = program_argv(c->options->argv, config->size);
        if (!config->argv)
            return -1;
    }
    return 0;
}

static void calibration_done(struct calibration *c)
{
    for (unsigned i = 0; c->configs && i < c->nconfigs; i++)
        program_free(c->configs[i].argv);
    free(c->configs);
    free(c->order);
    calibrate_goals_done(&c->goals);
}

/* --- one run --- */

/* Several device types: each gets runs of its own. */
static void find_choices(struct calibration *c, const struct report *report)
{
    struct report_kind kinds[16];
    unsigned n = report_kinds(report, kinds, 16);

    for (unsigned i = 0; n > 1 && i < c->nconfigs; i++)
        for (unsigned k = 0; k < n; k++) {
            struct config *config = &c->configs[i];

            if (config->choice && !config->tried &&
                !strcasecmp(choices[config->choice].kind, kinds[k].name))
                config->possible = true;
        }
}

static bool has_model(const struct report *report)
{
    for (size_t k = 0; k < report->nkernels; k++)
        if (report->kernels[k].model)
            return true;
    return false;
}

/* The fault of a run that ended well; false: none. */
static bool is_useless(const struct launch *launch)
{
    const struct report *report = &launch->report;

    if (report->simulated)
        tool_error("%s simulates a machine although ORRERY_MACHINE is not set: "
                   "only real runs can be measured",
                   launch->argv[0]);
    else if (!json_object_get(report->json, "kernels"))
        tool_error("%s is linked to a library that does not report kernels: "
                   "use the one that came with this command",
                   launch->argv[0]);
    else if (!has_model(report))
        tool_error("%s has no kernels that could be calibrated: its codelets "
                   "have neither a .model with a symbol nor a .name under "
                   "which a default model could be kept",
                   launch->argv[0]);
    else
        return false;
    return true;
}

/* The run failed. With a choice of devices that is not an error of the program:
 * it may need the others. */
static void config_give_up(struct calibration *c, struct config *config,
                           const struct launch *launch)
{
    if (config->choice && !config->among) {
        config->among = true;
        config->tried = false;
        return;
    }
    if (config->choice) {
        config->possible = false;
        tool_error("%s fails where %s executes all that it can, which is left "
                   "out: %s",
                   launch->argv[0], choices[config->choice].kind,
                   launch->problem);
        return;
    }
    if (launch->process.text)
        fwrite(launch->process.text, 1, launch->process.length, stderr);
    tool_error("%s", launch->problem);
    c->failed = true;
}

static void take_report(struct calibration *c, unsigned i,
                        const struct launch *launch)
{
    struct orr_error err = {""};

    if (is_useless(launch)) {
        c->failed = true;
        return;
    }
    if (calibrate_goals_update(&c->goals, &launch->report, i, &err) < 0) {
        tool_error("%s", err.text);
        c->failed = true;
        return;
    }
    find_choices(c, &launch->report);
}

static void config_run(struct calibration *c, unsigned i)
{
    struct config *config = &c->configs[i];
    bool anew = c->options->restart && c->round == 0;
    const char *const *without = choices[config->choice].without;
    char on[64];
    const char *more[] = {anew ? "STARPU_CALIBRATE=2" : "STARPU_CALIBRATE=1",
                          "ORRERY_MACHINE",
                          "ORRERY_SET",
                          "ORRERY_TRACE",
                          "ORRERY_ASSUME",
                          on,
                          config->among ? NULL : without[0],
                          config->among ? NULL : without[1],
                          config->among ? NULL : without[2],
                          NULL};
    struct launch launch = {.scheduler = c->options->sched,
                            .more = more,
                            .argv = config->argv,
                            .quiet = true};
    double wall_s;
    int stopped;

    snprintf(on, sizeof(on), "ORRERY_CALIBRATE_ON%s%s",
             config->among ? "=" : "",
             config->among ? choices[config->choice].kind : "");
    calibrate_slowdown_begin(&c->slowdown);
    stopped = ranks_launch(&launch, "calibrate kernels", c->options->nranks);
    config->tried = true;
    wall_s = launch.process.wall_s;
    calibrate_slowdown_end(&c->slowdown, wall_s * 1e6);
    c->run_s = c->result.runs ? (3 * c->run_s + wall_s) / 4 : wall_s;
    c->result.runs++;
    if (stopped > 0) {
        c->result.stopped = stopped;
        c->result.runs--;
    } else if (stopped < 0)
        c->failed = true;
    else if (*launch.problem)
        config_give_up(c, config, &launch);
    else
        take_report(c, i, &launch);
    launch_done(&launch);
}

/* --- rounds --- */

static void show_round_progress(const struct calibration *c)
{
    const struct calibrate_goals *goals = &c->goals;
    const struct calibrate_goal *worst = calibrate_goals_worst(goals);
    double limit_s = c->options->time_limit_s - (tool_now_s() - c->start_s);
    double left_s = calibrate_goals_runs_left(goals) * c->run_s;

    if (!isatty(STDERR_FILENO) || c->failed)
        return;
    fprintf(stderr, "\r\033[Krun %u: %zu of %zu kernels known to %.3g %%",
            c->result.runs, goals->n - calibrate_goals_missing(goals), goals->n,
            100 * goals->target);
    if (worst)
        fprintf(stderr, ", worst %s on %s %.1f %%", worst->kernel.name,
                worst->kernel.arch, 100 * worst->known.confidence);
    if (isnan(left_s) || left_s > limit_s)
        fprintf(stderr, ", at most %.0f s left", fmax(limit_s, 0));
    else
        fprintf(stderr, ", about %.0f s left", left_s);
}

/* The runs of one size are joined in one count; several sizes take turns. */
static bool config_is_wanted(const struct calibration *c, unsigned i)
{
    const struct config *config = &c->configs[i];

    return config->possible &&
           (!config->tried || (c->options->restart && c->round == 0) ||
            calibrate_goals_need(&c->goals, i));
}

static bool calibration_may_continue(struct calibration *c)
{
    if (c->failed || c->result.stopped)
        return false;
    c->result.timed_out = tool_now_s() - c->start_s >= c->options->time_limit_s;
    return !c->result.timed_out || c->result.runs == 0;
}

/* Returns whether there was something to do. */
static bool run_round(struct calibration *c)
{
    bool any = false;

    program_shuffle(c->order, c->nconfigs, &c->random);
    for (unsigned k = 0; k < c->nconfigs; k++) {
        if (!config_is_wanted(c, c->order[k]))
            continue;
        if (!calibration_may_continue(c))
            return false;
        config_run(c, c->order[k]);
        show_round_progress(c);
        any = true;
    }
    c->round++;
    return any;
}

/* Several sizes share model files: starting anew with each of them in turn
 * would leave the last one's only, so there is a round that only empties. */
static void calibration_run_rounds(struct calibration *c)
{
    c->start_s = tool_now_s();
    while (run_round(c))
        ;
    c->result.seconds = tool_now_s() - c->start_s;
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

static bool has_cuda_kernels(const struct calibrate_goals *goals)
{
    for (size_t i = 0; i < goals->n; i++)
        if (strncmp(goals->list[i].kernel.arch, "cuda", 4) == 0)
            return true;
    return false;
}

static int calibration_print_result(const struct calibration *c)
{
    if (c->goals.n > 0 &&
        calibrate_goals_print(&c->goals, &c->result, c->options->json) < 0) {
        tool_error("out of memory");
        return TOOL_FAILED;
    }
    calibrate_slowdown_warn(&c->slowdown, has_cuda_kernels(&c->goals));
    if (c->result.stopped)
        return tool_fail(128 + c->result.stopped,
                         "interrupted: the models have the samples of %u whole "
                         "run%s; those of the run that was ended are lost",
                         c->result.runs, orr_plural(c->result.runs));
    if (c->failed || calibrate_goals_missing(&c->goals) > 0)
        return TOOL_FAILED;
    return TOOL_OK;
}

/* The configurations of the first round; only after it is known which devices
 * there are. */
static int show_plan(struct calibration *c)
{
    program_shuffle(c->order, c->nconfigs, &c->random);
    for (unsigned k = 0; k < c->nconfigs; k++) {
        const struct config *config = &c->configs[c->order[k]];
        char *text;

        if (!config->possible)
            continue;
        text = program_command(config->argv);
        if (!text) {
            tool_error("out of memory");
            return TOOL_FAILED;
        }
        printf("STARPU_CALIBRATE=%d %s%s%s", c->options->restart ? 2 : 1,
               c->options->sched ? "STARPU_SCHED=" : "",
               c->options->sched ? c->options->sched : "",
               c->options->sched ? " " : "");
        if (c->options->nranks)
            printf("orrery run -n %u -- ", c->options->nranks);
        puts(text);
        free(text);
    }
    for (unsigned i = 0; i < c->options->assumptions.n; i++)
        printf("assumed, not required: %s\n",
               c->options->assumptions.all[i].text);
    puts("and again in other orders; where there are several device types, "
         "also on each type alone, or with the others for what it cannot do");
    return TOOL_OK;
}

/* Before hours of runs whose samples would be lost. */
static bool can_save_models(void)
{
    struct orr_error err = {"out of memory"};
    struct orr_sampling *sampling = NULL;
    char *folder = NULL;
    int rc = orr_sampling_from_env(orr_getenv, NULL, &sampling);

    if (rc == 0)
        rc = orr_sampling_place(sampling, ORR_SAMPLING_CODELETS, "", &folder);
    if (rc == 0)
        rc = orr_directory_make(folder, &err);
    if (rc == 0 && access(folder, W_OK) < 0)
        rc = orr_disk_fail(&err, "models cannot be saved there", folder);
    if (rc < 0)
        tool_error("%s", err.text);
    free(folder);
    orr_sampling_free(sampling);
    return rc == 0;
}

int calibrate_kernels(const struct calibrate_options *options)
{
    struct calibration c = {.options = options,
                            .goals = {.target = options->confidence,
                                      .assumptions = &options->assumptions,
                                      .minimum = perfmodel_minimum()},
                            .random = options->seed};
    int result = TOOL_FAILED;

    if (make_configs(&c) < 0)
        tool_error("out of memory");
    else if (options->dry_run)
        result = show_plan(&c);
    else if (can_save_models()) {
        quiet_begin(options->json);
        calibration_run_rounds(&c);
        result = calibration_print_result(&c);
    }
    calibration_done(&c);
    return result;
}

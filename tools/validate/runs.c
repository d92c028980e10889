/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/validate/runs.c - the runs of `orrery validate`: each repetition runs
 * every size for real and simulated, in a new random order. One thread.
 */
#include "tools/common/scratch.h"
#include "tools/validate/validate.h"

#include "perfmodel/sampling.h"
#include "platforms/cluster.h"
#include "tools/common/here.h"
#include "tools/common/program.h"
#include "tools/common/ranks.h"
#include "tools/common/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- beginning and end --- */

static int validation_make_runs(struct validation *v)
{
    char *const *sizes = v->options->sizes;

    while (sizes[v->nsizes])
        v->nsizes++;
    v->nsizes = v->nsizes ? v->nsizes : 1;
    v->nreps = v->options->nreps;
    v->argvs = calloc(v->nsizes, sizeof(char **));
    v->runs = calloc((size_t)v->nsizes * v->nreps * 2, sizeof(*v->runs));
    if (!v->argvs || !v->runs)
        return -1;
    for (unsigned s = 0; s < v->nsizes; s++) {
        v->argvs[s] = program_argv(v->options->argv, sizes[s]);
        if (!v->argvs[s])
            return -1;
    }
    return 0;
}

static int validation_make_folder(struct validation *v)
{
    v->folder = scratch_make();
    return v->folder ? 0 : -1;
}

char *validation_path(const struct validation *v, unsigned size, unsigned rep,
                      const char *what)
{
    return tool_format("%s/%u.%u.%s", v->folder, size, rep, what);
}

/* A description of this machine, to be simulated. */
static int describe_machine(struct validation *v)
{
    v->machine = tool_format("%s/here.xml", v->folder);
    if (!v->machine) {
        tool_error("out of memory");
        return -1;
    }
    return here_write(v->machine, v->options->argv[0]);
}

/* The words of the network between ranks of this host, as it was measured. Owned; NULL after
 * a message. */
static char *measured_network(void)
{
    struct orr_sampling *sampling = NULL;
    const struct orr_host_options options = {.hostname = getenv("STARPU_HOSTNAME")};
    struct orr_cluster_desc cluster = {0};
    struct orr_error err = {""};
    char *host = NULL, *name = NULL, *words = NULL;

    if (orr_sampling_from_env(orr_getenv, NULL, &sampling) == 0 &&
        orr_host_name(&options, &host, &err) == 0)
        name = tool_format("%s-ranks", host);
    if (name && orr_cluster_load(name, orr_sampling_dirs(sampling), &cluster, &err) == 0)
        words = strdup(cluster.network);
    if (!words)
        tool_error("validate: --ranks: messages between ranks of this host are not known: "
                   "measure them with orrery calibrate network, or name a cluster with -m%s%s",
                   *err.text ? ": " : "", err.text);
    orr_cluster_free(&cluster);
    orr_sampling_free(sampling);
    free(name);
    free(host);
    return words;
}

/* This machine as one node, which all ranks share. */
static int describe_node(struct validation *v)
{
    char *words = measured_network(), *path;

    if (!words || describe_machine(v) < 0) {
        free(words);
        return -1;
    }
    path = v->machine;
    v->machine = tool_format("1*\"%s\" + %s ranks-per-node=%u", path, words,
                             v->options->nranks);
    free(path);
    free(words);
    if (!v->machine)
        tool_error("out of memory");
    return v->machine ? 0 : -1;
}

static int choose_machine(struct validation *v)
{
    if (!v->options->machine)
        return v->options->nranks ? describe_node(v) : describe_machine(v);
    v->machine = strdup(v->options->machine);
    if (!v->machine)
        tool_error("out of memory");
    return v->machine ? 0 : -1;
}

void validation_done(struct validation *v)
{
    for (unsigned s = 0; v->argvs && s < v->nsizes; s++)
        program_free(v->argvs[s]);
    for (size_t r = 0; v->runs && r < (size_t)v->nsizes * v->nreps * 2; r++)
        launch_done(&v->runs[r]);
    for (size_t k = 0; k < v->nkernels; k++) {
        free(v->kernels[k].times);
        free(v->kernels[k].fast_times);
    }
    free(v->argvs);
    free(v->runs);
    free(v->machine);
    scratch_remove(v->folder);
    free(v->kernels);
    free(v->items);
    free(v->links);
    free(v->ends);
}

/* --- running --- */

static const char *const sim_settings[] = {
    "STARPU_CALIBRATE=0", "ORRERY_SIM_KERNELS", "ORRERY_TRACE", NULL};

/* What the program has said; the name of this machine in the place of the temporary file
 * with its description, since nobody can use that in a command. */
static void print_messages(const struct validation *v,
                           const struct launch *launch)
{
    const char *text = launch->process.text, *at;
    const char *host = launch->report.json ? launch->report.host : NULL;

    if (!text)
        return;
    while (host && !v->options->machine && (at = strstr(text, v->machine))) {
        fprintf(stderr, "%.*s%s", (int)(at - text), text, host);
        text = at + strlen(v->machine);
    }
    fputs(text, stderr);
}

static void print_failure(const struct validation *v,
                          const struct launch *launch, bool simulated)
{
    print_messages(v, launch);
    tool_error("%s, %s: %s", launch->argv[0],
               simulated ? "simulated" : "run for real", launch->problem);
    /* A program that never started the library lacks no models. */
    if (simulated && launch->report.json &&
        !strcmp(launch->report.exit, "missing")) {
        char *program = program_command(launch->argv);

        tool_error("if kernels lack models, measure them: orrery calibrate "
                   "kernels -- %s",
                   program ? program : launch->argv[0]);
        free(program);
    }
}

/* Runs it, as several ranks if there are to be some. As launch_all. */
static int launch_one(const struct validation *v, struct launch *launch)
{
    bool cluster = false;

    if (!v->options->nranks || !launch->machine)
        return ranks_launch(launch, "validate", v->options->nranks);
    if (launch_place(launch, "validate", &cluster) != TOOL_OK)
        return -1;
    if (!cluster)
        return tool_fail(
            -1,
            "validate: --ranks %u on %s: ranks are simulated on a cluster, "
            "-m '1*%s + ib 200Gb/s ranks-per-node=%u'",
            v->options->nranks, launch->machine, launch->machine,
            v->options->nranks);
    if (launch->nranks != v->options->nranks)
        return tool_fail(-1, "validate: --ranks %u: %s has %u: say as many",
                         v->options->nranks, launch->machine,
                         launch->nranks ? launch->nranks : 1);
    return launch_all(launch, 1, 1, NULL, NULL);
}

/* A real run leaves its calls and its trace, from which it is simulated; models stay as
 * they are. Ranks leave none. */
static int run_one(struct validation *v, struct launch *launch, unsigned size,
                   unsigned rep, bool simulated)
{
    bool leaves = !simulated && !v->options->nranks;
    char *trace = leaves ? validation_path(v, size, rep, "trace.csv") : NULL;
    char *record =
        !leaves ? NULL
                  : tool_format("ORRERY_RECORD=%s/%u.%u.calls.rec", v->folder,
                                size, rep);
    const char *const real_settings[] = {"STARPU_CALIBRATE=0",
                                         "ORRERY_MODELS_FIXED=1",
                                         "ORRERY_RECORD_TIMES=0",
                                         "ORRERY_MACHINE",
                                         "ORRERY_SET",
                                         "ORRERY_TRACE",
                                         record,
                                         NULL};
    int stopped;

    *launch = (struct launch){
        .machine = simulated ? v->machine : NULL,
        .edits = simulated ? v->options->edits : NULL,
        .scheduler = v->options->sched,
        .trace = trace,
        .more = simulated ? sim_settings : real_settings,
        .argv = v->argvs[size],
        .quiet = true,
    };
    stopped = launch_one(v, launch);
    launch->more = NULL;
    launch->trace = NULL;
    free(trace);
    free(record);
    if (stopped > 0)
        v->stopped = stopped;
    else if (stopped == 0 && *launch->problem)
        print_failure(v, launch, simulated);
    else if (stopped == 0 && launch->report.simulated != simulated)
        tool_error("%s %s", launch->argv[0],
                   simulated ? "does not simulate although ORRERY_MACHINE is "
                               "set"
                             : "simulates although ORRERY_MACHINE is not set");
    else if (stopped == 0 && !json_object_get(launch->report.json, "kernels"))
        tool_error("%s is linked to a library that does not report kernels: "
                   "use the one that came with this command",
                   launch->argv[0]);
    else if (stopped == 0)
        return 0;
    return -1;
}

/* Whether all can be simulated: what cannot, for want of the times of kernels, is run for
 * real only. */
static int try_simulations(struct validation *v)
{
    int rc = 0;

    for (unsigned s = 0; rc == 0 && s < v->nsizes; s++) {
        struct launch launch;

        rc = run_one(v, &launch, s, 0, true);
        if (rc < 0 && launch.report.json && !strcmp(launch.report.exit, "missing")) {
            v->unmodelled = true;
            rc = 0;
        }
        launch_done(&launch);
    }
    return rc;
}

static void show_validation_progress(const struct validation *v, unsigned done)
{
    unsigned n = v->nsizes * v->nreps * 2;

    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%u of %u runs done%s", done, n,
                done == n ? "\r\033[K" : "");
}

/* Only whole repetitions can be compared: the first n stay. */
static void validation_keep_repetitions(struct validation *v, unsigned n)
{
    struct launch *to = v->runs;

    for (unsigned s = 0; s < v->nsizes; s++)
        for (unsigned r = 0; r < v->nreps; r++)
            for (unsigned k = 0; k < 2; k++) {
                struct launch *from = validation_run(v, s, r, k);

                if (r >= n)
                    launch_done(from);
                else
                    *to++ = *from;
            }
    v->nreps = n;
}

/* Interrupted in repetition `rep`: what is known counts. */
static int end_early(struct validation *v, unsigned rep)
{
    validation_keep_repetitions(v, rep);
    if (rep > 0)
        return 0;
    tool_error("validate: interrupted before a repetition was complete");
    return -1;
}

static int validation_run_programs(struct validation *v)
{
    unsigned n = 2 * v->nsizes, done = 0;
    unsigned *order = calloc(n, sizeof(*order));
    uint64_t random = v->options->seed;
    int rc = order ? 0 : -1;

    if (!order)
        tool_error("out of memory");
    for (unsigned rep = 0; rc == 0 && rep < v->nreps; rep++) {
        program_shuffle(order, n, &random);
        for (unsigned k = 0; rc == 0 && k < n; k++) {
            unsigned size = order[k] / 2;
            bool simulated = order[k] % 2;

            if (simulated && v->unmodelled)
                continue;
            rc = run_one(v, validation_run(v, size, rep, simulated), size, rep,
                         simulated);
            show_validation_progress(v, ++done);
        }
        if (v->stopped)
            rc = end_early(v, rep);
        if (v->stopped)
            break;
    }
    free(order);
    return rc;
}

int validation_measure(struct validation *v,
                       const struct validate_options *options)
{
    *v = (struct validation){.options = options};
    if (validation_make_runs(v) < 0) {
        tool_error("out of memory");
        return -1;
    }
    if (validation_make_folder(v) < 0 || choose_machine(v) < 0)
        return -1;
    if (try_simulations(v) < 0) {
        if (v->stopped)
            tool_error("validate: interrupted while the first simulation ran");
        return -1;
    }
    return validation_run_programs(v);
}

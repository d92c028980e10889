/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/try/runs.c - the runs of `orrery try`: the program twice for real, its record
 * simulated. What is measured goes to a folder of the trial, not to the user's models.
 */
#include "tools/common/scratch.h"
#include "tools/try/try.h"

#include "tools/common/here.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AT_ONCE = 2 };

/* --- the folder --- */

static bool make_folder(struct try_result *r)
{
    const char *dir = getenv("STARPU_PERF_MODEL_DIR");
    const char *path = getenv("STARPU_PERF_MODEL_PATH");

    r->folder = scratch_make();
    if (!r->folder)
        return false;
    r->dir = tool_format("STARPU_PERF_MODEL_DIR=%s", r->folder);
    if (dir && *dir)
        r->path = tool_format("STARPU_PERF_MODEL_PATH=%s%s%s", dir,
                              path && *path ? ":" : "", path ? path : "");
    return r->dir && (r->path || !dir || !*dir);
}

/* --- for real --- */

/* The program, with that record or none, measuring its kernels or not. */
static int run_real(struct try_result *r, struct launch *launch, bool recorded)
{
    char *record = tool_format("ORRERY_RECORD=%s", r->options->record);
    const char *more[] = {r->dir,
                          recorded ? "ORRERY_MODELS_FIXED=1" : "STARPU_CALIBRATE=1",
                          recorded ? record : "ORRERY_RECORD",
                          "ORRERY_MACHINE",
                          "ORRERY_SET",
                          "ORRERY_DEVICES",
                          r->path,
                          NULL};
    int rc;

    if (!record)
        return tool_fail(TOOL_FAILED, "out of memory");
    *launch = (struct launch){.argv = r->options->argv,
                              .scheduler = r->options->scheduler,
                              .more = more,
                              .quiet = r->options->json || !recorded};
    rc = launch_all(launch, 1, 1, NULL, NULL);
    launch->more = NULL;
    free(record);
    return rc < 0   ? TOOL_FAILED
           : rc > 0 ? tool_fail(128 + rc, "interrupted: %s was ended",
                                r->options->argv[0])
                    : TOOL_OK;
}

/* Whether there is something to simulate; else the exit code, after a message. */
static int check_real(const struct try_result *r)
{
    const struct launch *real = &r->real;
    int code = process_exit_code(&real->process);

    if (code != 0 && real->process.text)
        fwrite(real->process.text, 1, real->process.length, stderr);
    if (*real->problem)
        return tool_fail(code ? code : TOOL_FAILED, "try: %s", real->problem);
    if (real->report.tasks == 0)
        return tool_fail(TOOL_FAILED,
                         "try: %s submitted no tasks: there is nothing to simulate",
                         r->options->argv[0]);
    if (access(r->options->record, R_OK) < 0)
        return tool_fail(TOOL_FAILED, "try: %s, the record, was not written: an "
                                      "error above says why",
                         r->options->record);
    return TOOL_OK;
}

/* --- simulated --- */

/* Models of machines from what was measured here, before those that they have if that
 * is forced. A failure is none: their own models may do. */
static int project(struct try_result *r, bool (*wanted)(const struct try_machine *),
                   bool force)
{
    const char *set[] = {r->dir, "STARPU_CALIBRATE_MINIMUM=1", r->path, NULL};

    for (size_t m = 0; m < r->n; m++) {
        const char *const words[] = {"/proc/self/exe", "perfmodel", "project", "-m",
                                     r->machines[m].name, "-o", r->folder,
                                     force ? "--force" : NULL, NULL};
        struct process process = {
            .argv = (char *const *)(uintptr_t)words, .set = set, .quiet = true,
            .output = -1};
        int rc;

        if (!wanted(&r->machines[m]))
            continue;
        rc = process_run(&process, 1, 1, NULL, NULL);
        process_done(&process);
        if (rc)
            return tool_fail(128 + rc, "interrupted");
    }
    return TOOL_OK;
}

/* Settings of one simulation; lives as long as it. */
struct setting {
    char draw[40];
    const char *more[LAUNCH_MORE + 1];
    char *argv[2];
};

/* This machine is simulated as orrery replay does: from the record and the user's own
 * models. */
static void prepare(const struct try_result *r, const struct try_machine *machine,
                    bool all, unsigned draw, struct setting *s, struct launch *launch)
{
    size_t n = 0;

    snprintf(s->draw, sizeof(s->draw), draw ? "ORRERY_SIM_DRAW=%u" : "ORRERY_SIM_DRAW",
             draw);
    if (!machine->here) {
        s->more[n++] = r->dir;
        s->more[n++] = "STARPU_CALIBRATE_MINIMUM=1";
    }
    s->more[n++] = all ? "ORRERY_DEVICES=all" : "ORRERY_DEVICES=program";
    s->more[n++] = s->draw;
    s->more[n++] = "ORRERY_SET";
    s->more[n++] = "ORRERY_RECORD";
    if (machine->borrowed)
        s->more[n++] = "ORRERY_REPLAY_TIMES=record";
    if (r->path && !machine->here)
        s->more[n++] = r->path;
    s->more[n] = NULL;
    s->argv[0] = (char *)(uintptr_t)r->options->record;
    *launch = (struct launch){
        .machine = machine->here ? r->here : machine->name,
        .scheduler = r->options->scheduler ? r->options->scheduler
                     : machine->here       ? NULL
                                           : TRY_POLICY,
        .more = s->more,
        .argv = s->argv,
        .quiet = true};
}

/* Runs a phase; which of the machines, each `times` (or once, without a draw). Each
 * is handed to `take`. */
static int simulate(struct try_result *r, bool (*wanted)(const struct try_machine *),
                    bool all_devices, unsigned draws,
                    void (*take)(struct try_machine *, struct launch *))
{
    size_t room = r->n * (draws ? draws : 1), n = 0;
    struct launch *launches = calloc(room, sizeof(*launches));
    struct setting *settings = calloc(room, sizeof(*settings));
    struct try_machine **whose = calloc(room, sizeof(struct try_machine *));
    int rc = -1;

    if (!launches || !settings || !whose) {
        tool_error("out of memory");
    } else {
        for (size_t m = 0; m < r->n; m++)
            for (unsigned d = 0; wanted(&r->machines[m]) && d < (draws ? draws : 1);
                 d++) {
                prepare(r, &r->machines[m],
                        draws ? r->machines[m].lifted : all_devices,
                        draws ? d + 1 : 0, &settings[n], &launches[n]);
                whose[n++] = &r->machines[m];
            }
        rc = n ? launch_all(launches, n, AT_ONCE, NULL, NULL) : 0;
        for (size_t i = 0; i < n; i++) {
            launches[i].more = NULL;
            launches[i].argv = r->options->argv;
            take(whose[i], &launches[i]);
        }
    }
    free(launches);
    free(settings);
    free(whose);
    return rc < 0 ? TOOL_FAILED : rc > 0 ? tool_fail(128 + rc, "interrupted") : TOOL_OK;
}

static bool any(const struct try_machine *machine)
{
    return machine->name != NULL;
}

static bool is_other(const struct try_machine *machine)
{
    return !machine->here;
}

static bool is_liftable(const struct try_machine *machine)
{
    struct devices_held held;
    bool lifts = false;

    if (machine->here || !try_is_good(&machine->as_is) ||
        devices_held(machine->as_is.report.json, &held) < 0)
        return false;
    lifts = held.liftable;
    devices_done(&held);
    return lifts;
}

static bool lacks_times(const struct try_machine *machine)
{
    return !machine->here && !try_is_good(&machine->as_is) &&
           strstr(machine->as_is.problem, "needs the time");
}

static bool is_borrowed(const struct try_machine *machine)
{
    return machine->borrowed;
}

static bool is_simulated(const struct try_machine *machine)
{
    return try_is_good(try_run(machine));
}

static void take_as_is(struct try_machine *machine, struct launch *launch)
{
    machine->as_is = *launch;
}

static void take_all(struct try_machine *machine, struct launch *launch)
{
    machine->all = *launch;
    machine->lifted = try_is_good(launch);
}

static void take_draw(struct try_machine *machine, struct launch *launch)
{
    double us = try_run(machine)->report.makespan_us;

    /* With the run itself, which is one of those that the models allow. */
    if (try_is_good(launch)) {
        machine->least_us = fmin(fmin(machine->least_us, us), launch->report.makespan_us);
        machine->most_us = fmax(fmax(machine->most_us, us), launch->report.makespan_us);
    }
    launch_done(launch);
}

/* Once more, those that lack times of kernels. */
static int borrow_times(struct try_result *r)
{
    int code;

    for (size_t m = 0; m < r->n; m++)
        if (lacks_times(&r->machines[m])) {
            r->machines[m].borrowed = true;
            launch_done(&r->machines[m].as_is);
            r->machines[m].as_is = (struct launch){0};
        }
    code = project(r, is_borrowed, true);
    return code == TOOL_OK ? simulate(r, is_borrowed, false, 0, take_as_is) : code;
}

/* --- all of it --- */

static int choose_machines(struct try_result *r)
{
    size_t n = 0;

    r->names = tool_split(r->options->machines);
    while (r->names && r->names[n])
        n++;
    r->machines = r->names ? calloc(n + 1, sizeof(*r->machines)) : NULL;
    if (!r->machines)
        return tool_fail(TOOL_FAILED, "out of memory");
    r->n = n + 1;
    for (size_t m = 0; m < r->n; m++)
        r->machines[m] = (struct try_machine){.name = m ? r->names[m - 1] : "here",
                                              .here = m == 0,
                                              .least_us = (double)NAN,
                                              .most_us = (double)NAN};
    for (size_t m = 1; m < r->n; m++)
        if (!launch_names("machine", r->names[m - 1]))
            return tool_fail(TOOL_USAGE,
                             "try: there is no machine `%s'; orrery machine list "
                             "has all",
                             r->names[m - 1]);
    return TOOL_OK;
}

int try_all(const struct try_options *options, struct try_result *ret)
{
    struct try_result *r = ret;
    int code;

    *r = (struct try_result){.options = options, .quiet = quiet_measure()};
    code = choose_machines(r);
    if (code == TOOL_OK && !make_folder(r))
        code = TOOL_FAILED;
    if (code == TOOL_OK)
        code = run_real(r, &r->real, true);
    if (code == TOOL_OK)
        code = check_real(r);
    if (code == TOOL_OK) {
        r->machines[0].name = r->real.report.host;
        code = run_real(r, &r->measured, false);
    }
    if (code == TOOL_OK && here_make(&r->here) < 0)
        code = TOOL_FAILED;
    if (code == TOOL_OK)
        code = project(r, is_other, false);
    if (code == TOOL_OK)
        code = simulate(r, any, false, 0, take_as_is);
    if (code == TOOL_OK)
        code = borrow_times(r);
    if (code == TOOL_OK)
        code = simulate(r, is_liftable, true, 0, take_all);
    if (code == TOOL_OK)
        code = simulate(r, is_simulated, false, TRY_DRAWS, take_draw);
    return code;
}

void try_done(struct try_result *r)
{
    for (size_t m = 0; m < r->n; m++) {
        launch_done(&r->machines[m].as_is);
        launch_done(&r->machines[m].all);
    }
    launch_done(&r->real);
    launch_done(&r->measured);
    here_remove(r->here);
    free(r->machines);
    free(r->names);
    scratch_remove(r->folder);
    free(r->dir);
    free(r->path);
}

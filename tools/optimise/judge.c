/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/optimise/judge.c - see judge.h. */
#include "tools/optimise/judge.h"

#include "tools/common/launch.h"
#include "tools/common/schedule.h"
#include "tools/common/scratch.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int judge_begin(struct judge *judge)
{
    judge->folder = scratch_make();
    return judge->folder ? 0 : -1;
}

void judge_done(struct judge *judge)
{
    report_done(&judge->report);
    scratch_remove(judge->folder);
}

static struct launch new_launch(const struct judge *judge,
                                const char *scheduler)
{
    return (struct launch){.machine = judge->machine,
                           .edits = judge->edits,
                           .assume = judge->assume,
                           .scheduler = scheduler,
                           .argv = judge->argv,
                           .quiet = true};
}

static double launch_makespan(const struct launch *launch)
{
    return launch->report.json && !*launch->problem &&
                   report_is_whole(&launch->report)
               ? launch->report.makespan_us / 1000
               : (double)NAN;
}

static int judge_run_launches(struct judge *judge, struct launch *launches,
                              size_t n)
{
    judge->nasked += (unsigned)n;
    return launch_all(launches, n, judge->at_once, NULL, NULL);
}

static void launches_free(struct launch *launches, size_t n)
{
    for (size_t i = 0; launches && i < n; i++)
        launch_done(&launches[i]);
    free(launches);
}

int judge_policies(struct judge *judge, struct trial *trials, size_t n)
{
    struct launch *launches = calloc(n, sizeof(*launches));
    int rc;

    if (!launches) {
        tool_error("out of memory");
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        launches[i] = new_launch(judge, trials[i].policy);
    rc = judge_run_launches(judge, launches, n);
    for (size_t i = 0; i < n; i++) {
        trials[i].ms = launch_chose_policy(&launches[i])
                           ? (double)NAN
                           : launch_makespan(&launches[i]);
        snprintf(trials[i].problem, sizeof(trials[i].problem), "%s",
                 *launches[i].problem ? launches[i].problem
                                      : "the program sets its own policy");
    }
    launches_free(launches, n);
    return rc;
}

int judge_record(struct judge *judge, struct trial *trial)
{
    char *path = tool_format("%s/graph", judge->folder);
    char *setting = tool_format("ORRERY_GRAPH=%s", path ? path : "");
    const char *const more[] = {setting, NULL};
    struct launch launch = new_launch(judge, trial->policy);
    int rc = -1;

    launch.more = more;
    if (path && setting)
        rc = judge_run_launches(judge, &launch, 1);
    else
        tool_error("out of memory");
    if (!rc) {
        trial->graph = schedule_graph(path);
        rc = trial->graph ? 0 : -1;
    }
    if (path)
        unlink(path);
    if (!rc) {
        report_done(&judge->report);
        judge->report = launch.report;
        launch.report = (struct report){0};
    }
    launch_done(&launch);
    free(path);
    free(setting);
    return rc;
}

/* A file per plan, "static=" and its name in *ret. */
static int write_plan(const struct judge *judge, const struct orr_graph *graph,
                      const struct plan *plan, size_t i, char **ret)
{
    *ret = tool_format("static=%s/%zu", judge->folder, i);
    if (*ret)
        return schedule_write(*ret + strlen("static="), graph, plan->worker,
                              plan->when, "a candidate");
    tool_error("out of memory");
    return -1;
}

int judge_plans(struct judge *judge, const struct orr_graph *graph,
                struct plan *plans, size_t n)
{
    struct launch *launches = calloc(n, sizeof(*launches));
    char **names = calloc(n, sizeof(*names));
    int rc = launches && names ? 0 : -1;

    if (rc)
        tool_error("out of memory");
    for (size_t i = 0; !rc && i < n; i++) {
        rc = write_plan(judge, graph, &plans[i], i, &names[i]);
        launches[i] = new_launch(judge, names[i]);
    }
    if (!rc)
        rc = judge_run_launches(judge, launches, n);
    for (size_t i = 0; !rc && i < n; i++)
        plans[i].ms = launch_makespan(&launches[i]);
    for (size_t i = 0; names && i < n && names[i]; i++) {
        unlink(names[i] + strlen("static="));
        free(names[i]);
    }
    free(names);
    launches_free(launches, n);
    return rc;
}

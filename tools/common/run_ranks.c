/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/run_ranks.c - see run_ranks.h. */
#include "tools/common/run_ranks.h"

#include "tools/common/json.h"
#include "tools/common/program.h"
#include "tools/common/rank_shares.h"
#include "tools/common/ranks.h"
#include "tools/common/tool.h"
#include "tools/common/trust.h"

#include <stdio.h>
#include <stdlib.h>

static int print_json(const struct launch *launch, const struct rank_shares *shares)
{
    json_t *all = json_array(), *object;

    for (unsigned r = 0; all && r < launch->nranks; r++)
        json_array_append_new(all, launch->ranks[r].json ? report_json(&launch->ranks[r])
                                                         : json_null());
    object = all ? report_json(&launch->report) : NULL;
    if (object) {
        json_object_set_new(object, "ranks", all);
        rank_shares_json_add(shares, object);
    }
    return tool_json_print(object);
}

static int print_ranks(const struct launch *launch, bool json)
{
    struct rank_shares shares;
    int rc = rank_shares_of_reports(launch->ranks, launch->nranks, &shares);

    if (!rc && json) {
        rc = print_json(launch, &shares);
    } else if (!rc) {
        if (report_is_whole(&launch->report)) {
            putchar('\n');
            report_print(&launch->report);
        }
        putchar('\n');
        rc = rank_shares_print(&shares);
    }
    rank_shares_done(&shares);
    return rc;
}

static unsigned count_reports(const struct launch *launch)
{
    unsigned n = 0;

    for (unsigned r = 0; launch->ranks && r < launch->nranks; r++)
        n += launch->ranks[r].json != NULL;
    return n;
}

/* What was wrong with the run, of which n ranks have left reports, which `needs` all of
 * them; an exit code. */
static int judge(struct launch *launch, const char *command, unsigned n, bool needs)
{
    int code = process_exit_code(&launch->process);

    launch_warn_policy(launch, command);
    if (n == 0 && launch->report.json && code == 0)
        return tool_fail(TOOL_FAILED,
                         "%s: %s runs as %u %s that do not know of each other: "
                         "it never called starpu_mpi_init",
                         command, launch->argv[0], launch->nranks,
                         launch->hosted ? "programs" : "processes");
    if (*launch->problem)
        tool_error("%s", launch->problem);
    else if (n < launch->nranks)
        tool_error("%s: %u of %u ranks of %s left no report", command,
                   launch->nranks - n, launch->nranks, launch->argv[0]);
    if (code == 0 && (*launch->problem || n < launch->nranks) && needs)
        return TOOL_FAILED;
    return code;
}

static void show_output(const struct launch *launch)
{
    if (launch->process.text && process_exit_code(&launch->process) != 0)
        fwrite(launch->process.text, 1, launch->process.length, stderr);
    fflush(stdout);
}

int run_ranks_choose(struct launch *launch, const char *command, const char *text)
{
    const char *machine = launch->machine ? launch->machine : getenv("ORRERY_MACHINE");
    unsigned n = 1;
    bool cluster;
    int code;

    if (text && program_number(text, 1, &n) < 0)
        return tool_fail(TOOL_USAGE, "%s: -n %s: write how many ranks, from 1 on", command,
                         text);
    code = launch_place(launch, command, &cluster);
    if (code == TOOL_OK && text && cluster)
        return tool_fail(TOOL_USAGE,
                         "%s: -n %u on %s: a cluster has as many ranks as nodes, times "
                         "ranks-per-node= in its line: leave -n out",
                         command, n, machine);
    if (code == TOOL_OK && n > 1 && machine && *machine)
        return tool_fail(TOOL_USAGE,
                         "%s: -n %u on %s: several ranks are simulated on a cluster, -m "
                         "'%u*%s + ib 200Gb/s' without -n; leave out the machine to run %u "
                         "ranks for real",
                         command, n, machine, n, machine, n);
    if (n > 1)
        launch->nranks = n;
    return code;
}

/* 0; else an exit code. */
static int launch_those(struct launch *launch)
{
    int result = launch_all(launch, 1, 1, NULL, NULL);

    if (result > 0)
        return tool_fail(128 + result, "interrupted: the ranks of %s were ended",
                         launch->argv[0]);
    return result < 0 ? TOOL_FAILED : 0;
}

static int launch_processes(struct launch *launch, const char *command)
{
    const char *more[LAUNCH_MORE + 1], *const *own = launch->more;
    struct ranks ranks;
    int result = TOOL_FAILED;

    if (ranks_init(&ranks, command, launch->argv, launch->nranks) == 0) {
        ranks_settings(launch->more, &ranks, more);
        launch->ranks_argv = ranks.argv;
        launch->more = more;
        result = launch_those(launch);
    }
    launch->more = own;
    launch->ranks_argv = NULL;
    ranks_done(&ranks);
    return result;
}

static int launch_ranks(struct launch *launch, const char *command)
{
    return launch->hosted ? launch_those(launch) : launch_processes(launch, command);
}

int run_ranks(struct launch *launch, const char *command, bool json)
{
    unsigned nreports;
    int result;

    launch->quiet = json;
    result = launch_ranks(launch, command);
    if (result)
        return result;
    nreports = count_reports(launch);
    show_output(launch);
    if (launch->report.simulated && nreports > 0)
        trust_note(&launch->report, launch_node_machine(launch));
    if (nreports > 0 && print_ranks(launch, json) < 0)
        tool_error("out of memory");
    return judge(launch, command, nreports, json || !launch->no_run);
}

int run_ranks_silently(struct launch *launch, const char *command)
{
    int result = launch_ranks(launch, command);

    if (result)
        return result;
    show_output(launch);
    return judge(launch, command, count_reports(launch), true);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/execute.c - see execute.h. */
#include "tools/common/execute.h"

#include "tools/common/tool.h"
#include "tools/common/comparison.h"
#include "tools/common/progress.h"
#include "tools/common/runs.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>

struct execution {
    struct comparison *comparison; /* borrowed */
    struct runs *runs;             /* owned: the file of --runs, or NULL */
    size_t nkept;                  /* launches that were read from it */
    double start_s;
};

static void show_execution_progress(const struct execution *execution)
{
    const struct comparison *c = execution->comparison;

    progress_show(&(struct progress){.n = c->n,
                                     .ended = c->nended,
                                     .kept = execution->nkept,
                                     .start_s = execution->start_s});
}

static bool went_well(const struct launch *launch)
{
    return launch->report.json && !*launch->problem;
}

/* Only the makespan of repetitions is used: a report is large. */
static void count_ended_launch(struct comparison *c, struct launch *launch)
{
    struct cell *cell = comparison_cell_of(c, launch);

    c->nended++;
    if (went_well(launch)) {
        cell->joules[cell->n] = report_joules(&launch->report);
        cell->us[cell->n++] = launch->report.makespan_us;
        cell->of_repetition[comparison_repetition(c, launch)] =
            launch->report.makespan_us;
    } else if (!cell->failed)
        cell->failed = launch;
    if (went_well(launch) && launch != cell->launch && !c->options->keeps_reports) {
        report_done(&launch->report);
        process_done(&launch->process);
    }
}

static void on_execution_end(void *arg, struct launch *launch)
{
    const struct execution *execution = arg;

    if (execution->runs && went_well(launch))
        runs_add(execution->runs, execution->comparison, launch);
    count_ended_launch(execution->comparison, launch);
    show_execution_progress(execution);
}

/* Simulated ones share the processors; a real one has them to itself. */
static int run_those(struct execution *execution, bool real)
{
    struct comparison *c = execution->comparison;
    bool *kept = calloc(c->n, sizeof(*kept));
    size_t n = 0;
    int stopped = 0;

    if (!kept) {
        tool_error("out of memory");
        return -1;
    }
    for (size_t i = 0; i < c->n; i++) {
        kept[i] = c->launches[i].kept;
        c->launches[i].kept = kept[i] || !c->launches[i].machine != real;
        n += !c->launches[i].kept;
    }
    if (n)
        stopped = launch_all(c->launches, c->n, real ? 1 : c->options->jobs,
                             on_execution_end, execution);
    for (size_t i = 0; i < c->n; i++)
        c->launches[i].kept = kept[i];
    free(kept);
    return stopped;
}

/* Ended by the signal that this command got, from the terminal or from here. */
static bool ended_by(const struct launch *launch, int stopped)
{
    int code = process_exit_code(&launch->process);

    return *launch->problem && (code == 128 + stopped || code == 128 + SIGTERM);
}

/* Programs that the signal has ended have not come to an end. */
static void discount(struct comparison *c, int stopped)
{
    c->nended = 0;
    for (size_t i = 0; i < c->n; i++) {
        struct launch *launch = &c->launches[i];
        struct cell *cell = comparison_cell_of(c, launch);

        if (launch->kept ||
            (launch->process.ended && !ended_by(launch, stopped)))
            c->nended++;
        else if (cell->failed == launch)
            cell->failed = NULL;
    }
}

/* NaN: one of them is not known. */
static double median_of_all(double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(values[i]))
            return (double)NAN;
    return spread_of(values, n).median;
}

int comparison_run(struct comparison *c)
{
    struct execution execution = {.comparison = c};
    int stopped;

    if (c->options->runs && runs_open(c, c->options->runs, &execution.runs) < 0)
        return -1;
    for (size_t i = 0; i < c->n; i++)
        if (c->launches[i].kept) {
            execution.nkept++;
            count_ended_launch(c, &c->launches[i]);
        }
    execution.start_s = tool_now_s();
    stopped = run_those(&execution, false);
    if (!stopped)
        stopped = run_those(&execution, true);
    runs_close(execution.runs);
    if (stopped > 0)
        discount(c, stopped);
    for (size_t i = 0; i < c->ncells; i++) {
        struct cell *cell = &c->cells[i];

        cell->spread =
            c->options->draws ? draws_of(cell->us, cell->n) : spread_of(cell->us, cell->n);
        cell->energy_j = median_of_all(cell->joules, cell->n);
    }
    return stopped;
}

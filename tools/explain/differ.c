/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/differ.c - see differ.h. Tasks of equal number and name are the same
 * task. The earliest moment at which one of them fares differently has no earlier
 * cause among them; of moments at the same time the one that a task ends with
 * comes before those that it lets others begin with.
 */
#include "tools/explain/differ.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EQUAL 1.5e-6 /* ms: what the digits of a trace can tell apart */

const char *differ_stage_name(enum differ_stage stage)
{
    static const char *const names[DIFFER_NSTAGES] = {
        [DIFFER_SUBMITTED] = "submission", [DIFFER_READY] = "readiness",
        [DIFFER_WORKER] = "worker",        [DIFFER_TAKEN] = "choice",
        [DIFFER_STARTED] = "start",        [DIFFER_LENGTH] = "length",
    };

    return names[stage];
}

/* --- the same tasks --- */

struct numbered {
    uint64_t job;
    size_t task;
};

static int compare_numbered(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* The tasks by their numbers; owned. */
static struct numbered *tasks_by_number(const struct trace *trace)
{
    struct numbered *all = malloc((trace->ntasks + 1) * sizeof(*all));

    for (size_t t = 0; all && t < trace->ntasks; t++)
        all[t] = (struct numbered){trace->tasks[t].job, t};
    if (all && trace->ntasks)
        qsort(all, trace->ntasks, sizeof(*all), compare_numbered);
    return all;
}

static int difference_match_tasks(struct difference *d)
{
    struct numbered *by_number[DIFFER_SIDES];
    size_t a = 0, b = 0;
    int rc = -ENOMEM;

    for (int s = 0; s < DIFFER_SIDES; s++) {
        size_t n = d->traces[s]->ntasks;

        by_number[s] = tasks_by_number(d->traces[s]);
        d->same[s] = malloc((n + 1) * sizeof(*d->same[s]));
        for (size_t t = 0; d->same[s] && t < n; t++)
            d->same[s][t] = DIFFER_NONE;
    }
    if (by_number[0] && by_number[1] && d->same[0] && d->same[1])
        rc = 0;
    while (rc == 0 && d->ranks[0].n == d->ranks[1].n && a < d->traces[0]->ntasks && b < d->traces[1]->ntasks) {
        const struct numbered *x = &by_number[0][a], *y = &by_number[1][b];

        if (x->job == y->job && !strcmp(d->traces[0]->tasks[x->task].name,
                                        d->traces[1]->tasks[y->task].name)) {
            d->same[0][x->task] = y->task;
            d->same[1][y->task] = x->task;
            d->nsame++;
        }
        a += x->job <= y->job;
        b += y->job <= x->job;
    }
    free(by_number[0]);
    free(by_number[1]);
    return rc;
}

/* --- the first moment --- */

static double side_time_since_start(const struct difference *d, int side,
                                    double time)
{
    return time - d->traces[side]->begin;
}

static double stage_time(const struct difference *d, int side, size_t t,
                         enum differ_stage stage)
{
    const struct trace_task *task = &d->traces[side]->tasks[t];
    const double times[DIFFER_NSTAGES] = {
        [DIFFER_SUBMITTED] = task->submitted, [DIFFER_READY] = task->ready,
        [DIFFER_WORKER] = task->taken,        [DIFFER_TAKEN] = task->taken,
        [DIFFER_STARTED] = task->start,       [DIFFER_LENGTH] = task->end,
    };

    return side_time_since_start(d, side, times[stage]);
}

static const char *task_worker_name(const struct difference *d, int side,
                                    size_t t)
{
    const struct trace *trace = d->traces[side];

    return trace->workers[trace->tasks[t].worker].name;
}

/* Workers are the same by name: machines have different numbers of them. */
static bool differs(const struct difference *d, size_t a, size_t b,
                    enum differ_stage stage)
{
    if (stage == DIFFER_WORKER)
        return strcmp(task_worker_name(d, 0, a), task_worker_name(d, 1, b)) !=
               0;
    return fabs(stage_time(d, 0, a, stage) - stage_time(d, 1, b, stage)) >
           EQUAL;
}

static void find_first(struct difference *d)
{
    struct differ_first *first = &d->first;

    first->tasks[0] = first->tasks[1] = DIFFER_NONE;
    for (size_t a = 0; a < d->traces[0]->ntasks; a++) {
        size_t b = d->same[0][a];
        enum differ_stage stage = DIFFER_SUBMITTED;
        double at, times[DIFFER_SIDES];

        if (b == DIFFER_NONE)
            continue;
        d->moved += differs(d, a, b, DIFFER_WORKER);
        while (stage < DIFFER_NSTAGES && !differs(d, a, b, stage))
            stage++;
        if (stage == DIFFER_NSTAGES)
            continue;
        times[0] = stage_time(d, 0, a, stage);
        times[1] = stage_time(d, 1, b, stage);
        at = fmin(times[0], times[1]);
        if (first->tasks[0] != DIFFER_NONE &&
            (at > first->at + EQUAL ||
             (at > first->at - EQUAL && stage <= first->stage)))
            continue;
        *first = (struct differ_first){{a, b}, stage, at, {times[0], times[1]}};
    }
    if (first->tasks[0] != DIFFER_NONE && first->stage == DIFFER_LENGTH)
        for (int s = 0; s < DIFFER_SIDES; s++)
            first->times[s] = d->traces[s]->tasks[first->tasks[s]].end -
                              d->traces[s]->tasks[first->tasks[s]].start;
}

/* --- the first choice --- */

/* The number of the worker of that name; UINT_MAX: there is none. */
static unsigned find_worker_by_name(const struct trace *trace, const char *name)
{
    for (unsigned w = 0; w < trace->nworkers; w++)
        if (!strcmp(trace->workers[w].name, name))
            return w;
    return UINT_MAX;
}

/* The next task of the worker from `from` on, or the number of tasks. */
static size_t next_task_of_worker(const struct trace *trace, unsigned worker,
                                  size_t from)
{
    while (from < trace->ntasks && trace->tasks[from].worker != worker)
        from++;
    return from;
}

static bool was_ready(const struct difference *d, int side, size_t t, double at)
{
    return t != DIFFER_NONE &&
           stage_time(d, side, t, DIFFER_READY) <= at + EQUAL;
}

/* The first task of the worker that it did not execute in the other run. */
static bool first_of_worker(const struct difference *d, const char *worker,
                            struct differ_choice *ret)
{
    const struct trace *const *traces = d->traces;
    unsigned in_a = find_worker_by_name(traces[0], worker);
    unsigned in_b = find_worker_by_name(traces[1], worker);
    size_t a = next_task_of_worker(traces[0], in_a, 0),
           b = next_task_of_worker(traces[1], in_b, 0);
    size_t n[DIFFER_SIDES] = {traces[0]->ntasks, traces[1]->ntasks};
    double at = (double)INFINITY;

    while (a < n[0] && b < n[1] && d->same[0][a] == b) {
        a = next_task_of_worker(traces[0], in_a, a + 1);
        b = next_task_of_worker(traces[1], in_b, b + 1);
    }
    if (a == n[0] && b == n[1])
        return false;
    if (a < n[0])
        at = stage_time(d, 0, a, DIFFER_TAKEN);
    if (b < n[1])
        at = fmin(at, stage_time(d, 1, b, DIFFER_TAKEN));
    *ret = (struct differ_choice){
        .worker = worker,
        .at = at,
        .tasks = {{a < n[0] ? a : DIFFER_NONE,
                   a < n[0] ? d->same[0][a] : DIFFER_NONE},
                  {b < n[1] ? d->same[1][b] : DIFFER_NONE,
                   b < n[1] ? b : DIFFER_NONE}},
        .found = true};
    ret->free = true;
    for (int task = 0; task < DIFFER_SIDES; task++)
        for (int s = 0; s < DIFFER_SIDES; s++)
            ret->free &= was_ready(d, s, ret->tasks[task][s], at);
    return true;
}

static void find_choice(struct difference *d)
{
    for (int s = 0; s < DIFFER_SIDES; s++)
        for (unsigned w = 0; w < d->traces[s]->nworkers; w++) {
            struct differ_choice one;

            if (first_of_worker(d, d->traces[s]->workers[w].name, &one) &&
                (!d->choice.found || one.at < d->choice.at))
                d->choice = one;
        }
}

/* --- what followed --- */

static int compare_times(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int difference_sum_side(struct difference *d, int side)
{
    const struct trace *trace = d->traces[side];
    struct differ_sums *sums = &d->sums[side];
    double *ends = malloc((trace->ntasks + 1) * sizeof(*ends));

    if (!ends)
        return -ENOMEM;
    *sums = (struct differ_sums){.length = trace->end - trace->begin,
                                 .last_submission = side_time_since_start(
                                     d, side, trace->last_submission),
                                 .ncopies = trace->ncopies,
                                 .ntasks = trace->ntasks};
    for (size_t t = 0; t < trace->ntasks; t++) {
        sums->busy += trace->tasks[t].end - trace->tasks[t].start;
        sums->wait += trace->tasks[t].taken - trace->tasks[t].ready;
        ends[t] = side_time_since_start(d, side, trace->tasks[t].end);
    }
    for (size_t c = 0; c < trace->ncopies; c++)
        sums->copied += trace->copies[c].bytes;
    if (trace->ntasks)
        qsort(ends, trace->ntasks, sizeof(*ends), compare_times);
    for (size_t q = 0; trace->ntasks && q < 4; q++)
        sums->quarters[q] = ends[((q + 1) * trace->ntasks + 3) / 4 - 1];
    free(ends);
    return 0;
}

int difference_find(const char *const names[DIFFER_SIDES],
                    const struct trace *const traces[DIFFER_SIDES],
                    const struct differ_ranks ranks[DIFFER_SIDES], struct difference *ret)
{
    struct difference d = {.names = {names[0], names[1]},
                           .traces = {traces[0], traces[1]},
                           .ranks = {ranks[0], ranks[1]}};

    if (difference_match_tasks(&d) < 0 ||
        difference_sum_side(&d, DIFFER_A) < 0 ||
        difference_sum_side(&d, DIFFER_B) < 0) {
        difference_done(&d);
        return -ENOMEM;
    }
    find_first(&d);
    if (d.nsame)
        find_choice(&d);
    *ret = d;
    return 0;
}

void difference_done(struct difference *d)
{
    free(d->same[0]);
    free(d->same[1]);
}

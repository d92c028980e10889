/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/report/beside.c - what workers did while they executed no task: the states that
 * they entered, without the time in which a kernel ran. See report.h.
 */
#include "tools/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- kernels that wait --- */

static int compare_jobs(const void *a, const void *b)
{
    const struct trace_task *x = *(struct trace_task *const *)a;
    const struct trace_task *y = *(struct trace_task *const *)b;

    return (x->job > y->job) - (x->job < y->job);
}

static int compare_job(const void *job, const void *task)
{
    uint64_t wanted = *(const uint64_t *)job;
    uint64_t here = (*(struct trace_task *const *)task)->job;

    return (wanted > here) - (wanted < here);
}

static int compare_waits(const void *a, const void *b)
{
    const struct report_wait *x = a, *y = b;

    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static int find_waits(const struct trace *trace, struct report_beside *ret)
{
    struct trace_task **by_job =
        malloc((trace->ntasks + 1) * sizeof(struct trace_task *));
    size_t n = 0;

    ret->waits = malloc((trace->nsuspensions + 1) * sizeof(*ret->waits));
    if (!by_job || !ret->waits) {
        free(by_job);
        return -ENOMEM;
    }
    for (size_t t = 0; t < trace->ntasks; t++)
        by_job[t] = &trace->tasks[t];
    if (trace->nsuspensions && trace->ntasks)
        qsort(by_job, trace->ntasks, sizeof(*by_job), compare_jobs);
    for (size_t s = 0; s < trace->nsuspensions; s++) {
        const struct trace_suspension *wait = &trace->suspensions[s];
        struct trace_task **task = bsearch(&wait->job, by_job, trace->ntasks,
                                           sizeof(*by_job), compare_job);

        if (task && wait->start < (*task)->end && wait->end > (*task)->start)
            ret->waits[n++] =
                (struct report_wait){(size_t)(*task - trace->tasks),
                                     fmax(wait->start, (*task)->start),
                                     fmin(wait->end, (*task)->end)};
    }
    free(by_job);
    if (n)
        qsort(ret->waits, n, sizeof(*ret->waits), compare_waits);
    ret->nwaits = n;
    return 0;
}

/* --- states --- */

/* A kernel runs, without a wait. */
struct piece {
    unsigned worker;
    double start, end;
};

struct list {
    struct piece *pieces;
    const struct trace_state **states; /* by worker, then time */
    size_t npieces;
};

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    if (x->worker != y->worker)
        return x->worker < y->worker ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

/* Those of one time stay in the order of the file. */
static int compare_states(const void *a, const void *b)
{
    const struct trace_state *x = *(struct trace_state *const *)a;
    const struct trace_state *y = *(struct trace_state *const *)b;

    if (x->worker != y->worker)
        return x->worker < y->worker ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x > y) - (x < y);
}

static void add_pieces(const struct trace *trace,
                       const struct report_beside *beside, struct list *list)
{
    size_t w = 0;

    for (size_t t = 0; t < trace->ntasks; t++) {
        const struct trace_task *task = &trace->tasks[t];
        double from = task->start;

        for (; w < beside->nwaits && beside->waits[w].task == t; w++) {
            list->pieces[list->npieces++] =
                (struct piece){task->worker, from, beside->waits[w].start};
            from = beside->waits[w].end;
        }
        list->pieces[list->npieces++] =
            (struct piece){task->worker, from, task->end};
    }
}

static bool is_shown(const struct trace_state *state)
{
    return strcmp(state->kind, "idle") != 0 &&
           strcmp(state->kind, "sleeping") != 0;
}

static void add_stretch(struct report_beside *beside,
                        const struct trace_state *state, double start,
                        double end)
{
    if (start < end)
        beside->stretches[beside->nstretches++] =
            (struct report_stretch){state->kind, state->worker, start, end};
}

/* What of the state, which lasts until `to`, no piece covers. *at: the first piece that
 * may; no earlier one reaches into later states of the worker. */
static void cut_state(const struct trace *trace, const struct list *list,
                      const struct trace_state *state, double to, size_t *at,
                      struct report_beside *beside)
{
    double from = fmax(state->time, trace->begin);
    const struct piece *pieces = list->pieces;

    to = fmin(to, trace->end);
    while (*at < list->npieces &&
           (pieces[*at].worker < state->worker ||
            (pieces[*at].worker == state->worker && pieces[*at].end <= from)))
        ++*at;
    if (!is_shown(state))
        return;
    for (size_t p = *at;
         p < list->npieces && pieces[p].worker == state->worker &&
         pieces[p].start < to;
         p++) {
        add_stretch(beside, state, from, pieces[p].start);
        from = fmax(from, pieces[p].end);
    }
    add_stretch(beside, state, from, to);
}

static int compare_stretches(const void *a, const void *b)
{
    const struct report_stretch *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->worker > y->worker) - (x->worker < y->worker);
}

static void cut_states(const struct trace *trace, const struct list *list,
                       struct report_beside *beside)
{
    size_t at = 0;

    for (size_t s = 0; s < trace->nstates; s++) {
        const struct trace_state *state = list->states[s];
        bool last = s + 1 == trace->nstates ||
                    list->states[s + 1]->worker != state->worker;

        cut_state(trace, list, state,
                  last ? trace->end : list->states[s + 1]->time, &at, beside);
    }
    if (beside->nstretches)
        qsort(beside->stretches, beside->nstretches, sizeof(*beside->stretches),
              compare_stretches);
}

int report_beside(const struct trace *trace, struct report_beside *ret)
{
    struct list list = {0};
    int rc = find_waits(trace, ret);
    size_t npieces = trace->ntasks + ret->nwaits;

    list.pieces = malloc((npieces + 1) * sizeof(*list.pieces));
    list.states = malloc((trace->nstates + 1) * sizeof(*list.states));
    /* Each piece parts one state at most in two. */
    ret->stretches =
        malloc((trace->nstates + npieces + 1) * sizeof(*ret->stretches));
    if (!list.pieces || !list.states || !ret->stretches)
        rc = -ENOMEM;
    if (rc == 0) {
        add_pieces(trace, ret, &list);
        qsort(list.pieces, npieces, sizeof(*list.pieces), compare_pieces);
        for (size_t s = 0; s < trace->nstates; s++)
            list.states[s] = &trace->states[s];
        if (trace->nstates)
            qsort(list.states, trace->nstates, sizeof(*list.states),
                  compare_states);
        cut_states(trace, &list, ret);
    }
    free(list.pieces);
    free(list.states);
    return rc;
}

void report_beside_done(struct report_beside *beside)
{
    free(beside->waits);
    free(beside->stretches);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/report/idle_states.c - what workers did while they executed no task: the states that
 * they entered, without the time in which a kernel ran. See report.h.
 */
#include "tools/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static int piece_compare_worker(const void *a, const void *b)
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

static void add_pieces(const struct trace *trace, struct list *list)
{
    size_t w = 0;

    for (size_t t = 0; t < trace->ntasks; t++) {
        const struct trace_task *task = &trace->tasks[t];
        double from = task->start;

        for (; w < trace->nwaits && trace->waits[w].task == t; w++) {
            list->pieces[list->npieces++] =
                (struct piece){task->worker, from, trace->waits[w].start};
            from = trace->waits[w].end;
        }
        list->pieces[list->npieces++] =
            (struct piece){task->worker, from, task->end};
    }
}

static bool state_is_shown(const struct trace_state *state)
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

/* Adds the parts of the state, which lasts until `to`, that no piece covers.
 * *at: the first piece that may; no earlier one reaches into later states of
 * the worker. */
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
    if (!state_is_shown(state))
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
    size_t npieces = trace->ntasks + trace->nwaits;
    int rc = 0;

    list.pieces = malloc((npieces + 1) * sizeof(*list.pieces));
    list.states = malloc((trace->nstates + 1) * sizeof(*list.states));
    /* Each piece parts one state at most in two. */
    ret->stretches =
        malloc((trace->nstates + npieces + 1) * sizeof(*ret->stretches));
    if (!list.pieces || !list.states || !ret->stretches)
        rc = -ENOMEM;
    if (rc == 0) {
        add_pieces(trace, &list);
        qsort(list.pieces, npieces, sizeof(*list.pieces), piece_compare_worker);
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
    free(beside->stretches);
}

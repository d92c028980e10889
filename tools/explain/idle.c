/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/idle.c - why workers executed nothing. A gap is explained by the
 * task behind it: before that was ready, by what else was ready; then by its
 * scheduler; once the worker had taken it, by copies to its memory. Before a kernel
 * goes on that has waited, the gap is its wait. Of several ranks a task may have waited
 * for a message; and when all of a rank's are done, it waits for the other ranks.
 */
#include "tools/explain/explain.h"

#include <math.h>
#include <stdlib.h>

/* Who is told of gaps. */
struct told {
    void (*tell)(void *arg, const struct explain_gap *gap);
    void *arg;
};

const char *explain_cause_name(enum explain_cause cause)
{
    static const char *const names[EXPLAIN_NCAUSES] = {
        [EXPLAIN_DEPENDENCIES] = "no ready task",
        [EXPLAIN_MESSAGES] = "messages",
        [EXPLAIN_SUBMISSION] = "submission",
        [EXPLAIN_WAITING] = "application waits",
        [EXPLAIN_OWN] = "application",
        [EXPLAIN_SCHEDULER] = "scheduler",
        [EXPLAIN_DATA] = "data",
        [EXPLAIN_MEMORY] = "memory",
        [EXPLAIN_ALLOCATION] = "allocation",
        [EXPLAIN_KERNELS] = "waiting kernel",
        [EXPLAIN_OVERHEAD] = "overhead",
        [EXPLAIN_OTHERS] = "other ranks",
    };

    return names[cause];
}

/* Adds the span from a to b in which no task came to the worker; the next one
 * was submitted at `submitted`, by the application's main thread or not. Tasks
 * for other workers only are none for this one. */
static void before_ready(const struct explain_run *run, unsigned worker,
                         double a, double b, double submitted, bool by_main,
                         double *causes)
{
    const struct explain_spans *able = explain_ready_for(run, worker);
    double middle = fmin(fmax(submitted, a), b);
    double first = explain_spans_within(able, a, middle);
    double second = explain_spans_within(able, middle, b);
    double any = fmax(first, explain_spans_within(&run->ready, a, middle));
    double waits = by_main ? explain_spans_within(&run->waits, a, middle) : 0;
    double own = by_main ? explain_spans_within(&run->own, a, middle) : 0;

    if (b <= a)
        return;
    causes[EXPLAIN_SCHEDULER] += first + second;
    causes[EXPLAIN_WAITING] += waits;
    causes[EXPLAIN_OWN] += own;
    causes[EXPLAIN_SUBMISSION] += fmax(0, middle - a - any - waits - own);
    causes[EXPLAIN_DEPENDENCIES] += any - first + b - middle - second;
}

/* Adds the span from a to b in which the worker had a task and waited for its
 * data, or, once they were there, did something else before. */
static void after_taken(const struct explain_run *run, unsigned node, double a,
                        double b, bool there, double *causes)
{
    double room = explain_spans_within(&run->room[node], a, b);
    double moves = explain_spans_within(
        there ? &run->other_moves[node] : &run->moves[node], a, b);
    double allocates = explain_spans_within(
        there ? &run->own_allocates[node] : &run->allocates[node], a, b);

    if (b <= a)
        return;
    causes[EXPLAIN_MEMORY] += room;
    causes[EXPLAIN_DATA] += moves;
    causes[EXPLAIN_ALLOCATION] += allocates;
    causes[EXPLAIN_OVERHEAD] += fmax(0, b - a - room - moves - allocates);
}

/* Moves up to that time from `cause` to messages, and tells of it. */
static void move_to_message(const struct explain_run *run, size_t message, double start,
                            enum explain_cause cause, struct told *told, double *causes)
{
    struct explain_gap gap = {.run = run, .message = message, .start = start};

    gap.ms = fmin(fmax(0, run->received[message].end - start), causes[cause]);
    causes[cause] -= gap.ms;
    causes[EXPLAIN_MESSAGES] += gap.ms;
    if (gap.ms > 0 && told->tell)
        told->tell(told->arg, &gap);
}

/* Of the causes of a gap from `since` on, until the task was ready, what seemed to be
 * other tasks was a message from when on the task waited for nothing else. */
static void before_message(const struct explain_run *run, const struct explain_task *task,
                           double since, struct told *told, double *causes)
{
    double alone;
    size_t message = explain_message_before(run, task, &alone);

    if (message != EXPLAIN_NONE)
        move_to_message(run, message, fmax(alone, since), EXPLAIN_DEPENDENCIES, told, causes);
}

/* Of the same gap, the waits of the application that were for a message, before it has
 * submitted the task. */
static void before_submission(const struct explain_run *run, const struct explain_task *task,
                              double since, struct told *told, double *causes)
{
    if (!run->nreceived || !task->by_main)
        return;
    for (size_t i = explain_doings_until(run, task->submitted); i-- > 0;) {
        const struct explain_doing *doing = &run->doings[i];
        size_t message;

        if (doing->end <= since)
            break;
        message = explain_message_awaited(run, doing);
        if (message != EXPLAIN_NONE)
            move_to_message(run, message, fmax(doing->start, since), EXPLAIN_WAITING, told,
                            causes);
    }
}

/* From `since` on the worker executed nothing until the task. */
static void before_task(const struct explain_run *run,
                        const struct explain_task *task, double since,
                        struct told *told, double *all)
{
    double causes[EXPLAIN_NCAUSES] = {0};
    double ready = fmax(task->ready, since), taken = fmax(task->taken, since);

    unsigned node = run->graph->workers[task->worker].node;
    size_t copy = explain_copy_before(run, task, ready);
    double there = copy == EXPLAIN_NONE ? taken : run->copies[copy].end;
    double pays = explain_spans_within(&run->pays[node], ready, taken);

    before_ready(run, task->worker, since, ready, task->submitted,
                 task->by_main, causes);
    before_message(run, task, since, told, causes);
    before_submission(run, task, since, told, causes);
    /* Allocations of its worker for data that come before the task has been taken. */
    causes[EXPLAIN_ALLOCATION] += pays;
    causes[EXPLAIN_SCHEDULER] += fmax(0, taken - ready - pays);
    there = fmin(fmax(there, taken), fmax(taken, task->start));
    after_taken(run, node, taken, there, false, causes);
    after_taken(run, node, there, task->start, true, causes);
    for (int c = 0; c < EXPLAIN_NCAUSES; c++)
        all[c] += causes[c];
}

struct explain_idle *explain_idle_all(const struct explain_run *run,
                                      void (*tell)(void *arg,
                                                   const struct explain_gap *gap),
                                      void *arg)
{
    struct told told = {tell, arg};
    unsigned n = run->graph->nworkers;
    struct explain_idle *idle = calloc(n + 1, sizeof(*idle));
    double *free_at = calloc(n + 1, sizeof(*free_at));

    for (unsigned w = 0; free_at && w < n; w++)
        free_at[w] = run->begin;
    for (size_t p = 0; idle && free_at && p < run->npieces; p++) {
        const struct explain_piece *piece = &run->pieces[p];
        const struct explain_task *task = &run->tasks[piece->task];
        unsigned w = task->worker;

        if (piece->start > free_at[w] && piece->goes_on)
            idle[w].causes[EXPLAIN_KERNELS] += piece->start - free_at[w];
        else if (piece->start > free_at[w])
            before_task(run, task, free_at[w], &told, idle[w].causes);
        /* What overlaps counts once. */
        idle[w].busy += fmax(0, piece->end - fmax(piece->start, free_at[w]));
        free_at[w] = fmax(free_at[w], piece->end);
    }
    for (unsigned w = 0; idle && free_at && w < n; w++) {
        before_ready(run, w, free_at[w], run->own_end, run->last_submission,
                     run->last_by_main, idle[w].causes);
        idle[w].causes[EXPLAIN_OTHERS] +=
            fmax(0, run->end - fmax(run->own_end, free_at[w]));
        idle[w].idle = run->end - run->begin - idle[w].busy;
    }
    if (!free_at) {
        free(idle);
        idle = NULL;
    }
    free(free_at);
    return idle;
}

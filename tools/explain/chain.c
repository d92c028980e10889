/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/chain.c - what the end of the run waited for, step by step back
 * to its begin: of the worker, the data and the readiness of a task, what came
 * last is what it waited for.
 */
#include "core/base/grow.h"
#include "tools/explain/explain.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define NEAR 2e-3 /* ms: the runtime's own work between two events, rounded */
#define SAME 1e-6 /* ms: one moment, as two records round it */

struct chain {
    const struct explain_run *run;
    size_t *by_job; /* indices of tasks */
    struct explain_link *links;
    size_t n;
    double until; /* what comes next is in the way until then, or its end */
    bool lost;    /* no memory */
};

const char *explain_type_name(enum explain_link_type type)
{
    static const char *const names[EXPLAIN_NTYPES] = {
        [EXPLAIN_RUNS] = "task",
        [EXPLAIN_COPIES] = "transfer",
        [EXPLAIN_QUEUES] = "queue of transfers",
        [EXPLAIN_SUBMITS] = "submission",
        [EXPLAIN_DOES] = "application",
        [EXPLAIN_SCHEDULES] = "scheduler",
        [EXPLAIN_ALLOCATES] = "allocation",
        [EXPLAIN_FREES] = "memory",
        [EXPLAIN_PREPARES] = "overhead",
    };

    return names[type];
}

/* What takes no time delays nothing, unless it is a task. */
static void chain_add_link(struct chain *c, enum explain_link_type type,
                           double start, double end, size_t what)
{
    struct explain_link *added;

    start = fmax(start, c->run->begin);
    if (end < start || (end == start && type != EXPLAIN_RUNS))
        return;
    added = orr_array_add(c->links, c->n);
    if (added)
        *added = (struct explain_link){type, start, end, what};
    else
        c->lost = true;
}

/* What is added of a time; `node`: the worker's. */
typedef void add_fn(struct chain *c, unsigned node, double start, double end);

static void add_overhead(struct chain *c, unsigned node, double start,
                         double end)
{
    (void)node;
    chain_add_link(c, EXPLAIN_PREPARES, start, end, EXPLAIN_NONE);
}

/* How many of the spans begin before `time`. */
static size_t spans_until(const struct explain_spans *spans, double time)
{
    size_t low = 0, high = spans->n / 2;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (spans->at[2 * middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Within the spans it was of that type, else the rest. */
static void add_spans(struct chain *c, const struct explain_spans *spans,
                      enum explain_link_type type, add_fn *rest, unsigned node,
                      double start, double end)
{
    for (size_t i = spans_until(spans, end);
         i-- > 0 && spans->at[2 * i + 1] > start;) {
        double from = fmax(spans->at[2 * i], start);
        double to = fmin(spans->at[2 * i + 1], end);

        rest(c, node, to, end);
        chain_add_link(c, type, from, to, EXPLAIN_NONE);
        end = from;
    }
    rest(c, node, start, end);
}

static void add_allocations(struct chain *c, unsigned node, double start,
                            double end)
{
    add_spans(c, &c->run->own_allocates[node], EXPLAIN_ALLOCATES, add_overhead,
              node, start, end);
}

/* The span in which the worker of that node prepared a task: made room,
 * allocated memory, and the rest. */
static void add_preparation(struct chain *c, unsigned node, double start,
                            double end)
{
    add_spans(c, &c->run->room[node], EXPLAIN_FREES, add_allocations, node,
              start, end);
}

/* How many copies end at `time` or before. */
static size_t copies_until(const struct explain_run *run, double time)
{
    size_t low = 0, high = run->ncopies;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (run->copies[middle].end <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t explain_copy_before(const struct explain_run *run,
                           const struct explain_task *task, double since)
{
    unsigned node = run->graph->workers[task->worker].node;
    size_t found = EXPLAIN_NONE;

    for (size_t i = copies_until(run, task->start); i-- > 0;) {
        const struct explain_copy *copy = &run->copies[i];

        if (copy->end <= since)
            break;
        if (copy->to != node || copy->writeback)
            continue;
        if (copy->job == task->job)
            return i;
        if (found == EXPLAIN_NONE &&
            task->start - copy->end <= fmax(NEAR, 0.05 * (task->start - since)))
            found = i;
    }
    return found;
}

/* A copy that kept the link of copy `i` busy until that began, after `since`. */
static size_t copy_in_the_way(const struct explain_run *run, size_t i,
                              double since)
{
    const struct explain_copy *copy = &run->copies[i];

    for (size_t j = copies_until(run, copy->start + NEAR); j-- > 0;) {
        const struct explain_copy *other = &run->copies[j];

        if (other->end < copy->start - NEAR || other->end <= since)
            break;
        if (j != i && other->start < copy->start &&
            (other->to == copy->to || other->from == copy->from))
            return j;
    }
    return EXPLAIN_NONE;
}

/* The one that ended last by `time` of the tasks that it waited for. */
static size_t latest_predecessor(const struct chain *c,
                                 const struct explain_task *task, double time)
{
    const struct orr_graph *graph = c->run->graph;
    size_t best = EXPLAIN_NONE;

    if (task->number == UINT_MAX)
        return best;
    for (unsigned d = 0; d < graph->tasks[task->number].ndeps; d++) {
        unsigned before =
            graph->deps[graph->tasks[task->number].first_dep + d].task;
        size_t t = c->by_job[before];

        if (t != EXPLAIN_NONE && c->run->tasks[t].end <= time + SAME &&
            (best == EXPLAIN_NONE ||
             c->run->tasks[t].end > c->run->tasks[best].end))
            best = t;
    }
    return best;
}

/* How many things the application did that began before `time`. */
static size_t doings_until(const struct explain_run *run, double time)
{
    size_t low = 0, high = run->ndoings;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (run->doings[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The end of its last wait by `time`; before the run: it had none. */
static double waited_until(const struct explain_run *run, double time)
{
    for (size_t i = doings_until(run, time); i-- > 0;)
        if (run->doings[i].waits && run->doings[i].end <= time)
            return run->doings[i].end;
    return run->begin;
}

/* The task that ended last by `time`. */
static size_t last_ended(const struct explain_run *run, double time)
{
    size_t best = EXPLAIN_NONE;

    for (size_t t = 0; t < run->ntasks && run->tasks[t].start < time; t++)
        if (run->tasks[t].end <= time + SAME &&
            (best == EXPLAIN_NONE || run->tasks[t].end > run->tasks[best].end))
            best = t;
    return best;
}

/* The task whose end let the application go on before `time`, which had waited
 * for it, or for all: *ret_time. EXPLAIN_NONE: it had not waited. What main waited for is
 * known; of others it is taken that they had waited when no task was left. */
static size_t awaited_task(const struct explain_run *run,
                           const struct explain_task *task, double *ret_time)
{
    double time = task->submitted;
    double empty = task->by_main ? waited_until(run, time) : run->begin;

    for (size_t i = 0; !task->by_main && i < run->nempty && run->empty[i] <= time; i++)
        empty = fmax(empty, run->empty[i]);
    *ret_time = empty;
    return last_ended(run, empty);
}

/* The copy that brought the value to where copy `i` begins, after `since`: for the same
 * job, or just before. */
static size_t hop_before(const struct explain_run *run, size_t i, double since)
{
    const struct explain_copy *copy = &run->copies[i];

    for (size_t j = copies_until(run, copy->start + SAME); j-- > 0;) {
        const struct explain_copy *other = &run->copies[j];

        if (other->end <= since)
            break;
        if (other->to == copy->from && other->handle == copy->handle &&
            (other->job == copy->job || other->end >= copy->start - NEAR))
            return j;
    }
    return EXPLAIN_NONE;
}

/* Adds those that kept the copy from beginning after `since`; returns from when on. */
static double add_queue(struct chain *c, size_t copy, double since)
{
    const struct explain_copy *copies = c->run->copies;
    double time = copies[copy].start;

    while (time > since) {
        size_t other = copy_in_the_way(c->run, copy, since);

        if (other == EXPLAIN_NONE)
            break;
        chain_add_link(c, EXPLAIN_QUEUES, fmax(copies[other].start, since),
                       time, other);
        time = copies[other].start;
        copy = other;
    }
    return fmax(time, since);
}

/* Adds the copies that the task waited for; returns when the first of them began. */
static double chain_add_copies(struct chain *c, size_t copy, double since)
{
    const struct explain_copy *copies = c->run->copies;
    size_t hop;

    chain_add_link(c, EXPLAIN_COPIES, fmax(copies[copy].start, since),
                   copies[copy].end, copy);
    while ((hop = hop_before(c->run, copy, since)) != EXPLAIN_NONE) {
        double end = fmin(copies[hop].end, copies[copy].start);

        chain_add_link(c, EXPLAIN_PREPARES, end, add_queue(c, copy, end),
                       EXPLAIN_NONE);
        chain_add_link(c, EXPLAIN_COPIES, fmax(copies[hop].start, since), end,
                       hop);
        copy = hop;
    }
    return add_queue(c, copy, since);
}

/* The copy for no task whose end, after `since`, let something go on at `time`. */
static size_t copy_for_none(const struct explain_run *run, double time,
                            double since)
{
    for (size_t i = copies_until(run, time + SAME); i-- > 0;) {
        const struct explain_copy *copy = &run->copies[i];

        if (copy->end <= since || copy->end < time - NEAR)
            break;
        if (copy->job == 0 && !copy->writeback)
            return i;
    }
    return EXPLAIN_NONE;
}

/* The span from the end of a task for which the application, or another task,
 * waited, until that one continued: data may have had to come, one after the
 * other. */
static void chain_add_wait(struct chain *c, double start, double end)
{
    size_t copy;

    while ((copy = copy_for_none(c->run, end, start)) != EXPLAIN_NONE) {
        chain_add_link(c, EXPLAIN_PREPARES, c->run->copies[copy].end, end,
                       EXPLAIN_NONE);
        end = chain_add_copies(c, copy, start);
    }
    chain_add_link(c, EXPLAIN_PREPARES, start, end, EXPLAIN_NONE);
}

/* Until `end` the application got to submit the task, from `start` on. */
static void add_submission(struct chain *c, const struct explain_task *task,
                           double start, double end)
{
    const struct explain_run *run = c->run;

    for (size_t i = task->by_main ? doings_until(run, end) : 0; i-- > 0;) {
        const struct explain_doing *doing = &run->doings[i];

        if (doing->end <= start)
            break;
        if (doing->waits)
            continue;
        chain_add_link(c, EXPLAIN_SUBMITS, fmin(doing->end, end), end,
                       EXPLAIN_NONE);
        end = fmin(doing->end, end);
        chain_add_link(c, EXPLAIN_DOES, fmax(doing->start, start), end,
                       EXPLAIN_NONE);
        end = fmax(doing->start, start);
    }
    chain_add_link(c, EXPLAIN_SUBMITS, start, end, EXPLAIN_NONE);
}

/* The last task that began by `time` on a worker. */
static size_t last_task_at(const struct explain_run *run, unsigned worker,
                           double time)
{
    size_t low = 0, high = run->ntasks;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (run->tasks[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0)
        if (run->tasks[low].worker == worker)
            return low;
    return EXPLAIN_NONE;
}

/* Goes on with the task in which, or behind which, another one was submitted. */
static size_t step_submitter(struct chain *c, const struct explain_task *task,
                             size_t by)
{
    double end = c->run->tasks[by].end;

    chain_add_link(c, EXPLAIN_PREPARES, end, task->submitted, EXPLAIN_NONE);
    c->until = fmin(end, task->submitted);
    return by;
}

/* Goes on with what the submission of the task waited for. */
static size_t step_submission(struct chain *c, const struct explain_task *task)
{
    double empty;
    size_t by = task->by_worker == UINT_MAX
                    ? EXPLAIN_NONE
                    : last_task_at(c->run, task->by_worker, task->submitted);
    size_t next;

    if (by != EXPLAIN_NONE && &c->run->tasks[by] != task)
        return step_submitter(c, task, by);
    next = awaited_task(c->run, task, &empty);

    add_submission(c, task, empty, task->submitted);
    if (next != EXPLAIN_NONE)
        chain_add_wait(c, c->run->tasks[next].end, empty);
    return next;
}

/* Goes on with what made the task ready. What it waited for without an order,
 * data that others use which commute with it, is in no graph: when these end,
 * it is ready. */
static size_t step_ready(struct chain *c, const struct explain_task *task)
{
    size_t next = latest_predecessor(c, task, task->ready);

    if (next == EXPLAIN_NONE && task->ready > task->submitted + NEAR)
        next = last_ended(c->run, task->ready);
    if (next == EXPLAIN_NONE || c->run->tasks[next].end < task->submitted) {
        chain_add_link(c, EXPLAIN_PREPARES, task->submitted, task->ready,
                       EXPLAIN_NONE);
        return step_submission(c, task);
    }
    /* Without a task of their own, planned parts become the whole, or the other way. */
    chain_add_wait(c, c->run->tasks[next].end, task->ready);
    return next;
}

/* Whether it was its submission that made the task ready, and no task's end. */
static bool ready_by_submission(const struct chain *c, const struct explain_task *task)
{
    size_t before = latest_predecessor(c, task, task->ready);

    return task->ready <= task->submitted + NEAR &&
           (before == EXPLAIN_NONE || c->run->tasks[before].end < task->submitted);
}

/* Whether the task waited for its worker, which had ended the one before at `free`, and
 * not for being ready. Where both came at once, more workers would not have helped a task
 * that was submitted just then. */
static bool waited_for_worker(const struct chain *c, const struct explain_task *task,
                              double free)
{
    if (free <= task->ready + SAME && free >= task->ready - SAME)
        return !ready_by_submission(c, task);
    return free > task->ready;
}

/* Adds the task and what came before it; returns the task to go on with. */
static size_t chain_add_task(struct chain *c, size_t t)
{
    const struct explain_task *tasks = c->run->tasks, *task = &tasks[t];
    unsigned node = c->run->graph->workers[task->worker].node;
    size_t before = task->before, copy;
    double worker = -(double)INFINITY, since, time = task->start;

    chain_add_link(c, EXPLAIN_RUNS, task->start, fmin(task->end, c->until), t);
    c->until = (double)INFINITY;
    if (before != EXPLAIN_NONE && tasks[before].end <= task->start)
        worker = tasks[before].end;
    since = fmax(worker, task->ready);
    copy = explain_copy_before(c->run, task, since);
    if (copy != EXPLAIN_NONE) {
        add_preparation(c, node, c->run->copies[copy].end, time);
        time = chain_add_copies(c, copy, since);
    }
    if (waited_for_worker(c, task, worker)) {
        add_preparation(c, node, worker, time);
        return before;
    }
    add_preparation(c, node, fmax(task->taken, since), time);
    chain_add_link(c, EXPLAIN_SCHEDULES, task->ready, fmin(time, task->taken),
                   EXPLAIN_NONE);
    return step_ready(c, task);
}

static bool chain_index_tasks(struct chain *c)
{
    unsigned n = c->run->graph->ntasks;

    c->by_job = malloc((n + 1) * sizeof(*c->by_job));
    for (unsigned t = 0; c->by_job && t < n; t++)
        c->by_job[t] = EXPLAIN_NONE;
    for (size_t t = 0; c->by_job && t < c->run->ntasks; t++)
        if (c->run->tasks[t].number != UINT_MAX)
            c->by_job[c->run->tasks[t].number] = t;
    return c->by_job != NULL;
}

struct explain_link *explain_chain(const struct explain_run *run, size_t *ret_n)
{
    struct chain c = {.run = run, .until = (double)INFINITY};
    size_t task = 0;

    if (!chain_index_tasks(&c))
        return NULL;
    for (size_t t = 1; t < run->ntasks; t++)
        if (run->tasks[t].end > run->tasks[task].end)
            task = t;
    /* Each step goes back in time, or to one of equal time. */
    for (size_t i = 0; task != EXPLAIN_NONE && i <= 2 * run->ntasks; i++)
        task = chain_add_task(&c, task);
    free(c.by_job);
    *ret_n = c.n;
    if (!c.lost && c.links)
        return c.links;
    free(c.links);
    return NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/chain.c - what the end of the run waited for, step by step back
 * to its begin: of the worker, the data and the readiness of a task, what came
 * last is what it waited for. Of several ranks: of a message, of its sender and of its
 * receiver, likewise; and of a barrier, of the ranks the one that came last.
 */
#include "core/base/grow.h"
#include "tools/explain/explain.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 2e-3 /* ms: the runtime's own work between two events, rounded */
#define SAME 1e-6 /* ms: one moment, as two records round it */

struct chain {
    const struct explain_run *run; /* which it has come to */
    struct explain_link *links;
    size_t n;
    double until; /* what comes next is in the way until then, or its end */
    bool lost;    /* no memory */
};

/* With what the chain goes on. */
struct next {
    enum {
        AT_END,  /* nothing that is known came before */
        TASK,    /* with the task of that index … */
        MESSAGE, /* … the message that came … */
        MAIN     /* … what the application's main thread did before `time` */
    } kind;
    size_t index;
    double time;
};

static struct next next_task(size_t index)
{
    return (struct next){index == EXPLAIN_NONE ? AT_END : TASK, index, 0};
}

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
        [EXPLAIN_COMES] = "message",
        [EXPLAIN_MEETS] = "barrier",
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
        *added = (struct explain_link){type, start, end, what, c->run};
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
static size_t latest_predecessor(const struct explain_run *run,
                                 const struct explain_task *task, double time)
{
    const struct orr_graph *graph = run->graph;
    size_t best = EXPLAIN_NONE;

    if (task->number == UINT_MAX)
        return best;
    for (unsigned d = 0; d < graph->tasks[task->number].ndeps; d++) {
        unsigned before =
            graph->deps[graph->tasks[task->number].first_dep + d].task;
        size_t t = run->by_number[before];

        if (t != EXPLAIN_NONE && run->tasks[t].end <= time + SAME &&
            (best == EXPLAIN_NONE || run->tasks[t].end > run->tasks[best].end))
            best = t;
    }
    return best;
}

size_t explain_doings_until(const struct explain_run *run, double time)
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

/* Its last wait that had ended by `time`; NULL: it had none. */
static const struct explain_doing *last_wait(const struct explain_run *run, double time)
{
    for (size_t i = explain_doings_until(run, time); i-- > 0;)
        if (run->doings[i].waits && run->doings[i].end <= time)
            return &run->doings[i];
    return NULL;
}

/* The task that ended last by `time`, and began before. */
static size_t last_ended(const struct explain_run *run, double time)
{
    size_t low = 0, high = run->ntasks;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (run->tasks[run->by_end[middle]].end <= time + SAME)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0)
        if (run->tasks[run->by_end[low]].start < time)
            return run->by_end[low];
    return EXPLAIN_NONE;
}

/* The message that came last by `time`. */
static size_t last_received(const struct explain_run *run, double time)
{
    size_t low = 0, high = run->nreceived;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (run->received[middle].end <= time + SAME)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : EXPLAIN_NONE;
}

/* What ended last by `time`, a task or a message that came. */
static struct next last_event(const struct explain_run *run, double time)
{
    size_t task = last_ended(run, time), message = last_received(run, time);

    if (message != EXPLAIN_NONE &&
        (task == EXPLAIN_NONE || run->received[message].end > run->tasks[task].end))
        return (struct next){MESSAGE, message, 0};
    return next_task(task);
}

static double end_of(const struct explain_run *run, struct next next)
{
    return next.kind == MESSAGE ? run->received[next.index].end
                                : run->tasks[next.index].end;
}

/* From when on the submitter of the task had not waited. What main waited for is
 * known; of others it is taken that they had waited when no task was left. */
static double waited_until(const struct explain_run *run, const struct explain_task *task)
{
    const struct explain_doing *wait = last_wait(run, task->submitted);
    double empty = task->by_main && wait ? wait->end : run->begin;

    for (size_t i = 0;
         !task->by_main && i < run->nempty && run->empty[i] <= task->submitted; i++)
        empty = fmax(empty, run->empty[i]);
    return empty;
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

/* Until `end` the application, its main thread or not, got to submit something, from
 * `start` on. */
static void add_submission(struct chain *c, bool by_main, double start, double end)
{
    const struct explain_run *run = c->run;

    for (size_t i = by_main ? explain_doings_until(run, end) : 0; i-- > 0;) {
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
static struct next step_submitter(struct chain *c, const struct explain_task *task,
                                  size_t by)
{
    double end = c->run->tasks[by].end;

    chain_add_link(c, EXPLAIN_PREPARES, end, task->submitted, EXPLAIN_NONE);
    c->until = fmin(end, task->submitted);
    return next_task(by);
}

/* Goes on with what ended last before the application went on at `empty`. */
static struct next step_wait(struct chain *c, double empty)
{
    struct next next = last_event(c->run, empty);

    if (next.kind != AT_END)
        chain_add_wait(c, end_of(c->run, next), empty);
    return next;
}

/* --- barriers --- */

static bool is_barrier(const struct explain_doing *doing)
{
    return doing->waits && !strcmp(doing->call, "starpu_mpi_barrier");
}

/* Where a rank waited in the barrier in which others did at `time`; NULL: nowhere. */
static const struct explain_doing *barrier_at(const struct explain_run *run, double time)
{
    for (size_t i = explain_doings_until(run, time); i-- > 0;)
        if (is_barrier(&run->doings[i]))
            return run->doings[i].end >= time ? &run->doings[i] : NULL;
    return NULL;
}

/* Of those in the barrier that main of this rank left, the rank that came last. */
static const struct explain_run *last_to_come(const struct explain_run *run,
                                              const struct explain_doing *barrier,
                                              double *ret_time)
{
    const struct explain_run *last = run;

    *ret_time = barrier->start;
    for (unsigned r = 0; r < run->ranks->n; r++) {
        const struct explain_run *other = &run->ranks->of[r];
        const struct explain_doing *there = barrier_at(other, barrier->end);

        if (!there || there->start <= *ret_time)
            continue;
        last = other;
        *ret_time = there->start;
    }
    return last;
}

/* Goes on with what main waited for before `time`. */
static struct next step_main(struct chain *c, double time)
{
    const struct explain_doing *wait = last_wait(c->run, time);
    double came, empty = wait ? wait->end : c->run->begin;

    add_submission(c, true, empty, time);
    if (!wait || !c->run->ranks || !is_barrier(wait))
        return step_wait(c, empty);
    c->run = last_to_come(c->run, wait, &came);
    chain_add_link(c, EXPLAIN_MEETS, came, empty, EXPLAIN_NONE);
    return (struct next){MAIN, 0, came};
}

/* Goes on with what the submission of the task waited for. */
static struct next step_submission(struct chain *c, const struct explain_task *task)
{
    double empty;
    size_t by = task->by_worker == UINT_MAX
                    ? EXPLAIN_NONE
                    : last_task_at(c->run, task->by_worker, task->submitted);

    if (by != EXPLAIN_NONE && &c->run->tasks[by] != task)
        return step_submitter(c, task, by);
    if (task->by_main)
        return step_main(c, task->submitted);
    empty = waited_until(c->run, task);
    add_submission(c, false, empty, task->submitted);
    return step_wait(c, empty);
}

/* --- messages --- */

/* The end of the task's latest predecessor, or its submission, if that came later. */
static double waited_for_tasks(const struct explain_run *run,
                               const struct explain_task *task)
{
    size_t before = latest_predecessor(run, task, task->ready);

    return before == EXPLAIN_NONE ? task->submitted
                                  : fmax(run->tasks[before].end, task->submitted);
}

size_t explain_message_before(const struct explain_run *run,
                              const struct explain_task *task, double *ret_since)
{
    size_t message = last_received(run, task->ready);

    if (message == EXPLAIN_NONE)
        return EXPLAIN_NONE;
    *ret_since = waited_for_tasks(run, task);
    return run->received[message].end > *ret_since ? message : EXPLAIN_NONE;
}

size_t explain_message_awaited(const struct explain_run *run,
                               const struct explain_doing *doing)
{
    struct next next = last_event(run, doing->end);

    return doing->waits && !is_barrier(doing) && next.kind == MESSAGE &&
                   end_of(run, next) > doing->start
               ? next.index
               : EXPLAIN_NONE;
}

/* Goes on with what a message waited for that was called for, and had its datum at
 * `start`: what ended in between, or the call. */
static struct next step_request(struct chain *c, double called, double start)
{
    struct next next = last_event(c->run, start);

    if (next.kind != AT_END && end_of(c->run, next) >= called) {
        chain_add_wait(c, end_of(c->run, next), start);
        return next;
    }
    chain_add_link(c, EXPLAIN_PREPARES, called, start, EXPLAIN_NONE);
    return (struct next){MAIN, 0, fmin(called, start)};
}

/* Adds the message, and goes on with its sender, or with its receiver if that was ready
 * for it later. Clocks of ranks are not quite equal: nothing begins behind its end. */
static struct next chain_add_message(struct chain *c, size_t m)
{
    const struct explain_message *came = &c->run->received[m], *sent;
    const struct explain_run *sender;

    if (came->other == EXPLAIN_NONE) {
        chain_add_link(c, EXPLAIN_COMES, came->start, came->end, m);
        return step_request(c, came->called, came->start);
    }
    sender = &c->run->ranks->of[came->peer];
    sent = &sender->sent[came->other];
    if (sent->start < came->start) {
        chain_add_link(c, EXPLAIN_COMES, came->start, came->end, m);
        return step_request(c, came->called, came->start);
    }
    chain_add_link(c, EXPLAIN_COMES, fmin(sent->start, came->end), came->end, m);
    c->run = sender;
    return step_request(c, sent->called, fmin(sent->start, came->end));
}

/* --- tasks --- */

/* Goes on with what made the task ready. What it waited for without an order,
 * data that others use which commute with it, is in no graph: when these end,
 * it is ready. */
static struct next step_ready(struct chain *c, const struct explain_task *task)
{
    size_t next = latest_predecessor(c->run, task, task->ready);
    double since;
    size_t message = explain_message_before(c->run, task, &since);

    if (message != EXPLAIN_NONE) {
        chain_add_wait(c, c->run->received[message].end, task->ready);
        return (struct next){MESSAGE, message, 0};
    }
    if (next == EXPLAIN_NONE && task->ready > task->submitted + NEAR)
        next = last_ended(c->run, task->ready);
    if (next == EXPLAIN_NONE || c->run->tasks[next].end < task->submitted) {
        chain_add_link(c, EXPLAIN_PREPARES, task->submitted, task->ready,
                       EXPLAIN_NONE);
        return step_submission(c, task);
    }
    /* Without a task of their own, planned parts become the whole, or the other way. */
    chain_add_wait(c, c->run->tasks[next].end, task->ready);
    return next_task(next);
}

/* Whether it was its submission that made the task ready, and no task's end. */
static bool ready_by_submission(const struct chain *c, const struct explain_task *task)
{
    size_t before = latest_predecessor(c->run, task, task->ready);

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

/* Adds the task and what came before it. */
static struct next chain_add_task(struct chain *c, size_t t)
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
        return next_task(before);
    }
    add_preparation(c, node, fmax(task->taken, since), time);
    chain_add_link(c, EXPLAIN_SCHEDULES, task->ready, fmin(time, task->taken),
                   EXPLAIN_NONE);
    return step_ready(c, task);
}

static struct next chain_step(struct chain *c, struct next next)
{
    switch (next.kind) {
    case TASK:
        return chain_add_task(c, next.index);
    case MESSAGE:
        return chain_add_message(c, next.index);
    default:
        return step_main(c, next.time);
    }
}

static size_t most_steps(const struct explain_run *run)
{
    size_t n = 0;

    for (unsigned r = 0; run->ranks && r < run->ranks->n; r++) {
        const struct explain_run *one = &run->ranks->of[r];

        n += one->ntasks + one->nreceived + one->ndoings;
    }
    return 2 * (n + run->ntasks) + 1;
}

/* The links from `next` on, back to the begin of the run, or until one begins by `stop`. */
static struct explain_link *chain_make(struct chain *c, struct next next, double stop,
                                       size_t *ret_n)
{
    size_t most = most_steps(c->run);

    c->until = (double)INFINITY;
    /* Each step goes back in time, or to one of equal time. */
    for (size_t i = 0; next.kind != AT_END && i < most; i++) {
        if (c->n && c->links[c->n - 1].start <= stop)
            break;
        next = chain_step(c, next);
    }
    *ret_n = c->n;
    if (!c->lost && (c->links || stop > c->run->begin))
        return c->links ? c->links : calloc(1, sizeof(*c->links));
    free(c->links);
    return NULL;
}

/* Before the first thing of a rank that is known others had begun. */
static void begin_with_others(struct chain *c)
{
    double first = c->n ? c->links[c->n - 1].start : c->run->end;

    if (c->run->ranks)
        chain_add_link(c, EXPLAIN_SUBMITS, c->run->begin, first, EXPLAIN_NONE);
}

struct explain_link *explain_chain(const struct explain_run *run, size_t *ret_n)
{
    struct chain c = {.run = run};
    struct explain_link *links;

    for (unsigned r = 0; run->ranks && r < run->ranks->n; r++)
        if (run->ranks->of[r].ntasks && run->ranks->of[r].own_end > c.run->own_end)
            c.run = &run->ranks->of[r];
    links = chain_make(&c, next_task(c.run->ntasks ? last_ended(c.run, (double)INFINITY)
                                                   : EXPLAIN_NONE),
                       -(double)INFINITY, ret_n);
    if (!links)
        return NULL;
    begin_with_others(&c);
    *ret_n = c.n;
    if (!c.lost)
        return c.links;
    free(c.links);
    return NULL;
}

struct explain_link *explain_chain_to_message(const struct explain_run *run,
                                              size_t message, double since,
                                              size_t *ret_n)
{
    struct chain c = {.run = run};

    return chain_make(&c, (struct next){MESSAGE, message, 0}, since, ret_n);
}

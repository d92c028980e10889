/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/rank_traces.c - see rank_traces.h. */
#include "tools/common/rank_traces.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/tool.h"

/* --- which files --- */

bool rank_traces_are(char *const *paths, unsigned npaths)
{
    unsigned first = 0, rank, nranks, all = 0;

    for (unsigned i = 0; i < npaths; i++) {
        if (!trace_csv_has_rank(paths[i], &rank, &nranks) || (i && nranks != all))
            return false;
        if (i == 0)
            first = rank;
        all = nranks;
        /* Two files of one rank are of two runs. */
        if (npaths == 2 && i == 1 && rank == first)
            return false;
    }
    return npaths > 1;
}

/* --- on one clock --- */

struct clock {
    const struct trace *trace;
    double first_zero; /* ms of rank 0's clock at time 0 of its trace */
};

/* By the difference of the clocks at the beginning and at the end, in a line between. */
static double on_first_clock(void *arg, double time)
{
    const struct clock *clock = arg;
    const struct trace_clocks *a = &clock->trace->clocks[0], *b = &clock->trace->clocks[1];
    double offset = clock->trace->nclocks ? a->offset : 0;

    if (clock->trace->nclocks == 2 && b->start > a->start)
        offset += (b->offset - a->offset) * (time - a->start) / (b->start - a->start);
    return time + clock->trace->zero + offset - clock->first_zero;
}

static int read_one(const char *path, unsigned npaths, struct rank_traces *ret,
                    struct orr_error *err)
{
    struct trace trace;
    int rc = trace_csv_read(path, &trace, err);

    if (rc)
        return rc;
    if (trace.nranks != npaths)
        rc = orr_fail(err, -EINVAL,
                      "%s is of a run of %u ranks, and there are %u files: name the traces "
                      "of all its ranks",
                      path, trace.nranks, npaths);
    else if (ret->of[trace.rank].nranks)
        rc = orr_fail(err, -EINVAL, "%s: there is a trace of rank %u already: name one of "
                                    "each rank",
                      path, trace.rank);
    if (rc) {
        trace_csv_done(&trace);
        return rc;
    }
    ret->of[trace.rank] = trace;
    ret->paths[trace.rank] = path;
    return 0;
}

int rank_traces_read(char *const *paths, unsigned npaths, struct rank_traces *ret,
                     struct orr_error *err)
{
    int rc = 0;

    *ret = (struct rank_traces){.of = calloc(npaths, sizeof(*ret->of)),
                                .paths = calloc(npaths, sizeof(*ret->paths)),
                                .n = npaths};
    if (!ret->of || !ret->paths)
        return orr_fail(err, -ENOMEM, "out of memory");
    for (unsigned i = 0; i < npaths && !rc; i++)
        rc = read_one(paths[i], npaths, ret, err);
    for (unsigned r = 0; r < npaths && !rc; r++) {
        struct clock clock = {&ret->of[r], ret->of[0].zero};

        trace_csv_map(&ret->of[r], on_first_clock, &clock);
    }
    return rc;
}

void rank_traces_done(struct rank_traces *traces)
{
    for (unsigned r = 0; r < traces->n && traces->of; r++)
        trace_csv_done(&traces->of[r]);
    free(traces->of);
    free(traces->paths);
    *traces = (struct rank_traces){0};
}

/* --- as one --- */

/* What numbers of a rank get more than the same of rank 0. */
struct shift {
    unsigned worker, node;
    uint64_t job, handle;
    size_t task;
    uint64_t next_handle; /* of the next rank: no less than any up to now */
};

static uint64_t shifted(uint64_t number, uint64_t by)
{
    return number ? number + by : 0;
}

static bool append(void *items, size_t *n, const void *more, size_t nmore, size_t size)
{
    void **at = items;
    void *moved;

    if (nmore == 0)
        return true;
    moved = realloc(*at, (*n + nmore) * size);
    if (!moved)
        return false;
    memcpy((char *)moved + *n * size, more, nmore * size);
    *at = moved;
    *n += nmore;
    return true;
}

#define APPEND(field, count)                                                       \
    append(&all->field, &all->count, from->field, from->count, sizeof(*from->field))

static const char *keep(struct trace *all, const char *name, bool *lost)
{
    const char *kept = orr_texts_add(&all->names, name);

    *lost |= !kept;
    return kept ? kept : "";
}

static bool add_workers(struct trace *all, const struct trace *from, const char *label,
                        const struct shift *by)
{
    struct trace_worker *moved =
        realloc(all->workers, (all->nworkers + from->nworkers + 1) * sizeof(*moved));
    bool lost = !moved;

    if (moved)
        all->workers = moved;
    for (unsigned w = 0; w < from->nworkers && !lost; w++) {
        char *name = label ? tool_format("%s %s", label, from->workers[w].name)
                           : tool_format("rank %u: %s", from->rank, from->workers[w].name);

        all->workers[all->nworkers++] = (struct trace_worker){
            name ? keep(all, name, &lost) : "", from->workers[w].node + by->node};
        lost |= !name;
        free(name);
    }
    return !lost;
}

static bool add_tasks(struct trace *all, const struct trace *from, const struct shift *by)
{
    bool lost = !APPEND(tasks, ntasks);

    for (size_t t = by->task; t < all->ntasks; t++) {
        struct trace_task *task = &all->tasks[t];

        task->job += by->job;
        task->worker += by->worker;
        task->by_worker += by->worker;
        task->name = keep(all, task->name, &lost);
        if (task->source)
            task->source = keep(all, task->source, &lost);
    }
    return !lost;
}

static bool add_copies(struct trace *all, const struct trace *from, const struct shift *by)
{
    size_t c = all->ncopies;
    bool lost = !APPEND(copies, ncopies);

    for (; c < all->ncopies; c++) {
        struct trace_copy *copy = &all->copies[c];

        copy->from += by->node;
        copy->to += by->node;
        copy->job = shifted(copy->job, by->job);
        copy->handle = shifted(copy->handle, by->handle);
        copy->name = keep(all, copy->name, &lost);
        copy->kind = keep(all, copy->kind, &lost);
    }
    return !lost;
}

static bool add_states(struct trace *all, const struct trace *from, const struct shift *by)
{
    size_t s = all->nstates, m = all->nmarks, w = all->nwaits, i = all->nsteals;
    bool lost = !APPEND(states, nstates) || !APPEND(marks, nmarks) ||
                !APPEND(waits, nwaits) || !APPEND(steals, nsteals);

    for (; s < all->nstates; s++) {
        all->states[s].worker += by->worker;
        all->states[s].kind = keep(all, all->states[s].kind, &lost);
    }
    for (; m < all->nmarks; m++)
        all->marks[m].text = keep(all, all->marks[m].text, &lost);
    for (; w < all->nwaits; w++) {
        all->waits[w].job += by->job;
        all->waits[w].task += by->task;
    }
    for (; i < all->nsteals; i++) {
        all->steals[i].thief += by->worker;
        all->steals[i].victim += by->worker;
        all->steals[i].job += by->job;
    }
    return !lost;
}

static bool add_steps(struct trace_steps *all, const struct trace_steps *from,
                      unsigned node)
{
    size_t i = all->n;
    bool good = append(&all->items, &all->n, from->items, from->n, sizeof(*from->items));

    for (; i < all->n; i++)
        all->items[i].node += node;
    all->room = all->n;
    return good;
}

static bool add_rank(struct trace *all, const struct trace *from, const char *label,
                     struct shift *by)
{
    bool good;

    by->task = all->ntasks;
    good = add_workers(all, from, label, by) && add_tasks(all, from, by) &&
           add_copies(all, from, by) && add_states(all, from, by) &&
           add_steps(&all->submitted, &from->submitted, 0) &&
           add_steps(&all->ready, &from->ready, 0) &&
           add_steps(&all->memory, &from->memory, by->node);
    for (size_t c = all->ncopies - from->ncopies; good && c < all->ncopies; c++)
        if (all->copies[c].handle > by->next_handle)
            by->next_handle = all->copies[c].handle;
    by->handle = by->next_handle;
    by->worker += from->nworkers;
    by->node += from->nnodes;
    all->nnodes += from->nnodes;
    all->dropped += from->dropped;
    if (from->ntasks) {
        all->begin = fmin(all->begin, from->begin);
        all->end = fmax(all->end, from->end);
        all->last_submission = fmax(all->last_submission, from->last_submission);
    }
    return good;
}

uint64_t rank_traces_jobs_before(const struct rank_traces *traces, unsigned rank)
{
    uint64_t all = 0;

    for (unsigned r = 0; r < rank; r++) {
        uint64_t most = 0;

        for (size_t t = 0; t < traces->of[r].ntasks; t++)
            if (traces->of[r].tasks[t].job > most)
                most = traces->of[r].tasks[t].job;
        all += most;
    }
    return all;
}

#define BY(name, type, field)                                                      \
    static int name(const void *a, const void *b)                                  \
    {                                                                              \
        double x = ((const struct type *)a)->field, y = ((const struct type *)b)->field; \
                                                                                   \
        return (x > y) - (x < y);                                                  \
    }
BY(by_copy_end, trace_copy, end)
BY(by_step, trace_step, time)
BY(by_mark, trace_mark, time)
BY(by_steal, trace_steal, time)
#undef BY

static void sort(void *items, size_t n, size_t size,
                 int (*compare)(const void *, const void *))
{
    if (n)
        qsort(items, n, size, compare);
}

/* Tasks in order of their starts, and the places of them that waits name. */
struct placed_task {
    struct trace_task task;
    size_t place;
};

static int by_start(const void *a, const void *b)
{
    const struct placed_task *x = a, *y = b;

    if (x->task.start != y->task.start)
        return x->task.start < y->task.start ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static int by_task(const void *a, const void *b)
{
    const struct trace_wait *x = a, *y = b;

    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static bool sort_tasks(struct trace *all)
{
    struct placed_task *placed = malloc((all->ntasks + 1) * sizeof(*placed));
    size_t *now = malloc((all->ntasks + 1) * sizeof(*now));
    bool good = placed && now;

    for (size_t t = 0; good && t < all->ntasks; t++)
        placed[t] = (struct placed_task){all->tasks[t], t};
    if (good)
        sort(placed, all->ntasks, sizeof(*placed), by_start);
    for (size_t t = 0; good && t < all->ntasks; t++) {
        all->tasks[t] = placed[t].task;
        now[placed[t].place] = t;
    }
    for (size_t w = 0; good && w < all->nwaits; w++)
        all->waits[w].task = now[all->waits[w].task];
    if (good)
        sort(all->waits, all->nwaits, sizeof(*all->waits), by_task);
    free(placed);
    free(now);
    return good;
}

int rank_traces_join(const struct rank_traces *traces, struct trace *ret)
{
    struct trace all = {.begin = (double)INFINITY};
    struct shift by = {0};
    bool good = true;

    for (unsigned r = 0; r < traces->n && good; r++) {
        by.job = rank_traces_jobs_before(traces, r);
        good = add_rank(&all, &traces->of[r], traces->labels ? traces->labels[r] : NULL,
                        &by);
    }
    if (good && (good = sort_tasks(&all))) {
        sort(all.copies, all.ncopies, sizeof(*all.copies), by_copy_end);
        sort(all.submitted.items, all.submitted.n, sizeof(*all.submitted.items), by_step);
        sort(all.ready.items, all.ready.n, sizeof(*all.ready.items), by_step);
        sort(all.memory.items, all.memory.n, sizeof(*all.memory.items), by_step);
        sort(all.marks, all.nmarks, sizeof(*all.marks), by_mark);
        sort(all.steals, all.nsteals, sizeof(*all.steals), by_steal);
    }
    if (all.ntasks == 0)
        all.begin = all.end = 0;
    *ret = all;
    return good ? 0 : -ENOMEM;
}

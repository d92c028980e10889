/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/ranks.c - why the ranks of one program took that long: each is a run of its
 * own (read.c), all on one clock, with their messages between them. A gap that ends with a
 * message is explained by the chain that led to it, within the gap: whether the sender
 * computed, waited for a third rank, or had not submitted yet what the message needs.
 */
#include "tools/explain/explain.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/grow.h"
#include "tools/common/json.h"
#include "tools/common/pair_messages.h"
#include "tools/common/rank_traces.h"
#include "tools/common/run_files.h"
#include "tools/common/run_ranks.h"
#include "tools/common/tool.h"

/* --- reading --- */

static void pair(void *arg, const struct message_end *sent,
                 const struct message_end *received)
{
    struct explain_ranks *ranks = arg;

    ranks->of[received->to].received[received->index].other = sent->index;
    ranks->npairs++;
}

/* The traces' messages in the order of which those of the runs are. */
static bool pair_all(struct explain_ranks *ranks, const struct rank_traces *traces)
{
    struct message_end *ends;
    size_t n = 0, all = 0;

    for (unsigned r = 0; r < traces->n; r++)
        all += traces->of[r].nmessages;
    ends = malloc((all + 1) * sizeof(*ends));
    for (unsigned r = 0; ends && r < traces->n; r++) {
        size_t nsent = 0, nreceived = 0;

        for (size_t m = 0; m < traces->of[r].nmessages; m++) {
            const struct trace_message *message = &traces->of[r].messages[m];
            bool received = message->received;

            ends[n++] = (struct message_end){
                .from = received ? message->peer : r,
                .to = received ? r : message->peer,
                .received = received,
                .tag = message->tag,
                .number = message->number,
                .time = message->called,
                .index = received ? nreceived++ : nsent++,
            };
        }
    }
    if (ends)
        pair_messages(ends, n, pair, ranks);
    if (ends && n > 0 && ranks->npairs == 0)
        tool_error("explain: note: no message of one rank is in the trace of another: are "
                   "these traces of one run?");
    free(ends);
    return ends != NULL;
}

/* All have the begin and the end of the program. */
static void set_span(struct explain_ranks *ranks, const struct rank_traces *traces)
{
    double begin = (double)INFINITY, end = -(double)INFINITY;

    for (unsigned r = 0; r < traces->n; r++) {
        if (traces->of[r].ntasks == 0)
            continue;
        begin = fmin(begin, traces->of[r].begin);
        end = fmax(end, traces->of[r].end);
    }
    for (unsigned r = 0; r < ranks->n; r++) {
        struct explain_run *run = &ranks->of[r];

        if (run->ntasks == 0)
            run->own_end = run->last_submission = begin;
        run->begin = begin;
        run->end = end;
        run->ranks = ranks;
    }
}

static void ranks_done(struct explain_ranks *ranks)
{
    for (unsigned r = 0; ranks->of && r < ranks->n; r++)
        if (ranks->of[r].graph)
            explain_run_done(&ranks->of[r]);
    free(ranks->of);
}

/* The graph of each trace lies beside it. */
static int take_runs(struct explain_ranks *ranks, const struct rank_traces *traces,
                     struct orr_error *err)
{
    size_t ntasks = 0;
    int rc = 0;

    for (unsigned r = 0; r < traces->n && !rc; r++) {
        const char *path = traces->paths[r];
        char *graph = tool_beside(path, ".graph");

        if (!graph)
            rc = orr_fail(err, -ENOMEM, "out of memory");
        else if (traces->of[r].ntasks && access(graph, R_OK) < 0)
            rc = orr_fail(err, -errno,
                          "%s, the graph of the tasks of %s, cannot be read: %s; "
                          "ORRERY_GRAPH=FILE.graph beside ORRERY_TRACE=FILE.csv writes both",
                          graph, path, strerror(errno));
        else
            rc = explain_run_take(&traces->of[r], path, graph, &ranks->of[r], err);
        free(graph);
        ntasks += traces->of[r].ntasks;
    }
    if (!rc && ntasks == 0)
        rc = orr_fail(err, -ENODATA, "no task ran: there is nothing to explain");
    return rc;
}

static int read_ranks(char *const *paths, unsigned n, struct explain_ranks *ret,
                      struct orr_error *err)
{
    struct rank_traces traces;
    int rc = rank_traces_read(paths, n, &traces, err);

    *ret = (struct explain_ranks){.n = n};
    if (!rc && !(ret->of = calloc(n, sizeof(*ret->of))))
        rc = orr_fail(err, -ENOMEM, "out of memory");
    if (!rc)
        rc = take_runs(ret, &traces, err);
    if (!rc && !pair_all(ret, &traces))
        rc = orr_fail(err, -ENOMEM, "out of memory");
    if (!rc)
        set_span(ret, &traces);
    rank_traces_done(&traces);
    return rc;
}

/* --- what others did while a rank waited --- */

static bool same_wait(const struct explain_wait *a, const struct explain_wait *b)
{
    return a->rank == b->rank && a->peer == b->peer && a->why == b->why &&
           a->third == b->third &&
           (a->kernel == b->kernel ||
            (a->kernel && b->kernel && !strcmp(a->kernel, b->kernel)));
}

static void add_wait(struct ranks_explanation *e, const struct explain_wait *wait)
{
    struct explain_wait *added;

    /* Those of the rank that is looked at are the last ones. */
    for (size_t i = e->nwaits; i-- > 0 && e->waits[i].rank == wait->rank;) {
        if (!same_wait(&e->waits[i], wait))
            continue;
        e->waits[i].ms += wait->ms;
        e->waits[i].n += e->waits[i].gap != wait->gap;
        e->waits[i].gap = wait->gap;
        return;
    }
    added = orr_array_add(e->waits, e->nwaits);
    if (added) {
        *added = *wait;
        added->n = 1;
    } else {
        e->lost = true;
    }
}

static const char *kernel_of(const struct explain_link *link)
{
    const struct explain_task *task = &link->run->tasks[link->what];
    const struct orr_graph *graph = link->run->graph;

    return task->number < graph->ntasks
               ? graph->types[graph->tasks[task->number].type].symbol
               : "a task";
}

/* What the link is to a rank that waits for `peer`. */
static void say_why(const struct explain_link *link, struct explain_wait *wait)
{
    bool peers = link->run->rank == wait->peer;

    if (link->type == EXPLAIN_COMES && link->run->rank == wait->rank) {
        wait->why = EXPLAIN_UNDER_WAY;
    } else if (!peers) {
        wait->why = EXPLAIN_NOT_ASKED;
    } else if (link->type == EXPLAIN_COMES) {
        wait->why = EXPLAIN_PEER_WAITS;
        wait->third = link->run->received[link->what].peer;
    } else if (link->type == EXPLAIN_RUNS) {
        wait->why = EXPLAIN_PEER_COMPUTES;
        wait->kernel = kernel_of(link);
    } else if (link->type == EXPLAIN_SUBMITS || link->type == EXPLAIN_DOES) {
        wait->why = EXPLAIN_PEER_SUBMITS;
    } else {
        wait->why = EXPLAIN_PEER_RUNTIME;
    }
}

/* Once it has left the peer, for a rank or a barrier that it waited for, the rest is that. */
static void take_gap(void *arg, const struct explain_gap *gap)
{
    struct ranks_explanation *e = arg;
    const struct explain_message *message = &gap->run->received[gap->message];
    double length = message->end - gap->start, left = gap->ms;
    struct explain_wait wait = {
        .rank = gap->run->rank, .peer = message->peer, .gap = ++e->ngaps};
    size_t n;
    struct explain_link *links =
        explain_chain_to_message(gap->run, gap->message, gap->start, &n);

    e->lost |= !links;
    for (size_t i = 0; links && i < n && links[i].end > gap->start; i++) {
        double start = fmax(links[i].start, gap->start);

        if (wait.why != EXPLAIN_PEER_WAITS) {
            wait.kernel = NULL;
            wait.third = 0;
            say_why(&links[i], &wait);
        }
        wait.ms = fmin(left, (links[i].end - start) * gap->ms / length);
        left -= wait.ms;
        if (wait.ms > 0)
            add_wait(e, &wait);
    }
    if (left > 1e-9 * length) {
        wait.ms = left;
        add_wait(e, &wait);
    }
    free(links);
}

static int compare_waits(const void *a, const void *b)
{
    const struct explain_wait *x = a, *y = b;

    if (x->ms != y->ms)
        return x->ms < y->ms ? 1 : -1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->peer > y->peer) - (x->peer < y->peer);
}

static void explain_all(struct ranks_explanation *e)
{
    const struct explain_ranks *ranks = e->ranks;

    e->idle = calloc(ranks->n, sizeof(*e->idle));
    e->lost = !e->idle;
    for (unsigned r = 0; r < ranks->n && !e->lost; r++) {
        e->idle[r] = explain_idle_all(&ranks->of[r], take_gap, e);
        e->lost |= !e->idle[r];
    }
    if (!e->lost)
        e->chain = explain_chain(&ranks->of[0], &e->nchain);
    e->lost |= !e->chain;
    if (e->nwaits)
        qsort(e->waits, e->nwaits, sizeof(*e->waits), compare_waits);
}

static void explanation_done(struct ranks_explanation *e)
{
    for (unsigned r = 0; e->idle && r < e->ranks->n; r++)
        free(e->idle[r]);
    free(e->idle);
    free(e->chain);
    free(e->waits);
}

/* --- the command --- */

int explain_rank_files(char *const *traces, unsigned n, const char *machine, const char *edits,
                       bool json)
{
    struct explain_ranks ranks;
    struct ranks_explanation e = {.ranks = &ranks, .machine = machine};
    struct orr_error err = {""};
    int code = TOOL_FAILED;

    if (read_ranks(traces, n, &ranks, &err) < 0) {
        tool_error("explain: %s", err.text);
    } else {
        explain_all(&e);
        if (machine && rank_bounds_of_files(traces, n, machine, edits, &e.bounds) < 0)
            rank_bounds_done(&e.bounds);
        if (e.lost || (json ? tool_json_print(explain_ranks_json(&e))
                            : explain_ranks_print(&e)) < 0)
            tool_error("out of memory");
        else
            code = TOOL_OK;
    }
    explanation_done(&e);
    rank_bounds_done(&e.bounds);
    ranks_done(&ranks);
    return code;
}

int explain_rank_program(struct launch *launch, bool json)
{
    struct run_files files;
    int result = TOOL_FAILED;

    if (run_files_init(&files) && run_files_of_ranks(&files, launch->nranks)) {
        launch->more = files.more;
        launch->trace = files.trace;
        result = run_ranks_silently(launch, "explain");
        if (result == TOOL_OK)
            result = explain_rank_files(files.traces, launch->nranks,
                                        launch->hosted ? launch->report.machine : NULL,
                                        launch->edits, json);
    }
    run_files_done(&files);
    launch_done(launch);
    return result;
}

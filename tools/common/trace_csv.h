/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/trace_csv.h - a trace in CSV (docs/TRACES.md) read again: what ran
 * where and when, copies, counts over time. Times are ms since the runtime was
 * started. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/error.h"
#include "core/observe/text_pool.h"

struct trace_worker {
    const char *name; /* of the trace, as are all names */
    unsigned node;
};

/* What submitted a task. */
enum trace_submitter {
    TRACE_BY_MAIN,   /* the application's main thread */
    TRACE_BY_THREAD, /* another one of its */
    TRACE_BY_TASK,   /* a kernel or callback of a worker */
};

struct trace_task {
    uint64_t job, tag;
    const char *name;
    unsigned worker;
    int priority;
    uint32_t footprint;
    double bytes, gflop;
    int64_t iteration, subiteration; /* of starpu_iteration_push; -1: none */
    /* Each at most the next; where the file does not say: as early as `start`. */
    double submitted, ready, taken; /* taken: by its worker */
    double start, end;
    enum trace_submitter by;
    const char *source; /* where it was submitted, "FILE:LINE"; NULL: not known */
    unsigned by_worker; /* … of a task's or a callback's worker */
};

/* What the application's main thread did beside its other calls. */
struct trace_doing {
    const char *call; /* in which it waited; of its own work "", or a call */
    bool waits;       /* else it did something of its own */
    double start, end;
};

struct trace_copy {
    unsigned from, to;
    uint64_t job, handle; /* job: one that waited for it, 0: none */
    const char *name, *kind;
    double bytes, start, end;
};

/* A worker waited for memory of a node to be allocated, or freed. */
struct trace_allocation {
    unsigned node;
    bool frees;
    double start, end;
};

/* From `time` on there is that much more, or less. */
struct trace_step {
    double time, change;
    unsigned node; /* of memory */
};

struct trace_steps {
    struct trace_step *items; /* in order of time */
    size_t n, room;
};

/* What a worker enters beside its tasks, until the next state. */
struct trace_state {
    const char *kind;
    unsigned worker;
    double time;
};

/* The kernel of a task waits: its worker may do other things. */
struct trace_wait {
    uint64_t job;
    size_t task;       /* its place */
    double start, end; /* within the task's time */
};

/* A worker has taken a job from the queue of another one. */
struct trace_steal {
    unsigned thief, victim; /* workers */
    uint64_t job;
    double time;
};

/* A datum that went to another rank, or came from it (docs/TRACES.md). */
struct trace_message {
    unsigned peer; /* the other rank */
    bool received;
    int64_t tag;
    uint64_t number; /* the same on both ranks; 0: see pair_messages.h */
    double bytes;
    /* It was asked for; the datum was there to be sent, or for it to come; it could be
     * used again. */
    double called, start, end;
};

/* Between the two rank 0's clock was that much ahead. */
struct trace_clocks {
    double start, end, offset;
};

struct trace_mark {
    const char *text;
    double time;
};

struct trace {
    struct trace_worker *workers; /* owned, as all below */
    unsigned nworkers, nnodes;    /* nnodes: more than any that is named */
    struct trace_task *tasks;     /* in order of their starts */
    size_t ntasks;
    struct trace_copy *copies; /* in order of their ends */
    size_t ncopies;
    struct trace_steps submitted, ready; /* tasks submitted, and not ended;
                                          * waiting in the scheduler */
    struct trace_steps memory;           /* bytes allocated */
    struct trace_state *states;          /* in the file's order, of time where
                                          * Orrery wrote it, as the marks */
    size_t nstates;
    struct trace_wait *waits; /* by task, then start */
    size_t nwaits;
    struct trace_steal *steals; /* in the file's order */
    size_t nsteals;
    struct trace_allocation *allocations; /* in the file's order */
    size_t nallocations;
    struct trace_mark *marks; /* of the application */
    size_t nmarks;
    struct trace_doing *doings; /* in order of time */
    size_t ndoings;
    /* Of one of several ranks: which, of how many, and what its clock said at time 0; of
     * one process: 0, 0, 0. */
    unsigned rank, nranks;
    double zero;
    struct trace_message *messages; /* in order of their ends */
    size_t nmessages;
    struct trace_clocks clocks[2]; /* at the beginning, at the end */
    unsigned nclocks;
    struct orr_texts names;
    /* The first submission, or the first start; the end of the last kernel; 0 and
     * 0 without tasks. */
    double begin, end;
    double last_submission;
    enum trace_submitter last_by; /* whose that was */
    double dropped; /* events that found no memory */
};

/* Whether the file begins as traces in CSV do; false if it cannot be read. */
bool trace_csv_is_one(const char *path);

/* Whether the file is such a trace of one of several ranks: which, of how many, in *rank
 * and *nranks. */
bool trace_csv_has_rank(const char *path, unsigned *rank, unsigned *nranks);

/* Reads the file; the caller ends *ret with trace_csv_done. No number in it is
 * trusted: it takes memory in proportion to its length. Errors, with a message:
 * -EINVAL, -ENOMEM, those of the system. */
int trace_csv_read(const char *path, struct trace *ret, struct orr_error *err);

/* The same of an open file, which has that name in messages. */
int trace_csv_parse(FILE *file, const char *name, struct trace *ret,
                    struct orr_error *err);

/* Puts `map` of each time in its place, which must not change their order. */
void trace_csv_map(struct trace *trace, double (*map)(void *arg, double time), void *arg);

void trace_csv_done(struct trace *trace);

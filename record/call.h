/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/call.h - one line of a record: a call of an application, what it is
 * about, and what it was given. docs/RECORD.md says what each field means. Only
 * values here; texts and arrays are borrowed from the caller.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* X(NAME, "word"). New ones come last, here, among ways and kinds and among the
 * fields of a verb (fields.c): the compact form has their places. */
#define ORR_VERBS(X)                                                           \
    X(RUN, "run")                                                              \
    X(MODEL, "model")                                                          \
    X(CODELET, "codelet")                                                      \
    X(DATA, "data")                                                            \
    X(PART, "part")                                                            \
    X(PARTITION, "partition")                                                  \
    X(UNPARTITION, "unpartition")                                              \
    X(PLAN, "plan")                                                            \
    X(SWITCH, "switch")                                                        \
    X(CLEAN, "clean")                                                          \
    X(SUBMIT, "submit")                                                        \
    X(DEPEND, "depend")                                                        \
    X(END_DEPEND, "end-depend")                                                \
    X(END_HOLD, "end-hold")                                                    \
    X(END_RELEASE, "end-release")                                              \
    X(FORGET, "forget")                                                        \
    X(TAG_DEPEND, "tag-depend")                                                \
    X(TAG_NOTIFY, "tag-notify")                                                \
    X(TAG_RESTART, "tag-restart")                                              \
    X(TAG_NOTIFY_RESTART, "tag-notify-restart")                                \
    X(TAG_REMOVE, "tag-remove")                                                \
    X(TAG_CLEAR, "tag-clear")                                                  \
    X(TAG_WAIT, "tag-wait")                                                    \
    X(WAIT_TASK, "wait-task")                                                  \
    X(WAIT_ALL, "wait-all")                                                    \
    X(WAIT_READY, "wait-ready")                                                \
    X(SCHEDULE, "schedule")                                                    \
    X(ACQUIRE, "acquire")                                                      \
    X(RELEASE, "release")                                                      \
    X(UNREGISTER, "unregister")                                                \
    X(INVALIDATE, "invalidate")                                                \
    X(FETCH, "fetch")                                                          \
    X(ALLOCATE, "allocate")                                                    \
    X(EVICT, "evict")                                                          \
    X(WONT_USE, "wont-use")                                                    \
    X(DUPLICATE, "duplicate")                                                  \
    X(NAME, "name")                                                            \
    X(COORDINATES, "coordinates")                                              \
    X(SEQUENTIAL, "sequential")                                                \
    X(REDUCTION, "reduction")                                                  \
    X(WRITE_THROUGH, "write-through")                                          \
    X(OUT_OF_CORE, "out-of-core")                                              \
    X(IMPORTANT, "important")                                                  \
    X(ARBITER, "arbiter")                                                      \
    X(LIMITS, "limits")                                                        \
    X(PIN, "pin")                                                              \
    X(RANGE, "range")                                                          \
    X(PRIORITIES, "priorities")                                                \
    X(PAUSE, "pause")                                                          \
    X(RESUME, "resume")                                                        \
    X(SLEEP, "sleep")                                                          \
    X(ITERATION, "iteration")                                                  \
    X(NOTE, "note")                                                            \
    X(END, "end")                                                              \
    X(TOOK, "took") /* a kernel of a task, in a real run */                    \
    X(ROW, "row")   /* kernels of a codelet and footprint, in a real run */    \
    X(RANK, "rank") /* of a program of several ranks: the messages begin */    \
    X(COMM, "comm")                                                            \
    X(SEND, "send")                                                            \
    X(RECEIVE, "receive")                                                      \
    X(WAIT_MESSAGE, "wait-message")                                            \
    X(WAIT_MESSAGES, "wait-messages")                                          \
    X(BARRIER, "barrier")                                                      \
    X(EXPECT_SENDS, "expect-sends")                                            \
    X(GATHER_SENDS, "gather-sends")                                            \
    X(SKIP, "skip")     /* insertions that other ranks execute */              \
    X(UNREAL, "unreal") /* what was acquired has values that mean nothing */   \
    X(END_RANK, "end-rank")                                                    \
    X(NUMBERS, "numbers") /* data registered that may have no line */          \
    X(GRAPH_LAUNCH, "graph-launch")                                            \
    X(PLACE, "place") /* in the program's source, where tasks are submitted */ \
    X(UNTOUCHED, "untouched") /* nobody has used the datum's home */

enum orr_verb {
#define ORR_VERB(name, word) ORR_CALL_##name,
    ORR_VERBS(ORR_VERB)
#undef ORR_VERB
        ORR_NVERBS
};

/* How several calls of one verb differ: `how`. */
#define ORR_HOWS(X)                                                            \
    X(PLAIN, "plain") /* not written */                                        \
    X(SUBMITTED, "submit")                                                     \
    X(DROPPED, "drop")                                                         \
    X(CALLBACK, "callback")                                                    \
    X(TRIED, "try")                                                            \
    X(REFUSED, "refused") /* tried without success */                          \
    X(PREFETCH, "prefetch")                                                    \
    X(IDLE, "idle")                                                            \
    X(TO_PARTS, "parts")                                                       \
    X(TO_READERS, "readers")                                                   \
    X(UPGRADE, "upgrade")                                                      \
    X(DOWNGRADE, "downgrade")                                                  \
    X(TO_WHOLE, "whole")                                                       \
    X(TO_READ_WHOLE, "read-whole")                                             \
    X(END, "end")                                                              \
    X(CHILDREN, "children")                                                    \
    X(BELOW, "below")

enum orr_how {
#define ORR_HOW(name, word) ORR_HOW_##name,
    ORR_HOWS(ORR_HOW)
#undef ORR_HOW
        ORR_NHOWS
};

/* Of codelets and times: the kinds of workers that a record knows. */
enum orr_record_kind {
    ORR_KIND_CPU,
    ORR_KIND_CUDA,
    ORR_KIND_OPENCL,
    ORR_KIND_HIP,
    ORR_NKINDS
};

/* What STARPU_N<…> and StarPU's names have for them. */
extern const char *const orr_kind_variables[ORR_NKINDS];

struct orr_numbers {
    const uint64_t *at;
    size_t n;
};

struct orr_integers {
    const int64_t *at;
    size_t n;
};

struct orr_reals {
    const double *at;
    size_t n;
};

struct orr_call_use {
    uint64_t datum;
    uint32_t mode; /* enum starpu_data_access_mode */
};

struct orr_call_uses {
    const struct orr_call_use *at;
    size_t n;
};

/* Of a run: what the runtime takes for each task is in the times of kernels, as they were
 * measured around it. A replay adds no costs of its own for them. */
/* Its workers are threads of OpenMP's, which keep the tasks that they have begun and take the
 * oldest of all, or the newest of their own, where they wait for nothing. */
enum {
    ORR_RUN_COSTS_IN_TIMES = 1,
    ORR_RUN_THREADS_OLDEST = 2,
    ORR_RUN_THREADS_NEWEST = 4
};

/* A field that a verb has not is as in orr_call_none. */
struct orr_call {
    enum orr_verb verb;
    enum orr_how how;
    uint64_t id;  /* of the task, datum, codelet, model or tag it is about */
    double after; /* µs that the application took since the last call */

    /* run, end, note */
    const char *machine, *scheduler, *text;
    /* run: `flags` has ORR_RUN_COSTS_IN_TIMES */
    const char *host; /* whose kernels' times the record has */
    int64_t ncpus, ncuda, nopencl, reserved; /* -1: the machine's */
    uint64_t combined, calibrate;

    /* codelet, model */
    const char *symbol, *called;
    uint64_t type, model, energy, implementations[ORR_NKINDS], asynchronous;
    uint64_t where, flags, parallelism, color, terms;
    int64_t buffers;
    struct orr_numbers modes, exponents;
    struct orr_integers nodes;

    /* data */
    const char *name, *kind;
    int64_t home, node, offset;
    uint64_t of, value, size;
    struct orr_numbers shape, start, axes, parts;

    /* tasks */
    uint64_t codelet, tag, footprint, context;
    struct orr_call_uses data;
    struct orr_numbers before, workers, ordered;
    struct orr_reals parameters, times; /* times: µs, per kind; NaN: none */
    int64_t priority, worker, ran, least, most;
    int64_t device; /* -1: any */
    uint64_t task, order, tagged, kept, awaited, synchronous, unordered, alone,
        possibly, graph; /* graph: 1, its kernel is launched with others; 2: once more */
    double flops, us, deviation;
    uint64_t implementation;
    uint64_t place; /* where it was submitted, 0: not known */
    uint64_t cores,
        memory; /* processors of one node, and bytes there, that it takes
                             * beside its data; 0: one, none */

    /* one that goes on on the worker of another one, which does `how` meanwhile; and one of
     * the task that has created this one's: 0, none */
    uint64_t resumes, under;

    uint64_t redux, init;

    /* messages */
    int64_t peer;
    uint64_t comm, request;
};

extern const struct orr_call orr_call_none;

/* --- the fields of each verb --- */

enum orr_field_type {
    ORR_FIELD_NUMBER,
    ORR_FIELD_HEX,
    ORR_FIELD_INTEGER,
    ORR_FIELD_REAL,
    ORR_FIELD_TEXT,
    ORR_FIELD_HOW,
    ORR_FIELD_NUMBERS,
    ORR_FIELD_INTEGERS,
    ORR_FIELD_REALS,
    ORR_FIELD_USES,
};

struct orr_field {
    const char *word; /* "" for the first one, which is not named: the id */
    enum orr_field_type type;
    size_t offset; /* in struct orr_call */
};

struct orr_verb_fields {
    const char *word;
    const struct orr_field *const *fields; /* NULL behind the last */
};

/* Of each verb; `after` is a field of all. */
extern const struct orr_verb_fields orr_verbs[ORR_NVERBS];
extern const char *const orr_hows[ORR_NHOWS];

/* Whether the field is as in orr_call_none. */
int orr_field_is_default(const struct orr_field *field,
                         const struct orr_call *call);

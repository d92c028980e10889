/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/calls_private.h - what calls*.c share. */
#pragma once

#include <stdatomic.h>

#include "core/base/lock.h"
#include "core/base/result.h"
#include "core/observe/calls.h"
#include "core/observe/numbers.h"
#include "record/write.h"

enum { ORR_CALLS_NOTES = 32 };

struct orr_calls_row;
struct orr_worker;

struct orr_calls_note_count {
    const char *what; /* a constant */
    unsigned long n;
};

struct orr_calls {
    struct orr_runtime *rt;
    struct orr_lock lock; /* rank ORR_RANK_RUNTIME; all that follows */
    struct orr_result result;
    struct orr_record_writer writer;
    double since; /* µs: the application's time from there on is in no line yet */
    bool wrote;   /* the call that it is in has a line */
    const void *waits;         /* for that it waits by means of its own … */
    double waits_since;        /* … from that date on */
    struct orr_context *muted; /* whose calls are parts of another one */
    struct orr_calls_note_count notes[ORR_CALLS_NOTES];
    unsigned nnotes;
    int64_t least, most; /* priorities that the application knows of: … */
    uint64_t asked; /* … bit 0, it asked for the least, 1: the greatest */
    atomic_bool widened; /* these are not the policy's, which has one alone */
    bool begun;     /* the application is running */
    bool failed;    /* memory was out */
    struct orr_numbers_of tasks, codelets, models, places;
    uint64_t last_task, last_codelet, last_model, last_place;
    bool timed; /* of a real run: times of kernels are in the record */
    struct orr_calls_row *rows; /* owned: what kernels took, by codelet and footprint */
    size_t nrows;
    struct orr_numbers_of kernels; /* … and their places there */
    /* Of a program of several ranks: data that no line has named yet. They get one when one
     * does: of all that a rank registers it may use few. */
    const struct orr_handle **unnamed; /* owned: by number; NULL: it has a line, or none is
                                        * wanted any more */
    size_t nunnamed;
    uint64_t last_datum, told_datum; /* registered without a line; said so in one */
    bool
        chained; /* the line that is being written is one of a task's callbacks, and says so */
    uint64_t *scratch; /* owned: a list that is being made, of `room` */
    size_t room;
};

/* --- the observer's functions --- */

/* Data: calls_data.c. The verb of `call` is DATA; PARTITION or PLAN; one of those about
 * the parts of a plan; REDUCTION. */
void orr_calls_register(struct orr_calls *calls,
                        const struct orr_handle *handle);
void orr_calls_partition(struct orr_calls *calls, struct orr_call *call,
                         const struct orr_call_about *about);
void orr_calls_plan(struct orr_calls *calls, struct orr_call *call,
                    const struct orr_call_about *about);
void orr_calls_reduction(struct orr_calls *calls, struct orr_call *call,
                         const struct orr_call_about *about);

/* The line is about to be written: data that it names get theirs. False: it is none, since
 * it ends data that no line has named. */
bool orr_calls_name_data(struct orr_calls *calls, const struct orr_call *call)
    ORR_REQUIRES(calls->lock);

/* Tasks: calls_task.c. A job's task is being submitted: it has its accesses and its cost
 * row. */
void orr_calls_submit(struct orr_calls *calls, struct orr_job *job,
                      bool implicit);

/* µs as they stand in lines. */
double orr_calls_rounded(const struct orr_calls *calls, double us);

/* It does not wait any more, for no task that a line could name. */
void orr_calls_lose_wait(struct orr_calls *calls) ORR_REQUIRES(calls->lock);

/* The verb is DEPEND or END_DEPEND; another one of a call about a task. */
void orr_calls_depend(struct orr_calls *calls, struct orr_call *call,
                      const struct orr_call_about *about);
void orr_calls_acquire_for_task(struct orr_calls *calls, struct orr_call *call,
                                const struct starpu_task *task);
void orr_calls_task(struct orr_calls *calls, struct orr_call *call,
                    const struct orr_call_about *about);

/* Times: calls_times.c. A job's kernel took `us` on the worker, if the record has times
 * of kernels: a line, if its task has a number, and a part of its row. */
void orr_calls_took(struct orr_calls *calls, const struct orr_worker *worker,
                    struct orr_job *job, double us);

/* The rows' lines, at the end of the record. */
void orr_calls_put_rows(struct orr_calls *calls) ORR_REQUIRES(calls->lock);

/* When no context is in there any more. */
void orr_calls_free_rows(struct orr_calls *calls);

/* --- with the lock --- */

/* The number of the submitted task whose kernel has ended, once per submission; 0: it is
 * no task of the record. */
uint64_t orr_calls_ended_task(struct orr_calls *calls,
                              const struct starpu_task *task)
    ORR_REQUIRES(calls->lock);

/* Whether calls of this context are lines of the record. */
bool orr_calls_listens(const struct orr_calls *calls) ORR_REQUIRES(calls->lock);

/* Writes a line for the call, with the time since the last one. */
void orr_calls_put(struct orr_calls *calls, struct orr_call *call)
    ORR_REQUIRES(calls->lock);

void orr_calls_count(struct orr_calls *calls, const char *what)
    ORR_REQUIRES(calls->lock);

/* Room for a list of n numbers; NULL without memory, after a message. */
uint64_t *orr_calls_list(struct orr_calls *calls, size_t n)
    ORR_REQUIRES(calls->lock);

/* The number of a codelet; writes its line first if it has no number yet or has
 * changed; 0: NULL. `n` is how many buffers its task has, `called` the name for a
 * codelet that has none. */
uint64_t orr_calls_codelet(struct orr_calls *calls,
                           const struct starpu_codelet *cl, unsigned n,
                           const char *called) ORR_REQUIRES(calls->lock);

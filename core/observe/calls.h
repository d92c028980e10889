/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/calls.h - the record of what the application calls, for `orrery
 * replay` (ORRERY_RECORD, docs/RECORD.md): a line per call, written as it is
 * made. Any context. It is off while rt->calls is NULL: callers check that first,
 * which is all that it then costs.
 *
 * Lines are those of one context, the application's main one. What others call is
 * put between them as it comes, without its waits, and is said at the end of the
 * file, as is all else that the record cannot have.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "core/observe/application.h"
#include "core/runtime.h"
#include "record/call.h"

struct orr_calls;
struct orr_handle;
struct orr_job;
struct orr_sched;

/* Opens the file, if one is asked for, before there is anything else. Errors, with
 * a message: -ENOMEM, those of the system. */
int orr_calls_open(struct orr_runtime *rt, struct orr_error *err);

/* The runtime is there: the first line. `conf` is what starpu_init got. */
void orr_calls_begin(struct orr_runtime *rt, const struct starpu_conf *conf);

/* The runtime cannot be opened: there is no record. */
void orr_calls_abandon(struct orr_runtime *rt);

/* Ends the file: `how` the run did, "shutdown" or else. */
void orr_calls_close(struct orr_runtime *rt, const char *how);

/* --- simple calls --- */

/* Writes the call, which is about to be made. */
void orr_calls_write(struct orr_calls *calls, struct orr_call *call);

/* A call is made that will be written when more is known of it: the next one. */
void orr_calls_enter(struct orr_calls *calls);

/* The call that was written last returns: what comes until the next one is the
 * application's own time. */
void orr_calls_return(struct orr_calls *calls);

/* The same three, for the trace too, and where nothing is recorded. */
void orr_calls_make(struct orr_runtime *rt, struct orr_call *call);
void orr_calls_announce(struct orr_runtime *rt);
void orr_calls_end(struct orr_runtime *rt);

/* Something was done that replays lack: `what`, a constant. */
void orr_calls_note(struct orr_calls *calls, const char *what);

/* These tell the trace as well, which shows the time between calls. */

#define ORR_RECORD(rt, ...)                                                    \
    do {                                                                       \
        if ((rt)->listens)                                                     \
            orr_calls_make((rt), &(struct orr_call){__VA_ARGS__});             \
    } while (0)

#define ORR_RECORD_ENTER(rt)                                                   \
    do {                                                                       \
        if ((rt)->listens)                                                     \
            orr_calls_announce(rt);                                            \
    } while (0)

#define ORR_RECORD_RETURN(rt)                                                  \
    do {                                                                       \
        if ((rt)->listens)                                                     \
            orr_calls_end(rt);                                                 \
    } while (0)

/* A call that is written otherwise, or not at all, begins, and returns: for the
 * trace alone. */
#define ORR_CALLED(rt)                                                         \
    do {                                                                       \
        if ((rt)->listens)                                                     \
            orr_application_enter(rt);                                         \
    } while (0)

#define ORR_RETURNS(rt)                                                        \
    do {                                                                       \
        if ((rt)->listens)                                                     \
            orr_application_return(rt);                                        \
    } while (0)

#define ORR_RECORD_NOTE(rt, what)                                              \
    do {                                                                       \
        if ((rt)->calls)                                                       \
            orr_calls_note((rt)->calls, what);                                 \
    } while (0)

/* The application asks for the least, or the greatest, priority of its policy: a
 * replay under another one gives its tasks that one's. */
void orr_calls_ask_range(struct orr_calls *calls, const struct orr_sched *sched,
                         bool greatest);

/* Between them calls by the same context are parts of one that was written. */
void orr_calls_mute(struct orr_calls *calls);
void orr_calls_unmute(struct orr_calls *calls);

/* --- data: calls_data.c --- */

void orr_calls_register(struct orr_calls *calls,
                        const struct orr_handle *handle);

/* The handle was cut into these; `verb` is PARTITION or PLAN. */
void orr_calls_partition(struct orr_calls *calls, enum orr_verb verb,
                         const struct orr_handle *handle,
                         struct starpu_data_filter *filter,
                         struct orr_handle *const *parts, unsigned n);

/* A call about the plan of those parts. */
void orr_calls_plan(struct orr_calls *calls, struct orr_call *call,
                    const starpu_data_handle_t *parts, unsigned n);

void orr_calls_reduction(struct orr_calls *calls,
                         const struct orr_handle *handle,
                         struct starpu_codelet *redux,
                         struct starpu_codelet *init);

/* --- tasks: calls_task.c --- */

/* The job's task is being submitted: it has its accesses and its cost row. */
void orr_calls_submit(struct orr_calls *calls, struct orr_job *job,
                      bool implicit);

/* The verb is DEPEND or END_DEPEND. */
void orr_calls_depend(struct orr_calls *calls, enum orr_verb verb,
                      const struct starpu_task *task, unsigned n,
                      struct starpu_task *const *before);

/* A call about a task. It has ended for good (`gone`) when the call returns. */
void orr_calls_task(struct orr_calls *calls, struct orr_call *call,
                    const struct starpu_task *task, bool gone);

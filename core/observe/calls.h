/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/calls.h - the record of what the application calls, for `orrery
 * replay` (ORRERY_RECORD, docs/RECORD.md): a line per call, written as it is
 * made. Any context. It is off while rt->views->calls is NULL: callers check that first,
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
#include "core/observe/views.h"
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

/* --- the scope of a call --- */

/* What a public function begins with: it declares `rt`, the runtime of its caller
 * (without one the program ends, with a message that names `call`), and the
 * application is in this call until the block is left, by whichever way. What passes
 * until then is not the application's own time. Of a call within another one the outer
 * one counts. Where nobody listens that costs a branch. */
#define ORR_API(rt, call)                                                      \
    struct orr_runtime *const rt = orr_runtime_need(call);                     \
    ORR_API_SCOPE(rt)

/* The same for functions that work without a runtime as well: `rt` may be NULL. */
#define ORR_API_IF(rt, call)                                                   \
    struct orr_runtime *const rt = orr_runtime_current(call);                  \
    ORR_API_SCOPE(rt)

#define ORR_API_SCOPE(rt)                                                      \
    struct orr_runtime *const rt##_scope                                       \
        __attribute__((cleanup(orr_calls_leave_scope), unused)) =              \
            (rt) && (rt)->views->listens && orr_application_enter(rt) ? (rt) : NULL

/* The outermost call returns. */
void orr_calls_leave(struct orr_runtime *rt);

static inline void orr_calls_leave_scope(struct orr_runtime *const *scope)
{
    if (*scope)
        orr_calls_leave(*scope);
}

/* --- lines --- */

/* Writes the call, in its scope and before it takes effect. */
void orr_calls_write(struct orr_calls *calls, struct orr_call *call);

/* Something was done that replays lack: `what`, a constant. */
void orr_calls_note(struct orr_calls *calls, const char *what);

#define ORR_RECORD(rt, VERB, ...)                                              \
    do {                                                                       \
        if ((rt)->views->calls)                                                       \
            orr_calls_write((rt)->views->calls,                                       \
                            &(struct orr_call){.verb = ORR_CALL_##VERB,        \
                                               __VA_ARGS__});                  \
    } while (0)

#define ORR_RECORD_NOTE(rt, what)                                              \
    do {                                                                       \
        if ((rt)->views->calls)                                                       \
            orr_calls_note((rt)->views->calls, what);                                 \
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

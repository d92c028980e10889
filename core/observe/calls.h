/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/calls.h - the record of what the application calls, for `orrery
 * replay` (ORRERY_RECORD, docs/RECORD.md): a line per call, written as it is
 * made. Any context. It is an observer (tell.h) of calls and submissions.
 *
 * The record is that of one context, the application's main one. Calls of other
 * contexts are put between its lines as they come, without their waits; the end of the
 * file has a note of that, and of all else that the record cannot have.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "core/exec/runtime.h"
#include "core/observe/application.h"
#include "core/observe/views.h"
#include "record/call.h"

struct orr_calls;
struct orr_handle;
struct orr_sched;

/* Opens the file, if one is asked for, before any other call. Errors, with a message:
 * -ENOMEM, those of the system. */
int orr_calls_open(struct orr_runtime *rt, struct orr_error *err);

/* The runtime is there: the first line. `conf` is what starpu_init got. */
void orr_calls_begin(struct orr_runtime *rt, const struct starpu_conf *conf);

/* The runtime cannot be opened: there is no record. */
void orr_calls_abandon(struct orr_runtime *rt);

/* Ends the file: `how` the run did, "shutdown" or else. */
void orr_calls_close(struct orr_runtime *rt, const char *how);

/* --- the scope of a call --- */

/* What a public function begins with: it declares `rt`, the runtime of its caller
 * (without one the program ends, with a message that names `call`), and the application
 * is in this call until the block is left, by whichever way. Time that passes until
 * then is not the application's own. Of calls within each other the outer one counts.
 * Without observers this costs a branch. */
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
            (rt) && (rt)->views->listens && orr_application_enter(rt) ? (rt)   \
                                                                      : NULL

/* The outermost call returns. */
void orr_calls_leave(struct orr_runtime *rt);

static inline void orr_calls_leave_scope(struct orr_runtime *const *scope)
{
    if (*scope)
        orr_calls_leave(*scope);
}

/* --- lines --- */

/* What a call is about that has a number in the record: the members that its verb
 * needs. */
struct orr_call_about {
    const struct starpu_task *task;
    bool gone; /* the task has ended for good when the call returns */
    struct starpu_task *const *before; /* n tasks that it waits for */
    const struct orr_handle *handle;
    struct starpu_data_filter *filter; /* with which it was cut, … */
    struct orr_handle *const *parts;   /* … into these n */
    unsigned n;
    struct starpu_codelet *redux, *init;
    const struct orr_sched *sched; /* whose range of priorities is asked for; the
                                    * call's value: 1 the least, 2 the greatest */
};

/* ORR_RECORD(rt, LIMITS, .value = 1): tells of the call, in its scope and before it takes
 * effect. */
#define ORR_RECORD(rt, VERB, ...)                                              \
    ORR_TELL(rt, ORR_TOLD_CALL,                                                \
             .called.call = &(struct orr_call){.verb = ORR_CALL_##VERB,        \
                                               __VA_ARGS__})

/* The same of a call about something:
 * ORR_RECORD_ABOUT(rt, ORR_ABOUT(.task = task), END_RELEASE). */
#define ORR_RECORD_ABOUT(rt, ABOUT, VERB, ...)                                 \
    ORR_TELL(rt, ORR_TOLD_CALL, .called.about = (ABOUT),                       \
             .called.call = &(struct orr_call){.verb = ORR_CALL_##VERB,        \
                                               __VA_ARGS__})
#define ORR_ABOUT(...) &(const struct orr_call_about){__VA_ARGS__}

/* The application begins to wait by means of its own, and goes on since a callback of the task has
 * been called. */
void orr_calls_begin_own_wait(struct orr_runtime *rt, const void *what);
void orr_calls_end_own_wait(struct orr_runtime *rt, const void *what,
                            const struct starpu_task *task);

/* Whether the application is told the widest range of priorities, INT_MIN to INT_MAX:
 * its calls are recorded, and the policy has no priorities, but one under which the
 * record is played may have some. */
bool orr_calls_widen(const struct orr_sched *sched);

/* Something was done that replays lack: `what`, a constant. */
#define ORR_RECORD_NOTE(rt, what) ORR_RECORD(rt, NOTE, .text = (what))

/* Between true and false calls by the same context are parts of one that is told of. */
void orr_calls_mute(struct orr_runtime *rt, bool mute);

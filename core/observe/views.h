/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/views.h - what the observers of a run keep, and the reports on it: traces,
 * graphs, counters, what was said.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "core/observe/iterations.h"
#include "core/observe/trace_types.h"

struct orr_calls;
struct orr_graph_record;
struct orr_perf;
struct orr_progress;
struct orr_recording;
struct orr_sources;
struct orr_tally;
struct orr_tool;
struct orr_watch;
struct orr_trace;
struct orr_watchdog_tasks;

struct orr_views {
    struct orr_trace *trace;            /* owned, NULL: off */
    struct orr_application application; /* what `follows` needs */
    /* [const] The trace shows what the application does, and how long workers
     * allocate. */
    bool follows;
    bool listens; /* [const] its calls are recorded, or, real, timed for that */
    struct orr_iterations iterations; /* that the program is in */
    struct orr_sources *sources;      /* [const] owned: where tasks were submitted; NULL:
                                       * nobody asks */
    struct orr_tally *tally;          /* owned, NULL: no report was asked for */
    struct orr_tool *tool;            /* [const] a profiler's, or NULL */
    _Atomic(struct orr_recording *) bound;    /* owned; NULL: none asked for */
    _Atomic(struct orr_graph_record *) graph; /* likewise */
    struct orr_calls *calls; /* [const] the application's, or NULL: calls.h */
    struct orr_watch *watch; /* of the module "watch"; NULL: nobody does */
    struct orr_watchdog_tasks *watchdog; /* [main] or NULL */
    struct orr_progress *progress;       /* likewise */
    struct orr_perf *perf;               /* [const] counters */
    double opened_at;                    /* [const] µs, when workers began */
    double wall_start;                   /* s, real time */
    _Atomic double first_submit;         /* µs, < 0: none yet */
    bool break_awaited; /* simulated: the date of ORRERY_BREAK_AT is to come */
    unsigned long livelock_at; /* simulated: tasks that had ended, + 1, when a
                                * livelock was told last, or 0 */
    bool said_full;            /* [last context awake] what holds memory … */
    bool said_stall; /* … what tasks wait for, of which none goes on */
};

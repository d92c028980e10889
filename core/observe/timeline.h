/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/timeline.h - the record as one list of moments in order of time:
 * what every writer of trace files starts from. One thread.
 */
#pragma once

#include "core/observe/trace_events.h"

/* One end of an event. Equal times are ordered by buffer, then by order of
 * recording, then start before end: the same run gives the same list. */
struct orr_moment {
    double time; /* µs */
    const struct orr_event *event;
    unsigned buffer;
    unsigned end; /* 1: the event's end, 0: its start or only moment */
    uint64_t sequence;
};

/* The task of which it is an end; 0: of none. */
static inline uint64_t orr_moment_job(const struct orr_moment *moment)
{
    return moment->event->type == ORR_EVENT_TASK ? moment->event->u.task.job
                                                 : 0;
}

struct orr_timeline {
    struct orr_moment *moments;
    size_t n;
    size_t ntasks;
    size_t nmarks; /* of the application */
    size_t nsteals;
    bool suspends; /* some kernel waited, or was waiting at the end */
    double end;    /* time of the last moment, or the trace's start */
};

/* Fills *ret, which borrows from `trace` and is ended with
 * orr_timeline_done. Errors: -ENOMEM. */
int orr_timeline_init(const struct orr_trace *trace, struct orr_timeline *ret);
void orr_timeline_done(struct orr_timeline *timeline);

/* The same list piece by piece, while others record. One thread. */
struct orr_timeline_reader {
    const struct orr_trace *trace;
    struct orr_timeline_place *places; /* owned: how far each buffer was read */
    struct orr_moment *later; /* owned, in order: … and not returned */
    size_t nlater;
    double until; /* what was returned is before that */
};

/* Errors: -ENOMEM. */
int orr_timeline_reader_init(const struct orr_trace *trace,
                             struct orr_timeline_reader *ret);
void orr_timeline_reader_done(struct orr_timeline_reader *reader);

/* The moments before `until` that were not returned yet, or all of them where that is
 * INFINITY; *ret, whose counts are those of this part, is freed by orr_timeline_done.
 * Errors: -ENOMEM; -ESTALE: some moments are before what was returned already. After an
 * error the reader is of no use. */
int orr_timeline_read(struct orr_timeline_reader *reader, double until,
                      struct orr_timeline *ret);

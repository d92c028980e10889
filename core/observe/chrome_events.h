/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/chrome_events.h - what all events of a file in the Trace Event Format
 * begin with, for the two that write some: chrome.c and chrome_arrows.c. Inline, since a
 * trace has millions of them. One thread.
 */
#pragma once

#include <stdbool.h>

#include "core/base/out.h"

/* Processes of the file: groups of tracks, in the order in which they are shown. */
enum orr_chrome_group {
    ORR_CHROME_WORKERS = 1,
    ORR_CHROME_LINKS,
    ORR_CHROME_MEMORY,
    ORR_CHROME_SCHEDULER,
    ORR_CHROME_MESSAGES, /* of one of several ranks */
};

struct orr_chrome_events {
    struct orr_out *out;  /* where they are written now */
    double start;         /* of the record: times are since then */
    bool first;           /* the next event is that of the file */
    struct orr_same time; /* µs */
};

/* Begins an event; the caller ends it with a brace. */
static inline void orr_chrome_begin(struct orr_chrome_events *events,
                                    char phase, enum orr_chrome_group group,
                                    unsigned tid)
{
    static const char head[] = ",\n{\"ph\":\"P\",\"pid\":N,\"tid\":";
    struct orr_out *out = events->out;

    if (events->first) /* no comma */
        orr_put(out, head + 1, sizeof(head) - 2);
    else
        orr_put(out, head, sizeof(head) - 1);
    events->first = false;
    out->at[-17] = phase;              /* in the place of P */
    out->at[-8] = (char)('0' + group); /* of N */
    orr_put_unsigned(out, tid);
}

/* The time in µs. */
static inline void orr_chrome_put_time(struct orr_chrome_events *events,
                                       double time)
{
    ORR_PUT(events->out, ",\"ts\":");
    orr_put_same(events->out, &events->time, time - events->start, 3);
}

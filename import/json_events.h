/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/json_events.h - the list of events in a file of trace events, one after the other,
 * so that memory is that of one event. The list is the file, or the member `traceEvents` of
 * an object. A file of a program that was killed ends anywhere. One thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "import/flow.h"

struct json_events {
    struct flow *flow; /* messages are its; its line is kept */
    const char *text;  /* borrowed */
    size_t size, at, line_at;
    size_t n;      /* events that came */
    bool listed;   /* the list has begun */
    bool only_list;
    bool is_cut;   /* the file ends within it */
};

/* Errors, with a message: -EINVAL: there is no list of events in it. */
int json_events_begin(struct json_events *events, struct flow *flow, const char *text,
                      size_t size);

/* *ret is an object, the caller's. 1, 0 behind the last one, or an error with a message. */
int json_events_next(struct json_events *events, json_t **ret);

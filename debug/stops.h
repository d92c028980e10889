/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * debug/stops.h - breakpoints: which events a run stops at. One thread.
 */
#pragma once

#include <stdbool.h>

#include "debug/event.h"

/* Compared with a number: "bytes > 1000000". */
enum debug_field {
    DEBUG_FIELD_DATE, /* µs */
    DEBUG_FIELD_TASK,
    DEBUG_FIELD_PRIORITY,
    DEBUG_FIELD_BYTES,      /* of the datum */
    DEBUG_FIELD_READY,      /* tasks, in the whole run */
    DEBUG_FIELD_UNFINISHED, /* likewise */
    DEBUG_NFIELDS
};

enum debug_relation {
    DEBUG_LESS,
    DEBUG_AT_MOST,
    DEBUG_EQUAL,
    DEBUG_DIFFERENT,
    DEBUG_AT_LEAST,
    DEBUG_MORE,
};

struct debug_condition {
    enum debug_field field;
    enum debug_relation relation;
    double value;
};

enum { DEBUG_CONDITIONS = 8, DEBUG_STOP_NAME = 128, DEBUG_STOP_LINE = 512 };

/* What is empty, or 0, does not restrict it. */
struct debug_stop {
    unsigned id;
    uint32_t kinds; /* bits of enum debug_kind */
    uint64_t task;
    char name[DEBUG_STOP_NAME];   /* of a kernel or task */
    char data[DEBUG_STOP_NAME];   /* a datum, as it is called in messages */
    char worker[DEBUG_STOP_NAME]; /* name or number of a worker, or name of a node */
    bool ranked;                  /* of rank `rank` alone */
    int rank;
    bool watches; /* of the datum, what changes its value or its copies */
    double at; /* the first event that is not before that date, µs; 0: any */
    char line[DEBUG_STOP_LINE]; /* where tasks are submitted, "FILE:LINE" */
    unsigned nconditions;
    struct debug_condition conditions[DEBUG_CONDITIONS];
};

enum { DEBUG_STOPS = 64 };

struct debug_stops {
    unsigned n;
    struct debug_stop at[DEBUG_STOPS];
};

/* A breakpoint from the words of a request, each "key=value"; ends with NULL. Errors:
 * -EINVAL, with the word that is not understood; -ENOSPC. */
int debug_stops_add(struct debug_stops *stops, char *const *words, const char **reterr_word);

/* The breakpoint that the event is one of, 0: none. */
unsigned debug_stops_find(const struct debug_stops *stops, const struct orr_runtime *rt,
                          const struct debug_event *event);

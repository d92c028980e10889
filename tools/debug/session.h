/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/session.h - a program that is debugged: where it stands, its breakpoints,
 * ways forward and back. All that people, scripts and editors ask is done here; what
 * differs is how it is asked and shown. One thread.
 *
 * A run is the same each time: its events have numbers, and it goes back by going on once
 * more, from a copy that stands at an earlier event.
 */
#pragma once

#include <jansson.h>

#include "tools/debug/program.h"

enum { SESSION_STOPS = 64 };

struct session_stop {
    unsigned id;   /* 0: it was deleted, and the place is free */
    char *text;    /* owned: as it was written */
    char *request; /* owned: as the run is asked for it, without the number */
    unsigned hits;
    char *line; /* owned: "FILE:LINE" of one on a line, NULL */
};

struct session {
    struct program program;
    struct session_stop stops[SESSION_STOPS];
    unsigned nstops, last_stop; /* places; the last number that was given */
    json_t *now;     /* owned: what the run has said as it stopped, NULL: it has ended */
    uint64_t number; /* of its event; once it has ended, of the last one */
    int rank; /* whose tasks are meant, among several; -1: the run is alone */
};

/* What comes of a way is a new reference: {"event": …} as the run says it, with
 * "reason"; {"exited": CODE}; or {"error": …}. */

/* Starts the program; it stands where its run begins. NULL, with a message, if it does
 * not. */
json_t *session_open(struct session *session);
void session_close(struct session *session);

/* A breakpoint more. {"breakpoint": N, "text": …}, or an error. Takes the request. */
json_t *session_break(struct session *session, const char *text, char *request);
/* Takes it away; 0: all of them. Whether there was one. */
bool session_delete(struct session *session, unsigned id);

/* Forward until one of these (debug/module.c), or a breakpoint if `stops`. */
json_t *session_go(struct session *session, const char *words, bool stops, const char *reason);
/* To the event of that number, in either direction. */
json_t *session_goto(struct session *session, uint64_t number, const char *reason);
/* Back to the last event before this one that is one of these. */
json_t *session_search_back(struct session *session, const char *words, bool stops,
                            const char *reason);
json_t *session_ask(struct session *session, const char *words);

/* The lane of the present event: a worker, or -1, the application; also of events that
 * have none. */
int session_lane(const struct session *session);

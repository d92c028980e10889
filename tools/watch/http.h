/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/watch/http.h - a server for a browser on this machine: GET alone, on 127.0.0.1
 * alone, below a path that nobody can guess, and streams of events. It never waits. One
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct http;

/* The answer to a request; `body` is owned by the server from then on. NULL: no such thing. */
struct http_answer {
    const char *type; /* "text/html" */
    char *body;       /* owned */
    size_t size;
    bool streams; /* the body begins a stream of events, which http_send continues */
};

/* `path` is without what cannot be guessed, "" for the page; `query` what stands behind the
 * question mark, or "". */
typedef struct http_answer http_answer_fn(void *arg, const char *path, const char *query);

/* Listens on the port, 0: on any. Errors: NULL, with a message. */
struct http *http_open(unsigned port, http_answer_fn *answer, void *arg);
void http_close(struct http *http); /* NULL is none */

/* "http://127.0.0.1:PORT/TOKEN/"; borrowed. */
const char *http_address(const struct http *http);

/* Can be read when there is something to do. */
int http_fd(const struct http *http);

/* Does what can be done without waiting. */
void http_serve(struct http *http);

/* Sends an event to all streams: lines of text, without an empty one. One whose reader is
 * slow misses it, unless it is `important`. */
void http_send(struct http *http, const char *event, const char *text, bool important);

/* How many streams there are, how many have been, and whether there is something to be
 * sent, to anyone. */
unsigned http_streams(const struct http *http);
unsigned http_streams_ever(const struct http *http);
bool http_is_busy(const struct http *http);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/dap_private.h - what the parts of the Debug Adapter Protocol share: an editor's
 * session (dap.c), messages (dap_messages.c), breakpoints (dap_stops.c), and what is looked at
 * (dap_looks.c). One thread.
 *
 * Threads are 1, the application; 2 + w, worker w; TASKS + n, task n, if the run stands at
 * it and no worker has it; of rank r, so many RANKS more. Frames, and what variables refer to,
 * are numbers in lists that hold until the run goes on.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/debug/session.h"

struct launch;

enum {
    APPLICATION = 1,
    WORKERS = 2,
    TASKS = 1000000,
    RANKS = 10000000,
    REFERENCES = 4096,
    MOST_BYTES = 1 << 24 /* of a message */
};

/* What variables refer to. */
struct reference {
    enum {
        OF_TASK,
        OF_DATUM,
        OF_NODE,
        ALL_DATA,
        ALL_WORKERS,
        ALL_NODES,
        ALL_READY,
        ALL_RANKS
    } of;
    int rank;   /* whose, -1: the run is alone */
    char *name; /* owned, NULL: none: a task's number, a datum's name */
};

/* What a thread of the protocol is. */
struct thread {
    int rank;          /* -1: the run is alone */
    json_int_t within; /* APPLICATION, or WORKERS or TASKS and a number */
};

struct dap {
    struct session session;
    struct launch *launch;
    const char *folder;
    const char
        *ranks; /* how many there are to be, NULL: as many as the machine has */
    char *
        record; /* owned: the program is a folder of records, and this one of them */
    json_t *arguments; /* owned: of launch, which the launch borrows from */
    char **argv;       /* owned, likewise */
    char *input;       /* bytes that were read and not taken, owned */
    size_t n;
    json_t *kept; /* owned: messages that came while the run went on */
    json_int_t sequence;
    bool begun, stops_on_entry, over;
    int first_line, first_column;            /* as the editor counts: 0 or 1 */
    struct reference references[REFERENCES]; /* by number, from 1 */
    unsigned nreferences;
    unsigned *functions, *watches; /* owned: numbers of breakpoints */
    size_t nfunctions, nwatches;
};

/* --- messages, dap_messages.c --- */

/* An event of that name. Takes the body. */
void dap_send_event(struct dap *dap, const char *event, json_t *body);

/* The answer to a request. Takes the body, NULL: none. */
void dap_respond(struct dap *dap, const json_t *request, json_t *body);
void dap_refuse(struct dap *dap, const json_t *request, const char *why);

/* What the program prints, and what comes while it goes on: as of struct program. */
void dap_on_output(void *arg, const char *stream, const char *text,
                   size_t size);
bool dap_on_input(void *arg);

/* The next request, a new reference; NULL: the editor is gone. */
json_t *dap_next_request(struct dap *dap);

/* A text of the request's arguments, else what the command line has. Lent. */
const char *dap_text_of(const json_t *arguments, const char *key,
                        const char *otherwise);

/* --- what is looked at, dap_looks.c --- */

void dap_forget_references(struct dap *dap);

/* NULL: there is no such number. Lent. */
const struct reference *dap_referred(const struct dap *dap,
                                     const json_t *number);

/* An answer of that rank's run, -1: of the one that has come to the event; a new reference. */
json_t *dap_ask(struct dap *dap, int rank, const char *question,
                const char *key, const char *value);

/* The rank that is named there. */
int dap_rank_in(const json_t *json, int without);

/* Threads: the number of one; where the run stands; that of a request's arguments; the task of
 * one, 0: it has none. */
json_int_t dap_thread_number(struct thread thread);
struct thread dap_present_thread(const struct dap *dap);
struct thread dap_thread_asked(const struct dap *dap, const json_t *arguments);
json_int_t dap_thread_task(struct dap *dap, struct thread thread);

/* --- requests of those, and of dap_stops.c --- */

void dap_threads(struct dap *dap, const json_t *request,
                 const json_t *arguments);
void dap_stack(struct dap *dap, const json_t *request, const json_t *arguments);
void dap_scopes(struct dap *dap, const json_t *request,
                const json_t *arguments);
void dap_variables(struct dap *dap, const json_t *request,
                   const json_t *arguments);
void dap_set_functions(struct dap *dap, const json_t *request,
                       const json_t *arguments);
void dap_set_lines(struct dap *dap, const json_t *request,
                   const json_t *arguments);
void dap_data_info(struct dap *dap, const json_t *request,
                   const json_t *arguments);
void dap_set_data(struct dap *dap, const json_t *request,
                  const json_t *arguments);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/program.h - a simulated program that is stopped and looked at: its process,
 * the copies of that which stand at earlier events (debug/snapshots.h), what it prints.
 * One thread.
 *
 * What a program prints, or writes to files that are open, before an event, it has
 * written when it goes on from there once more: the same bytes at the same places. What it
 * prints is therefore passed on once.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/common/launch.h"

enum {
    PROGRAM_SNAPSHOTS = 32,
    PROGRAM_REQUEST = 4000 /* bytes of a request, less than */
};

struct program_snapshot {
    uint64_t number; /* of its event */
    int fd; /* of it, which ends when this is closed */
};

struct program {
    struct launch *launch; /* lent: made ready (launch_ready) */
    const char *input;     /* lent: the file that it reads, NULL: nothing */
    int out, err;          /* files with what it has printed … */
    off_t seen_out, seen_err; /* … and how much of that was passed on */
    /* Passes on what it prints. */
    void (*print)(void *arg, const char *stream, const char *text, size_t size);
    void *print_arg;
    /* While it goes on, what can be read there is looked at, too, until that says false. */
    bool watches_also;
    int also;
    bool (*on_also)(void *arg);
    void *on_also_arg;
    pid_t started;  /* the process that was started */
    pid_t pid;      /* the one that runs, 0: not known yet */
    int fd;         /* to it, -1: it has ended */
    int status;     /* as of waitpid, once it has */
    bool copies;    /* it can be copied */
    unsigned every; /* events between snapshots */
    struct program_snapshot snapshots[PROGRAM_SNAPSHOTS]; /* by number */
    unsigned nsnapshots;
    /* One more, made on the way back to a little behind it: the next steps back are short.
     * fd -1: none. */
    struct program_snapshot near;
    bool makes_near; /* the next one is that */
    char *line;     /* owned: what it has said that was not taken … */
    size_t n, room; /* … bytes of that, and of the block */
    int sent;       /* a descriptor that came with them, -1 */
};

/* Starts it, up to the moment at which it would begin its run. Errors: -1, with a
 * message: it cannot be started, or ends without a run. */
int program_start(struct program *program);

/* Ends it and all its copies. */
void program_stop(struct program *program);

/* Sends a request, words with tabs between them. */
void program_send(struct program *program, const char *request);

/* Goes on, and waits until it stops. Returns what it says then, a new reference; NULL: it
 * has ended. */
json_t *program_go(struct program *program, const char *words);

/* The same where it answers: that, a new reference; {"error": …} of what is no line that it
 * can read. It stands. */
json_t *program_request(struct program *program, const char *request);

/* The answer to a question, likewise. */
json_t *program_ask(struct program *program, const char *words);

/* Makes it stand at the last event that there is a copy of, up to that number; from its
 * start on if there is none. Returns what it says there, a new reference; NULL, with a
 * message: it cannot be started again. */
json_t *program_back(struct program *program, uint64_t number);

/* Goes on to that event, and leaves a copy there for the next ways back, in the place of the one
 * that was left last. Returns as program_go. */
json_t *program_leave_copy(struct program *program, uint64_t number);

/* Asks it to stop where it is. Safe in a signal handler. */
void program_halt(const struct program *program);

/* Passes on what it has printed. */
void program_flush(struct program *program);

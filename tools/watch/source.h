/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/watch/source.h - what the runs of a program show (watch/shared.h), as it is now:
 * counts, and the tasks of each run. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/watch/graph.h"
#include "watch/shared.h"

struct source_run {
    struct watch_part part; /* mapped; run NULL: not there yet */
    unsigned generation;    /* that was read last */
    /* owned: record to be read of each ring: lanes, then of all */
    uint64_t *next;
    uint64_t *heads;        /* owned: how far the lanes were */
    uint64_t missed;        /* records that were written over before */
    struct graph *graph;    /* owned */
    char *lines
        [WATCH_PLACES]; /* owned: "FILE:LINE", once it was asked for; "": not known */
};

struct source {
    int fd; /* inherited by the program */
    struct watch_file *file;
    struct source_run runs[WATCH_RUNS];
    unsigned nruns; /* those that are there */
    const char *links; /* borrowed: the scheme of links to lines, NULL: none */
};

/* All tasks of all runs, those that have ended included. */
struct source_totals {
    unsigned long submitted, waiting, ready, running, ended;
    unsigned nruns, nopen; /* runs, those that have not ended */
    uint64_t missed;       /* events */
    double date_us;        /* the latest of the runs that are open, else of all */
    bool is_virtual, stands; /* the time; some run is in a deadlock */
};

/* An empty one, ended with source_close. Errors: -1, with a message. */
int source_open(struct source *ret);
void source_close(struct source *source);

/* Reads what has happened since the last time. */
void source_read(struct source *source);

/* NULL: there is none, or nothing of it. */
struct source_run *source_at(struct source *source, unsigned number);

void source_count(struct source *source, struct source_totals *ret);

/* Tasks of one run. */
void source_count_run(const struct source_run *run, struct source_totals *ret);

/* The date of the run now, µs. */
double source_date(const struct source_run *run);

/* "FILE:LINE" of a place where tasks were submitted, lent until the run begins anew; NULL: it
 * is not known. Of a call, the first question runs addr2line. */
const char *source_line(struct source_run *run, unsigned place);

/* What worker `number` of the run does, in a word; of how many of its kernels n, us: the sums
 * over all workers. */
const char *source_state(const struct source_run *run, unsigned number);
void source_kernel(const struct source_run *run, unsigned kernel, unsigned long *ret_n,
                   double *ret_us);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/report/report.h - inside `orrery report`: what the page shows of a run.
 * One thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "tools/common/launch.h"
#include "tools/common/trace_csv.h"

/* What the page is made of; all but `trace` may be missing. */
struct report_page {
    char *title, *command; /* owned */
    struct trace trace;    /* ended with the page */
    json_t *ranks; /* of several ranks: what each did, and what they sent; owned, as all
                    * below */
    json_t *run;           /* the report of the run */
    json_t *explanation;   /* of orrery explain */
    json_t *bounds;        /* of orrery bound */
    json_t *comparisons;   /* an array: what orrery compare printed, each with
                              * the name of its file */
    char *picture;         /* of the machine: SVG */
    const char *links;     /* the scheme of links to lines of the program, NULL: none */
    const char *other;     /* what the run beside this one is, a constant; NULL: there is none */
    unsigned other_node;   /* the first memory node of it */
};

void report_page_done(struct report_page *page);

/* --- parts.c: what other commands say of the run --- */

struct report_parts {
    const struct launch *launch; /* of the run; NULL: a trace alone */
    const char *trace, *graph;   /* graph: NULL without */
    char *const *traces; /* of several ranks: that of each, its graph beside it; or NULL */
    unsigned ntraces;
    bool plain;                  /* neither explanation nor bounds */
};

/* Fills in the explanation, the bounds, the picture. What is missing is said.
 * Returns 0, or the signal that interrupted it. */
int report_parts(const struct report_parts *parts, struct report_page *page);

/* Reads what `orrery compare --json` printed. A message and -1. */
int report_comparison(const char *path, struct report_page *page);

/* --- other_run.c: another run beside this one --- */

/* Puts the run of `path`, a trace in CSV or a timeline (docs/IMPORT.md), beside the one of the
 * page, so that both begin at the same time. `label` is what this one is, before the names
 * of its workers. A message and -1. */
int report_other_run(const char *path, const char *label, struct report_page *page);

/* --- idle_states.c: what workers did beside their tasks --- */

/* A worker is in a state other than idle, and executes nothing. */
struct report_stretch {
    const char *kind; /* the trace's */
    unsigned worker;
    double start, end;
};

struct report_beside {
    struct report_stretch *stretches; /* owned; by start */
    size_t nstretches;
};

/* Fills *ret, which is zero and is ended with report_beside_done in any case. Errors:
 * -ENOMEM. */
int report_beside(const struct trace *trace, struct report_beside *ret);
void report_beside_done(struct report_beside *beside);

/* --- data.c, write.c --- */

/* Writes the data of the page as JSON. -ENOMEM; a write error shows in
 * ferror(file). */
int report_data(const struct report_page *page, FILE *file);

/* Writes the page to `path`, whole or not at all. A message and -1. */
int report_write(const struct report_page *page, const char *path);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/formats.h - the formats of trace files, a writer each. No
 * addresses and no dates: equal runs give equal bytes. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/observe/record.h"
#include "core/observe/timeline.h"

struct orr_machine;
struct orr_out;
struct orr_waits;

/* What a file is written of; all borrowed. */
struct orr_trace_source {
    const struct orr_trace *trace;
    const struct orr_timeline *line;
    const struct orr_graph *graph; /* NULL: not recorded */
};

/* Each writes one file; what `file` could not take, its caller sees. Errors:
 * -ENOMEM. */
typedef int orr_trace_writer(const struct orr_trace_source *source, FILE *file);

orr_trace_writer
    orr_tasks_rec_write; /* tasks, for StarPU's tools and replays … */
orr_trace_writer orr_data_rec_write;  /* … their data … */
orr_trace_writer orr_sched_rec_write; /* … and the schedule */

/* The whole of a record, for what stands before its moments in a file and behind
 * them. */
struct orr_trace_whole {
    const struct orr_graph *graph; /* NULL: not recorded, or not needed */
    /* Of a graph that is not needed, since what the format shows of it was written as it
     * became known; else NULL: the machine, and a file without a name with what comes
     * behind the moments. */
    const struct orr_machine *machine;
    FILE *behind;
    double end;                    /* of the last moment */
    size_t ntasks, nmarks, nsteals;
    bool suspends;
};

/* A format whose files are moments one behind the other, between a head and a tail: the
 * moments may be written before the others are known. In order: begin, for each
 * part of the timeline learn and moments, then head and tail, free. Where there is one
 * part only, the head may come before its moments. All may fail with
 * -ENOMEM, and with -ESTALE where the parts that were written turn out to be not what
 * one part would have been. */
struct orr_trace_parts {
    int (*begin)(const struct orr_trace *trace, void **ret);
    /* What the head needs of the tasks; NULL: nothing. */
    int (*learn)(void *writer, const struct orr_timeline *part, bool is_all);
    /* NULL: the format shows none. */
    int (*moments)(void *writer, const struct orr_timeline *part,
                   struct orr_out *out);
    /* Of formats that show the graph, else NULL: after moments, what is known of it by
     * now, to the moments or to what is `behind` them. Where it fails, or is not called,
     * head and tail get the graph. `is_all`: no more is to come. */
    int (*waits)(void *writer, const struct orr_waits *waits, bool is_all,
                 struct orr_out *out, struct orr_out *behind);
    int (*head)(void *writer, const struct orr_trace_whole *whole,
                struct orr_out *out);
    int (*tail)(void *writer, const struct orr_trace_whole *whole,
                struct orr_out *out);
    void (*free)(void *writer);
};

extern const struct orr_trace_parts orr_paje_parts;   /* ViTE, PajeNG, StarVZ */
extern const struct orr_trace_parts orr_chrome_parts; /* JSON for Perfetto,
                                                       * chrome://tracing */
extern const struct orr_trace_parts orr_csv_parts;    /* a table of all that
                                                    * happened */
extern const struct orr_trace_parts orr_dot_parts;    /* tasks and dependencies,
                                                    * for Graphviz */

struct orr_trace_format {
    const char *extension;
    orr_trace_writer *write; /* NULL: it has parts */
    const struct orr_trace_parts *parts;
    bool shows_graph, shows_submissions;
    bool shows_symbols; /* of the graph's tasks */
};

/* That of the path's extension. */
const struct orr_trace_format *orr_trace_format_of(const char *path);

/* Adds what one part of a timeline has. */
void orr_trace_whole_add(struct orr_trace_whole *whole,
                         const struct orr_timeline *part);

/* Words for what the record numbers. */
const char *orr_trace_state_name(enum orr_trace_state state);
const char *orr_trace_copy_name(enum orr_trace_copy_kind kind);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/formats.h - the formats of trace files, a writer each. No
 * addresses and no dates: equal runs give equal bytes. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/observe/trace_record.h"
#include "core/observe/timeline.h"

struct orr_machine;
struct orr_out;
struct orr_waits;

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
    /* Of formats that show the graph, else NULL: before moments, what is known of it by
     * now, which the writer may keep: all that tasks among them have waited for. It may
     * write to the moments or to what is `behind` them. Where it fails, or cannot be
     * called, head and tail get the graph, before moments if there are any: what was
     * written of these is not used. `is_all`: no more is to come. */
    int (*waits)(void *writer, const struct orr_waits *waits, bool is_all,
                 struct orr_out *out, struct orr_out *behind);
    /* Either may be NULL: the format has no head, or no tail. */
    int (*head)(void *writer, const struct orr_trace_whole *whole,
                struct orr_out *out);
    int (*tail)(void *writer, const struct orr_trace_whole *whole,
                struct orr_out *out);
    /* The head may be asked for before all else, too, with what is known then, and is
     * mostly the same: a file that begins with it needs no copy. */
    bool has_early_head;
    void (*free)(void *writer);
};

extern const struct orr_trace_parts orr_paje_parts;   /* ViTE, PajeNG, StarVZ */
extern const struct orr_trace_parts orr_chrome_parts; /* JSON for Perfetto,
                                                       * chrome://tracing */
extern const struct orr_trace_parts orr_csv_parts;    /* a table of all that
                                                    * happened */
extern const struct orr_trace_parts orr_dot_parts;    /* tasks and dependencies,
                                                    * for Graphviz */
extern const struct orr_trace_parts
    orr_tasks_rec_parts; /* tasks, for StarPU's tools and replays … */
extern const struct orr_trace_parts orr_data_rec_parts; /* … their data … */
extern const struct orr_trace_parts
    orr_sched_rec_parts; /* … and the schedule */

/* A trace's files, of which there may be several: "x.data.rec" and "x.sched.rec" go with
 * "x.tasks.rec", which comes first. */
enum { ORR_TRACE_FILES = 3 };

struct orr_trace_file {
    char *path; /* owned */
    const struct orr_trace_parts *parts;
};

struct orr_trace_files {
    struct orr_trace_file items[ORR_TRACE_FILES];
    unsigned n;
};

/* The files that the path stands for. To be ended with orr_trace_files_done, also after
 * an error. Errors: -ENOMEM. */
int orr_trace_files_of(const char *path, struct orr_trace_files *ret);

/* The length of the end of the path that says that others go with it; 0: none do. */
size_t orr_trace_suffix(const char *path);
void orr_trace_files_done(struct orr_trace_files *files);

/* Adds what one part of a timeline has. */
void orr_trace_whole_add(struct orr_trace_whole *whole,
                         const struct orr_timeline *part);

/* Words for what the record numbers. */
const char *orr_trace_state_name(enum orr_trace_state state);
/* As readers of Pajé know it. */
const char *orr_paje_state_name(enum orr_trace_state state);
const char *orr_trace_copy_name(enum orr_trace_copy_kind kind);

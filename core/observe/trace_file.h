/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/trace_file.h - the formats of trace files, a writer each. No
 * addresses and no dates: equal runs give equal bytes. One thread.
 */
#pragma once

#include <stdio.h>

#include "core/observe/record.h"
#include "core/observe/timeline.h"

/* What a file is written of; all borrowed. */
struct orr_trace_source {
    const struct orr_trace *trace;
    const struct orr_timeline *line;
    const struct orr_graph *graph; /* NULL: not recorded */
};

/* Each writes one file; what `file` could not take, its caller sees. Errors:
 * -ENOMEM. */
typedef int orr_trace_writer(const struct orr_trace_source *source, FILE *file);

orr_trace_writer orr_paje_write;   /* for ViTE, PajeNG, StarVZ */
orr_trace_writer orr_chrome_write; /* JSON for Perfetto, chrome://tracing */
orr_trace_writer orr_csv_write;    /* a table of all that happened */
orr_trace_writer orr_dot_write;    /* tasks and dependencies, for Graphviz */
orr_trace_writer
    orr_tasks_rec_write; /* tasks, for StarPU's tools and replays … */
orr_trace_writer orr_data_rec_write;  /* … their data … */
orr_trace_writer orr_sched_rec_write; /* … and the schedule */

/* Words for what the record numbers. */
const char *orr_trace_state_name(enum orr_trace_state state);
const char *orr_trace_copy_name(enum orr_trace_copy_kind kind);

/* The name of a memory node: the machine's where the graph has it. Valid until
 * the next call with the same buffer. */
const char *orr_trace_node_name(const struct orr_trace_source *source,
                                unsigned node, char *buffer, size_t size);

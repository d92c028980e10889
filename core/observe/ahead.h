/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/ahead.h - trace files that are written while the run goes on: a thread
 * puts the moments that cannot change any more into a file without a name beside the
 * one to be, and the end of the run adds what stands before and behind them. The bytes
 * are those that orr_trace_write makes of the whole record, which stays: whatever goes
 * wrong here, no room on the disk for instance, the file is written from that.
 *
 * The run is on one thread, which calls all of this and neither waits nor locks here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct orr_ahead;
struct orr_exec;
struct orr_graph;
struct orr_trace;

/* NULL: the file is written at the end. Its format needs that, it is a device, there is
 * but one processor or no memory. The thread begins with the first events worth it. */
struct orr_ahead *orr_ahead_new(const struct orr_trace *trace,
                                struct orr_exec *exec, const char *path);

/* Ends the thread where it runs. Accepts NULL. */
void orr_ahead_free(struct orr_ahead *ahead);

/* Whether it is that file that is written, in the process that began it, and some of it
 * was. */
bool orr_ahead_is_for(const struct orr_ahead *ahead, const char *path);

/* Something begins now, whose event will say so later. */
void orr_ahead_begin(struct orr_ahead *ahead, uint32_t *ticket);
void orr_ahead_end(struct orr_ahead *ahead, uint32_t *ticket);

/* Many events are there: what is before all that has begun may be written. */
void orr_ahead_offer(struct orr_ahead *ahead);

/* The run is over: the rest, and the whole to `file`. Errors: whatever stood in the way
 * at some time; -ESTALE. */
int orr_ahead_write(struct orr_ahead *ahead, const struct orr_graph *graph,
                    FILE *file);

/* The trace's, which is the caller's from now on; NULL: there is none for this path. */
struct orr_ahead *orr_trace_take_ahead(struct orr_trace *trace,
                                       const char *path);

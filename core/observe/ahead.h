/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/ahead.h - trace files that are written while the run goes on: a thread
 * puts the moments that cannot change any more into a file without a name beside each
 * one to be, and the end of the run adds what stands before and behind them, and a name
 * (or copies it, where what stands before them was not known). The bytes are those that
 * orr_trace_write makes of the whole record, which stays: if anything goes wrong here,
 * such as a full disk, the file is written from the record.
 *
 * The run is on one thread, which calls all of this and neither waits nor locks here.
 */
#pragma once

struct orr_ahead;
struct orr_exec;
struct orr_result;
struct orr_trace;

/* From now on a thread writes, while the run goes on, what cannot change any more, so
 * that orr_trace_write has little left to do. For a run whose contexts are all on one
 * thread, and whose clock is that of `exec`. Nothing happens, and the file is written
 * at the end, if its format needs that, if it is a device, if there is one processor
 * only or no memory. The thread starts with the first large number of events. */
void orr_ahead_start(struct orr_trace *trace, struct orr_exec *exec,
                     const char *path);

/* What was written for that path, by this process, and is the caller's from now on; NULL:
 * nothing was. */
struct orr_ahead *orr_ahead_take(struct orr_trace *trace, const char *path);

/* Ends the thread where it runs. Accepts NULL. */
void orr_ahead_free(struct orr_ahead *ahead);

/* The run is over: writes the rest, and makes one of the path's files (formats.h) of
 * the whole, as the result `result`, to which nothing was written before; once for each
 * file. Errors: what has failed at some time; -ESTALE. */
int orr_ahead_write(struct orr_ahead *ahead, unsigned which,
                    struct orr_result *result);

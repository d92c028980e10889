/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/trace_record.h - the event record: what happened, when, on which worker.
 * One buffer per worker, written by that worker alone without a lock, and one for all
 * other contexts, behind a spin lock. trace_observer.c writes the record; timeline.h
 * and the formats read it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/observe/trace_types.h"

struct orr_clocks_told;
struct orr_machine;
struct orr_sources;
struct orr_submissions;
struct orr_trace;
struct orr_waits_log;

/* Makes an empty record for this machine's workers and nodes, whose names it copies.
 * `start` is the time (µs) that the files will call 0. Owned by the caller and freed by
 * orr_trace_free. Errors: -ENOMEM. */
int orr_trace_new(const struct orr_machine *machine, double start,
                  struct orr_trace **ret);

/* From now on submissions are kept, for formats that show them. Errors: -ENOMEM. */
int orr_trace_keep_submissions(struct orr_trace *trace);

/* Of events only tasks are recorded, for formats that show no others. Before anything is
 * recorded. */
void orr_trace_keep_tasks_alone(struct orr_trace *trace);

/* The submissions that are kept; NULL: none are, or there is no trace. */
struct orr_submissions *orr_trace_submissions(const struct orr_trace *trace);

/* The graph that the file shows is to be made of this list (waits_log.h), which is
 * borrowed. Before anything is recorded. */
void orr_trace_set_waits(struct orr_trace *trace,
                         const struct orr_waits_log *waits);

/* The file shows where tasks were submitted (sources.h, source_line.h), with links by that
 * scheme where its format has such; both are borrowed. Before anything is recorded. */
void orr_trace_show_sources(struct orr_trace *trace, const struct orr_sources *sources,
                            const char *links);

/* A number for tasks that are submitted in these iterations, the outer one and the
 * inner one (-1: none); 0 without memory. One caller at a time. */
uint32_t orr_trace_iteration(struct orr_trace *trace, const int64_t levels[2]);

/* The iterations with that number; NULL: none. */
const int64_t *orr_trace_iteration_levels(const struct orr_trace *trace,
                                          uint32_t number);

/* Accepts NULL. */
void orr_trace_free(struct orr_trace *trace);

/* How many events got lost because memory was short. */
uint64_t orr_trace_dropped(const struct orr_trace *trace);

/* Writes the record, whole or not at all, in the format that the path's
 * extension names (docs/TRACES.md): .json, .csv, .dot or .rec, else as a Pajé file
 * (ViTE, PajeNG, StarVZ). Files that go with it get names beside it. May be called at any
 * time: what other threads record meanwhile is in the file or is not. Errors: -ENOMEM, or
 * those of the file system, with the path in `err`. */
int orr_trace_write(struct orr_trace *trace, const char *path,
                    struct orr_error *err);

/* Whether the format of that path shows dependencies; with the names of kernels;
 * submissions. NULL is no path. */
bool orr_trace_shows_graph(const char *path);
bool orr_trace_shows_symbols(const char *path);
bool orr_trace_shows_submissions(const char *path);

/* Whether of events it shows tasks at most. */
bool orr_trace_shows_tasks_alone(const char *path);

/* Whether it shows what the application does beside its calls. */
bool orr_trace_shows_application(const char *path);

/* In the calls below `worker` is the number of the calling worker, or
 * ORR_TRACE_OUTSIDE for any other context. They never block and never fail:
 * an event that finds no memory is counted as dropped. */
#define ORR_TRACE_OUTSIDE (~0u)

/* The same for a thread of the application other than its main one. */
#define ORR_TRACE_THREAD (~1u)

/* Whether somebody reads the record while it is written, who is to know what begins. */
bool orr_trace_is_followed(const struct orr_trace *trace);

/* Something begins now whose event will come when it has ended; to be told before
 * anything else happens. *ticket: 0, or the one of what began then and has not ended. */
void orr_trace_begin(struct orr_trace *trace, uint32_t *ticket);

/* The event that was begun has been recorded, or will not be. */
void orr_trace_end(struct orr_trace *trace, uint32_t *ticket);

/* Records a task that has ended; called by the worker that executed it. */
void orr_trace_record_task(struct orr_trace *trace, unsigned worker,
                           const struct orr_trace_task *task);

/* The worker enters a state. Shown when it executes no task. */
void orr_trace_record_state(struct orr_trace *trace, unsigned worker,
                            enum orr_trace_state state, double time);

/* The kernel of a task goes on, which has waited since `start`: its worker was
 * free for others. */
void orr_trace_record_suspension(struct orr_trace *trace, unsigned worker,
                                 uint64_t job, double start, double end);

/* The worker takes a job from the queue of another one, the victim. */
void orr_trace_record_steal(struct orr_trace *trace, unsigned worker,
                            unsigned victim, uint64_t job, double time);

/* What the application has done, in the call of that name (a constant) or outside of
 * calls (NULL). Only where orr_trace_shows_application. */
void orr_trace_record_application(struct orr_trace *trace,
                                  enum orr_trace_doing doing, const char *call,
                                  double start, double end);

/* The record is that of one of several ranks. */
void orr_trace_set_rank(struct orr_trace *trace, int rank, unsigned nranks);

/* Records a message that has gone or come, and a comparison of clocks. */
void orr_trace_record_message(struct orr_trace *trace,
                              const struct orr_trace_message *message);
void orr_trace_record_clocks(struct orr_trace *trace,
                             const struct orr_clocks_told *clocks);

/* Records a copy that has ended; called by the context that noticed. */
void orr_trace_record_copy(struct orr_trace *trace, unsigned worker,
                           const struct orr_trace_copy *copy);

/* The library has allocated `change` bytes more on a node. */
void orr_trace_record_memory(struct orr_trace *trace, unsigned worker,
                             unsigned node, int64_t change, double time);

/* A mark of the application, whose text is copied: an event of
 * the program or, `numbered`, of the user, where the text is a number. */
void orr_trace_record_mark(struct orr_trace *trace, unsigned worker,
                           const char *text, bool numbered, double time);

/* The machine has allocated or freed memory, which took that long. */
void orr_trace_record_allocation(struct orr_trace *trace, unsigned worker,
                                 unsigned node, bool frees, uint64_t size,
                                 double start, double end);

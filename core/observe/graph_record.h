/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_record.h - the task graph during the run: which tasks each task
 * waits for, also those that have ended already, which data it uses, what it costs,
 * where it ran. For bounds with dependencies and ORRERY_GRAPH. Any context; the lock's
 * rank is ORR_RANK_RUNTIME.
 *
 * It is an observer (tell.h), which wants nothing before one of these begins to record.
 * Without memory some of that is left out, with a warning: bounds are lower then, not
 * wrong.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bound/export_deps.h"
#include "bound/graph.h"

struct orr_graph_record;
struct orr_job;
struct orr_runtime;
struct orr_waits_log;

/* Registers it. Before workers start. */
void orr_graph_observe(struct orr_runtime *rt);

/* Begins to record everything until the runtime ends. Before workers start.
 * Errors: -ENOMEM. */
int orr_graph_record_all(struct orr_runtime *rt);

/* From now on all is noted in a list as well, with the names of kernels if they are
 * wanted; *ret is owned by the record. Before workers start. Errors: -ENOMEM. */
int orr_graph_record_log(struct orr_runtime *rt, bool symbols,
                         const struct orr_waits_log **ret);

/* Whether StarPU's bounds count a task: it has a codelet whose model keeps a history. */
bool orr_graph_counts_bound(const struct orr_job *job);

/* Forgets what was recorded for starpu_bound_* and records from now on; after
 * the second one nothing more is added for them, and what there is stays.
 * Errors: -ENOMEM, then everything is as before. */
int orr_graph_record_open_window(struct orr_runtime *rt);
void orr_graph_record_close_window(struct orr_runtime *rt);

void orr_graph_record_free(struct orr_graph_record *record);

/* --- results --- */

enum orr_graph_view {
    ORR_GRAPH_ALL,    /* all tasks with a codelet, at the fastest */
    ORR_GRAPH_WINDOW, /* those that starpu_bound_* count, at mean − deviation
                       * of implementation 0 */
};

/* Makes the graph; the caller's. Errors, with a message: -ENODATA when no such
 * task was recorded (of a whole run the graph is empty then); -EINVAL when what was declared is a cycle; -ENOMEM. */
int orr_graph_record_make(struct orr_runtime *rt, enum orr_graph_view view,
                          struct orr_graph **ret, struct orr_error *err);

/* Copies the dependencies between tags that were declared in the window, for
 * the caller to free. Errors: -ENOMEM. */
int orr_graph_record_window_tags(struct orr_runtime *rt,
                                 struct orr_bound_tag_dep **ret,
                                 unsigned *ret_n);

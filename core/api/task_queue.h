/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/task_queue.h - what the queues of the toolbox share: lists of tasks
 * sorted by priority, best first. The caller locks.
 */
#pragma once

#include <stdbool.h>

#include <starpu_scheduler_toolbox.h>

/* Of tasks whose priority is better, or as good, and of those that are better. */
void orr_task_list_insert_behind(struct starpu_task_list *list,
                                 struct starpu_task *task);
void orr_task_list_insert_before(struct starpu_task_list *list,
                                 struct starpu_task *task);

/* Whether the worker can run the task; then its implementation is the first. */
bool orr_task_suits(struct starpu_task *task, int worker);

/* The first task that the worker can run, still in the list, or NULL; *skipped:
 * the last one passed over, or NULL. */
struct starpu_task *orr_task_list_first(const struct starpu_task_list *list,
                                        int worker,
                                        struct starpu_task **skipped);

/* Of those whose priority is not less than the first one's, the one that lacks the
 * fewest bytes on the worker's memory node, oldest first; NULL when empty. */
struct starpu_task *
orr_task_list_most_ready(const struct starpu_task_list *list, unsigned worker);

/* Stops the program if the task is not in the list, as of `call`. */
void orr_task_list_check(const struct starpu_task_list *list,
                         const struct starpu_task *task, const char *call);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_task_list.h - doubly linked lists of tasks, for policies. A task is
 * in one list at a time: the links are its prev and next fields. No locking.
 */
#pragma once

#include <starpu_config.h>
#include <starpu_task.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef STARPU_TASK_LIST_INLINE
#    define STARPU_TASK_LIST_INLINE extern
#endif

/* Zeroed is empty. Tasks are borrowed. */
struct starpu_task_list {
    struct starpu_task *head;
    struct starpu_task *tail;
};

void starpu_task_list_init(struct starpu_task_list *list);
void starpu_task_list_push_front(struct starpu_task_list *list,
                                 struct starpu_task *task);
void starpu_task_list_push_back(struct starpu_task_list *list,
                                struct starpu_task *task);

/* First and last task, or NULL. */
struct starpu_task *starpu_task_list_front(const struct starpu_task_list *list);
struct starpu_task *starpu_task_list_back(const struct starpu_task_list *list);
int starpu_task_list_empty(const struct starpu_task_list *list);
void starpu_task_list_erase(struct starpu_task_list *list,
                            struct starpu_task *task);

/* Take out the first or last task, or return NULL. */
struct starpu_task *starpu_task_list_pop_front(struct starpu_task_list *list);
struct starpu_task *starpu_task_list_pop_back(struct starpu_task_list *list);

/* for (t = begin; t != end; t = next(t)) */
struct starpu_task *starpu_task_list_begin(const struct starpu_task_list *list);
struct starpu_task *starpu_task_list_end(const struct starpu_task_list *list);
struct starpu_task *starpu_task_list_next(const struct starpu_task *task);

int starpu_task_list_ismember(const struct starpu_task_list *list,
                              const struct starpu_task *look);
/* Moves all of `lsrc`, which is empty then, to `ldst`; what that held, if anything, is
 * not looked at. */
void starpu_task_list_move(struct starpu_task_list *ldst,
                           struct starpu_task_list *lsrc);

#ifdef __cplusplus
}
#endif

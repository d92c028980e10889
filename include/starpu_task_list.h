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

/* Makes the list empty, whatever it held. */
void starpu_task_list_init(struct starpu_task_list *list);
/* Links a task that is in no list at the front, or at the back. */
void starpu_task_list_push_front(struct starpu_task_list *list,
                                 struct starpu_task *task);
void starpu_task_list_push_back(struct starpu_task_list *list,
                                struct starpu_task *task);

/* The first task, which stays in the list; NULL: the list is empty. */
struct starpu_task *starpu_task_list_front(const struct starpu_task_list *list);
/* The last task, which stays in the list; NULL: the list is empty. */
struct starpu_task *starpu_task_list_back(const struct starpu_task_list *list);
/* Whether there is no task in it. */
int starpu_task_list_empty(const struct starpu_task_list *list);
/* Takes out a task of this list, anywhere in it; that it is there is not checked. */
void starpu_task_list_erase(struct starpu_task_list *list,
                            struct starpu_task *task);

/* Takes out the first task; NULL: the list is empty. */
struct starpu_task *starpu_task_list_pop_front(struct starpu_task_list *list);
/* Takes out the last task; NULL: the list is empty. */
struct starpu_task *starpu_task_list_pop_back(struct starpu_task_list *list);

/* For loops over a list: for (t = begin(list); t != end(list); t = next(t)). `end`
 * is NULL; a task that the loop takes out has no next one any more. */
struct starpu_task *starpu_task_list_begin(const struct starpu_task_list *list);
struct starpu_task *starpu_task_list_end(const struct starpu_task_list *list);
struct starpu_task *starpu_task_list_next(const struct starpu_task *task);

/* Whether the task is in the list, which is looked through. */
int starpu_task_list_ismember(const struct starpu_task_list *list,
                              const struct starpu_task *look);
/* Moves all of `lsrc`, which is empty then, to `ldst`; what that held, if anything, is
 * not looked at. */
void starpu_task_list_move(struct starpu_task_list *ldst,
                           struct starpu_task_list *lsrc);

#ifdef __cplusplus
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/task_list.c - lists of tasks for policies. The caller locks. */
#include <starpu_task_list.h>

void starpu_task_list_init(struct starpu_task_list *list)
{
    list->head = list->tail = NULL;
}

/* Puts `task` between two neighbours, either of which may be NULL: the end. */
static void link_between(struct starpu_task_list *list,
                         struct starpu_task *before, struct starpu_task *task,
                         struct starpu_task *after)
{
    task->prev = before;
    task->next = after;
    *(before ? &before->next : &list->head) = task;
    *(after ? &after->prev : &list->tail) = task;
}

void starpu_task_list_push_front(struct starpu_task_list *list,
                                 struct starpu_task *task)
{
    link_between(list, NULL, task, list->head);
}

void starpu_task_list_push_back(struct starpu_task_list *list,
                                struct starpu_task *task)
{
    link_between(list, list->tail, task, NULL);
}

struct starpu_task *starpu_task_list_front(const struct starpu_task_list *list)
{
    return list->head;
}

struct starpu_task *starpu_task_list_back(const struct starpu_task_list *list)
{
    return list->tail;
}

int starpu_task_list_empty(const struct starpu_task_list *list)
{
    return !list->head;
}

void starpu_task_list_erase(struct starpu_task_list *list,
                            struct starpu_task *task)
{
    *(task->prev ? &task->prev->next : &list->head) = task->next;
    *(task->next ? &task->next->prev : &list->tail) = task->prev;
    task->prev = task->next = NULL;
}

struct starpu_task *starpu_task_list_pop_front(struct starpu_task_list *list)
{
    struct starpu_task *task = list->head;

    if (task)
        starpu_task_list_erase(list, task);
    return task;
}

struct starpu_task *starpu_task_list_pop_back(struct starpu_task_list *list)
{
    struct starpu_task *task = list->tail;

    if (task)
        starpu_task_list_erase(list, task);
    return task;
}

struct starpu_task *starpu_task_list_begin(const struct starpu_task_list *list)
{
    return list->head;
}

struct starpu_task *starpu_task_list_end(const struct starpu_task_list *list)
{
    (void)list;
    return NULL;
}

struct starpu_task *starpu_task_list_next(const struct starpu_task *task)
{
    return task->next;
}

int starpu_task_list_ismember(const struct starpu_task_list *list,
                              const struct starpu_task *look)
{
    const struct starpu_task *task = list->head;

    while (task && task != look)
        task = task->next;
    return task != NULL;
}

void starpu_task_list_move(struct starpu_task_list *ldst,
                           struct starpu_task_list *lsrc)
{
    *ldst = *lsrc;
    starpu_task_list_init(lsrc);
}

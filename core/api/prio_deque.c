/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/prio_deque.c - starpu_st_prio_deque_*: tasks by priority, from both
 * ends. The caller locks.
 */
#include "core/api/task_queue.h"

void starpu_st_prio_deque_init(starpu_st_prio_deque_t pdeque)
{
    *pdeque = (struct starpu_st_prio_deque){.ntasks = 0};
}

void starpu_st_prio_deque_destroy(starpu_st_prio_deque_t pdeque)
{
    starpu_st_prio_deque_init(pdeque);
}

int starpu_st_prio_deque_is_empty(starpu_st_prio_deque_t pdeque)
{
    return pdeque->ntasks == 0;
}

int starpu_st_prio_deque_push_back_task(starpu_st_prio_deque_t pdeque,
                                        struct starpu_task *task)
{
    orr_task_list_insert_behind(&pdeque->list, task);
    pdeque->ntasks++;
    return 0;
}

int starpu_st_prio_deque_push_front_task(starpu_st_prio_deque_t pdeque,
                                         struct starpu_task *task)
{
    orr_task_list_insert_before(&pdeque->list, task);
    pdeque->ntasks++;
    return 0;
}

static struct starpu_task *prio_deque_take(starpu_st_prio_deque_t pdeque,
                                           struct starpu_task *task)
{
    if (!task)
        return NULL;
    starpu_task_list_erase(&pdeque->list, task);
    pdeque->ntasks--;
    return task;
}

struct starpu_task *
starpu_st_prio_deque_highest_task(starpu_st_prio_deque_t pdeque)
{
    return starpu_task_list_front(&pdeque->list);
}

struct starpu_task *starpu_st_prio_deque_pop_task(starpu_st_prio_deque_t pdeque)
{
    return prio_deque_take(pdeque, starpu_task_list_front(&pdeque->list));
}

struct starpu_task *
starpu_st_prio_deque_pop_back_task(starpu_st_prio_deque_t pdeque)
{
    return prio_deque_take(pdeque, starpu_task_list_back(&pdeque->list));
}

struct starpu_task *
starpu_st_prio_deque_pop_task_for_worker(starpu_st_prio_deque_t pdeque,
                                         int workerid,
                                         struct starpu_task **skipped)
{
    struct starpu_task *passed;
    struct starpu_task *task =
        orr_task_list_first(&pdeque->list, workerid, &passed);

    if (skipped)
        *skipped = passed;
    return prio_deque_take(pdeque, task);
}

/* The newest task of the best priority; NULL when empty. */
static struct starpu_task *newest_best(starpu_st_prio_deque_t pdeque)
{
    struct starpu_task *task = starpu_task_list_front(&pdeque->list);

    while (task && task->next && task->next->priority == task->priority)
        task = task->next;
    return task;
}

struct starpu_task *
starpu_st_prio_deque_deque_task_for_worker(starpu_st_prio_deque_t pdeque,
                                           int workerid,
                                           struct starpu_task **skipped)
{
    struct starpu_task *passed = NULL, *task = newest_best(pdeque);

    while (task && !orr_task_suits(task, workerid)) {
        passed = task;
        task = task->prev;
    }
    if (skipped)
        *skipped = passed;
    return prio_deque_take(pdeque, task);
}

struct starpu_task *
starpu_st_prio_deque_deque_first_ready_task(starpu_st_prio_deque_t pdeque,
                                            unsigned workerid)
{
    return prio_deque_take(pdeque,
                           orr_task_list_most_ready(&pdeque->list, workerid));
}

int starpu_st_prio_deque_pop_this_task(starpu_st_prio_deque_t pdeque,
                                       int workerid, struct starpu_task *task)
{
    orr_task_list_check(&pdeque->list, task, __func__);
    if (workerid >= 0 && !orr_task_suits(task, workerid))
        return 0;
    (void)prio_deque_take(pdeque, task);
    return 1;
}

void starpu_st_prio_deque_erase(starpu_st_prio_deque_t pdeque,
                                struct starpu_task *task)
{
    orr_task_list_check(&pdeque->list, task, __func__);
    (void)prio_deque_take(pdeque, task);
}

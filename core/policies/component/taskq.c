/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/taskq.c - tasks in order, linked as in the lists of
 * applications.
 */
#include "core/policies/component/component.h"

#include "core/sched/toolbox.h"

static void link_before(struct orr_taskq *q, struct starpu_task *task,
                        struct starpu_task *next)
{
    q->ntasks++;
    if (!next) {
        starpu_task_list_push_back(&q->list, task);
        return;
    }
    if (!next->prev) {
        starpu_task_list_push_front(&q->list, task);
        return;
    }
    task->next = next;
    task->prev = next->prev;
    next->prev->next = task;
    next->prev = task;
}

void orr_taskq_insert(struct orr_taskq *q, struct starpu_task *task, int priority)
{
    struct starpu_task *next = NULL, *last = starpu_task_list_back(&q->list);

    for (; last && last->priority < priority; last = last->prev)
        next = last;
    link_before(q, task, next);
}

void orr_taskq_put_back(struct orr_taskq *q, struct starpu_task *task,
                        int priority)
{
    struct starpu_task *next = starpu_task_list_begin(&q->list);

    while (next && next->priority > priority)
        next = next->next;
    link_before(q, task, next);
}

void orr_taskq_restore(struct orr_taskq *q, struct starpu_task *task,
                       struct starpu_task *next)
{
    struct starpu_task *at = starpu_task_list_begin(&q->list);

    while (at && at != next)
        at = at->next;
    if (at || !next)
        link_before(q, task, next);
    else
        orr_taskq_put_back(q, task, task->priority);
}

void orr_taskq_take(struct orr_taskq *q, struct starpu_task *task)
{
    starpu_task_list_erase(&q->list, task);
    q->ntasks--;
}

static bool task_suits_component(struct starpu_task *task,
                                 struct starpu_sched_component *to)
{
    int self = starpu_worker_get_id();

    if (!to)
        return true;
    if (self >= 0 && starpu_bitmap_get(&to->workers_in_ctx, self))
        return starpu_worker_can_execute_task_first_impl((unsigned)self, task,
                                                         NULL);
    return starpu_sched_component_can_execute_task(to, task);
}

struct starpu_task *orr_taskq_first(const struct orr_taskq *q,
                                    struct starpu_sched_component *to)
{
    struct starpu_task *task = starpu_task_list_begin(&q->list);

    while (task && !task_suits_component(task, to))
        task = task->next;
    return task;
}

struct starpu_task *orr_taskq_first_below(const struct orr_taskq *q,
                                          struct starpu_sched_component *to)
{
    struct starpu_task *task = starpu_task_list_begin(&q->list);

    while (to && task && !starpu_sched_component_can_execute_task(to, task))
        task = task->next;
    return task;
}

struct starpu_task *orr_taskq_first_ready(const struct orr_taskq *q,
                                          struct starpu_sched_component *to,
                                          unsigned node)
{
    struct starpu_task *first = orr_taskq_first(q, to), *best = NULL, *task;
    struct orr_missing least, m;

    for (task = first; task; task = task->next) {
        if (task->priority < first->priority || !task_suits_component(task, to))
            continue;
        m = orr_job_missing(orr_job_of(task), node,
                            best ? least.value : UINT64_MAX);
        if (best && !orr_missing_is_less(&m, &least))
            continue;
        best = task;
        least = m;
        if (m.value == 0 && m.allocated == 0)
            break;
    }
    return best;
}

void orr_taskq_give_up(struct orr_taskq *q, struct starpu_sched_component *c,
                       struct starpu_task_list *strays)
{
    struct starpu_task *task = starpu_task_list_begin(&q->list), *next;

    for (; task; task = next) {
        next = task->next;
        if (starpu_sched_component_can_execute_task(c, task))
            continue;
        orr_taskq_take(q, task);
        starpu_task_list_push_back(strays, task);
    }
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/task_queue.c - see task_queue.h. */
#include "core/api/task_queue.h"

#include <stdlib.h>

#include "core/api/api.h"
#include "core/sched/toolbox.h"

/* --- by priority --- */

/* Behind `before`, NULL: at the front. */
static void task_list_insert(struct starpu_task_list *list,
                             struct starpu_task *task,
                             struct starpu_task *before)
{
    struct starpu_task *after = before ? before->next : list->head;

    task->prev = before;
    task->next = after;
    *(before ? &before->next : &list->head) = task;
    *(after ? &after->prev : &list->tail) = task;
}

void orr_task_list_insert_behind(struct starpu_task_list *list,
                                 struct starpu_task *task)
{
    struct starpu_task *before = list->tail;

    while (before && before->priority < task->priority)
        before = before->prev;
    task_list_insert(list, task, before);
}

void orr_task_list_insert_before(struct starpu_task_list *list,
                                 struct starpu_task *task)
{
    struct starpu_task *after = list->head;

    while (after && after->priority > task->priority)
        after = after->next;
    task_list_insert(list, task, after ? after->prev : list->tail);
}

void orr_task_list_check(const struct starpu_task_list *list,
                         const struct starpu_task *task, const char *call)
{
    if (starpu_task_list_ismember(list, task))
        return;
    orr_log_error("%s: the task is not in this queue", call);
    abort();
}

/* --- by worker --- */

bool orr_task_suits(struct starpu_task *task, int worker)
{
    unsigned first;

    if (!starpu_worker_can_execute_task_first_impl((unsigned)worker, task,
                                                   &first))
        return false;
    starpu_task_set_implementation(task, first);
    return true;
}

struct starpu_task *orr_task_list_first(const struct starpu_task_list *list,
                                        int worker,
                                        struct starpu_task **skipped)
{
    struct starpu_task *task;

    *skipped = NULL;
    for (task = list->head; task; task = task->next) {
        if (orr_task_suits(task, worker))
            break;
        *skipped = task;
    }
    return task;
}

/* --- by data --- */

static struct orr_missing missing(struct starpu_task *task, unsigned node)
{
    const struct orr_job *job = orr_job_of(task);

    return job ? orr_job_missing(job, node, UINT64_MAX)
               : (struct orr_missing){0};
}

static unsigned task_queue_node(const char *call, unsigned worker)
{
    return orr_api_worker(call, (int)worker)->desc->node;
}

struct starpu_task *
orr_task_list_most_ready(const struct starpu_task_list *list, unsigned worker)
{
    struct orr_missing least = {0};
    struct starpu_task *best = NULL, *task;
    unsigned node = task_queue_node("the toolbox of policies", worker);

    for (task = list->head; task; task = task->next) {
        struct orr_missing m;

        if (task->priority < list->head->priority)
            continue;
        m = missing(task, node);
        if (best && !orr_missing_is_less(&m, &least))
            continue;
        best = task;
        least = m;
        if (m.value == 0 && m.allocated == 0)
            break;
    }
    return best;
}

int starpu_st_non_ready_buffers_count(struct starpu_task *task, unsigned worker)
{
    const struct orr_job *job = orr_job_of(task);
    unsigned node = task_queue_node(__func__, worker);

    return job ? (int)orr_job_missing(job, node, UINT64_MAX).ndata : 0;
}

void starpu_st_non_ready_buffers_size(struct starpu_task *task, unsigned worker,
                                      size_t *non_readyp, size_t *non_loadingp,
                                      size_t *non_allocatedp)
{
    struct orr_missing m = missing(task, task_queue_node(__func__, worker));

    *non_readyp = m.value;
    *non_loadingp = m.loading;
    *non_allocatedp = m.allocated;
}

/* --- priorities as small numbers --- */

int starpu_st_normalize_prio(int priority, int num_priorities,
                             unsigned sched_ctx_id)
{
    long long min = starpu_sched_ctx_get_min_priority(sched_ctx_id);
    long long max = starpu_sched_ctx_get_max_priority(sched_ctx_id);

    if (num_priorities <= 0 || max <= min)
        return 0;
    return (int)((num_priorities - 1) / (max - min) * (priority - min));
}

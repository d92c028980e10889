/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * urgent.c - one list for all workers, the best priority first: a policy in four
 * functions. The library wakes the workers after each push.
 */
#include <limits.h>
#include <stdlib.h>

#include "policies.h"

struct list {
    starpu_pthread_mutex_t mutex;
    struct starpu_st_prio_deque tasks; /* with the mutex */
};

static void init(unsigned ctx)
{
    struct list *list = malloc(sizeof(*list));

    if (!list)
        abort();
    starpu_pthread_mutex_init(&list->mutex, NULL);
    starpu_st_prio_deque_init(&list->tasks);
    starpu_sched_ctx_set_policy_data(ctx, list);
    starpu_sched_ctx_set_min_priority(ctx, INT_MIN);
    starpu_sched_ctx_set_max_priority(ctx, INT_MAX);
}

static void deinit(unsigned ctx)
{
    struct list *list = starpu_sched_ctx_get_policy_data(ctx);

    starpu_st_prio_deque_destroy(&list->tasks);
    starpu_pthread_mutex_destroy(&list->mutex);
    free(list);
}

static int push(struct starpu_task *task)
{
    struct list *list = starpu_sched_ctx_get_policy_data(task->sched_ctx);

    starpu_pthread_mutex_lock(&list->mutex);
    starpu_st_prio_deque_push_back_task(&list->tasks, task);
    starpu_push_task_end(task);
    starpu_pthread_mutex_unlock(&list->mutex);
    return 0;
}

static struct starpu_task *pop(unsigned ctx)
{
    struct list *list = starpu_sched_ctx_get_policy_data(ctx);
    struct starpu_task *task;

    starpu_pthread_mutex_lock(&list->mutex);
    task = starpu_st_prio_deque_pop_task_for_worker(
        &list->tasks, starpu_worker_get_id_check(), NULL);
    starpu_pthread_mutex_unlock(&list->mutex);
    return task;
}

struct starpu_sched_policy urgent = {
    .init_sched = init,
    .deinit_sched = deinit,
    .push_task = push,
    .pop_task = pop,
    .policy_name = "urgent",
    .policy_description = "one list, the best priority first",
    .worker_type = STARPU_WORKER_LIST,
};

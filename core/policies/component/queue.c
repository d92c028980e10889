/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/queue.c - fifo and prio: tasks in order, as many as the
 * component has room for, with their expected durations.
 */
#include "core/policies/component/component.h"

#include <limits.h>

typedef struct starpu_sched_component component_t;

struct queue {
    struct orr_taskq tasks;
    unsigned ntasks_threshold;
    double exp_len_threshold;
    int ready, exp;
    double exp_len; /* µs, transfers among it */
};

static int fifo_push(component_t *c, struct starpu_task *task);

static bool is_fifo(const component_t *c)
{
    return c->push_task == fifo_push;
}

/* An empty queue takes one task, however long. */
static bool queue_has_room_for(const struct queue *q,
                               const struct starpu_task *task)
{
    if (q->tasks.ntasks == 0)
        return true;
    if (q->ntasks_threshold && q->tasks.ntasks >= q->ntasks_threshold)
        return false;
    return !q->exp || !(q->exp_len_threshold > 0) ||
           q->exp_len + orr_known(task->predicted) < q->exp_len_threshold;
}

static double queued_task_us(const struct starpu_task *task)
{
    return orr_known(task->predicted) + orr_known(task->predicted_transfer);
}

/* The part of the transfer that the tasks before it do not hide. */
static void queue_expect_task(component_t *c, struct queue *q,
                              struct starpu_task *task)
{
    double late = starpu_timing_now() + orr_known(task->predicted_transfer) -
                  c->estimated_end(c);

    task->predicted_transfer = late > 0 ? late : 0;
    q->exp_len += queued_task_us(task);
}

static int queue_push(component_t *c, struct starpu_task *task)
{
    struct queue *q = c->data;

    if (!queue_has_room_for(q, task))
        return 1;
    if (q->exp)
        queue_expect_task(c, q, task);
    starpu_sched_component_prefetch_on_node(c, task);
    orr_taskq_insert(&q->tasks, task,
                     is_fifo(c) && task->priority <= 0 ? INT_MIN
                                                       : task->priority);
    (void)c->can_pull(c);
    orr_component_wake_for(c, task);
    return 0;
}

static int fifo_push(component_t *c, struct starpu_task *task)
{
    return queue_push(c, task);
}

static int prio_push(component_t *c, struct starpu_task *task)
{
    return queue_push(c, task);
}

static struct starpu_task *queue_remove_task(struct queue *q,
                                             struct starpu_task *task)
{
    if (!task)
        return NULL;
    orr_taskq_take(&q->tasks, task);
    if (q->exp)
        q->exp_len =
            q->tasks.ntasks ? fmax(q->exp_len - queued_task_us(task), 0) : 0;
    return task;
}

/* The task that the asking child is to get; it stays. */
static struct starpu_task *queue_find_task(component_t *c, component_t *to)
{
    struct queue *q = c->data;
    int node = q->ready ? orr_component_node(c) : -1;

    return node >= 0 ? orr_taskq_first_ready(&q->tasks, to, (unsigned)node)
                     : orr_taskq_first(&q->tasks, to);
}

static struct starpu_task *queue_take_task(component_t *c, component_t *to)
{
    return queue_remove_task(c->data, queue_find_task(c, to));
}

/* The parents are told that a place became free, or that the queue is empty. */
static struct starpu_task *queue_pull(component_t *c, component_t *to)
{
    struct starpu_task *task = queue_take_task(c, to);

    if (task)
        orr_tree_changed(c->tree);
    (void)starpu_sched_component_send_can_push_to_parents(c);
    return task ? task : queue_take_task(c, to);
}

void orr_queue_give_up(component_t *c, struct starpu_task_list *strays)
{
    struct queue *q = c->data;
    struct starpu_task *task;

    orr_taskq_give_up(&q->tasks, c, strays);
    q->exp_len = 0;
    for (task = starpu_task_list_begin(&q->tasks.list); q->exp && task;
         task = task->next)
        q->exp_len += queued_task_us(task);
}

/* Returns whether the component below has taken the task; if not, the task is back in
 * its place. */
static bool queue_send_task(component_t *c, component_t *to,
                            struct starpu_task *task)
{
    struct queue *q = c->data;
    struct starpu_task *next = task ? task->next : NULL;

    if (!queue_remove_task(q, task))
        return false;
    if (starpu_sched_component_push_task(c, to, task) == 0)
        return true;
    if (q->exp)
        q->exp_len += queued_task_us(task);
    orr_taskq_restore(&q->tasks, task, next);
    return false;
}

/* Pushes the tasks that the asking worker can run; then those that other workers below
 * can run. These may have asked while a task in front of theirs was refused, and sleep
 * since. */
static int queue_can_push(component_t *c, component_t *to)
{
    struct queue *q = c->data;
    int moved = 0;

    while (queue_send_task(c, to, queue_find_task(c, to)))
        moved = 1;
    while (queue_send_task(c, to, orr_taskq_first_below(&q->tasks, to)))
        moved = 1;
    return starpu_sched_component_send_can_push_to_parents(c) || moved;
}

static double queue_load(component_t *c)
{
    struct queue *q = c->data;
    int n = starpu_bitmap_cardinal(&c->workers_in_ctx);
    double speedup = n ? orr_component_speedup(c) / n : 1;

    return starpu_sched_component_estimated_load(c) +
           q->tasks.ntasks / (speedup > 0 ? speedup : 1);
}

static double queue_end(component_t *c)
{
    return starpu_sched_component_estimated_end_min_add(
        c, ((struct queue *)c->data)->exp_len);
}

static component_t *
queue_component_make(struct starpu_sched_tree *tree, const char *name,
                     int (*push)(component_t *, struct starpu_task *),
                     const struct starpu_sched_component_fifo_data *params)
{
    struct queue *q = orr_component_alloc(1, sizeof(*q));
    component_t *c = orr_component_new(tree, name, push, q);

    if (params) {
        q->ntasks_threshold = params->ntasks_threshold;
        q->exp_len_threshold = params->exp_len_threshold;
        q->ready = params->ready;
        q->exp = params->exp;
    }
    c->pull_task = queue_pull;
    c->can_push = queue_can_push;
    c->estimated_load = queue_load;
    c->estimated_end = queue_end;
    return c;
}

component_t *
starpu_sched_component_fifo_create(struct starpu_sched_tree *tree,
                                   struct starpu_sched_component_fifo_data *fifo_data)
{
    return queue_component_make(tree, "fifo", fifo_push, fifo_data);
}

component_t *
starpu_sched_component_prio_create(struct starpu_sched_tree *tree,
                                   struct starpu_sched_component_prio_data *prio_data)
{
    struct starpu_sched_component_fifo_data params = {0};

    if (prio_data)
        params = (struct starpu_sched_component_fifo_data){
            prio_data->ntasks_threshold, prio_data->exp_len_threshold,
            prio_data->ready, prio_data->exp};
    return queue_component_make(tree, "prio", prio_push, &params);
}

int starpu_sched_component_is_fifo(component_t *component)
{
    return is_fifo(component);
}

int starpu_sched_component_is_prio(component_t *component)
{
    return component->push_task == prio_push;
}

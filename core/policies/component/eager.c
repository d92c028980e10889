/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/eager.c - eager: the first child that takes a task;
 * eager_prio: with a list of its own; eager_calibration: the first worker for which the
 * task's duration is not known; random.
 */
#include "core/base/splitmix.h"
#include "core/policies/component/component.h"

typedef struct starpu_sched_component component_t;

static int eager_push(component_t *c, struct starpu_task *task)
{
    return orr_component_offer(c, task);
}

component_t *starpu_sched_component_eager_create(struct starpu_sched_tree *tree,
                                                 void *arg)
{
    (void)arg;
    return orr_component_new(tree, "eager", eager_push, NULL);
}

int starpu_sched_component_is_eager(component_t *component)
{
    return component->push_task == eager_push;
}

/* --- with a list --- */

/* Pushes what the children accept; returns whether a task has moved. */
static int eager_progress(component_t *c)
{
    struct orr_taskq *q = c->data;
    struct starpu_task *task;
    int moved = 0;

    while ((task = orr_taskq_first(q, NULL)) != NULL) {
        orr_taskq_take(q, task);
        if (orr_component_offer(c, task)) {
            orr_taskq_put_back(q, task, task->priority);
            break;
        }
        moved = 1;
    }
    return moved;
}

static int eager_prio_push(component_t *c, struct starpu_task *task)
{
    orr_taskq_insert(c->data, task, task->priority);
    (void)eager_progress(c);
    (void)c->can_pull(c);
    return 0;
}

void orr_eager_prio_give_up(component_t *c, struct starpu_task_list *strays)
{
    orr_taskq_give_up(c->data, c, strays);
}

static struct starpu_task *eager_prio_pull(component_t *c, component_t *to)
{
    struct starpu_task *task = orr_taskq_first(c->data, to);

    if (task)
        orr_taskq_take(c->data, task);
    return task ? task : starpu_sched_component_parents_pull_task(c, c);
}

/* Those in front may be for others, whose queues are full: the asking child
 * gets what is behind them. */
static int send_to(component_t *c, component_t *to)
{
    struct orr_taskq *q = c->data;
    struct starpu_task *task, *next;
    int moved = 0;

    while ((task = orr_taskq_first(q, to)) != NULL) {
        next = task->next;
        orr_taskq_take(q, task);
        if (starpu_sched_component_push_task(c, to, task)) {
            orr_taskq_restore(q, task, next);
            break;
        }
        moved = 1;
    }
    return moved;
}

static int eager_prio_can_push(component_t *c, component_t *to)
{
    int moved = eager_progress(c);

    if (to)
        moved |= send_to(c, to);
    return starpu_sched_component_send_can_push_to_parents(c) | moved;
}

component_t *
starpu_sched_component_eager_prio_create(struct starpu_sched_tree *tree,
                                         void *arg)
{
    component_t *c =
        orr_component_new(tree, "eager_prio", eager_prio_push,
                          orr_component_alloc(1, sizeof(struct orr_taskq)));

    (void)arg;
    c->pull_task = eager_prio_pull;
    c->can_push = eager_prio_can_push;
    return c;
}

int starpu_sched_component_is_eager_prio(component_t *component)
{
    return component->push_task == eager_prio_push;
}

/* --- calibration --- */

static bool child_wants_calibration(component_t *child, int worker,
                                    struct starpu_task *task, unsigned *impl)
{
    double us;

    return starpu_bitmap_get(&child->workers_in_ctx, worker) &&
           orr_component_best(child->tree, worker, task, impl, &us) &&
           isnan(us);
}

/* Pushes to the first worker, and implementation, of unknown duration. */
static int calibration_push(component_t *c, struct starpu_task *task)
{
    for (int w = starpu_bitmap_first(&c->workers_in_ctx); w != -1;
         w = starpu_bitmap_next(&c->workers_in_ctx, w))
        for (unsigned i = 0; i < c->nchildren; i++) {
            unsigned impl;

            if (!child_wants_calibration(c->children[i], w, task, &impl))
                continue;
            starpu_task_set_implementation(task, impl);
            task->predicted = task->predicted_transfer = 0;
            if (starpu_sched_component_push_task(c, c->children[i], task) == 0)
                return 0;
        }
    return 1;
}

component_t *
starpu_sched_component_eager_calibration_create(struct starpu_sched_tree *tree,
                                                void *arg)
{
    component_t *c =
        orr_component_new(tree, "eager_calibration", calibration_push, NULL);

    (void)arg;
    c->pull_task = orr_component_pull_none;
    return c;
}

int starpu_sched_component_is_eager_calibration(component_t *component)
{
    return component->push_task == calibration_push;
}

/* --- random --- */

/* Draws a child with a probability proportional to its speed, in one walk. */
static int random_component_push(component_t *c, struct starpu_task *task)
{
    component_t *chosen = NULL;
    double sum = 0;

    for (unsigned i = 0; i < c->nchildren; i++) {
        double speed;

        if (!starpu_sched_component_can_execute_task(c->children[i], task))
            continue;
        speed = orr_component_speedup(c->children[i]);
        sum += speed;
        if (!chosen || orr_splitmix_unit(c->data) * sum < speed)
            chosen = c->children[i];
    }
    return chosen ? starpu_sched_component_push_task(c, chosen, task) : 1;
}

component_t *starpu_sched_component_random_create(struct starpu_sched_tree *tree,
                                                  void *arg)
{
    component_t *c =
        orr_component_new(tree, "random", random_component_push,
                          orr_component_alloc(1, sizeof(uint64_t)));

    (void)arg;
    c->pull_task = orr_component_pull_none;
    return c;
}

int starpu_sched_component_is_random(component_t *component)
{
    return component->push_task == random_component_push;
}

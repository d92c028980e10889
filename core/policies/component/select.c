/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/select.c - components that send tasks on: by what is known
 * of their lengths, by the application's choice, from several parents, with the
 * best implementation.
 */
#include "core/policies/component/component.h"

typedef struct starpu_sched_component component_t;

/* --- by the model --- */

static component_t *branch_for(component_t *c, struct starpu_task *task)
{
    struct starpu_sched_component_perfmodel_select_data *to = c->data;
    bool none = false;

    for (int w = starpu_bitmap_first(&c->workers_in_ctx); w != -1;
         w = orr_component_next(c, task, w)) {
        unsigned impl;
        double us;

        if (!orr_component_best(c->tree, w, task, &impl, &us))
            continue;
        if (isnan(us))
            return to->calibrator_component;
        none |= us == 0;
    }
    return none ? to->no_perfmodel_component : to->perfmodel_component;
}

static int select_push(component_t *c, struct starpu_task *task)
{
    component_t *to = branch_for(c, task);

    return to ? starpu_sched_component_push_task(c, to, task) : 1;
}

component_t *starpu_sched_component_perfmodel_select_create(
    struct starpu_sched_tree *tree,
    struct starpu_sched_component_perfmodel_select_data *perfmodel_select_data)
{
    struct starpu_sched_component_perfmodel_select_data *copy;
    component_t *c;

    STARPU_ASSERT(perfmodel_select_data &&
                  perfmodel_select_data->calibrator_component &&
                  perfmodel_select_data->no_perfmodel_component &&
                  perfmodel_select_data->perfmodel_component);
    copy = orr_component_alloc(1, sizeof(*copy));
    *copy = *perfmodel_select_data;
    c = orr_component_new(tree, "perfmodel_select", select_push, copy);
    c->pull_task = orr_component_pull_none;
    return c;
}

int starpu_sched_component_is_perfmodel_select(component_t *component)
{
    return component->push_task == select_push;
}

/* --- the best implementation --- */

static void choose_best_implementation(component_t *c, struct starpu_task *task,
                                       int worker)
{
    unsigned impl;
    double us;

    if (!orr_component_best(c->tree, worker, task, &impl, &us))
        return;
    starpu_task_set_implementation(task, impl);
    task->predicted = orr_known(us);
}

static int best_push(component_t *c, struct starpu_task *task)
{
    STARPU_ASSERT(c->nchildren == 1);
    choose_best_implementation(c, task,
                               starpu_bitmap_first(&c->workers_in_ctx));
    return starpu_sched_component_push_task(c, c->children[0], task);
}

static struct starpu_task *best_pull(component_t *from, component_t *to)
{
    struct starpu_task *task =
        starpu_sched_component_parents_pull_task(from, to);
    int self = starpu_worker_get_id();

    if (!task)
        return NULL;
    if (self < 0 || !starpu_bitmap_get(&from->workers_in_ctx, self))
        self = starpu_bitmap_first(&from->workers_in_ctx);
    choose_best_implementation(from, task, self);
    if (isnan(task->predicted_transfer))
        task->predicted_transfer =
            starpu_sched_component_transfer_length(from, task);
    return task;
}

component_t *
starpu_sched_component_best_implementation_create(struct starpu_sched_tree *tree,
                                                  void *arg)
{
    component_t *c =
        orr_component_new(tree, "best_implementation", best_push, NULL);

    (void)arg;
    c->pull_task = best_pull;
    return c;
}

/* --- several parents, several children --- */

static int stage_push(component_t *c, struct starpu_task *task)
{
    return orr_component_offer(c, task);
}

component_t *starpu_sched_component_stage_create(struct starpu_sched_tree *tree,
                                                 void *arg)
{
    (void)arg;
    return orr_component_new(tree, "stage", stage_push, NULL);
}

int starpu_sched_component_is_stage(component_t *component)
{
    return component->push_task == stage_push;
}

static int userchoice_push(component_t *c, struct starpu_task *task)
{
    uintptr_t choice = (uintptr_t)task->sched_data;

    STARPU_ASSERT_MSG(choice < c->nchildren,
                      "sched_data of the task is %lu, and the scheduler has %u "
                      "parts to choose from",
                      (unsigned long)choice, c->nchildren);
    return starpu_sched_component_push_task(c, c->children[choice], task);
}

component_t *
starpu_sched_component_userchoice_create(struct starpu_sched_tree *tree,
                                         void *arg)
{
    component_t *c = orr_component_new(tree, "userchoice", userchoice_push, NULL);

    (void)arg;
    c->pull_task = orr_component_pull_none;
    return c;
}

int starpu_sched_component_is_userchoice(component_t *component)
{
    return component->push_task == userchoice_push;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * examples/modular.c - a scheduling policy put together from components, one of
 * which is the application's: a stack, which gives the newest task first. Below it
 * each worker has a short queue.
 */
#include <starpu.h>
#include <starpu_sched_component.h>

#include <stdio.h>
#include <stdlib.h>

#define NTASKS 32

/* --- the component --- */

/* The tree's lock is held in all methods. */
static int stack_push(struct starpu_sched_component *component,
                      struct starpu_task *task)
{
    starpu_task_list_push_front(component->data, task);
    component->can_pull(component);
    return 0;
}

static struct starpu_task *stack_pull(struct starpu_sched_component *component,
                                      struct starpu_sched_component *to)
{
    struct starpu_task_list *tasks = component->data;

    (void)to;
    if (starpu_task_list_empty(tasks))
        return NULL;
    return starpu_task_list_pop_front(tasks);
}

/* There is room in a queue below: tasks go there until one is refused. */
static int stack_can_push(struct starpu_sched_component *component,
                          struct starpu_sched_component *to)
{
    int moved;
    struct starpu_task *refused =
        starpu_sched_component_pump_to(component, to, &moved);

    if (refused)
        starpu_task_list_push_front(component->data, refused);
    return moved;
}

static void stack_end(struct starpu_sched_component *component)
{
    free(component->data);
}

static struct starpu_sched_component *stack_create(struct starpu_sched_tree *tree,
                                                   void *arg)
{
    struct starpu_sched_component *stack =
        starpu_sched_component_create(tree, "stack");
    struct starpu_task_list *tasks = malloc(sizeof(*tasks));

    (void)arg;
    if (!tasks)
        abort();
    starpu_task_list_init(tasks);
    stack->data = tasks;
    stack->push_task = stack_push;
    stack->pull_task = stack_pull;
    stack->can_push = stack_can_push;
    stack->deinit_data = stack_end;
    return stack;
}

/* --- the policy: the stack, above workers with queues by turns --- */

static void init(unsigned ctx)
{
    starpu_sched_component_initialize_simple_schedulers(
        ctx, 2U, stack_create, NULL, (unsigned)STARPU_SCHED_SIMPLE_PRE_DECISION,
        starpu_sched_component_eager_create, NULL,
        (unsigned)(STARPU_SCHED_SIMPLE_DECIDE_WORKERS |
                   STARPU_SCHED_SIMPLE_DECIDE_ALWAYS |
                   STARPU_SCHED_SIMPLE_FIFOS_BELOW));
}

static struct starpu_sched_policy policy = {
    .init_sched = init,
    .deinit_sched = starpu_sched_tree_deinitialize,
    .add_workers = starpu_sched_tree_add_workers,
    .remove_workers = starpu_sched_tree_remove_workers,
    .push_task = starpu_sched_tree_push_task,
    .pop_task = starpu_sched_tree_pop_task,
    .pre_exec_hook = starpu_sched_component_worker_pre_exec_hook,
    .post_exec_hook = starpu_sched_component_worker_post_exec_hook,
    .policy_name = "stack",
    .policy_description = "the newest task first",
};

/* --- tasks --- */

static void kernel(void *buffers[], void *arg)
{
    (void)buffers;
    printf("%d ", *(int *)arg);
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "modular_example"};
static struct starpu_codelet codelet = {
    .cpu_funcs = {kernel}, .model = &model, .name = "number"};

int main(void)
{
    static int numbers[NTASKS];
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.sched_policy = &policy;
    if (starpu_init(&conf) != 0)
        return 77;
    for (int i = 0; i < NTASKS; i++) {
        struct starpu_task *task = starpu_task_create();

        numbers[i] = i;
        task->cl = &codelet;
        task->cl_arg = &numbers[i];
        task->cl_arg_size = sizeof(numbers[i]);
        if (starpu_task_submit(task) != 0)
            return 1;
    }
    starpu_task_wait_for_all();
    printf("\n");
    starpu_shutdown();
    return 0;
}

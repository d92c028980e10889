/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/estimate.c - which workers below a component can run a
 * task, how long that and its data take. Workers that a task cannot tell apart are
 * asked about once.
 */
#include "core/policies/component/component.h"

#include "core/cost/cost.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/worker/combined.h"
#include "core/worker/workers.h"

typedef struct starpu_sched_component component_t;

/* Behind the only one there is none: a set is long to be looked through. */
static int next_below(component_t *component, int worker)
{
    return starpu_bitmap_cardinal(&component->workers_in_ctx) == 1
               ? -1
               : starpu_bitmap_next(&component->workers_in_ctx, worker);
}

#define FOREACH_WORKER(w, component)                                           \
    for (int w = starpu_bitmap_first(&(component)->workers_in_ctx); w != -1;   \
         w = next_below(component, w))

/* Of workers that are alike for the task, the first. */
#define FOREACH_OTHER(w, component, task)                                      \
    for (int w = starpu_bitmap_first(&(component)->workers_in_ctx); w != -1;   \
         w = orr_component_next(component, task, w))

/* A worker's class; NULL for combined ones. */
static const struct orr_worker_class *worker_class(const struct orr_runtime *rt,
                                                   int worker)
{
    return (unsigned)worker < rt->workers->n
               ? &rt->workers->classes[rt->workers->at[worker].class_id]
               : NULL;
}

/* Whether the task cannot tell the class's workers apart. */
static bool is_uniform(struct orr_runtime *rt,
                       const struct orr_worker_class *class,
                       struct starpu_task *task)
{
    struct orr_job *job = orr_job_of(task);
    bool uniform;

    if (!task->cl || !job || orr_job_state(job) == ORR_JOB_NEW)
        return false;
    if (task->cl->model && task->cl->model->type == STARPU_PER_WORKER)
        return false;
    (void)orr_job_able_class(rt, job, orr_job_row(rt, job),
                             (unsigned)(class - rt->workers->classes),
                             &uniform);
    return uniform;
}

bool orr_component_alike(struct starpu_task *task, int a, int b,
                         const struct orr_worker_class **uniform)
{
    struct orr_runtime *rt = orr_runtime_need(__func__);
    const struct orr_worker_class *class = worker_class(rt, a);

    if (!class || class != worker_class(rt, b))
        return false;
    if (class == *uniform)
        return true;
    if (!is_uniform(rt, class, task))
        return false;
    *uniform = class;
    return true;
}

/* Whether no worker of another class is between those of this one. */
static bool is_contiguous(const struct orr_worker_class *class)
{
    return class->members[class->nworkers - 1] - class->members[0] ==
           class->nworkers - 1;
}

int orr_component_next(component_t *component, struct starpu_task *task,
                       int worker)
{
    struct orr_runtime *rt = orr_runtime_need(__func__);
    const struct orr_worker_class *class = worker_class(rt, worker);
    int next = next_below(component, worker);

    if (next == -1 || !class || class != worker_class(rt, next) ||
        !is_uniform(rt, class, task))
        return next;
    if (is_contiguous(class))
        return starpu_bitmap_next(&component->workers_in_ctx,
                                  (int)class->members[class->nworkers - 1]);
    while (next != -1 && class == worker_class(rt, next))
        next = starpu_bitmap_next(&component->workers_in_ctx, next);
    return next;
}

int orr_component_can_run(int worker, struct starpu_task *task, unsigned impl)
{
    return starpu_worker_is_combined_worker(worker)
               ? starpu_combined_worker_can_execute_task((unsigned)worker, task,
                                                         impl)
               : starpu_worker_can_execute_task((unsigned)worker, task, impl);
}

/* Bits of the implementations. */
static unsigned worker_able_impls(int worker, struct starpu_task *task)
{
    struct orr_runtime *rt = orr_runtime_need(__func__);
    struct orr_job *job = orr_job_of(task);
    unsigned bits = 0;

    if ((unsigned)worker < rt->workers->n) {
        (void)starpu_worker_can_execute_task_impl((unsigned)worker, task,
                                                  &bits);
        return bits;
    }
    if (job && orr_job_state(job) != ORR_JOB_NEW)
        return orr_job_able_combined(rt, job, orr_job_row(rt, job),
                                     orr_combined_at(rt, (unsigned)worker));
    for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
        if (orr_component_can_run(worker, task, i))
            bits |= 1U << i;
    return bits;
}

bool orr_component_best(struct starpu_sched_tree *tree, int worker,
                        struct starpu_task *task, unsigned *impl,
                        double *length)
{
    unsigned bits = worker_able_impls(worker, task);

    if (!bits)
        return false;
    *impl = (unsigned)__builtin_ctz(bits);
    *length = 0;
    for (unsigned i = *impl; bits >> i; i++) {
        double us;

        if (!(bits >> i & 1))
            continue;
        us = starpu_task_worker_expected_length(task, (unsigned)worker,
                                                tree->sched_ctx_id, i);
        if (isnan(us) || (us > 0 && (*length == 0 || us < *length))) {
            *impl = i;
            *length = us;
        }
        if (isnan(us))
            break;
    }
    return true;
}

static bool some_cannot(component_t *component, struct starpu_task *task)
{
    FOREACH_OTHER(w, component, task)
    {
        if (!worker_able_impls(w, task))
            return true;
    }
    return false;
}

/* The hooks of a tree wake everybody after a push to its root. */
void orr_component_wake_for(component_t *component, struct starpu_task *task)
{
    if (component == component->tree->root || !some_cannot(component, task))
        return;
    FOREACH_WORKER(w, component)
    {
        if (!starpu_worker_is_combined_worker(w) &&
            worker_able_impls(w, task) && starpu_wake_worker_relax_light(w))
            return;
    }
}

int starpu_sched_component_can_execute_task(component_t *component,
                                            struct starpu_task *task)
{
    FOREACH_OTHER(w, component, task)
    if (worker_able_impls(w, task))
        return 1;
    return 0;
}

int starpu_sched_component_execute_preds(component_t *component,
                                         struct starpu_task *task,
                                         double *length)
{
    int can = 0;

    *length = 0;
    FOREACH_OTHER(w, component, task)
    {
        unsigned impl;
        double us;

        if (!orr_component_best(component->tree, w, task, &impl, &us))
            continue;
        can = 1;
        if (isnan(us) || (us > 0 && (*length == 0 || us < *length)))
            *length = us;
        if (isnan(us) || STARPU_SCHED_COMPONENT_IS_HOMOGENEOUS(component))
            break;
    }
    return can;
}

static int worker_memory_node(int worker)
{
    int *members, n;

    if (starpu_worker_is_combined_worker(worker)) {
        starpu_combined_worker_get_description(worker, &n, &members);
        worker = members[0];
    }
    return (int)starpu_worker_get_memory_node((unsigned)worker);
}

int orr_component_node(component_t *component)
{
    int node = -1;

    if (STARPU_SCHED_COMPONENT_IS_SINGLE_MEMORY_NODE(component))
        return worker_memory_node(
            starpu_bitmap_first(&component->workers_in_ctx));
    FOREACH_WORKER(w, component)
    {
        if (node != -1 && worker_memory_node(w) != node)
            return -1;
        node = worker_memory_node(w);
    }
    return node;
}

double orr_component_worker_speedup(const struct starpu_sched_tree *tree,
                                    int worker)
{
    const struct orr_worker_class *class =
        worker_class(orr_runtime_need(__func__), worker);

    return class ? class->relative_speedup
                 : starpu_worker_get_relative_speedup(
                       starpu_worker_get_perf_archtype(worker,
                                                       tree->sched_ctx_id));
}

double orr_component_speedup(component_t *component)
{
    double sum = 0;

    FOREACH_WORKER(w, component)
    sum += orr_component_worker_speedup(component->tree, w);
    return sum;
}

double starpu_sched_component_transfer_length(component_t *component,
                                              struct starpu_task *task)
{
    int n = starpu_bitmap_cardinal(&component->workers_in_ctx);
    double sum = 0;

    if (n == 0)
        return 0;
    if (STARPU_SCHED_COMPONENT_IS_SINGLE_MEMORY_NODE(component))
        return starpu_task_expected_data_transfer_time(
            (unsigned)worker_memory_node(
                starpu_bitmap_first(&component->workers_in_ctx)),
            task);
    FOREACH_WORKER(w, component)
    sum += starpu_task_expected_data_transfer_time(
        (unsigned)worker_memory_node(w), task);
    return sum / n;
}

void starpu_sched_component_prefetch_on_node(component_t *component,
                                             struct starpu_task *task)
{
    int w = starpu_bitmap_first(&component->workers_in_ctx);

    if (w == -1 || !STARPU_SCHED_COMPONENT_IS_SINGLE_MEMORY_NODE(component) ||
        !starpu_get_prefetch_flag())
        return;
    (void)starpu_prefetch_task_input_on_node(task,
                                             (unsigned)worker_memory_node(w));
}

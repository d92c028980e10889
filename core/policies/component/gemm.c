/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/gemm.c - products of matrices go to the child that would end
 * them first, and others to processors.
 */
#include "core/policies/component/component.h"

#include <string.h>

#include "core/device/kind.h"

typedef struct starpu_sched_component component_t;

static bool is_gemm(const struct starpu_task *task)
{
    static const char *const names[] = {"gemm", "dgemm", "sgemm",
                                        "chol_model_gemm",
                                        "starpu_slu_lu_model_gemm",
                                        "starpu_dlu_lu_model_gemm"};
    const struct starpu_perfmodel *model = task->cl ? task->cl->model : NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (model && model->symbol && !strcmp(model->symbol, names[i]))
            return true;
    return false;
}

static double end_on(component_t *child, struct starpu_task *task)
{
    double length;

    if (!starpu_sched_component_execute_preds(child, task, &length))
        return INFINITY;
    return child->estimated_end(child) + orr_known(length) +
           starpu_sched_component_transfer_length(child, task);
}

/* The child with the least end of those after (end, index). */
static component_t *next_child(component_t *c, struct starpu_task *task,
                               double *end, unsigned *index)
{
    double best_end = INFINITY;
    unsigned best = c->nchildren;

    for (unsigned i = 0; i < c->nchildren; i++) {
        double e = end_on(c->children[i], task);

        if ((e > *end || (e == *end && i > *index)) && e < best_end) {
            best_end = e;
            best = i;
        }
    }
    *end = best_end;
    *index = best;
    return best < c->nchildren ? c->children[best] : NULL;
}

static bool push_product(component_t *c, struct starpu_task *task)
{
    double end = -INFINITY;
    unsigned index = 0;
    component_t *to;

    while ((to = next_child(c, task, &end, &index)) != NULL)
        if (starpu_sched_component_push_task(c, to, task) == 0)
            return true;
    return false;
}

static bool has_cpu(component_t *child)
{
    int w = starpu_bitmap_first(&child->workers_in_ctx);

    return w != -1 && (starpu_worker_is_combined_worker(w) ||
                       orr_device_kind(starpu_worker_get_type(w))
                           ->is_processor);
}

static bool can_on_cpu(component_t *c, struct starpu_task *task)
{
    for (unsigned i = 0; i < c->nchildren; i++)
        if (has_cpu(c->children[i]) &&
            starpu_sched_component_can_execute_task(c->children[i], task))
            return true;
    return false;
}

static int gemm_push(component_t *c, struct starpu_task *task)
{
    if (is_gemm(task) && push_product(c, task))
        return 0;
    if (!can_on_cpu(c, task))
        return orr_component_offer(c, task);
    for (unsigned i = 0; i < c->nchildren; i++) {
        component_t *child = c->children[i];

        if (has_cpu(child) &&
            starpu_sched_component_can_execute_task(child, task) &&
            starpu_sched_component_push_task(c, child, task) == 0)
            return 0;
    }
    return 1;
}

component_t *orr_component_gemm_create(struct starpu_sched_tree *tree, void *arg)
{
    component_t *c = orr_component_new(tree, "gemm", gemm_push, NULL);

    (void)arg;
    c->pull_task = orr_component_pull_none;
    return c;
}

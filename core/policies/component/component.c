/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/component.c - making components, joining them, and the
 * methods that they have unless they bring their own.
 */
#include "core/policies/component/component.h"

#include <string.h>

#include "core/base/grow.h"
#include "core/base/log.h"

typedef struct starpu_sched_component component_t;

void *orr_component_alloc(size_t n, size_t size)
{
    void *memory = calloc(n, size);

    if (memory)
        return memory;
    orr_log_error("out of memory for a component of a scheduling policy");
    abort();
}

/* --- arrays of parents and children --- */

static void component_array_append(component_t ***list, unsigned *n,
                                   component_t *which)
{
    component_t **added = orr_array_add(*list, *n);

    if (!added) {
        orr_log_error("out of memory for a component of a scheduling policy");
        abort();
    }
    *added = which;
}

/* The last one moves into the hole. */
static void component_array_remove(component_t **list, unsigned *n,
                                   const component_t *which)
{
    for (unsigned i = 0; i < *n; i++)
        if (list[i] == which) {
            list[i] = list[--*n];
            return;
        }
}

static void component_add_child(component_t *component, component_t *child)
{
    component_array_append(&component->children, &component->nchildren, child);
}

static void component_add_parent(component_t *component, component_t *parent)
{
    component_array_append(&component->parents, &component->nparents, parent);
}

static void component_remove_child(component_t *component, component_t *child)
{
    component_array_remove(component->children, &component->nchildren, child);
}

static void component_remove_parent(component_t *component, component_t *parent)
{
    component_array_remove(component->parents, &component->nparents, parent);
}

void starpu_sched_component_add_child(component_t *component, component_t *child)
{
    component->add_child(component, child);
}

void starpu_sched_component_connect(component_t *parent, component_t *child)
{
    parent->add_child(parent, child);
    child->add_parent(child, parent);
}

/* --- beginning and end --- */

static void component_do_nothing(component_t *component)
{
    (void)component;
}

component_t *starpu_sched_component_create(struct starpu_sched_tree *tree,
                                           const char *name)
{
    component_t *component = orr_component_alloc(1, sizeof(*component));

    component->tree = tree;
    component->name = orr_component_alloc(1, strlen(name) + 1);
    strcpy(component->name, name);
    component->add_child = component_add_child;
    component->remove_child = component_remove_child;
    component->add_parent = component_add_parent;
    component->remove_parent = component_remove_parent;
    component->pull_task = starpu_sched_component_parents_pull_task;
    component->can_push = starpu_sched_component_can_push;
    component->can_pull = starpu_sched_component_can_pull;
    component->estimated_load = starpu_sched_component_estimated_load;
    component->estimated_end = starpu_sched_component_estimated_end_min;
    component->deinit_data = component_do_nothing;
    component->notify_change_workers = component_do_nothing;
    return component;
}

static void free_data(component_t *component)
{
    free(component->data);
    component->data = NULL;
}

component_t *orr_component_new(struct starpu_sched_tree *tree, const char *name,
                               int (*push)(component_t *, struct starpu_task *),
                               void *data)
{
    component_t *component = starpu_sched_component_create(tree, name);

    component->push_task = push;
    component->data = data;
    component->deinit_data = free_data;
    return component;
}

void starpu_sched_component_destroy(component_t *component)
{
    while (component->nchildren > 0) {
        component_t *child = component->children[0];

        component->remove_child(component, child);
        child->remove_parent(child, component);
    }
    while (component->nparents > 0) {
        component_t *parent = component->parents[0];

        component->remove_parent(component, parent);
        parent->remove_child(parent, component);
    }
    if (component->tree && component->tree->root == component)
        component->tree->root = NULL;
    component->deinit_data(component);
    free(component->children);
    free(component->parents);
    free(component->name);
    free(component);
}

void starpu_sched_component_destroy_rec(component_t *component)
{
    if (!component)
        return;
    while (component->nchildren > 0) {
        component_t *child = component->children[0];

        component->remove_child(component, child);
        child->remove_parent(child, component);
        if (child->nparents == 0 && !starpu_sched_component_is_worker(child))
            starpu_sched_component_destroy_rec(child);
    }
    starpu_sched_component_destroy(component);
}

/* --- moving tasks --- */

int starpu_sched_component_push_task(component_t *from, component_t *to,
                                     struct starpu_task *task)
{
    int refused = to->push_task(to, task);

    (void)from;
    if (!refused)
        orr_tree_changed(to->tree);
    return refused;
}

struct starpu_task *starpu_sched_component_pull_task(component_t *from,
                                                     component_t *to)
{
    struct starpu_task *task = from->pull_task(from, to);

    if (task)
        orr_tree_changed(from->tree);
    return task;
}

struct starpu_task *starpu_sched_component_pump_to(component_t *component,
                                                   component_t *to, int *success)
{
    struct starpu_task *task;
    int moved = 0;

    while ((task = starpu_sched_component_pull_task(component, to)) != NULL) {
        if (starpu_sched_component_push_task(component, to, task) != 0)
            break;
        moved = 1;
    }
    if (success)
        *success = moved;
    return task;
}

struct starpu_task *
starpu_sched_component_pump_downstream(component_t *component, int *success)
{
    STARPU_ASSERT(component->nchildren == 1);
    return starpu_sched_component_pump_to(component, component->children[0],
                                          success);
}

int starpu_sched_component_send_can_push_to_parents(component_t *component)
{
    for (unsigned i = 0; i < component->nparents; i++)
        if (component->parents[i]->can_push(component->parents[i], component))
            return 1;
    return 0;
}

int orr_component_offer(component_t *component, struct starpu_task *task)
{
    for (unsigned i = 0; i < component->nchildren; i++) {
        component_t *child = component->children[i];

        if (starpu_sched_component_can_execute_task(child, task) &&
            starpu_sched_component_push_task(component, child, task) == 0)
            return 0;
    }
    return 1;
}

/* --- methods --- */

struct starpu_task *
starpu_sched_component_parents_pull_task(component_t *component, component_t *to)
{
    (void)to;
    for (unsigned i = 0; i < component->nparents; i++) {
        struct starpu_task *task =
            starpu_sched_component_pull_task(component->parents[i], component);

        if (task)
            return task;
    }
    return NULL;
}

struct starpu_task *orr_component_pull_none(component_t *from, component_t *to)
{
    (void)to;
    (void)starpu_sched_component_send_can_push_to_parents(from);
    return NULL;
}

int starpu_sched_component_can_push(component_t *component, component_t *to)
{
    (void)to;
    return starpu_sched_component_send_can_push_to_parents(component);
}

int starpu_sched_component_can_pull(component_t *component)
{
    for (unsigned i = 0; i < component->nchildren; i++)
        if (component->children[i]->can_pull(component->children[i]))
            return 1;
    return 0;
}

int starpu_sched_component_can_pull_all(component_t *component)
{
    for (unsigned i = 0; i < component->nchildren; i++)
        (void)component->children[i]->can_pull(component->children[i]);
    return 0;
}

double starpu_sched_component_estimated_load(component_t *component)
{
    double load = 0;

    for (unsigned i = 0; i < component->nchildren; i++)
        load += component->children[i]->estimated_load(component->children[i]);
    return load;
}

/* The dates of the children: the least, and their sum. */
static double least_end(component_t *component, double *sum)
{
    double least = INFINITY;

    *sum = 0;
    for (unsigned i = 0; i < component->nchildren; i++) {
        component_t *child = component->children[i];
        double end = child->estimated_end(child);

        least = end < least ? end : least;
        *sum += end;
    }
    return component->nchildren ? least : starpu_timing_now();
}

double starpu_sched_component_estimated_end_min(component_t *component)
{
    double sum;

    return least_end(component, &sum);
}

double starpu_sched_component_estimated_end_min_add(component_t *component,
                                                    double exp_len)
{
    int n = starpu_bitmap_cardinal(&component->workers_in_ctx);
    double sum, least = least_end(component, &sum);

    if (!(exp_len > 0) || n == 0)
        return least;
    return least + (exp_len + sum - component->nchildren * least) / n;
}

double starpu_sched_component_estimated_end_average(component_t *component)
{
    double sum, least = least_end(component, &sum);

    return component->nchildren ? sum / component->nchildren : least;
}

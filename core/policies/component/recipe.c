/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/recipe.c - components to be made one below the other, and a
 * scheduler with a recipe for each level of the machine.
 */
#include "core/base/grow.h"
#include "core/policies/component/component.h"

typedef struct starpu_sched_component component_t;
typedef struct starpu_sched_component_composed_recipe recipe_t;

struct step {
    component_t *(*create)(struct starpu_sched_tree *tree, void *arg);
    void *arg;
};

struct starpu_sched_component_composed_recipe {
    struct step *steps;
    unsigned nsteps;
};

recipe_t *starpu_sched_component_composed_recipe_create(void)
{
    return orr_component_alloc(1, sizeof(recipe_t));
}

void starpu_sched_component_composed_recipe_add(
    recipe_t *recipe,
    component_t *(*create_component)(struct starpu_sched_tree *, void *),
    void *arg)
{
    struct step *step = orr_array_add(recipe->steps, recipe->nsteps);

    STARPU_ASSERT(step);
    *step = (struct step){create_component, arg};
}

recipe_t *starpu_sched_component_composed_recipe_create_singleton(
    component_t *(*create_component)(struct starpu_sched_tree *, void *),
    void *arg)
{
    recipe_t *recipe = starpu_sched_component_composed_recipe_create();

    starpu_sched_component_composed_recipe_add(recipe, create_component, arg);
    return recipe;
}

void starpu_sched_component_composed_recipe_destroy(recipe_t *recipe)
{
    if (recipe)
        free(recipe->steps);
    free(recipe);
}

/* --- several as one --- */

struct chain {
    component_t *top, *bottom; /* owned, with what is between */
};

static int chain_push(component_t *c, struct starpu_task *task)
{
    struct chain *chain = c->data;

    return starpu_sched_component_push_task(c, chain->top, task);
}

static struct starpu_task *chain_pull(component_t *c, component_t *to)
{
    component_t *bottom = ((struct chain *)c->data)->bottom;

    return starpu_sched_component_pull_task(bottom, to);
}

static int chain_can_push(component_t *c, component_t *to)
{
    component_t *bottom = ((struct chain *)c->data)->bottom;

    return bottom->can_push(bottom, to);
}

static int chain_can_pull(component_t *c)
{
    component_t *top = ((struct chain *)c->data)->top;

    return top->can_pull(top);
}

static double chain_load(component_t *c)
{
    component_t *top = ((struct chain *)c->data)->top;

    return top->estimated_load(top);
}

static double chain_end(component_t *c)
{
    component_t *top = ((struct chain *)c->data)->top;

    return top->estimated_end(top);
}

/* Children of the chain are children of its last component, parents of it
 * parents of the first; outside only the chain is known. */
static void chain_add_child(component_t *c, component_t *child)
{
    component_t *bottom = ((struct chain *)c->data)->bottom;

    c->children = bottom->children;
    bottom->add_child(bottom, child);
    c->children = bottom->children;
    c->nchildren = bottom->nchildren;
}

static void chain_remove_child(component_t *c, component_t *child)
{
    component_t *bottom = ((struct chain *)c->data)->bottom;

    bottom->remove_child(bottom, child);
    c->nchildren = bottom->nchildren;
}

static void chain_add_parent(component_t *c, component_t *parent)
{
    component_t *top = ((struct chain *)c->data)->top;

    top->add_parent(top, parent);
    c->parents = top->parents;
    c->nparents = top->nparents;
}

static void chain_remove_parent(component_t *c, component_t *parent)
{
    component_t *top = ((struct chain *)c->data)->top;

    top->remove_parent(top, parent);
    c->nparents = top->nparents;
}

static void chain_pass_workers(component_t *c)
{
    struct chain *chain = c->data;

    for (component_t *inner = chain->bottom;; inner = inner->parents[0]) {
        inner->workers = c->workers;
        inner->workers_in_ctx = c->workers_in_ctx;
        inner->properties = c->properties;
        inner->notify_change_workers(inner);
        if (inner == chain->top)
            return;
    }
}

/* The chain's arrays of parents and children belong to its first and last component. */
static void chain_deinit(component_t *c)
{
    struct chain *chain = c->data;

    c->children = c->parents = NULL;
    chain->bottom->nchildren = 0;
    chain->top->nparents = 0;
    starpu_sched_component_destroy_rec(chain->top);
    free(chain);
}

component_t *orr_component_inner(component_t *component)
{
    return component->push_task == chain_push
               ? ((struct chain *)component->data)->top
               : NULL;
}

component_t *
starpu_sched_component_composed_component_create(struct starpu_sched_tree *tree,
                                                 recipe_t *recipe)
{
    struct chain *chain;
    component_t *c;

    STARPU_ASSERT(recipe && recipe->nsteps > 0);
    if (recipe->nsteps == 1)
        return recipe->steps[0].create(tree, recipe->steps[0].arg);
    chain = orr_component_alloc(1, sizeof(*chain));
    for (unsigned i = 0; i < recipe->nsteps; i++) {
        component_t *made = recipe->steps[i].create(tree, recipe->steps[i].arg);

        if (chain->bottom)
            starpu_sched_component_connect(chain->bottom, made);
        else
            chain->top = made;
        chain->bottom = made;
    }
    c = orr_component_new(tree, "composed", chain_push, chain);
    c->pull_task = chain_pull;
    c->can_push = chain_can_push;
    c->can_pull = chain_can_pull;
    c->estimated_load = chain_load;
    c->estimated_end = chain_end;
    c->add_child = chain_add_child;
    c->remove_child = chain_remove_child;
    c->add_parent = chain_add_parent;
    c->remove_parent = chain_remove_parent;
    c->notify_change_workers = chain_pass_workers;
    c->deinit_data = chain_deinit;
    return c;
}

/* --- a level of the machine after the other --- */

static component_t *make_components_below(struct starpu_sched_tree *tree,
                                          component_t *parent, recipe_t *recipe)
{
    component_t *made;

    if (!recipe)
        return parent;
    made = starpu_sched_component_composed_component_create(tree, recipe);
    starpu_sched_component_connect(parent, made);
    return made;
}

/* The workers of a memory node are a group. What the group consists of is not known, so
 * it has one socket with one cache. */
static component_t *group_of(struct starpu_sched_tree *tree,
                             const struct starpu_sched_component_specs *s)
{
    component_t *c = make_components_below(
        tree, tree->root, s->hwloc_component_composed_sched_component);

    c = make_components_below(tree, c,
                              s->hwloc_socket_composed_sched_component);
    return make_components_below(tree, c,
                                 s->hwloc_cache_composed_sched_component);
}

struct starpu_sched_tree *
starpu_sched_component_make_scheduler(unsigned sched_ctx_id,
                                      struct starpu_sched_component_specs s)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_create(sched_ctx_id);
    component_t *groups[STARPU_MAXNODES] = {NULL};

    STARPU_ASSERT(s.hwloc_machine_composed_sched_component);
    tree->root = starpu_sched_component_composed_component_create(
        tree, s.hwloc_machine_composed_sched_component);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        unsigned node = s.mix_heterogeneous_workers
                            ? 0
                            : starpu_worker_get_memory_node(w);
        recipe_t *own = s.worker_composed_sched_component
                            ? s.worker_composed_sched_component(
                                  starpu_worker_get_type((int)w))
                            : NULL;

        if (!groups[node])
            groups[node] = group_of(tree, &s);
        starpu_sched_component_connect(
            make_components_below(tree, groups[node], own),
            starpu_sched_component_worker_get(sched_ctx_id, (int)w));
        starpu_sched_component_composed_recipe_destroy(own);
    }
    starpu_sched_tree_update_workers(tree);
    return tree;
}

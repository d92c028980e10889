/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/job/nest.c - see nest.h. */
#include "core/job/nest.h"

#include <stdlib.h>

#include "core/data/handle.h"
#include "core/exec/runtime.h"
#include "core/job/tasks.h"

void orr_nest_ref(struct orr_nest *nest)
{
    atomic_fetch_add_explicit(&nest->refs, 1, memory_order_relaxed);
}

/* Chains are long: no recursion. */
void orr_nest_unref(struct orr_nest *nest)
{
    while (nest && atomic_fetch_sub_explicit(&nest->refs, 1,
                                             memory_order_acq_rel) == 1) {
        struct orr_nest *up = nest->up;

        free(nest);
        nest = up;
    }
}

static bool is_over(const struct orr_nest *nest)
{
    return atomic_load_explicit(&nest->over, memory_order_relaxed);
}

/* Unlinks the nests around `nest` that are over, so that tasks each of which submits
 * the next one make no chain. *ret is what was unlinked, to be released when nothing is
 * locked. */
static void shorten_locked(struct orr_nest *nest, struct orr_nest **ret)
{
    struct orr_nest *up = nest->up;

    while (up && is_over(up))
        up = up->up;
    *ret = NULL;
    if (up == nest->up)
        return;
    if (up)
        orr_nest_ref(up);
    *ret = nest->up;
    nest->up = up;
}

struct orr_nest *orr_nest_find_up(struct orr_runtime *rt,
                                  struct orr_nest *around)
{
    struct orr_nest *up = around, *left = NULL;

    if (!around)
        return NULL;
    orr_lock(&rt->tasks->nests_lock);
    shorten_locked(around, &left);
    if (is_over(around))
        up = around->up;
    if (up)
        orr_nest_ref(up);
    orr_unlock(&rt->tasks->nests_lock);
    orr_nest_unref(left);
    return up;
}

void orr_nest_end(struct orr_nest *nest)
{
    atomic_store(&nest->over, true);
}

unsigned orr_nest_count_around(struct orr_runtime *rt,
                               const struct orr_nest *nest, unsigned sched_ctx)
{
    unsigned n = 0;

    orr_lock(&rt->tasks->nests_lock);
    for (; nest; nest = nest->up)
        n += nest->sched_ctx == sched_ctx && !nest->counts && !is_over(nest);
    orr_unlock(&rt->tasks->nests_lock);
    return n;
}

/* --- scopes --- */

struct orr_scope *orr_nest_scope(struct orr_runtime *rt, struct orr_nest *nest,
                                 const struct orr_handle *handle)
{
    struct orr_scope *found = NULL;

    orr_lock(&rt->tasks->nests_lock);
    for (; nest && !found; nest = nest->up)
        for (unsigned i = 0; i < nest->nscopes && !found; i++)
            if (nest->scopes[i].handle == handle && nest->scopes[i].access)
                found = &nest->scopes[i];
    orr_unlock(&rt->tasks->nests_lock);
    return found;
}

static bool lends(const struct orr_scope *scope, uint32_t mode)
{
    return !(mode & STARPU_REDUX) &&
           (!(mode & STARPU_W) || scope->mode & STARPU_W);
}

static struct orr_scope *find_part_locked(struct orr_scope *whole,
                                          const struct orr_handle *handle,
                                          bool even_unused)
{
    orr_list_foreach (link, &whole->plans) {
        struct orr_inner_plan *plan =
            orr_container(link, struct orr_inner_plan, link);
        struct orr_inner_part *part;

        if (handle->child_index >= plan->n || !(plan->used || even_unused))
            continue;
        part = &plan->parts[handle->child_index];
        if (part->scope.handle == handle && part->id == handle->id)
            return &part->scope;
    }
    return NULL;
}

/* What the nest's task has of it. */
static struct orr_scope *nest_find_scope_locked(struct orr_nest *nest,
                                                const struct orr_handle *handle,
                                                bool even_unused)
{
    struct orr_scope *found = NULL;

    for (unsigned i = 0; i < nest->nscopes && !found; i++) {
        struct orr_scope *scope = &nest->scopes[i];

        if (scope->handle == handle && scope->access)
            found = scope;
        else if (handle->family)
            found = find_part_locked(scope, handle, even_unused);
    }
    return found;
}

struct orr_scope *orr_nest_enter(struct orr_runtime *rt, struct orr_nest *nest,
                                 const struct orr_handle *handle, uint32_t mode,
                                 uint16_t *ret_depth)
{
    struct orr_scope *found = NULL;

    orr_lock(&rt->tasks->nests_lock);
    for (; nest && !found; nest = nest->up) {
        found = nest_find_scope_locked(nest, handle, false);
        if (found && !lends(found, mode))
            found = NULL;
        if (found)
            *ret_depth = nest->depth;
    }
    if (found && found->whole)
        found->whole->nparts_used++;
    orr_unlock(&rt->tasks->nests_lock);
    return found;
}

static bool nest_has_scope(const struct orr_nest *nest,
                           const struct orr_scope *scope)
{
    return scope >= nest->scopes && scope < nest->scopes + nest->nscopes;
}

struct orr_scope *orr_nest_switch(struct orr_runtime *rt, struct orr_nest *nest,
                                  const struct orr_handle *handle,
                                  const struct orr_scope *sequence,
                                  uint16_t *ret_depth)
{
    struct orr_scope *found;

    orr_lock(&rt->tasks->nests_lock);
    while (!nest_has_scope(nest, sequence))
        nest = nest->up;
    *ret_depth = nest->depth;
    found = nest_find_scope_locked(nest, handle, false);
    if (found->whole)
        found->whole->nparts_used++;
    orr_unlock(&rt->tasks->nests_lock);
    return found;
}

struct orr_scope *orr_nest_entered(struct orr_runtime *rt,
                                   struct orr_nest *nest,
                                   const struct orr_handle *handle,
                                   uint16_t depth)
{
    struct orr_scope *found;

    orr_lock(&rt->tasks->nests_lock);
    while (nest->depth != depth)
        nest = nest->up;
    found = nest_find_scope_locked(nest, handle, true);
    orr_unlock(&rt->tasks->nests_lock);
    return found;
}

void orr_nest_leave(struct orr_runtime *rt, struct orr_scope *scope)
{
    if (!scope->whole)
        return;
    orr_lock(&rt->tasks->nests_lock);
    scope->whole->nparts_used--;
    orr_unlock(&rt->tasks->nests_lock);
}

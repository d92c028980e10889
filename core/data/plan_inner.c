/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/plan_inner.c - planned partitions inside of tasks. A task that has data
 * may submit others that use parts of them: these come before all that was submitted
 * outside after the task, which may be switches of the same plans. So there is a
 * sequence of turns for each task that has the whole, or something of which that is a
 * part; it begins and ends with the whole. Its switches and uses of parts are ordered
 * in scopes of the task (core/job/nest.h), which lends its data to them while it
 * waits, and it does not end before they have.
 *
 * A task that writes parts is in the sequence of one that writes the whole. Several
 * tasks that read it may use its parts at once, each in its own sequence: the first
 * switch to readers brings the value to the parts, and the last one from them takes it
 * away (plan_switch.c).
 */
#include <stdlib.h>

#include "core/base/log.h"
#include "core/data/plan_private.h"
#include "core/data/registry.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/job/nest.h"
#include "core/job/tasks.h"

static struct orr_inner_plan *inner_at(struct orr_list *link)
{
    return orr_container(link, struct orr_inner_plan, link);
}

static bool is_or_has(const struct orr_handle *whole,
                      const struct orr_handle *handle)
{
    const struct orr_plan *plan = orr_handle_plan(handle);

    while (handle != whole && plan) {
        handle = plan->whole;
        plan = orr_handle_plan(handle);
    }
    return handle == whole;
}

static bool is_open(const struct orr_scope *scope, bool writes)
{
    return scope->handle && !scope->closed &&
           (!writes || scope->mode & STARPU_W);
}

struct orr_scope *orr_inner_find(struct orr_runtime *rt, struct orr_nest *nest,
                                 const struct orr_handle *handle, bool writes)
{
    struct orr_scope *found = NULL;

    if (!nest)
        return NULL;
    orr_lock(&rt->tasks->nests_lock);
    for (; nest && !found; nest = nest->up)
        for (unsigned i = 0; i < nest->nscopes && !found; i++)
            if (is_open(&nest->scopes[i], writes) &&
                is_or_has(nest->scopes[i].handle, handle))
                found = &nest->scopes[i];
    orr_unlock(&rt->tasks->nests_lock);
    return found;
}

static struct orr_inner_plan *inner_plan_find(const struct orr_scope *scope,
                                              const struct orr_plan *plan)
{
    for (struct orr_list *link = scope->plans.next; link != &scope->plans;
         link = link->next)
        if (inner_at(link)->plan == plan)
            return inner_at(link);
    return NULL;
}

enum orr_plan_state orr_inner_state(const struct orr_scope *scope,
                                    const struct orr_plan *plan)
{
    const struct orr_inner_plan *inner;

    if (!scope)
        return plan->state;
    inner = inner_plan_find(scope, plan);
    return inner ? (enum orr_plan_state)inner->state : ORR_PLAN_IDLE;
}

/* The task has the whole already: none of it is paused for tasks that use parts. */
static void init_part(struct orr_inner_part *part, struct orr_scope *whole,
                      struct orr_handle *handle)
{
    part->id = handle->id;
    part->scope = (struct orr_scope){
        .handle = handle,
        .whole = whole,
        .access = whole->access,
        .mode = whole->mode & STARPU_W ? STARPU_RW : STARPU_R,
        .paused = true,
    };
    orr_turns_init(&part->scope.turns);
    orr_list_init(&part->scope.plans);
}

static struct orr_inner_plan *inner_plan_make(struct orr_scope *scope,
                                              struct orr_plan *plan)
{
    struct orr_inner_plan *inner =
        calloc(1, sizeof(*inner) + plan->n * sizeof(inner->parts[0]));

    if (!inner) {
        orr_log_error("out of memory while partitioned data are switched");
        abort();
    }
    inner->plan = plan;
    inner->n = plan->n;
    for (unsigned i = 0; i < plan->n; i++)
        init_part(&inner->parts[i], scope, plan->children[i]);
    orr_list_append(&plan->inner, &inner->twin);
    return inner;
}

void orr_inner_begin(struct orr_runtime *rt, struct orr_scope *scope,
                     struct orr_plan *plan)
{
    struct orr_inner_plan *inner, *made = NULL;

    if (!scope)
        return;
    inner = inner_plan_find(scope, plan);
    if (!inner)
        inner = made = inner_plan_make(scope, plan);
    orr_lock(&rt->tasks->nests_lock);
    if (made)
        orr_list_append(&scope->plans, &made->link);
    inner->used = true;
    orr_unlock(&rt->tasks->nests_lock);
}

static void end_asking(struct orr_scope *scope, struct orr_inner_plan *inner)
{
    if (inner->asked)
        atomic_fetch_sub(&scope->npieces, 1);
    inner->asked = false;
}

void orr_inner_ask(struct orr_scope *scope, struct orr_plan *plan)
{
    struct orr_inner_plan *inner;

    if (!scope || scope->access->job != orr_self->job)
        return;
    inner = inner_plan_find(scope, plan);
    if (!inner->asked)
        atomic_fetch_add(&scope->npieces, 1);
    inner->asked = true;
}

void orr_inner_set(struct orr_runtime *rt, struct orr_scope *scope,
                   struct orr_plan *plan, enum orr_plan_state state)
{
    struct orr_inner_plan *inner;

    if (!scope) {
        plan->state = state;
        return;
    }
    inner = inner_plan_find(scope, plan);
    inner->state = state;
    if (state == ORR_PLAN_IDLE)
        end_asking(scope, inner);
    orr_lock(&rt->tasks->nests_lock);
    inner->used = state != ORR_PLAN_IDLE;
    orr_unlock(&rt->tasks->nests_lock);
}

/* The scopes of the parts stay: some accesses may be in them still. */
void orr_inner_forget(struct orr_plan *plan)
{
    struct orr_list *link;

    while ((link = orr_list_pop(&plan->inner)) != NULL)
        orr_container(link, struct orr_inner_plan, twin)->plan = NULL;
}

/* --- the end of the task's kernel --- */

void orr_inner_end_asking(struct orr_nest *nest)
{
    for (unsigned i = 0; i < nest->nscopes; i++)
        orr_list_foreach (link, &nest->scopes[i].plans)
            end_asking(&nest->scopes[i], inner_at(link));
}

static bool is_in_use_locked(const struct orr_scope *scope)
{
    bool used = scope->nparts_used > 0;

    for (struct orr_list *link = scope->plans.next; link != &scope->plans;
         link = link->next)
        used |= inner_at(link)->used;
    return used;
}

bool orr_inner_plans_used(struct orr_runtime *rt, const struct orr_scope *scope)
{
    bool used;

    orr_lock(&rt->tasks->nests_lock);
    used = is_in_use_locked(scope);
    orr_unlock(&rt->tasks->nests_lock);
    return used;
}

static void close_locked(struct orr_scope *scope, struct orr_list *ended)
{
    struct orr_list *link;

    scope->closed = true;
    while ((link = orr_list_pop(&scope->plans)) != NULL) {
        struct orr_inner_plan *inner = inner_at(link);

        if (inner->plan)
            orr_list_remove(&inner->twin);
        orr_list_append(ended, &inner->link);
    }
}

bool orr_inner_plans_close(struct orr_runtime *rt, struct orr_nest *nest)
{
    struct orr_list ended, *link;
    bool used = false;

    orr_list_init(&ended);
    orr_lock(&rt->data->plans_lock);
    orr_lock(&rt->tasks->nests_lock);
    for (unsigned i = 0; i < nest->nscopes; i++)
        used |= is_in_use_locked(&nest->scopes[i]);
    for (unsigned i = 0; !used && i < nest->nscopes; i++)
        close_locked(&nest->scopes[i], &ended);
    orr_unlock(&rt->tasks->nests_lock);
    orr_unlock(&rt->data->plans_lock);
    while ((link = orr_list_pop(&ended)) != NULL)
        free(inner_at(link));
    return !used;
}

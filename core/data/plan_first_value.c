/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/plan_first_value.c - whether planned parts have a value, which the init codelet
 * of their whole makes else (reduction.h): what is submitted to one of a family says so
 * for all.
 */
#include "core/data/plan_private.h"
#include "core/data/reduction.h"
#include "core/data/registry.h"
#include "core/exec/runtime.h"

bool orr_whole_has_begun(const struct orr_handle *handle)
{
    const struct orr_plan *plan = orr_handle_plan(handle);
    const struct orr_handle *whole = plan ? plan->whole : NULL;
    unsigned char state;

    if (!whole)
        return true;
    if (!whole->reduction)
        return whole->home_node >= 0 || whole->valid || whole->nusers;
    state = atomic_load_explicit(&whole->reduction->beginning,
                                 memory_order_acquire);
    return state == ORR_BEGINNING_MADE ||
           (state == ORR_BEGINNING_INHERITED && orr_whole_has_begun(whole));
}

static void inherit_beginning(struct orr_handle *handle)
{
    orr_list_foreach (link, &handle->family->plans) {
        const struct orr_plan *plan = orr_container(link, struct orr_plan, link);

        for (unsigned i = 0; i < plan->n; i++) {
            struct orr_handle *part = plan->children[i];

            if (part->reduction)
                atomic_store_explicit(&part->reduction->beginning,
                                      ORR_BEGINNING_INHERITED,
                                      memory_order_release);
            inherit_beginning(part);
        }
    }
}

void orr_parts_inherit_beginning(struct orr_handle *handle)
{
    struct orr_runtime *rt = handle->runtime;

    if (!handle->family)
        return;
    orr_lock(&rt->data->plans_lock);
    inherit_beginning(handle);
    orr_unlock(&rt->data->plans_lock);
}

static enum orr_beginning beginning_of_part(const struct orr_handle *part)
{
    return part->reduction ? atomic_load_explicit(&part->reduction->beginning,
                                                  memory_order_acquire)
                           : ORR_BEGINNING_INHERITED;
}

static void set_beginning(struct orr_handle *handle, enum orr_beginning state)
{
    if (handle->reduction)
        atomic_store_explicit(&handle->reduction->beginning,
                              (unsigned char)state, memory_order_release);
}

/* The part is the first one of its whole, which had no value, that gets one: the
 * others have none yet. */
static void begin_alone(const struct orr_plan *plan,
                        const struct orr_handle *part)
{
    for (unsigned i = 0; i < plan->n; i++)
        if (plan->children[i] != part &&
            beginning_of_part(plan->children[i]) == ORR_BEGINNING_INHERITED)
            set_beginning(plan->children[i], ORR_BEGINNING_NONE);
}

void orr_plans_note_beginning(struct orr_handle *handle)
{
    inherit_beginning(handle);
    for (const struct orr_plan *plan; (plan = orr_handle_plan(handle)) != NULL;
         handle = plan->whole) {
        if (!orr_whole_has_begun(handle))
            begin_alone(plan, handle);
        orr_handle_note_beginning(plan->whole);
    }
}

void orr_parts_hand_back_beginning(const struct orr_plan *plan,
                                   struct orr_job *job)
{
    bool any = false;

    for (unsigned i = 0; i < plan->n; i++)
        any |= beginning_of_part(plan->children[i]) != ORR_BEGINNING_NONE;
    for (unsigned i = 0; i < plan->n; i++) {
        struct orr_handle *part = plan->children[i];
        enum orr_beginning state = beginning_of_part(part);

        if (state == ORR_BEGINNING_NONE && any && part->reduction->init) {
            job->accesses[i + 1].optional = 0;
            orr_lock(&part->lock);
            orr_handle_require_claims_locked(part);
            orr_unlock(&part->lock);
        }
        if (state != ORR_BEGINNING_COMING)
            set_beginning(part, ORR_BEGINNING_INHERITED);
    }
    if (!any)
        set_beginning(plan->whole, ORR_BEGINNING_NONE);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/plan_places.c - when a plan is made: where its parts are in memory that the
 * whole gets later, on other nodes (placement.h), or in its base again where main memory
 * has a limit (plan_float.c).
 */
#include <stdlib.h>

#include "core/data/block.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/placement.h"
#include "core/data/plan_private.h"
#include "core/data/relocation.h"
#include "core/exec/runtime.h"

/* The part's placement in memory that the whole gets later is not known; in memory that
 * the whole has now, pinned, the filter has said where the part is. */
static void place_now(struct orr_handle *part, const struct orr_plan *plan,
                      uint64_t nodes)
{
    const struct orr_machine *machine = part->runtime->machine;

    orr_lock(&part->lock);
    for (; nodes; nodes &= nodes - 1) {
        unsigned node = (unsigned)__builtin_ctzll(nodes);

        if (!machine->nodes[node].handles ||
            !orr_placement_lacks_offset(plan->whole))
            orr_block_join_locked(part, plan->whole, node);
    }
    orr_unlock(&part->lock);
}

/* Whether the memory of the whole in its base could leave like that of other data. */
static bool has_limited_base(struct orr_runtime *rt,
                             const struct orr_handle *whole)
{
    const struct orr_plan *above = orr_handle_plan(whole);
    unsigned base = orr_handle_base(whole);

    return rt->nodes->at[base].capacity && whole->home_node < 0 &&
           (above ? orr_plan_floats(above->children[0])
                  : whole->parent == NULL) &&
           whole->replicates[base].block;
}

/* Parts with memory of their own are copied within the base. */
static bool is_copied_on_host(const struct orr_handle *part)
{
    const struct starpu_data_copy_methods *methods = part->ops->copy_methods;

    return methods && (methods->ram_to_ram || methods->any_to_any);
}

static void find_relocation(struct orr_handle *whole, struct orr_handle *part)
{
    struct orr_placement *place = &part->family->place;

    if (!is_copied_on_host(part))
        return;
    place->relocation = orr_relocation_find(whole, part);
    if (place->relocation)
        place->kind = ORR_PLACE_RELOCATED;
}

static bool all_have_places(const struct orr_plan *plan)
{
    for (unsigned i = 0; i < plan->n; i++)
        if (plan->children[i]->family->place.kind == ORR_PLACE_UNKNOWN)
            return false;
    return true;
}

/* Parts that leave something out meet in the base alone, where they stay. */
static void forget_places(struct orr_plan *plan)
{
    for (unsigned i = 0; i < plan->n; i++) {
        struct orr_placement *place = &plan->children[i]->family->place;

        if (place->kind == ORR_PLACE_RELOCATED)
            free(place->relocation);
        place->kind = ORR_PLACE_UNKNOWN;
    }
}

void orr_plan_find_places(struct orr_runtime *rt, struct orr_plan *plan,
                          struct starpu_data_filter *filter, uint64_t nodes)
{
    bool covers = orr_placement_covers(plan->whole, plan->children, plan->n);
    bool limited = has_limited_base(rt, plan->whole), floats;

    if (!limited && (rt->nodes->n == 1 || !covers))
        return;
    for (unsigned i = 0; i < plan->n; i++) {
        struct orr_handle *part = plan->children[i];

        orr_placement_find(plan->whole, part, filter, i, plan->n,
                           &part->family->place);
        if (part->family->place.kind != ORR_PLACE_UNKNOWN)
            continue;
        if (covers)
            place_now(part, plan, nodes);
        if (limited)
            find_relocation(plan->whole, part);
    }
    floats = limited && all_have_places(plan);
    if (!covers && !floats)
        forget_places(plan);
    plan->children[0]->family->floats = floats;
    plan->children[0]->family->has_rests = floats && !covers;
}

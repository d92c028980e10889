/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/tidy.c - room ahead of need, where the user wants some to be free
 * always (STARPU_MINIMUM_AVAILABLE_MEM): what prefetches may push out leaves, or
 * is written back, before somebody waits for it.
 */
#include "core/data/evict.h"
#include "core/data/node.h"
#include "core/runtime.h"

static size_t per_cent(const struct orr_node *node, int share)
{
    return node->capacity / 100 * (size_t)share;
}

bool orr_node_tidy(struct orr_runtime *rt, unsigned id)
{
    struct orr_node *node = &rt->nodes[id];
    size_t target;

    if (!node->capacity || rt->minimum_available <= 0 ||
        orr_node_fits(node, per_cent(node, rt->minimum_available)))
        return false;
    target = per_cent(node, rt->target_available);
    if (orr_node_make_room(rt, node, target, ORR_PREFETCH) != 0)
        return false; /* what is under way may do */
    orr_node_freed(rt, id);
    return true;
}

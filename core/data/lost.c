/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/lost.c - see lost.h. What waits on a lost node is not searched for:
 * its workers still look for what they have to start, and each request or kernel
 * that they find there fails at once (progress.c, core/loop/failed.c). Jobs that
 * wait for its memory get it, as far as counting goes (admit.c), to find that out.
 */
#include "core/data/lost.h"

#include <errno.h>

#include "core/base/log.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/device/driver.h"
#include "core/worker/workers.h"

static void disable_workers(struct orr_runtime *rt, unsigned node)
{
    for (unsigned w = 0; w < rt->workers->n; w++) {
        struct orr_worker *worker = &rt->workers->at[w];

        if (worker->desc->node == node &&
            !atomic_exchange(&worker->disabled, true))
            atomic_fetch_add(&rt->workers->knobs.ndisabled, 1);
    }
}

void orr_node_lose(struct orr_runtime *rt, unsigned node)
{
    const struct orr_node_desc *desc = &rt->machine->nodes[node];
    uint64_t bit = UINT64_C(1) << node;

    if (atomic_fetch_or(&rt->nodes->lost, bit) & bit)
        return;
    orr_log_warning(
        "%s: %s is lost: its tasks go elsewhere; so does what has a "
        "copy of its value on another memory node",
        desc->driver->ops->name, desc->name);
    disable_workers(rt, node);
    atomic_store(&rt->nodes->at[node].admission.changed, true);
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (rt->workers->at[w].desc->node == node)
            orr_worker_wake(&rt->workers->at[w]);
}

/* Whether the device still gives memory, or refuses it in the usual way. */
static bool answers(struct orr_runtime *rt, unsigned node)
{
    uintptr_t address;
    int rc = orr_machine_alloc(rt->machine, node, 64, &address);

    if (rc == 0)
        orr_machine_free(rt->machine, node, address, 64);
    return rc != -ENODEV;
}

void orr_copy_lose(struct orr_runtime *rt, const struct orr_copy *copy)
{
    const struct orr_node_desc *nodes = rt->machine->nodes;
    bool out = orr_node_is_main(&nodes[copy->dst]);

    if (out || orr_node_is_main(&nodes[copy->src])) {
        orr_node_lose(rt, out ? copy->src : copy->dst);
        return;
    }
    if (!answers(rt, copy->src))
        orr_node_lose(rt, copy->src);
    if (!answers(rt, copy->dst))
        orr_node_lose(rt, copy->dst);
}

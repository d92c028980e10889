/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/loopback/kind.c - devices that are threads with memory of their
 * own, as a kind of device. They run the functions that a codelet has for
 * processors: what allows those allows them, so that programs need not know of
 * them.
 */
#include <orrery.h>

#include "core/device/kind.h"

const struct orr_device_kind orr_kind_loopback = {
    .type = (enum starpu_worker_archtype)ORRERY_LOOPBACK_WORKER,
    .memory = (enum starpu_node_kind)ORRERY_LOOPBACK_RAM,
    .name = "Loopback",
    .variable = "LOOPBACK",
    .where = STARPU_CPU,
    .functions = offsetof(struct starpu_codelet, cpu_funcs),
    .single = offsetof(struct starpu_codelet, cpu_func),
    .lends = true,
    .only_starts = true,
    .limit = ORR_CFG_COUNT,
    .pipeline = ORR_CFG_COUNT,
    .homogeneous = ORR_CFG_COUNT,
    .sync_copies = ORR_CFG_COUNT,
    .bus = -1,
};

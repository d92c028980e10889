/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/loopback/kind.c - devices that are threads with memory of their own, as a
 * kind of device. They run the functions that a codelet has for processors: what
 * allows those allows them, so that programs need not know of them.
 */
#include "tests/loopback/loopback.h"
#include "tests/loopback/use.h"

const struct orr_device_kind loopback_kind = {
    .type = (enum starpu_worker_archtype)LOOPBACK_WORKER,
    .memory = (enum starpu_node_kind)LOOPBACK_RAM,
    .name = "Loopback",
    .variable = "LOOPBACK",
    .where = STARPU_CPU,
    .functions = offsetof(struct starpu_codelet, cpu_funcs),
    .single = offsetof(struct starpu_codelet, cpu_func),
    .only_starts = true,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/cpu/kind.c - processors of the host, as a kind of device. */
#include "core/device/bus_kind.h"
#include "core/device/kind_settings.h"

static const struct orr_kind_settings settings = {
    .limit = ORR_CFG_LIMIT_CPU_MEM,
    .pipeline = ORR_CFG_COUNT,
    .homogeneous = ORR_CFG_HOMOGENEOUS_CPU,
    .sync_copies = ORR_CFG_COUNT,
    .bus = ORR_BUS_NUMA,
};

const struct orr_device_kind orr_kind_cpu = {
    .type = STARPU_CPU_WORKER,
    .memory = STARPU_CPU_RAM,
    .name = "CPU",
    .variable = "CPU",
    .where = STARPU_CPU,
    .functions = offsetof(struct starpu_codelet, cpu_funcs),
    .single = offsetof(struct starpu_codelet, cpu_func),
    .energy = &orr_energy_rapl,
    .is_processor = true,
    .settings = &settings,
};

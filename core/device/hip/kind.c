/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/hip/kind.c - AMD's GPUs, as a kind of device. */
#include "core/device/bus_kind.h"
#include "core/device/kind_settings.h"

static const struct orr_kind_settings settings = {
    .limit = ORR_CFG_LIMIT_HIP_MEM,
    .pipeline = ORR_CFG_HIP_PIPELINE,
    .homogeneous = ORR_CFG_HOMOGENEOUS_HIP,
    .sync_copies = ORR_CFG_SYNC_HIP_COPIES,
    .conf_sync_copies =
        offsetof(struct starpu_conf, disable_asynchronous_hip_copy),
    .bus = ORR_BUS_HIP,
};

const struct orr_device_kind orr_kind_hip = {
    .type = STARPU_HIP_WORKER,
    .profiled_as = starpu_prof_tool_driver_gpu,
    .memory = STARPU_HIP_RAM,
    .name = "HIP",
    .variable = "HIP",
    .where = STARPU_HIP,
    .functions = offsetof(struct starpu_codelet, hip_funcs),
    .flags = offsetof(struct starpu_codelet, hip_flags),
    .settings = &settings,
};

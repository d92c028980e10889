/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/opencl/kind.c - devices driven by OpenCL, as a kind of device. */
#include "core/device/bus_kind.h"
#include "core/device/kind_settings.h"

static const struct orr_kind_settings settings = {
    .limit = ORR_CFG_LIMIT_OPENCL_MEM,
    .pipeline = ORR_CFG_OPENCL_PIPELINE,
    .homogeneous = ORR_CFG_HOMOGENEOUS_OPENCL,
    .sync_copies = ORR_CFG_SYNC_OPENCL_COPIES,
    .conf_sync_copies =
        offsetof(struct starpu_conf, disable_asynchronous_opencl_copy),
    .bus = ORR_BUS_OPENCL,
};

const struct orr_device_kind orr_kind_opencl = {
    .type = STARPU_OPENCL_WORKER,
    .profiled_as = starpu_prof_tool_driver_ocl,
    .memory = STARPU_OPENCL_RAM,
    .name = "OpenCL",
    .variable = "OPENCL",
    .where = STARPU_OPENCL,
    .functions = offsetof(struct starpu_codelet, opencl_funcs),
    .single = offsetof(struct starpu_codelet, opencl_func),
    .flags = offsetof(struct starpu_codelet, opencl_flags),
    .form = ORR_FORM_OPENCL,
    .settings = &settings,
};

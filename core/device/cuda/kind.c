/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/cuda/kind.c - NVIDIA's GPUs, as a kind of device. */
#include "core/device/bus_kind.h"
#include "core/device/kind_settings.h"

static const struct orr_kind_settings settings = {
    .limit = ORR_CFG_LIMIT_CUDA_MEM,
    .pipeline = ORR_CFG_CUDA_PIPELINE,
    .homogeneous = ORR_CFG_HOMOGENEOUS_CUDA,
    .sync_copies = ORR_CFG_SYNC_CUDA_COPIES,
    .conf_sync_copies =
        offsetof(struct starpu_conf, disable_asynchronous_cuda_copy),
    .bus = ORR_BUS_CUDA,
};

const struct orr_device_kind orr_kind_cuda = {
    .type = STARPU_CUDA_WORKER,
    .profiled_as = starpu_prof_tool_driver_gpu,
    .memory = STARPU_CUDA_RAM,
    .name = "CUDA",
    .variable = "CUDA",
    .where = STARPU_CUDA,
    .functions = offsetof(struct starpu_codelet, cuda_funcs),
    .single = offsetof(struct starpu_codelet, cuda_func),
    .flags = offsetof(struct starpu_codelet, cuda_flags),
    .form = ORR_FORM_CUDA,
    .energy = &orr_energy_nvml,
    .settings = &settings,
};

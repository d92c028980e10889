/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/cuda/kind.c - NVIDIA's GPUs, as a kind of device. */
#include "core/device/kind.h"
#include "core/bus/store.h"

const struct orr_device_kind orr_kind_cuda = {
    .type = STARPU_CUDA_WORKER,
    .memory = STARPU_CUDA_RAM,
    .name = "CUDA",
    .variable = "CUDA",
    .where = STARPU_CUDA,
    .functions = offsetof(struct starpu_codelet, cuda_funcs),
    .single = offsetof(struct starpu_codelet, cuda_func),
    .flags = offsetof(struct starpu_codelet, cuda_flags),
    .form = ORR_FORM_CUDA,
    .limit = ORR_CFG_LIMIT_CUDA_MEM,
    .pipeline = ORR_CFG_CUDA_PIPELINE,
    .homogeneous = ORR_CFG_HOMOGENEOUS_CUDA,
    .bus = ORR_BUS_CUDA,
    .energy = &orr_energy_nvml,
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/bus_kind.c - see bus_kind.h. */
#include "core/device/bus_kind.h"

const struct orr_bus_kind_row orr_bus_kinds[ORR_BUS_NKINDS] = {
    [ORR_BUS_NUMA] = {"NUMA", "NUMA nodes", false, false},
    [ORR_BUS_CUDA] = {"CUDA", "CUDA devices", true, true},
    [ORR_BUS_OPENCL] = {"OpenCL", "OpenCL devices", true, false},
    [ORR_BUS_FPGA] = {"FPGA", "Maxeler FPGAs", false, false},
    [ORR_BUS_DISK] = {"Disk", "disks", false, false},
    [ORR_BUS_MPI] = {"MPI_MS", "MPI slaves", false, false},
    [ORR_BUS_TCPIP] = {"TCPIP_MS", "TCP/IP slaves", false, false},
    [ORR_BUS_HIP] = {"HIP", "HIP devices", false, false},
};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/bus_kind.h - the kinds of memory nodes that StarPU's bus files know
 * (core/device/bus). Any thread.
 */
#pragma once

#include <stdbool.h>

/* In the order in which all these files have them. */
enum orr_bus_kind {
    ORR_BUS_NUMA,
    ORR_BUS_CUDA,
    ORR_BUS_OPENCL,
    ORR_BUS_FPGA,
    ORR_BUS_DISK,
    ORR_BUS_MPI,
    ORR_BUS_TCPIP,
    ORR_BUS_HIP,
    ORR_BUS_NKINDS
};

struct orr_bus_kind_row {
    const char *name;  /* "CUDA", as in the comments and names of links */
    const char *words; /* "CUDA devices", as in .config */
    bool has_hosts;    /* its devices are in the platform files … */
    bool has_peers;    /* … and may copy to each other there */
};

extern const struct orr_bus_kind_row orr_bus_kinds[ORR_BUS_NKINDS];

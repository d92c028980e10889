/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/random_machine.h - machine descriptions by chance, the same for
 * the same seed, and whether two are equal. For tests; abort when out of
 * memory.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "platforms/machine_desc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A valid machine: up to 12 CPUs, 6 CUDA and 3 OpenCL devices, links of every
 * sharing, names and properties that XML must escape. Owned by the caller. */
struct orr_machine_desc *random_machine(uint64_t seed);

/* A valid machine as they are built: up to 4 sockets in a ring, PCIe switches
 * with up to 8 CUDA devices behind them, at times an NVSwitch; links shared by
 * both directions or not. Owned by the caller. */
struct orr_machine_desc *random_node(uint64_t seed);

/* A message (static) about the first difference, NULL when nothing does. Names,
 * paths, line numbers and folders do not count. */
const char *machines_differ(const struct orr_machine_desc *a,
                            const struct orr_machine_desc *b);

#ifdef __cplusplus
}
#endif

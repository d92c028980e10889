/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/costs.h - virtual time that the runtime's own work takes, and the
 * switches for it. Read once, when a machine is opened.
 */
#pragma once

#include <stdbool.h>

#include "core/device/machine.h"
#include "platforms/machine_desc.h"
#include "sim/exec.h"

/* Fills *ret from the description; missing costs are those of StarPU's
 * simulation, those that a STARPU_SIMGRID_..._COST variable switches off are 0.
 * `pinned`: main memory is pinned, since a CUDA worker exists. Errors: -EINVAL
 * naming the variable that is not a number. */
int orr_sim_costs(const struct orr_machine_desc *desc, bool pinned,
                  struct orr_costs *ret, struct orr_error *err);

/* What the wake of a thread takes; 0 where the description does not say. */
struct orr_sim_wake orr_sim_wake_cost(const struct orr_machine_desc *desc);

/* Whether transfers take time (STARPU_SIMGRID_TRANSFER_COST, by default). */
int orr_sim_transfers_cost(bool *ret, struct orr_error *err);

/* A copy within a node: of main memory by one processor, of a device by itself. */
struct orr_local_copy {
    double latency_us, us_per_byte;
};

/* By what its host states (orrery-copy-bandwidth, -latency; `RAM` or RAM<n> are measured).
 * Else twice the bytes, which are read and written, by the memory bandwidth (rates.h) of
 * the device, or 200 GB/s; in main memory by that of a core, which MAIN states, or 10
 * GB/s. */
struct orr_local_copy orr_sim_local_copy(const struct orr_machine_desc *desc,
                                         unsigned host, bool is_main);

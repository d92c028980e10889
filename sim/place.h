/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/place.h - which CPU hosts are workers, in which memory node. No state.
 */
#pragma once

#include "core/device/machine.h"
#include "platforms/machine_desc.h"

/* The first `ncpu` workers of the machine become CPU hosts of the description,
 * in order, but for those of device workers: of the hosts that are left the
 * last ones, or, where main memory is `nmain` > 1 nodes, the last one that has
 * the property `numa` of the device. Fills their node, speed and kernels, and
 * `hosts` with the host of each. `hosts` of the devices' workers, which follow,
 * is filled already. Errors: -ENOMEM. */
int orr_sim_place_cpus(const struct orr_machine_desc *desc, unsigned nmain,
                       unsigned ncpu, struct orr_machine *machine,
                       unsigned *hosts);

/* Which workers are near each other, if the description says where its CPUs
 * are; `hosts` as above. Errors: -ENOMEM. */
int orr_sim_place_neighbours(const struct orr_machine_desc *desc,
                             const unsigned *hosts,
                             struct orr_machine *machine);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/memory_machine.h - all nodes of main memory as a machine, for
 * measuring the links between them: the runtime may use fewer.
 */
#pragma once

#include "core/device/machine.h"

struct orr_topology;

/* Opens it on contexts that there are already: `exec` and `topology` are
 * borrowed, and stay when the machine is closed; NULL for the topology: that of
 * this machine, or of the one that the variables of hwloc name. There is a
 * worker for each processor near a node, for its `cpu`; none computes. A copy
 * runs in the context that starts it; `perform` moves the bytes. Pairs of a
 * node with itself are direct too. orr_device_drivers_open() adds devices. Errors: -ENOMEM, -ENODEV, with a message. */
int orr_memory_machine_open(struct orr_exec *exec,
                            const struct orr_topology *topology,
                            struct orr_machine **ret, struct orr_error *err);

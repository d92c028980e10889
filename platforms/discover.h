/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/discover.h - this very machine as a description, so that a
 * simulated copy of it can be made. Needs hwloc; nothing else in platforms
 * does. Any thread.
 */
#pragma once

#include "platforms/machine_desc.h"

/* Describes the machine the caller runs on: MAIN, RAM, and a CPU for each core
 * with at least one processor that the calling thread may use (cgroup,
 * container and affinity mask respected; of these as many as the time that a
 * control group leaves is worth). That is also how many CPU workers a
 * real run has when nothing else is asked for. Name and host are the host
 * name up to its first dot; provenance is "measured", costs are not given.
 * *ret is owned by the caller. Errors: -ENODEV no processor found, -ENOMEM,
 * with a message. */
int orr_machine_desc_discover(struct orr_machine_desc **ret,
                              struct orr_error *err);

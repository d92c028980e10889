/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/discover.h - the machine at hand as a description, to simulate a
 * copy of it. Needs hwloc; nothing else in platforms does. Any thread.
 */
#pragma once

#include "platforms/machine_desc.h"

/* Describes the machine the caller runs on: MAIN, RAM, and a CPU for each core
 * with at least one processor that the calling thread may use (cgroup,
 * container and affinity mask respected; of these as many as the quota of a
 * control group allows). That is also how many CPU workers a real run has by
 * default. Name and host are the host name up to its first dot; provenance is
 * "measured", costs are not given. *ret is owned by the caller. Errors: -ENODEV
 * no processor found, -ENOMEM, with a message. */
int orr_machine_desc_discover(struct orr_machine_desc **ret,
                              struct orr_error *err);

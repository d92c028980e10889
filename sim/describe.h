/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/describe.h - from a machine's description to core's tables: nodes,
 * workers, which copies are direct, predicted speeds. No state.
 */
#pragma once

#include "core/device/open.h"
#include "platforms/machine_desc.h"

/* Fills names, nodes, workers, direct, bandwidth, latency and provenance of
 * *machine, which the caller has zeroed and ends with orr_describe_done(),
 * also after an error. *ret_endpoints, nnodes indices of hosts in `desc`, is
 * the caller's to free. Errors: -ENOMEM; -ENODEV no worker; -EINVAL naming
 * the host or route that is missing. */
int orr_describe(const struct orr_machine_desc *desc,
                 const struct orr_machine_options *options,
                 struct orr_machine *machine, unsigned **ret_endpoints,
                 struct orr_error *err);

void orr_describe_done(struct orr_machine *machine);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/described.h - a machine as it is to be simulated: its description with what-if edits and
 * draws. Machines that share an engine, as those of ranks do, are mostly equal: the last one's
 * is kept there. One thread.
 */
#pragma once

#include "core/base/error.h"
#include "core/device/open.h"
#include "platforms/machine_desc.h"

/* *ret is lent until orr_described_leave. Errors: as orr_machine_desc_load, -EINVAL for an edit
 * that cannot be made, -ENOMEM. */
int orr_described_find(const struct orr_machine_options *options,
                       struct orr_machine_desc **ret, struct orr_error *err);
void orr_described_leave(struct orr_machine_desc *desc);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/network_open.h - which network a machine gets.
 */
#pragma once

#include "sim/network.h"

/* Makes the network that ORRERY_SIM_NETWORK names in `choice`: "fluid", "simgrid",
 * or NULL for the first, unless the description sets options that only SimGrid
 * has. Errors: those of the maker; of orr_module_open without the module. */
int orr_network_open(const struct orr_machine_desc *desc, const char *choice,
                     const unsigned *endpoints, unsigned nendpoints,
                     struct orr_network **ret, struct orr_error *err);

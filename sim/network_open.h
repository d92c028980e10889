/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/network_open.h - which network a machine gets, and what contexts run on.
 */
#pragma once

#include <stdbool.h>

#include "sim/network.h"

/* Makes the network that ORRERY_SIM_NETWORK names in `choice`: "fluid", "simgrid",
 * or NULL for the first, unless the description sets options that only SimGrid
 * has. Errors: those of the maker; of orr_module_open without the module. */
int orr_network_open(const struct orr_machine_desc *desc, const char *choice,
                     const unsigned *endpoints, unsigned nendpoints,
                     struct orr_network **ret, struct orr_error *err);

/* Whether that is SimGrid's. */
bool orr_network_is_simgrids(const struct orr_machine_desc *desc, const char *choice);

/* Makes the stacks that ORRERY_SIM_CONTEXTS names in `choice`: "actors", which are
 * made before the network; *ret is NULL for "fibers" or NULL. Errors: as above. */
int orr_stacks_open(const struct orr_machine_desc *desc, const char *choice,
                    const unsigned *endpoints, unsigned nendpoints,
                    size_t stack_size, struct orr_stacks **ret,
                    struct orr_error *err);

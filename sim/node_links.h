/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/node_links.h - the links of a machine whose description has NICs, for a network
 * between nodes. No state.
 */
#pragma once

#include "core/base/error.h"
#include "platforms/machine_desc.h"
#include "sim/cluster/inside.h"

/* `endpoints`: the hosts of the memory nodes, of which the first is main memory. NICs are
 * the hosts NIC0, NIC1 …; without one *ret is NULL. The caller frees it. Errors: -ENOMEM;
 * -EINVAL naming the NIC that has no route from or to main memory. */
int orr_node_links_new(const struct orr_machine_desc *desc, const unsigned *endpoints,
                       unsigned nendpoints, struct orr_inside **ret,
                       struct orr_error *err);
/* Accepts NULL. */
void orr_node_links_free(struct orr_inside *inside);

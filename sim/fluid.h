/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/fluid.h - transfers as flows that share links: each gets its latency, then
 * a rate by weighted max-min fairness over the links of its route.
 *
 * The rate of a flow is its weight times a level; levels rise together, and those
 * of the flows on a link stop when the link is full (progressive filling;
 * Bertsekas and Gallager, Data Networks, 6.5.2). The weight is 1 over the latency
 * of the route, as round trips share a bottleneck, and 1 without latency. These
 * are the dates of SimGrid with the options that StarPU's platforms set, which
 * tests/unit/test-transfers.c holds it to.
 */
#pragma once

#include <stdbool.h>

#include "sim/network.h"

/* As orr_network_new_fn. */
int orr_fluid_new(const struct orr_machine_desc *desc,
                  const unsigned *endpoints, unsigned nendpoints,
                  struct orr_network **ret, struct orr_error *err);

/* The option of the description that this model does not have ("weight-S",
 * "crosstraffic", "TCP-gamma"), NULL when there is none. */
const char *orr_fluid_lacks(const struct orr_machine_desc *desc);

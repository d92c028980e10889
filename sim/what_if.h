/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/what_if.h - speeds of kernels and what-if edits, from the description to
 * core's tables. No state.
 */
#pragma once

#include "core/device/machine.h"
#include "platforms/machine_desc.h"

/* Fills speed, models_of and kernels of a worker that is host `host` of the
 * description. `kind` is the prefix of its name. Errors: -ENOMEM. */
int orr_sim_speeds(const struct orr_host_desc *host, const char *kind,
                   struct orr_machine *machine, unsigned worker);

/* Fills machine->edits. endpoints: the host of each node; hosts: of each
 * worker. Errors: -ENOMEM. */
int orr_sim_edits(const struct orr_machine_desc *desc,
                  const unsigned *endpoints, const unsigned *hosts,
                  struct orr_machine *machine);

/* Fills machine->drawn. Errors: -ENOMEM. */
int orr_sim_drawn(const struct orr_machine_desc *desc, struct orr_machine *machine);

/* Frees kernel_speeds, edits and drawn. */
void orr_sim_what_if_done(struct orr_machine *machine);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/powers.h - what the workers of a simulated machine draw, as its description states it
 * (platforms/power.h), for policies that weigh energy. When the machine is made.
 */
#pragma once

#include "core/device/machine.h"
#include "platforms/machine_desc.h"

/* Fills machine->powers and idle_watts; `hosts`: of each worker. A description without powers
 * leaves them alone. Errors: -ENOMEM. */
int orr_sim_powers(const struct orr_machine_desc *desc, const unsigned *hosts,
                   struct orr_machine *machine);

/* Frees powers. */
void orr_sim_powers_done(struct orr_machine *machine);

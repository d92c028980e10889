/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/links.h - the links of a platform that copies share, for core. No state.
 */
#pragma once

#include "core/device/machine.h"
#include "platforms/machine_desc.h"

/* Fills links and routes of *machine, which orr_links_done frees, also after an
 * error. `costs` false: copies take no time. Errors: -ENOMEM. */
int orr_links_make(const struct orr_machine_desc *desc,
                   const unsigned *endpoints, bool costs,
                   struct orr_machine *machine);
void orr_links_done(struct orr_machine *machine);

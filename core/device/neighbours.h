/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/neighbours.h - the order in which a worker looks at the others,
 * from the distances of their processors. Linked into the library and into
 * sim.so. No state.
 */
#pragma once

#include "core/device/machine.h"

#define ORR_FAR 0xffffffffu /* of workers that have no processor of their own */

/* Fills machine->distances, and machine->neighbours: for each worker itself, then the
 * others, the nearest first; of equally near ones those with the next numbers come first, so that not
 * all begin with the same. `distance` is asked about two different workers.
 * Errors: -ENOMEM; there are none then. */
int orr_neighbours_fill(struct orr_machine *machine,
                        unsigned (*distance)(const void *arg, unsigned a,
                                             unsigned b),
                        const void *arg);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/simgrid_bridge.h - SimGrid as a calculator of transfers.
 *
 * SimGrid's engine runs no actor here: it is advanced explicitly from one date
 * to the next, by the OS thread that opened it, and only while transfers are in
 * flight. Nothing here switches contexts. Times are microseconds of virtual
 * time since the engine was made.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/base/error.h"
#include "platforms/machine_desc.h"

struct orr_simgrid;

/* Builds an engine and its platform from `desc`. `endpoints` are the indices
 * in desc->hosts of the ends of transfers, one per memory node. Both are only
 * read during the call. At most one engine lives at a time. Errors: -ENOMEM;
 * -EBUSY with one alive; -EINVAL with SimGrid's reason. */
int orr_simgrid_new(const struct orr_machine_desc *desc,
                    const unsigned *endpoints, unsigned nendpoints,
                    struct orr_simgrid **ret, struct orr_error *err);

/* Ends the engine with whatever is in flight. Accepts NULL. */
void orr_simgrid_free(struct orr_simgrid *simgrid);

/* Starts a transfer of `bytes` > 0 between two endpoints that a route joins, at
 * date `now_us`: no event may lie before that date. Returns 0 or -EIO with a
 * message; a transfer that has not started has no end. */
int orr_simgrid_start(struct orr_simgrid *simgrid, unsigned src, unsigned dst,
                      size_t bytes, void *cookie, double now_us,
                      struct orr_error *err);

/* The date of SimGrid's next event, infinity when nothing is in flight. An
 * event is not always the end of a transfer. */
double orr_simgrid_next_us(struct orr_simgrid *simgrid);

/* Moves the engine to the next event. */
void orr_simgrid_advance(struct orr_simgrid *simgrid);

/* The cookie of a transfer that has ended, in order of their starts among
 * those that end at one date; NULL when there is none. */
void *orr_simgrid_take_ended(struct orr_simgrid *simgrid);

/* "3.32". A constant. */
const char *orr_simgrid_version(void);

#ifdef __cplusplus
}
#endif

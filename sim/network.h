/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/network.h - what moves transfers over the links of a machine: a table of
 * operations with two makers, our fluid model (fluid.h) and SimGrid
 * (simgrid_network.cpp). A network keeps to the thread that made it, and switches no
 * contexts. Times are microseconds of virtual time.
 */
#pragma once

#include <math.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/base/error.h"
#include "platforms/machine_desc.h"
#include "sim/stacks.h"

struct orr_network;

struct orr_network_ops {
    /* Starts a transfer of `bytes` > 0 between two endpoints, at date `now_us`:
     * no event may lie before that date. Errors: -ENOMEM; -EIO with a message. A
     * transfer that has not started has no end. */
    int (*start)(struct orr_network *network, unsigned src, unsigned dst,
                 size_t bytes, void *cookie, double now_us,
                 struct orr_error *err);
    /* The date of the next event, infinity when nothing is in flight. An event is
     * not always the end of a transfer. On the grid of orr_network_grid. */
    double (*next_us)(struct orr_network *network);
    /* Moves the network to its next event. */
    void (*advance)(struct orr_network *network);
    /* The cookie of a transfer that has ended, in order of their starts among
     * those that end at one date; NULL when there is none. */
    void *(*take_ended)(struct orr_network *network);
    /* Ends it with whatever is in flight. */
    void (*free)(struct orr_network *network);
};

struct orr_network {
    const struct orr_network_ops *ops;
};

/* Builds a network from `desc`. `endpoints` are the indices in desc->hosts of the
 * ends of transfers, one per memory node. Both are only read during the call.
 * Errors: -ENOMEM, others with a message. */
typedef int (*orr_network_new_fn)(const struct orr_machine_desc *desc,
                                  const unsigned *endpoints,
                                  unsigned nendpoints, struct orr_network **ret,
                                  struct orr_error *err);

/* What the module "simgrid" exports. Of each at most one lives at a time, else
 * -EBUSY; -EINVAL with SimGrid's reason. */
struct orr_simgrid_ops {
    orr_network_new_fn make;
    /* Stacks that are actors, of `stack_size` bytes: sim/stacks.h. A network of
     * SimGrid's that is made after them, from the same description, is on the
     * same engine. */
    int (*make_stacks)(const struct orr_machine_desc *desc,
                       const unsigned *endpoints, unsigned nendpoints,
                       size_t stack_size, struct orr_stacks **ret,
                       struct orr_error *err);
};

/* Events less than this apart are one, as SimGrid has it. */
#define ORR_NETWORK_PRECISION_US 1e-3

/* The date on a grid of 2^-20 µs, so that the last bits of sums and quotients
 * decide nothing. */
static inline double orr_network_grid(double date_us)
{
    const double grid = 1 << 20;

    return nearbyint(date_us * grid) / grid;
}

#ifdef __cplusplus
}
#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/cluster/levels.h - how flows share ports: max-min fairness, kept up as flows come
 * and go. No time, no bytes. One thread.
 *
 * A port has a level, the rate that it gives to each of its flows that could have more
 * elsewhere; where it could carry all of its flows as fast as the others let them go, that
 * is its whole capacity. A flow's rate is the lowest level on its route. Levels that fit
 * each other so are the max-min rates, and no others are (Bertsekas & Gallager, Data
 * Networks, 6.5.2: each flow has a port that is full and on which no flow is faster).
 */
#pragma once

#include <stddef.h>

#include "core/base/list.h"

struct orr_levels;

struct orr_hop {
    unsigned port;
    unsigned at; /* its place among the flows of that port */
};

/* What a flow has of its ports; the last member of a flow. Its owner sets limit, nports
 * and the hops' ports, the rest is zero at first. */
struct orr_share {
    struct orr_list link; /* among those that have just entered */
    double limit;         /* bytes per µs that it never exceeds */
    double rate;          /* bytes per µs, of the last settling */
    unsigned nports;
    struct orr_hop hops[]; /* each port once */
};

/* Ports of these capacities, in bytes per µs. A level that would move by no more than
 * `epsilon` of itself is left where it is; 0: rates are exact, to 2^-30 bytes per µs.
 * Errors: -ENOMEM. The caller owns *ret. */
int orr_levels_new(const double *capacities, unsigned nports, double epsilon,
                   struct orr_levels **ret);
void orr_levels_free(struct orr_levels *levels);

/* Adds ports, whose numbers go on behind those that there are. Not while it settles. Errors:
 * -ENOMEM, and all is as it was. */
int orr_levels_add_ports(struct orr_levels *levels, const double *capacities,
                         unsigned nports);

/* A place on its ports for a share that enters later; it is given back when the share
 * leaves, or by orr_levels_unreserve if it has not entered. Errors: -ENOMEM. */
int orr_levels_reserve(struct orr_levels *levels,
                       const struct orr_share *share);
void orr_levels_unreserve(struct orr_levels *levels,
                          const struct orr_share *share);

void orr_levels_enter(struct orr_levels *levels, struct orr_share *share);
void orr_levels_leave(struct orr_levels *levels, struct orr_share *share);

/* What these ports, each once, give one more flow that takes nothing of what the others have
 * and never exceeds `limit`, as of the last settling. */
double orr_levels_offer(const struct orr_levels *levels, const unsigned *ports,
                        unsigned nports, double limit);

/* Finds the rates after all that entered and left. Calls rated(arg, share, rate) for each
 * share whose rate is another one now, before it is stored; in no order. The rates do not
 * depend on the order in which shares entered and left. */
void orr_levels_settle(struct orr_levels *levels,
                       void (*rated)(void *arg, struct orr_share *share,
                                     double rate),
                       void *arg);

/* How often a port's level has been computed so far: the work, for benchmarks. */
unsigned long orr_levels_looks(const struct orr_levels *levels);

/* Bytes of memory that it has. */
size_t orr_levels_bytes(const struct orr_levels *levels);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/cluster/interconnect.h - a network for a number of nodes: its ports, and which of
 * them a message passes. A route is computed by a rule whenever it is asked for; nothing is kept
 * per pair of nodes. Read-only once made.
 *
 * A link has two ports, one per direction, or a single one that both share if it is
 * half duplex. The ports of NICs come first.
 */
#pragma once

#include <stdint.h>

#include "platforms/fabric.h"

/* More levels than that have more ends than there are numbers. */
enum { ORR_INTERCONNECT_MAX_LEVELS = 12 };

struct orr_interconnect;

/* The NIC is chosen by rule: messages between different nodes take different ones. */
#define ORR_ANY_NIC (~0U)

/* Errors: -ENOMEM; -EINVAL where the network cannot have so many nodes, with a
 * message that says what to write instead. The caller owns *ret. */
int orr_interconnect_new(const struct orr_fabric *fabric, unsigned nnodes,
                         struct orr_interconnect **ret, struct orr_error *err);
void orr_interconnect_free(struct orr_interconnect *net);

/* Ports are numbered from 0. */
unsigned orr_interconnect_nports(const struct orr_interconnect *net);

/* The NIC by whose number a message leaves and arrives; `nic` as below. */
unsigned orr_interconnect_nic(const struct orr_interconnect *net, unsigned src,
                              unsigned dst, unsigned nic);

/* Of the longest route, in ports. */
unsigned orr_interconnect_longest(const struct orr_interconnect *net);

/* Writes the ports that a message from node `src` to another one passes, in order, and
 * each once; returns how many. It leaves and arrives by the NICs of that number, or
 * ORR_ANY_NIC. `ports` has room for the longest route. */
unsigned orr_interconnect_route(const struct orr_interconnect *net,
                                unsigned src, unsigned dst, unsigned nic,
                                unsigned *ports);

/* What it would take to build it. */
struct orr_interconnect_shape {
    /* Of the switches; 1, but in fat trees, whose leaves are the first. */
    unsigned nlevels;
    uint64_t switches[ORR_INTERCONNECT_MAX_LEVELS]; /* of each level */
    /* From these to the next level; the last: among its own switches. */
    uint64_t links[ORR_INTERCONNECT_MAX_LEVELS];
    unsigned ports; /* of a switch */
    /* How many links at least lead from one half of the NICs to the other, half of the
     * NICs at most. */
    double bisection;
};

void orr_interconnect_describe(const struct orr_interconnect *net,
                               struct orr_interconnect_shape *ret);

/* Nodes in parts that links between switches keep apart. */
struct orr_interconnect_division {
    unsigned nparts;
    /* Of each part: what enters it passes one of so many of them, and what leaves it one of as
     * many others; if half duplex both pass the same. */
    double links;
};

/* The k-th that the topology suggests, into *ret, and by node the part, from 0. False: it
 * has no more. Those of a fat tree are below the switches of a level, those of a
 * dragonfly its groups, those of a torus halves across each dimension. */
bool orr_interconnect_divide(const struct orr_interconnect *net, unsigned k, unsigned *part,
                             struct orr_interconnect_division *ret);

/* µs of a route of so many ports. */
double orr_interconnect_latency(const struct orr_interconnect *net,
                                unsigned nports);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/cluster/interconnect_private.h - what a kind of topology is: how many links there are
 * between switches, and which a message passes. A rule numbers these links from 0;
 * interconnect.c has the NICs and the ports.
 *
 * An end is a NIC: those of a node have neighbouring numbers. A channel is a link with a
 * direction: 2 × link, + 1 for the way back.
 */
#pragma once

#include "sim/cluster/interconnect.h"

struct orr_topology_rules {
    /* Finds the sizes for `nends` ends: nlinks, longest, and its own member of the
     * union. Errors: -EINVAL with a message. */
    int (*size)(const struct orr_fabric *fabric, struct orr_interconnect *net,
                struct orr_error *err);
    /* Writes the channels from end `src` to end `dst`, returns how many. */
    unsigned (*route)(const struct orr_interconnect *net, unsigned src,
                      unsigned dst, unsigned *channels);
    /* Fills in a shape that is all 0; its bisection as if NICs were no limit. */
    void (*describe)(const struct orr_interconnect *net,
                     struct orr_interconnect_shape *shape);
    /* orr_interconnect_divide. NULL: there are no links between switches. */
    bool (*divide)(const struct orr_interconnect *net, unsigned k, unsigned *part,
                   struct orr_interconnect_division *ret);
};

/* Level 1 is that of the leaves. The parts below the switches of a level have
 * neighbouring ends; each part has several switches of that level, which lead to the
 * same ends. */
struct orr_fat_tree_level {
    uint64_t ends;     /* of a part */
    uint64_t switches; /* of a part */
    uint64_t up;       /* links up from each */
    uint64_t first;    /* of these links */
};

struct orr_interconnect {
    const struct orr_topology_rules *rules;
    unsigned nnodes, nics;
    unsigned nends;   /* nnodes × nics */
    uint64_t nlinks;  /* between switches */
    unsigned longest; /* of their routes, in links */
    bool half_duplex;
    double latency_us, hop_us;
    union {
        struct {
            unsigned nlevels, radix;
            struct orr_fat_tree_level levels[ORR_INTERCONNECT_MAX_LEVELS + 1];
        } fat_tree;
        struct {
            unsigned g, a, p, h;
            unsigned parallel; /* links between two groups */
            uint64_t nlocal;   /* links within groups, which come first */
        } dragonfly;
        struct {
            unsigned ndims, dims[ORR_TORUS_MAX_DIMS];
        } torus;
    } u;
};

extern const struct orr_topology_rules orr_fat_tree_rules, orr_dragonfly_rules,
    orr_torus_rules;

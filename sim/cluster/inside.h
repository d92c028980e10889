/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/cluster/inside.h - the links inside of a node, as ports that messages share with the
 * node's own copies: plain data, filled by sim/node_links.h.
 */
#pragma once

#include <stdbool.h>

/* From one end to another: memory nodes by their numbers, then NICs. */
struct orr_inside_route {
    bool exists;
    unsigned first, nports; /* among `hops` */
    double limit;           /* bytes per µs of one transfer */
    double latency_us;      /* of a copy */
};

struct orr_inside {
    unsigned nports;
    double *capacities; /* bytes per µs */
    unsigned nmemories, nnics;
    struct orr_inside_route *routes; /* a row of destinations per source */
    unsigned *hops;                  /* ports, from 0 on, each once in a route */
};

static inline unsigned orr_inside_nends(const struct orr_inside *inside)
{
    return inside->nmemories + inside->nnics;
}

static inline const struct orr_inside_route *
orr_inside_route(const struct orr_inside *inside, unsigned src, unsigned dst)
{
    return &inside->routes[src * orr_inside_nends(inside) + dst];
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/network.h - the network of a cluster as bounds of its ranks need it: the least
 * time of a message, and the links that divide its nodes. One thread.
 */
#pragma once

#include "bound/ranks.h"
#include "platforms/cluster.h"

struct orr_interconnect;

struct bound_network {
    const struct orr_cluster_desc *cluster; /* borrowed */
    struct orr_interconnect *net;           /* owned, as the next two */
    unsigned *ports;                        /* of a route */
    unsigned *node;                         /* by rank */
    struct orr_bound_cut *cuts; /* owned: the NICs of each node, then what the topology suggests */
    unsigned ncuts;
    double rate; /* bytes per µs that any message has at most */
};

/* Of a cluster that stays. The caller ends *ret with bound_network_done, also after an error:
 * -1, with a message. */
int bound_network_init(const struct orr_cluster_desc *cluster, struct bound_network *ret);
void bound_network_done(struct bound_network *network);

/* What bounds of ranks are given of it; the graphs and messages are the caller's. */
void bound_network_fill(struct bound_network *network, struct orr_bound_ranks *problem);

/* "the NICs of node 3", "the links of nodes 0 to 19". */
void bound_network_part_name(const struct bound_network *network, unsigned cut, unsigned part,
                             char *text, size_t size);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/cluster/messages.h - the network between the nodes of a cluster: a message becomes a
 * flow along its route, after a latency, at a rate that its size may limit. Times are
 * microseconds of virtual time. One thread; switches no contexts.
 */
#pragma once

#include "platforms/fabric.h"
#include "sim/network.h"

struct orr_flow;

struct orr_cluster_message {
    unsigned src, dst; /* nodes, not the same */
    unsigned nic;      /* of both; ORR_ANY_NIC (interconnect.h): by rule */
    size_t bytes;
    void *cookie; /* not NULL */
};

/* Makes the network of so many nodes. `epsilon` as of orr_levels_new (levels.h). Started
 * by its own operations, a message takes any NIC. Errors: those of orr_interconnect_new.
 * The caller owns *ret, and ends it with ops->free. */
int orr_messages_new(const struct orr_fabric *fabric, unsigned nnodes,
                     double epsilon, struct orr_network **ret,
                     struct orr_error *err);

/* Starts a message, as ops->start does; *ret may be given to orr_messages_cancel until it
 * has ended. Errors: -ENOMEM; -EINVAL for nodes that there are not. */
int orr_messages_start(struct orr_network *network,
                       const struct orr_cluster_message *desc, double now_us,
                       struct orr_flow **ret, struct orr_error *err);

/* Takes it out at that date; its cookie is not given back. */
void orr_messages_cancel(struct orr_network *network, struct orr_flow *message,
                         double now_us);

/* Bytes of memory of the network without messages; how often a level was computed. For
 * tests and benchmarks. */
size_t orr_messages_bytes(const struct orr_network *network);
unsigned long orr_messages_looks(const struct orr_network *network);

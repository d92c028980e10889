/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/cluster/messages.h - the network between the nodes of a cluster: a message becomes a
 * flow along its route, after a latency, at a rate that its size may limit. Times are
 * microseconds of virtual time. One thread; switches no contexts.
 */
#pragma once

#include <stdbool.h>

#include "platforms/fabric.h"
#include "sim/cluster/inside.h"
#include "sim/network.h"

struct orr_flow;

struct orr_cluster_message {
    unsigned src, dst; /* nodes; the same where messages in a node take time */
    unsigned nic;      /* of both; ORR_ANY_NIC (interconnect.h): by rule */
    /* Memory nodes that it leaves and reaches, 0 is main memory. Of a node with links;
     * where no route leads from or to its NIC it is main memory, too. */
    unsigned src_memory, dst_memory;
    size_t bytes;
    double delay_us; /* from now until it leaves */
    bool light;      /* few bytes that slow nobody down */
    void *cookie;    /* not NULL */
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

/* From now on messages of the node pass its links, too, as copies inside of it do that are
 * started by orr_messages_start_copy. `inside` is lent until orr_messages_detach, after which
 * messages pass the network alone again. Once per node. Errors: -ENOMEM. */
int orr_messages_attach(struct orr_network *network, unsigned node,
                        const struct orr_inside *inside);
void orr_messages_detach(struct orr_network *network, unsigned node);

/* Whether each NIC of the node, which is attached, has a route from that memory (`leaves`), or
 * to it. */
bool orr_messages_pass(const struct orr_network *network, unsigned node, unsigned memory,
                       bool leaves);

struct orr_node_copy {
    unsigned src, dst; /* memory nodes */
    size_t bytes;
    void *cookie, *owner; /* what its end gives back, not NULL */
};

/* Starts a copy inside of an attached node. Errors: -ENOMEM; -EIO without a route. */
int orr_messages_start_copy(struct orr_network *network, unsigned node,
                            const struct orr_node_copy *copy, double now_us,
                            struct orr_error *err);

/* As ops->take_ended. *ret_owner: of a copy; NULL: it is a message. */
void *orr_messages_take_ended(struct orr_network *network, void **ret_owner);

/* Takes it out at that date; its cookie is not given back. */
void orr_messages_cancel(struct orr_network *network, struct orr_flow *message,
                         double now_us);

/* Bytes of memory of the network without messages; how often a level was computed. For
 * tests and benchmarks. */
size_t orr_messages_bytes(const struct orr_network *network);
unsigned long orr_messages_looks(const struct orr_network *network);

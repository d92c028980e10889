/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/simulated/simulated.h - the transport of ranks whose machines are simulated: contexts
 * of one engine, in one process. Messages take the virtual time of the network between
 * their nodes; README.md says which messages. Equal runs have equal dates.
 */
#pragma once

#include "mpi/transport.h"

struct orr_cluster_ops;
struct orr_cluster_processors;
struct orr_machine;

/* The network between the ranks. */
struct orr_simulated;

/* What its comm_add takes for a communicator. */
struct orr_simulated_comm;

struct orr_simulated_conf {
    unsigned nranks;
    const unsigned *nodes; /* by rank, the node that it is on; NULL: each has its own */
    unsigned nnodes;       /* 0: as few as that takes */
    const char *network;   /* between nodes, in the words of docs/CLUSTERS.md */
    const struct orr_cluster_ops *cluster; /* what simulates it */
    size_t most_values; /* letters of more bytes have theirs not moved; 0: all have */
};

/* A network whose ranks are 0 … nranks - 1, with none of them open, on the engine of the
 * calling context. Errors: -ENOMEM; -EINVAL with a message. The caller frees *ret, when all
 * transports of it are closed, before it closes the engine. */
int orr_simulated_new(const struct orr_simulated_conf *conf, struct orr_simulated **ret,
                      struct orr_error *err);
void orr_simulated_free(struct orr_simulated *net);

/* The machine of a rank: the network may share its links (core/base/cluster.h). Before the
 * rank's transport. Errors: -ENOMEM; others with a message. */
int orr_simulated_attach(struct orr_simulated *net, int rank, struct orr_machine *machine,
                         struct orr_error *err);

/* What the calling context works from now on, and those that it starts, it does on these
 * processors of the rank's node, which others may share; NULL: on one of its own. Errors: -ENOMEM. */
int orr_simulated_seat(struct orr_simulated *net, int rank,
                       const struct orr_cluster_processors *processors);

/* The communicator of all, the network of one, and a new one of n ranks (numbers in that of all, each once),
 * which go with the network. NULL: no memory. */
struct orr_simulated_comm *orr_simulated_world(struct orr_simulated *net);
struct orr_simulated *orr_simulated_network(const struct orr_simulated_comm *comm);
struct orr_simulated_comm *orr_simulated_comm_new(struct orr_simulated *net,
                                                  const int *ranks, int n);

/* How many ranks it has. */
int orr_simulated_comm_size(const struct orr_simulated_comm *comm);

/* The node that a rank of the communicator of all is on. */
unsigned orr_simulated_node_of(const struct orr_simulated *net, int rank);

/* The rank in the communicator of all that rank `rank` of this one is. */
int orr_simulated_world_rank(const struct orr_simulated_comm *comm, int rank);

/* The transport of a rank, which has none yet. The calling context is its owner. NULL: no
 * memory. */
struct orr_transport *orr_simulated_open(struct orr_simulated *net, int rank);

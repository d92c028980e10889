/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/cluster_private.h - what cluster_events.c and cluster_copies.c share. */
#pragma once

#include "core/base/cluster.h"
#include "core/base/list.h"
#include "sim/cluster/messages.h"
#include "sim/exec.h"

struct orr_machine;
struct orr_node_copies;
struct orr_seats;

struct orr_cluster {
    struct orr_sim_events events; /* first */
    struct orr_sim_exec *exec;
    bool owns_exec;
    struct orr_watchdog *watchdog; /* of the engine that it owns; NULL: switched off */
    struct orr_network *network;
    double bandwidth; /* of a NIC, bytes per µs */
    struct orr_cluster_costs costs, inside; /* between nodes; within one */
    bool inside_takes_time;
    bool gpudirect;
    unsigned nnodes;
    struct orr_cluster_post *first, **last; /* that have not started */
    unsigned nusers; /* who has opened it, and machines whose copies it moves */
    struct orr_seats *seats; /* owned */
    bool closed;     /* the first of them has left: messages do not arrive any more */
    struct orr_list attached;    /* struct orr_node_copies, also of machines that have gone */
    struct orr_node_copies **at; /* [nnodes] of machines that are there; NULL: none is */
};

/* Rates may have changed: looks when the next event is. */
void orr_cluster_arm(struct orr_cluster *cluster);

/* One user less; the last one frees it. */
void orr_cluster_leave(struct orr_cluster *cluster);

/* As orr_cluster_ops.attach. */
int orr_cluster_attach(struct orr_cluster *cluster, unsigned node,
                       struct orr_machine *machine, struct orr_error *err);

/* A copy has ended: its machine is told at this date. */
void orr_node_copies_ended(struct orr_node_copies *copies, void *cookie);

/* A message between main memory of the node and its NIC begins, or has ended: kernels have the
 * less of the memory's bandwidth meanwhile. Returns whether it takes any. */
bool orr_node_copies_stream(struct orr_cluster *cluster, unsigned node, bool begins);

/* Those of machines that have gone before their copies ended. */
void orr_node_copies_free_all(struct orr_cluster *cluster);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_ahead.h - the tasks that were submitted and have not ended, as
 * a graph: for policies that look ahead. Any context; the lock's rank is
 * ORR_RANK_RUNTIME.
 */
#pragma once

#include <stdint.h>

struct orr_runtime;

struct orr_graph_ahead_edge {
    uint32_t before; /* index of the node that must end first */
    uint64_t bytes;  /* of the data that cause it, 0: none */
};

struct orr_graph_ahead_node {
    uint64_t job;      /* its id; 0: no task, passes dependencies on */
    uint32_t first, n; /* in edges */
};

/* Nodes come behind all that they wait for. */
struct orr_graph_ahead {
    struct orr_graph_ahead_node *nodes; /* owned */
    struct orr_graph_ahead_edge *edges; /* owned */
    uint32_t nnodes, nedges;
};

/* Records from now on what is submitted, which costs memory for every task until
 * the runtime ends. Errors: -ENOMEM. */
int orr_graph_look_ahead(struct orr_runtime *rt);

/* What there is now; what waits for itself is left out. Errors: -ENOMEM, then
 * *ret is empty. */
int orr_graph_ahead(struct orr_runtime *rt, struct orr_graph_ahead *ret);
void orr_graph_ahead_done(struct orr_graph_ahead *ahead);

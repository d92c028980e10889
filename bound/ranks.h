/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/ranks.h - bounds on the makespan of a program of several ranks, each of which keeps
 * the tasks and data that the program gives it, on nodes with a network between them. No
 * state; any thread. Times are ms, sizes bytes.
 *
 * Every run with that distribution is no shorter than
 *
 * - its critical path: tasks as fast as the fastest worker of their rank, and between the two
 *   ends of a message its latency and what its bytes take of one NIC;
 * - what the workers of a rank have to do, after the earliest date at which it could begin and
 *   before the least time that follows it elsewhere;
 * - what has to enter or leave a node by its NICs, or a part of the network by its links, in
 *   between likewise. A value that tasks of a node need and that was made elsewhere has to
 *   enter once, and to leave the node where it was made once, whoever passes it on: ranks of
 *   the node that share it, trees of ranks and caches are all allowed for.
 *
 * A message counts from the program's first submission on. What was sent before that from no
 * task may have come before; and what no task waits for may come after the last one's end.
 */
#pragma once

#include <stdbool.h>

#include "bound/graph.h"

/* Both ends of a message: tasks of their ranks' graphs. */
struct orr_bound_message {
    unsigned from, sent;   /* rank, task */
    unsigned to, received; /* likewise */
    double bytes;
    bool early; /* of the sender's end */
};

/* The network divided into parts: what enters or leaves one passes its links. */
struct orr_bound_cut {
    unsigned nparts;
    unsigned *part; /* by node: owned by whoever made it, as the next */
    double *rate;   /* by part: bytes per ms that can enter, and as many that can leave */
    bool shared;    /* … both together */
};

struct orr_bound_ranks {
    /* Lent. By rank; NULL: it had no tasks. */
    struct orr_graph *const *graphs;
    const unsigned *node; /* by rank */
    unsigned n, nnodes;
    const struct orr_bound_message *messages;
    unsigned nmessages;
    /* The first has each node as a part of its own. */
    const struct orr_bound_cut *cuts;
    unsigned ncuts;
    /* From when a message could be sent until it has arrived, at least; and until its bytes are
     * on the first link, whichever nodes it is between. */
    double (*least_ms)(void *arg, unsigned from_node, unsigned to_node, double bytes);
    double (*delay_ms)(void *arg, double bytes);
    void *arg;
    double optimism; /* as of struct orr_bound_instance_options */
};

struct orr_bound_rank {
    unsigned ntasks, nworkers; /* 0: it had none */
    double area_ms;            /* its workers with all of its tasks, as if there were no others */
    double ms;                 /* with what is before and after these */
};

/* What has to pass a part of a cut in one direction. */
struct orr_bound_traffic {
    double bytes;
    unsigned nvalues;
    double ms; /* with what is before and after; of a shared cut that of both directions */
};

struct orr_bound_ranks_result {
    struct orr_bound_rank *ranks; /* owned, as the next */
    /* By cut, part and direction: what enters, what leaves. */
    struct orr_bound_traffic **traffic;
    unsigned ncuts;
    double path_ms;
    unsigned path_tasks, path_messages; /* on it; of these between nodes */
    double path_messages_ms;
    bool unknown; /* some time is: it was taken for 0, or left out of an area */
};

/* Errors: -ENOMEM; -EINVAL with a message: messages and dependencies are a cycle, or a rank's
 * tasks have no time. The caller ends *ret with orr_bound_ranks_done, also after an error. */
int orr_bound_ranks_compute(const struct orr_bound_ranks *problem,
                            struct orr_bound_ranks_result *ret, struct orr_error *err);
void orr_bound_ranks_done(struct orr_bound_ranks_result *result);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/cluster.h - inside `orrery bound`: of a program of several ranks on a cluster. The
 * graphs of all, what they sent each other, and the bounds. One thread.
 */
#pragma once

#include "bound/ranks.h"
#include "tools/bound/bound.h"
#include "tools/bound/network.h"

/* The messages of which both ends are known, in order of the tasks that receive them. */
struct bound_messages {
    struct orr_bound_message *all; /* owned, as the next */
    unsigned *first; /* by task of all ranks, one rank's behind the other's, and one more */
    unsigned n;
};

/* Pairs the ends that the graphs of n ranks (NULL: one had no tasks) have. The caller ends *ret
 * with bound_messages_done, also after an error: -ENOMEM. */
int bound_messages_find(struct orr_graph *const *graphs, unsigned n, struct bound_messages *ret);
void bound_messages_done(struct bound_messages *messages);

/* The graphs of n ranks as one without data, whose tasks may run on each rank's workers; ended
 * with orr_graph_free. Errors: -ENOMEM. */
int bounds_join(struct orr_graph *const *graphs, unsigned n,
                const struct bound_messages *messages, struct orr_graph **ret);

/* A bound of tasks, of a rank or of all, by the methods for one machine. */
struct tasks_bound {
    unsigned ntasks, nworkers;
    double ms;                    /* NaN: none */
    enum orr_bound_method method; /* of it */
    bool proved;
};

/* What the highest bound is of where tasks stay where the program puts them. */
enum cluster_limit {
    CLUSTER_NOTHING, /* none is known */
    CLUSTER_PATH,    /* the critical path through all ranks */
    CLUSTER_TASKS,   /* what the workers of a rank have to do, with what is before and after */
    CLUSTER_PATHS,   /* the tasks of a rank, without other ranks */
    CLUSTER_TRAFFIC, /* what has to pass links */
    CLUSTER_ANYWHERE /* it holds for any placement */
};

struct cluster_bounds {
    const struct bound_options *options;
    const char *machine; /* borrowed: the cluster's name */
    unsigned n;          /* ranks */
    struct orr_graph **graphs; /* owned, by rank; NULL: it had no tasks */
    const double *makespans_us; /* by rank; NULL: not known */
    double makespan_us;         /* of all; NaN */
    struct orr_cluster_desc cluster;
    struct bound_network network;
    struct bound_messages messages;
    struct orr_bound_ranks_result result; /* with messages */
    void (*result_done)(struct orr_bound_ranks_result *result); /* NULL: there is none */
    struct tasks_bound *of, anywhere;     /* owned: of each rank without the others */
    double ms; /* the highest; NaN: none */
    bool proved;
    enum cluster_limit limit;
    unsigned rank;      /* whose, of tasks */
    unsigned cut, part; /* which, of traffic … */
    bool leaves;        /* … and in which direction; of half-duplex links in both */
};

/* By how much it is above the bound of any distribution; NaN: not known. */
double bound_ranks_cost(const struct cluster_bounds *c);

/* What has to pass the NICs of a node: [0] enters, [1] leaves. */
const struct orr_bound_traffic *bound_ranks_traffic(const struct cluster_bounds *c,
                                                    unsigned node);

/* What limits, in words: "the NICs of node 3: 12.5 MiB to receive take 1.2 ms of it". */
void bound_ranks_limit(const struct cluster_bounds *c, char *text, size_t size);

/* Errors: -1, with a message. */
int bound_ranks_print(const struct cluster_bounds *c);
int bound_ranks_print_json(const struct cluster_bounds *c);

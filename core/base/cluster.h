/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/cluster.h - the network between the nodes of a simulated cluster, whose machines
 * share one engine: a table that the module "sim" fills. Messages take virtual time; one
 * thread, that of the engine.
 */
#pragma once

#include <stddef.h>

#include "core/base/error.h"

struct orr_cluster;

/* A message on its way. The sender's memory, from send until `arrived` is called. */
struct orr_cluster_post {
    unsigned from, to; /* nodes */
    size_t bytes;      /* at least 1 */
    /* Called once, when all of it is there, on the machine's own stack: it marks and
     * wakes, and may send, but not wait. */
    void (*arrived)(struct orr_cluster_post *post);

    struct orr_cluster_post *next; /* the network's */
};

/* What a cluster is made of. */
struct orr_cluster_nodes {
    unsigned n, ranks_per_node;
    const char *const *machines; /* by node, what ORRERY_MACHINE would be for it */
    const char *network;         /* what `open` takes */
};

struct orr_cluster_ops {
    /* Reads the cluster that a name means: a line, a file, or what is so called where
     * machines are (the directories end with NULL, which they may be). Returns 1 if
     * none is so called: it may be a machine. The caller ends *ret with `forget`. Errors:
     * -ENOMEM, -EINVAL and others of the system, with a message. */
    int (*read)(const char *name, const char *const *sampling_dirs,
                struct orr_cluster_nodes **ret, struct orr_error *err);
    void (*forget)(struct orr_cluster_nodes *nodes);
    /* The network of so many nodes, on the engine of the calling context, which stays
     * open longer. A thread that has none becomes main of a new one, as long as the
     * network is open, and the context that closes it. `text` is its
     * words, as docs/CLUSTERS.md has them. Errors: -ENOMEM, -EAGAIN; -EINVAL with a message. */
    int (*open)(const char *text, unsigned nnodes, struct orr_cluster **ret,
                struct orr_error *err);
    /* Bytes up to which a sender does not ask the receiver. The network asks nobody: who
     * sends more does so by messages. */
    size_t (*eager)(const struct orr_cluster *cluster);
    /* Starts a message, at this date, behind those that were sent before. From a node to
     * itself it takes no time. Any context of the engine, and `arrived`. */
    void (*send)(struct orr_cluster *cluster, struct orr_cluster_post *post);
    /* What is on its way does not arrive. */
    void (*close)(struct orr_cluster *cluster);
};

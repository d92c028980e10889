/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/cluster.h - the network between the nodes of a simulated cluster, whose machines
 * share one engine: a table that the module "sim" fills. Messages take virtual time; one
 * thread, that of the engine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

struct orr_cluster;
struct orr_machine;

/* A message on its way. The sender's memory, from send until `arrived` is called. */
struct orr_cluster_post {
    unsigned from, to; /* nodes */
    size_t bytes;      /* at least 1 */
    unsigned memory;   /* node of the sender's machine that it leaves from; 0: main memory */
    unsigned to_memory; /* likewise of the receiver's, that it comes to */
    double delay_us;   /* from `send` until it leaves; none where it takes no time */
    bool light; /* few bytes, nothing of the application's: it takes as long as the network
                 * has it, but slows no other message down, nor a copy, nor a kernel */
    /* Called once, when all of it is there, on the machine's own stack: it marks and
     * wakes, and may send, but not wait. */
    void (*arrived)(struct orr_cluster_post *post);

    /* The network's. */
    struct orr_cluster_post *next;
    bool streams_from, streams_to; /* it takes of main memory's bandwidth at these ends */
};

/* Processors of a node, by their numbers, that all threads of a rank work on in turns. */
struct orr_cluster_processors {
    unsigned first, n; /* 0: there are enough for each thread to have one */
};

/* Where a rank of a program is, and what its machine is there: values of ORRERY_MACHINE and
 * ORRERY_SET. */
struct orr_cluster_rank {
    unsigned node;
    struct orr_cluster_processors processors; /* if it has one, or a part of one */
    const char *machine, *edits;
};

/* Ranks on a cluster, by their numbers: those of a node follow each other. */
struct orr_cluster_ranks {
    unsigned n, nnodes;
    const struct orr_cluster_rank *at;
    const char *network; /* what `open` takes */
};

/* How messages between two nodes, or two ranks of one, are sent, and what each takes of the
 * processors of its ranks. */
struct orr_cluster_costs {
    size_t eager;          /* bytes up to which a sender does not ask the receiver */
    double send, match;    /* µs */
    double look; /* µs, where a rank has no processor of its own for messages: whenever it
                  * looks whether something has come; 0: it is told */
    double copy; /* µs per byte, of the receiver, for what came before it was asked for */
};

struct orr_cluster_ops {
    /* Reads the cluster that a name means, with what-if edits of it (docs/WHAT_IF.md; NULL:
     * none), whose effect on the network is told: a line, a file, or what is so called where
     * machines are (the directories end with NULL, which they may be). Where several ranks
     * are on a node, each has its share of the processors and of each kind of device.
     * Returns 1 if none is so called: it may be a machine. The caller ends *ret with
     * `forget`. Errors: -ENOMEM, -EINVAL and others of the system, with a message. */
    int (*read)(const char *name, const char *edits, const char *const *sampling_dirs,
                struct orr_cluster_ranks **ret, struct orr_error *err);
    void (*forget)(struct orr_cluster_ranks *ranks);
    /* The network of so many nodes, on the engine of the calling context, which stays
     * open longer. A thread that has none becomes main of a new one, as long as the
     * network is open, and the context that closes it. `text` is its
     * words, as docs/CLUSTERS.md has them. Errors: -ENOMEM, -EAGAIN; -EINVAL with a message. */
    int (*open)(const char *text, unsigned nnodes, struct orr_cluster **ret,
                struct orr_error *err);
    /* The simulated machine of a node, on the same engine. Where its description has NICs,
     * copies in it and messages of the node share its links from now on, until it is closed,
     * before or after the cluster. Of several machines of a node the first one counts. No
     * copy is under way. Errors: -ENOMEM; -EBUSY, -EINVAL with a message. */
    int (*attach)(struct orr_cluster *cluster, unsigned node, struct orr_machine *machine,
                  struct orr_error *err);
    /* What the calling context works from now on, and those that it starts, it does on these
     * processors of the node, in turns with all that were seated on the same ones. Of none it
     * has one for itself, as before. Errors: -ENOMEM. */
    int (*seat)(struct orr_cluster *cluster, unsigned node,
                const struct orr_cluster_processors *processors);
    /* Of messages within a node, or between two. The network charges none of it: who sends
     * and receives does; and it asks nobody: who sends more than is eager does so by
     * messages. */
    struct orr_cluster_costs (*costs)(const struct orr_cluster *cluster, bool inside);
    /* Whether messages of the node may leave from that memory of a device, or else come there:
     * the network's line has "gpudirect", and the machine a route from there to each NIC, or
     * from each NIC to there. */
    bool (*passes)(const struct orr_cluster *cluster, unsigned node, unsigned memory,
                   bool leaves);
    /* Starts a message, at this date, behind those that were sent before. From a node to
     * itself it takes the time of the words "node-...", without these none. Any context of the engine, and `arrived`. */
    void (*send)(struct orr_cluster *cluster, struct orr_cluster_post *post);
    /* What is on its way does not arrive. */
    void (*close)(struct orr_cluster *cluster);
};

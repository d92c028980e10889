/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/fabric.h - a network between nodes, as it is described: what it is made
 * of, not yet for how many nodes. Plain values, no state.
 */
#pragma once

#include <stdbool.h>

#include "core/base/error.h"

enum orr_topology_kind {
    ORR_TOPOLOGY_CROSSBAR, /* one switch, in which nothing is shared */
    ORR_TOPOLOGY_FAT_TREE,
    ORR_TOPOLOGY_DRAGONFLY,
    ORR_TOPOLOGY_TORUS,
};

enum { ORR_TORUS_MAX_DIMS = 6, ORR_FABRIC_MAX_SPEEDS = 8 };

/* How fast messages are by their size, alone: those of `bytes` have `bandwidth`. Between two
 * sizes the time that they take is linear; below the first and beyond the last the bandwidth
 * is that one's. None: nothing but the links limits them. */
struct orr_fabric_speeds {
    struct {
        double bytes, bandwidth; /* the latter in bytes per µs */
    } at[ORR_FABRIC_MAX_SPEEDS];
    unsigned n;
};

/* Between ranks of one node. */
struct orr_fabric_node {
    bool takes_time; /* else messages there take none, and the rest is not said */
    double latency_us;
    struct orr_fabric_speeds speeds;
    double total; /* bytes per µs of all messages in the node together; 0: no limit */
    double eager, send_us, match_us, copy; /* as of the network */
};

struct orr_fabric {
    enum orr_topology_kind kind;
    unsigned nics;     /* of a node */
    double bandwidth;  /* bytes per µs of a NIC, and of each other link */
    double latency_us; /* from node to node through one switch */
    double hop_us;     /* that each further switch adds */
    bool half_duplex;  /* both directions of a link share its bandwidth */
    double eager;      /* bytes; longer messages ask before they are sent */
    bool gpudirect; /* messages may leave from memory of devices, and come there */
    double send_us, match_us; /* of a processor, for each message: see README.md */
    double look_us; /* of one that a rank shares with others: each time that it looks whether
                     * messages have come; 0: it need not look */
    double copy; /* bytes per µs by which the receiver copies what came unexpected; 0: it
                  * takes no time */
    struct orr_fabric_speeds speeds; /* between nodes */
    struct orr_fabric_node node;
    struct {
        unsigned radix;    /* ports of a switch */
        unsigned down, up; /* at the leaves: so many of nodes to so many up */
        unsigned levels;   /* of switches; 0: as few as will do */
    } fat_tree;
    /* Kim, Dally, Scott & Abts, "Technology-driven, highly-scalable dragonfly
     * topology", ISCA 2008; with their letters. Those that are 0 follow from the
     * number of nodes. */
    struct {
        unsigned g; /* groups */
        unsigned a; /* routers of a group */
        unsigned p; /* NICs of a router */
        unsigned h; /* links of a router to other groups */
    } dragonfly;
    struct {
        unsigned ndims, dims[ORR_TORUS_MAX_DIMS];
    } torus;
};

/* Reads "ib 2x200Gb/s fat-tree:32,2:1": words in any order, README.md has them all. It is
 * what follows the nodes of a cluster, behind "16*h100-pcie-4 +". Errors: -ENOMEM;
 * -EINVAL with a message that names the word and what to write. */
int orr_fabric_parse(const char *text, struct orr_fabric *ret,
                     struct orr_error *err);

/* The rate of a message that meets no other, bytes per µs; infinite without speeds. */
double orr_fabric_speed(const struct orr_fabric_speeds *speeds, double bytes);

/* The words of `text` with `words` instead of those that say the same: of a new topology
 * the sizes of the old one go, too, of a new technology the old latencies. What results
 * need not be a network. Owned by the caller; NULL without memory. */
char *orr_fabric_replace(const char *text, const char *words);

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/cluster.h - what a cluster is: nodes, each a machine, and the network between
 * them. Plain values, no state; the machines are named and not read.
 */
#pragma once

#include <stdbool.h>

#include "core/base/error.h"
#include "platforms/fabric.h"

/* Where no network is given: HDR InfiniBand, through one switch. */
#define ORR_CLUSTER_NETWORK "ib 200Gb/s"

#define ORR_CLUSTER_MAX_NODES (1U << 20)

/* Nodes that are alike. */
struct orr_cluster_group {
    unsigned
        n; /* how many; their numbers are behind those of the groups before */
    char *machine; /* what orr_machine_desc_load takes */
};

struct orr_cluster_desc {
    struct orr_cluster_group *groups;
    unsigned ngroups;
    unsigned nnodes; /* of all groups */
    unsigned ranks_per_node;
    char *network;            /* as orr_fabric_parse takes it */
    struct orr_fabric fabric; /* the same, read */
};

/* Whether a text names nodes with a count, "16*h100-pcie-4", which no machine does. */
bool orr_cluster_is(const char *text);

/*
 * Reads "8*hgx-h100-8 + 4*epyc-64 + ib 8x400Gb/s fat-tree:32,2:1": terms with a "+" between
 * them. One with a "*" is nodes, a number of them and what each is; the last one without is
 * the network, ORR_CLUSTER_NETWORK if there is none. Among the network's words may be
 * ranks-per-node=4, 1 without. A name in which there is a "+" or "*" is put in quotation
 * marks.
 *
 * The caller ends *ret with orr_cluster_free. Errors: -ENOMEM; -EINVAL with a message that
 * names the term and what to write; *ret is left alone.
 */
int orr_cluster_read(const char *text, struct orr_cluster_desc *ret,
                     struct orr_error *err);

/* Also of one that is all 0. */
void orr_cluster_free(struct orr_cluster_desc *cluster);

/* The machine of a node, from 0. Borrowed. */
const char *orr_cluster_machine(const struct orr_cluster_desc *cluster,
                                unsigned node);

/* The line that reads as this cluster. Owned by the caller; NULL without memory. */
char *orr_cluster_line(const struct orr_cluster_desc *cluster);

/* Puts `n` nodes more behind the others. Errors: -ENOMEM; -E2BIG: these would be more than
 * ORR_CLUSTER_MAX_NODES. */
int orr_cluster_add(struct orr_cluster_desc *cluster, unsigned n,
                    const char *machine);

/* Makes the words of `network` the network, and takes ranks-per-node= from among them.
 * Errors: -ENOMEM; -EINVAL with a message; the cluster is left alone. */
int orr_cluster_set_network(struct orr_cluster_desc *cluster,
                            const char *network, struct orr_error *err);

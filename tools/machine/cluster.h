/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/cluster.h - clusters in verbs of `orrery machine`: opened whole, with the
 * machines of their nodes and their network. One thread.
 */
#pragma once

#include <stdio.h>

#include "platforms/cluster.h"
#include "platforms/findings.h"
#include "platforms/machine_desc.h"
#include "sim/cluster/interconnect.h"

struct machine_cluster {
    struct orr_cluster_desc desc;
    struct orr_machine_desc **machines; /* of each group */
    struct orr_interconnect *net;
    struct orr_interconnect_shape shape;
    /* Of the routes between nodes, in switches; 0: there is one node alone. */
    unsigned nearest, farthest;
};

/* Opens the cluster that `name` means, edited (tools/common/edits.h; NULL: not). Returns 1 if it is none, and so may be a machine;
 * -1 with a message printed. The caller ends *ret with machine_cluster_close. */
int machine_cluster_open(const char *name, const char *edits,
                         const char *const *sampling_dirs,
                         struct machine_cluster *ret);
/* Also of one that is all 0. */
void machine_cluster_close(struct machine_cluster *cluster);

/* Its name, or else its line; the line. Owned by the caller; NULL without memory. */
char *machine_cluster_name(const struct machine_cluster *cluster);

/* "nodes 0-3", or "node 4", in `text`, which is returned. */
const char *machine_cluster_nodes(const struct machine_cluster *cluster,
                                  unsigned group, char text[48]);

/* What there is in a node, or in several. */
struct machine_amounts {
    double cpus, cuda, opencl;
    double memory, device_memory; /* bytes that are stated */
};

struct machine_amounts
machine_cluster_amounts(const struct orr_machine_desc *node);
/* Of all nodes together. */
struct machine_amounts
machine_cluster_total(const struct machine_cluster *cluster);

/* µs from a node to another one through so many switches. */
double machine_cluster_latency(const struct machine_cluster *cluster,
                               unsigned nswitches);

/* Bytes per second of a link, and between two halves of the nodes; how many times more
 * these could send, at least 1. */
double machine_cluster_link_rate(const struct machine_cluster *cluster);
double machine_cluster_bisection(const struct machine_cluster *cluster);
double machine_cluster_oversubscription(const struct machine_cluster *cluster);

/* "fat tree"; static. */
const char *machine_topology_name(enum orr_topology_kind kind);

/* Prints the clusters that have files, or adds them to the array `json` unless that is
 * NULL. Errors: -ENOMEM. */
struct json_t;
int machine_cluster_list(const char *const *sampling_dirs, struct json_t *json);

/* Writes its picture as SVG. A write error shows in ferror(out). Fails with -ENOMEM
 * only. */
int machine_cluster_picture(const struct machine_cluster *cluster, FILE *out);

/* Adds what is wrong with it to *findings, the worst first. Errors: -ENOMEM. */
int machine_cluster_examine(const struct machine_cluster *cluster,
                            struct orr_findings *findings,
                            struct orr_error *err);

/* Describes it on stdout. Errors are printed: -ENOMEM, -EIO. */
int machine_cluster_show(const struct machine_cluster *cluster, bool json);

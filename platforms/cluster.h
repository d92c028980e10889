/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/cluster.h - what a cluster is: nodes, each a machine, and the network between
 * them. Plain values, no state; the machines are named and not read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/base/error.h"
#include "platforms/fabric.h"

/* Where no network is given: HDR InfiniBand, through one switch. */
#define ORR_CLUSTER_NETWORK "ib 200Gb/s"

/* Together, ranks have numbers that an int can hold. */
#define ORR_CLUSTER_MAX_NODES (1U << 20)
#define ORR_CLUSTER_MAX_RANKS 1024U /* of a node */

/* Nodes that are alike. */
struct orr_cluster_group {
    unsigned
        n; /* how many; their numbers are behind those of the groups before */
    char *machine; /* what orr_machine_desc_load takes … */
    char *edits;   /* … and then orr_machine_desc_edit; NULL: none */
};

struct orr_edit_echo; /* platforms/edit.h */

/* How the figures of a network were measured (orrery calibrate network). */
struct orr_cluster_measured {
    double ranks, hosts, repetitions; /* the latter 0: they were not */
    double spread;    /* the widest of half of the samples, of their median */
    double asymmetry; /* by how much one direction was faster than the other */
    double incast; /* what all ranks sent to one, of what one sends; 0: not measured */
    double share;  /* of a processor, which a thread that computes had; 0: not known */
};

struct orr_cluster_desc {
    /* Of the file, and of the property "description" in it; NULL: none. */
    char *name, *description;
    struct orr_cluster_group *groups;
    unsigned ngroups;
    unsigned nnodes; /* of all groups */
    unsigned ranks_per_node;
    struct orr_cluster_measured measured;
    char *network;            /* as orr_fabric_parse takes it */
    struct orr_fabric fabric; /* the same, read */
    /* The effects of orr_cluster_edit on the network, in order. Not written. */
    struct orr_edit_echo *edits;
    unsigned nedits;
};

/* Whether a text is a cluster's alone: it names nodes with a count, "16*h100-pcie-4", or
 * ends in .cluster.xml. */
bool orr_cluster_is(const char *text);

/* Reads the cluster that `name` means: a line, as orr_cluster_read has it; the path of a
 * cluster's file; or NAME where there is a NAME.cluster.xml here or in the bus/ of one of
 * `sampling_dirs` (NULL-terminated, may be NULL). Returns 1 if it is no cluster, so that it
 * may be a machine. The caller ends *ret with orr_cluster_free. Errors: those of
 * orr_cluster_read and of orr_cluster_parse; of the system, with a message. */
int orr_cluster_load(const char *name, const char *const *sampling_dirs,
                     struct orr_cluster_desc *ret, struct orr_error *err);

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

/* The group of a node, from 0; its machine. Borrowed. */
const struct orr_cluster_group *
orr_cluster_group(const struct orr_cluster_desc *cluster, unsigned node);
const char *orr_cluster_machine(const struct orr_cluster_desc *cluster,
                                unsigned node);

/* The line that reads as this cluster, but for edits of nodes. Owned by the caller; NULL without memory. */
char *orr_cluster_line(const struct orr_cluster_desc *cluster);

/* Prints the words of the network, with ranks-per-node= among them. */
void orr_cluster_print_network(const struct orr_cluster_desc *cluster,
                               FILE *out);

/* Puts `n` nodes more behind the others. Errors: -ENOMEM; -E2BIG: these would be more than
 * ORR_CLUSTER_MAX_NODES. */
int orr_cluster_add(struct orr_cluster_desc *cluster, unsigned n,
                    const char *machine);

/* Makes the words of `network` the network, and takes ranks-per-node= from among them.
 * Errors: -ENOMEM; -EINVAL with a message; the cluster is left alone. */
int orr_cluster_set_network(struct orr_cluster_desc *cluster,
                            const char *network, struct orr_error *err);

/* ---- files ---- */

/* Reads what stands in a file of a cluster (platforms/README.md). `path` serves for the
 * name, for messages, and for paths of machines, which are relative to it. The caller ends
 * *ret with orr_cluster_free. Errors: -ENOMEM; -EINVAL with file:line, element and reason. */
int orr_cluster_parse(const char *path, const void *text, size_t size,
                      struct orr_cluster_desc *ret, struct orr_error *err);

/* Prints a file that reads as this cluster, if its paths of machines are right where it
 * lies. A write error shows in ferror(out). */
void orr_cluster_print_xml(const struct orr_cluster_desc *cluster, FILE *out);

/* Visits the files of clusters in the bus/ of each sampling directory that
 * orr_cluster_load finds by name alone, sorted within each. Ends early with what `visit`
 * returned when that is not 0. Errors: -ENOMEM. */
int orr_cluster_list(const char *const *sampling_dirs,
                     int (*visit)(const char *name, const char *path,
                                  void *arg),
                     void *arg);

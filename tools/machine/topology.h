/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/topology.h - a machine from hwloc's XML and `nvidia-smi topo
 * -m`, as a plan. One thread.
 */
#pragma once

#include "tools/machine/plan.h"

/* The options; borrowed, NULL: not given. */
struct machine_topology_options {
    const char *name;
    const char *hwloc;  /* file that lstopo --of xml wrote */
    const char *nvidia; /* file with the output of nvidia-smi topo -m */
    const char *gpu;    /* model, when hwloc does not know */
    const char *pcie;   /* generation, when hwloc does not know */
};

/* Reads them. *ret is ended with machine_plan_done. Errors are printed: with
 * file, line and reason for what cannot be parsed. */
int machine_topology_read(const struct machine_topology_options *options,
                          struct machine_plan *ret);

/* -- nvidia-smi topo -m -- */

/* The nearest thing that two devices have in common. */
enum nvidia_relation {
    NVIDIA_SELF,
    NVIDIA_PIX,  /* one PCIe bridge */
    NVIDIA_PXB,  /* several PCIe bridges */
    NVIDIA_PHB,  /* the processor's PCIe host bridge */
    NVIDIA_NODE, /* the links within a NUMA node */
    NVIDIA_SYS,  /* the links between NUMA nodes */
    NVIDIA_NV,   /* NVLink: `links` of them */
};

struct nvidia_cell {
    enum nvidia_relation relation;
    unsigned links;
};

struct nvidia_topology {
    unsigned n;                /* devices */
    struct nvidia_cell *cells; /* owned; n × n */
    int *numa;                 /* owned; per device its node, -1: unknown */
};

/* Reads the text of the file `path`. *ret is ended with nvidia_topology_done.
 * Errors are printed: -EINVAL with path and line, -ENOMEM. */
int nvidia_topology_parse(const char *path, const char *text,
                          struct nvidia_topology *ret);
void nvidia_topology_done(struct nvidia_topology *topology);

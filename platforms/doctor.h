/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/doctor.h - finds what is wrong with the bus parameters of a
 * machine: a link without a value, a device on a narrow slot, memory that was
 * not pinned. Schedulers predict transfers with these, and a wrong one may cost
 * a factor of ten unnoticed. No state, any thread.
 */
#pragma once

#include <stdbool.h>

#include "core/base/error.h"
#include "platforms/findings.h"

struct orr_machine_desc;
struct orr_bus_shape; /* platforms/bus_files.h */

enum orr_doctor_kind {
    ORR_DOCTOR_RAM,
    ORR_DOCTOR_CUDA,
    ORR_DOCTOR_OPENCL,
};

struct orr_doctor_node {
    enum orr_doctor_kind kind;
    char name[24]; /* "RAM", "CUDA 1" */
};

/* Borrowed for the call. Matrices are row-major nnodes × nnodes, source first;
 * MB/s and µs; NaN is unknown; the diagonal is ignored. */
struct orr_doctor_input {
    unsigned nnodes;
    const struct orr_doctor_node *nodes; /* nnodes; node 0 is main memory */
    const double *bandwidth, *latency;
    bool measured; /* the values come from files, not from a platform */
    /* Whether copies go straight from one to the other; NULL: not known. Pairs
     * of devices that have no direct link need no values. */
    const bool *direct;
    /* The values from the routes of the platform file, or NULL. */
    const double *platform_bandwidth, *platform_latency;
    /* Sizes of the two files; NULL: not known. */
    const struct orr_bus_shape *bandwidth_shape, *latency_shape;
    /* The counts of the .config file, -1: not known. Nodes are all memories
     * together, devices those that the platform file must have. */
    int config_nodes, config_cpus, config_cuda, config_opencl;
    /* The counts of the platform file, -1: there is none. */
    int platform_cpus, platform_cuda, platform_opencl;
};

/* Adds what is wrong to *findings, errors first; they have no place. Errors:
 * -ENOMEM; *findings then holds what was found until then. */
int orr_doctor_examine(const struct orr_doctor_input *input,
                       struct orr_findings *findings);

/* Adds what the CPUs' places contradict: locality.h. Errors: -ENOMEM. */
int orr_doctor_examine_cpus(const struct orr_machine_desc *desc,
                            struct orr_findings *findings);

/* Adds what is wrong with the routes of a machine that has several main
 * memories, RAM0, RAM1 …, between each two of them and between each and each
 * device: schedulers use these when STARPU_USE_NUMA is 1. Of other machines it
 * finds nothing. Errors: -ENOMEM. */
int orr_doctor_examine_memories(const struct orr_machine_desc *desc,
                                struct orr_findings *findings);

/* Of a link's bandwidth: the relative range of the medians that it was measured by. */
#define ORR_PROP_LINK_SPREAD "orrery-spread"

/* From this spread on a figure is no measure of the machine. */
#define ORR_DOCTOR_SPREAD 0.5

/* Adds figures that were measured with such a spread. Errors: -ENOMEM. */
int orr_doctor_examine_spreads(const struct orr_machine_desc *desc,
                               struct orr_findings *findings);

/* All of these for a machine by name: one that orr_machine_desc_load knows, or a host
 * of which the bus/ of a sampling directory has .bandwidth, .latency and
 * .config files. Files that cannot be read are findings. `sampling_dirs` is
 * NULL-terminated and may be NULL. Errors: -ENOENT no such machine, with a
 * message that names those known; -ENOMEM. */
int orr_doctor_examine_machine(const char *name,
                               const char *const *sampling_dirs,
                               struct orr_findings *findings,
                               struct orr_error *err);

/* The same for a description in memory, which what-if edits have changed; its
 * bus parameters are those of the routes afterwards. Errors: -ENOMEM. */
int orr_doctor_examine_desc(struct orr_machine_desc *desc,
                            struct orr_findings *findings,
                            struct orr_error *err);

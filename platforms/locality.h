/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/locality.h - which CPUs, memory and devices belong to which NUMA
 * node and package, by the properties of a description (platforms/README.md).
 * One thread per description.
 */
#pragma once

#include "platforms/machine_desc.h"

/* The caches that are looked for are L1 to L5. */
#define ORR_CACHE_LEVELS 5

struct orr_locality_node {
    unsigned number;
    int host;      /* RAM<number>, -1: the description has no such host */
    double memory; /* bytes, 0: not stated */
    unsigned ncpus;
    int package; /* that its CPUs are in, -1: not stated, or several */
    /* Of its first CPU, bytes, 0: not stated; [0] is L1. */
    double caches[ORR_CACHE_LEVELS];
};

struct orr_locality {
    struct orr_locality_node *nodes; /* owned; ascending numbers */
    unsigned nnodes;                 /* at least 1 */
    /* Several main memories, RAM0…: devices then have a home among them. */
    bool memories;
};

/* Determines it. A machine of which nothing is stated has one node, with all
 * its CPUs. *ret is ended with orr_locality_done. Fails with -ENOMEM only. */
int orr_locality_init(const struct orr_machine_desc *desc,
                      struct orr_locality *ret);
void orr_locality_done(struct orr_locality *locality);

/* The value of a property of a host as a whole number or size, -1 without. */
double orr_host_desc_value(const struct orr_host_desc *host, const char *id);

/* The NUMA node of a CPU or device, 0 without. */
unsigned orr_host_desc_numa(const struct orr_host_desc *host);

/* Where a CPU is: the processor it belongs to, the NUMA node next to it, the
 * third-level cache that it shares, counted from 0 on the whole machine. */
#define ORR_PROP_PACKAGE "package"
#define ORR_PROP_NUMA    "numa"
#define ORR_PROP_L3      "l3"

/* Of RAM0: 1, it is a file system that hosts share, which are the other main memories. Main
 * memory is then several nodes in any case. */
#define ORR_PROP_STORAGE "orrery-storage"

/* Of the other ones: bytes that tasks which say what memory they need may take there at one
 * time. */
#define ORR_PROP_TASK_MEMORY "orrery-task-memory"

/* Whether the description has such a file system. */
bool orr_machine_desc_has_storage(const struct orr_machine_desc *desc);

/* Whether any CPU says where it is. */
bool orr_machine_desc_places_cpus(const struct orr_machine_desc *desc);

/* The numbers of these of one host, each -1 where it does not say. */
struct orr_cpu_place {
    double package, l3;
    unsigned numa; /* 0 where it does not say */
    bool is_cpu;
};

struct orr_cpu_place orr_host_desc_place(const struct orr_host_desc *host);

/* How far two CPUs are from each other: 0 with the same cache, 1 with the same
 * NUMA node, 2 with the same package, else 3. A property that one of them does
 * not state counts as common. */
unsigned orr_cpu_distance(const struct orr_cpu_place *a,
                          const struct orr_cpu_place *b);

/* The host that is the main memory next to a device: RAM<numa> where main
 * memory is several nodes, else RAM; -1 without. */
int orr_machine_desc_home(const struct orr_machine_desc *desc,
                          const struct orr_host_desc *device);

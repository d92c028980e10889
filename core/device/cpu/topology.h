/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/topology.h - the processors and memories that this process
 * may use, and which of them workers take. Used while a machine is opened;
 * what is opened is then only read, so that any thread may allocate.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

struct orr_topology;

/* Where the topology comes from; all zero: from this machine, or from what
 * hwloc's own variables (HWLOC_SYNTHETIC, HWLOC_XMLFILE) say. */
struct orr_topology_input {
    const char *synthetic; /* a synthetic machine in hwloc's notation */
    const char *xml;       /* hwloc's XML file */
    bool ignore_affinity;  /* include what the calling thread may not use */
    bool devices;          /* hwloc looks for them, which takes longer */
    bool bus;              /* for what is on the PCI bus only */
    const char *root;      /* stands before the system's files, NULL: "" */
};

/* Reads the topology. Without hwloc, or when hwloc knows no processor of this
 * machine, it is the kernel's affinity mask. Errors: -ENOMEM; -ENODEV, -EINVAL
 * with a message. *ret is ended by orr_topology_close. */
int orr_topology_open(const struct orr_topology_input *input,
                      struct orr_topology **ret, struct orr_error *err);
void orr_topology_close(struct orr_topology *topology);

/* Whether its numbers are those of this machine: threads can be bound. */
bool orr_topology_is_here(const struct orr_topology *topology);

/* One logical processor. */
struct orr_cpu {
    int number;        /* the kernel's, for binding */
    unsigned rank;     /* 0 for the first processor of its core, then 1, … */
    unsigned core;     /* its core's position in the topology */
    unsigned node;     /* index of its memory, see orr_topology_memories */
    unsigned position; /* in the topology; users give it, as StarPU's */
};

struct orr_cpus {
    unsigned n;
    struct orr_cpu *cpus; /* owned, in the order of the topology */
    unsigned nall, ncores; /* of the machine, also those we may not use */
    unsigned quota;       /* as many can compute at once, 0: all */
};

/* The processors that may be used. Errors: -ENOMEM, -ENODEV with a message. The
 * caller ends *ret with orr_cpus_done. */
int orr_topology_cpus(const struct orr_topology *topology, struct orr_cpus *ret,
                      struct orr_error *err);

/* All in one: opens, queries and closes. `synthetic` may be NULL. */
int orr_cpus_find(const char *synthetic, struct orr_cpus *ret,
                  struct orr_error *err);

/* The same from the kernel, without cores. */
int orr_cpus_from_affinity(struct orr_cpus *ret, struct orr_error *err);

void orr_cpus_done(struct orr_cpus *cpus);

/* Whole pages anywhere, NULL without memory; free() them. */
void *orr_pages_alloc(size_t size);

/* A NUMA node. */
struct orr_memory {
    int number;  /* the kernel's */
    size_t size; /* bytes that may be used, 0: unknown */
};

/* The memories that may be used, in the order of the topology; at least one.
 * Lent. */
unsigned orr_topology_memories(const struct orr_topology *topology,
                               const struct orr_memory **ret);

/* Bytes of main memory in all that a control group leaves to this process, 0:
 * no limit but what there is. Each memory's size is its share then. */
size_t orr_topology_limit(const struct orr_topology *topology);

/* The hwloc topology, for callers that need more of it than there is here; NULL
 * where hwloc found nothing, and in builds without. Lent. */
struct hwloc_topology *orr_topology_hwloc(const struct orr_topology *topology);

/* What hwloc calls processors: a new set with the one of the kernel's number
 * `cpu`, or with all for -1, for the caller; and the object of one, lent, or
 * that of the machine for -1. NULL as above. */
struct hwloc_bitmap_s *orr_topology_set(const struct orr_topology *topology,
                                        int cpu);
struct hwloc_obj *orr_topology_processor(const struct orr_topology *topology,
                                         int cpu);

/* Whether the processor with the kernel's number `cpu` is next to the memory
 * `node`. It may be next to several. */
bool orr_topology_is_near(const struct orr_topology *topology, int cpu,
                          unsigned node);

/* Whether it knows the device at that PCI address, "3b:00.0" or with a domain, if it was
 * opened with `bus` or `devices`; and whether the processor with the kernel's number
 * `cpu` is near it. */
bool orr_topology_knows_bus(const struct orr_topology *topology,
                            const char *bus);
bool orr_topology_is_near_bus(const struct orr_topology *topology, int cpu,
                              const char *bus);

/* Which object of hwloc's type the processor with the kernel's number `cpu` is in, from
 * 0; UINT_MAX for none, and in builds without hwloc. */
unsigned orr_topology_object(const struct orr_topology *topology, int type,
                             int cpu);

/* How far apart two processors are, by the kernel's numbers: 0 for one and the
 * same, less for those that share a core than for those that share a cache, and
 * so on by NUMA node and package. Comparable for the same `cpu` only. UINT_MAX
 * for one that is not there, and in builds without hwloc. */
unsigned orr_topology_distance(const struct orr_topology *topology, int cpu,
                               int other);

/* On which memories pages of these bytes are, a bit for each of the first 63; -1: it is
 * not known. */
long orr_topology_located(const struct orr_topology *topology,
                          const void *address, size_t size);

/* Memory in whole pages on the memory `node`, NULL without. *bound says whether
 * it is there, as it always is where there is one memory; else it lies where
 * the system puts it. */
void *orr_topology_alloc(const struct orr_topology *topology, unsigned node,
                         size_t size, bool *bound);
void orr_topology_free(const struct orr_topology *topology, void *address,
                       size_t size);

/* The user's options for the placement of workers. */
struct orr_cpu_request {
    const char *cpus; /* list of positions in the topology, "0 2 4-7", or "4-" for those
                       * from there on that may be used */
    const char *cores; /* the same of cores; `cpus` goes before it */
    unsigned per_core; /* workers per core, 0 is 1 */
    int avoid;         /* core left free unless it is listed, -1: none */
};

/* Which processors workers take, in order, and how many workers there are by
 * default. */
struct orr_cpu_choice {
    unsigned n, usual;
    struct orr_cpu *cpus; /* owned; free() it */
};

/* Chooses. Without a list: the first processors of each core, as many as there
 * are workers per core, then the others; as many workers as the first ones, or
 * as the quota allows. With a list, as many as it names. Errors: -ENOMEM,
 * -EINVAL with a message for a list that is malformed or names what does not
 * exist or may not be used, -ENODEV when nothing is left. */
int orr_cpus_choose(const struct orr_cpus *cpus,
                    const struct orr_cpu_request *request,
                    struct orr_cpu_choice *ret, struct orr_error *err);

/* The processor at a position of the topology, or the first one of the core there that may
 * be used; lent in *ret. `setting` is what names it, for messages. Errors: -EINVAL with a
 * message, which tells what is not there from what may not be used. */
int orr_cpus_at(const struct orr_cpus *cpus, bool core, unsigned position,
                const char *setting, const struct orr_cpu **ret, struct orr_error *err);

/* The processor of `worker` in starpu_conf.workers_bindid. As orr_cpus_at. */
int orr_cpus_bindid(const struct orr_cpus *cpus, const unsigned *bindid, unsigned worker,
                    const struct orr_cpu **ret, struct orr_error *err);

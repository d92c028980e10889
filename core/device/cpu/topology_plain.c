/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/cpu/topology_plain.c - topology.h for builds without hwloc: the
 * processors that the kernel names and one memory. */
#include "core/device/cpu/topology.h"

#include "core/device/cpu/topology_private.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct orr_topology {
    struct orr_memory memory;
    bool all; /* whatever the calling thread may use */
    unsigned quota;
    size_t limit;
};

int orr_topology_open(const struct orr_topology_input *input,
                      struct orr_topology **ret, struct orr_error *err)
{
    struct orr_topology *topology;
    struct orr_cgroup limits;

    if (input && (input->synthetic || input->xml))
        return orr_fail(err, -ENODEV,
                        "synthetic machines (STARPU_HWLOC_INPUT) need a build with hwloc: "
                        "install it (Debian: libhwloc-dev), configure with -Dhwloc=enabled");
    topology = calloc(1, sizeof(*topology));
    if (!topology)
        return -ENOMEM;
    topology->all = input && input->ignore_affinity;
    limits = orr_cgroup_read(input && input->root ? input->root : "");
    topology->quota = orr_cpus_quota(&limits);
    topology->limit = orr_memories_limit(&limits, 1, &topology->memory);
    *ret = topology;
    return 0;
}

void orr_topology_close(struct orr_topology *topology)
{
    free(topology);
}

bool orr_topology_is_here(const struct orr_topology *topology)
{
    (void)topology;
    return true;
}

/* All that the kernel has, whatever this thread may use. */
static int list_configured(struct orr_cpus *ret)
{
    long configured = sysconf(_SC_NPROCESSORS_CONF);
    unsigned n = configured > 0 ? (unsigned)configured : 1;
    struct orr_cpu *cpus = calloc(n, sizeof(*cpus));

    if (!cpus)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++)
        cpus[i] = (struct orr_cpu){.number = (int)i, .core = i, .position = i};
    *ret = (struct orr_cpus){.n = n, .cpus = cpus, .nall = n, .ncores = n};
    return 0;
}

int orr_topology_cpus(const struct orr_topology *topology, struct orr_cpus *ret,
                      struct orr_error *err)
{
    int rc = topology->all ? list_configured(ret) : orr_cpus_from_affinity(ret, err);

    if (rc == 0)
        ret->quota = topology->quota;
    return rc;
}

unsigned orr_topology_memories(const struct orr_topology *topology,
                               const struct orr_memory **ret)
{
    *ret = &topology->memory;
    return 1;
}

size_t orr_topology_limit(const struct orr_topology *topology)
{
    return topology->limit;
}

struct hwloc_topology *orr_topology_hwloc(const struct orr_topology *topology)
{
    (void)topology;
    return NULL;
}

struct hwloc_bitmap_s *orr_topology_set(const struct orr_topology *topology,
                                        int cpu)
{
    (void)topology;
    (void)cpu;
    return NULL;
}

struct hwloc_obj *orr_topology_processor(const struct orr_topology *topology,
                                         int cpu)
{
    (void)topology;
    (void)cpu;
    return NULL;
}

long orr_topology_located(const struct orr_topology *topology,
                          const void *address, size_t size)
{
    (void)topology;
    (void)address;
    (void)size;
    return -1;
}

bool orr_topology_is_near(const struct orr_topology *topology, int cpu,
                          unsigned node)
{
    (void)topology;
    (void)cpu;
    (void)node;
    return true;
}

bool orr_topology_knows_bus(const struct orr_topology *topology,
                            const char *bus)
{
    (void)topology;
    (void)bus;
    return false;
}

bool orr_topology_is_near_bus(const struct orr_topology *topology, int cpu,
                              const char *bus)
{
    (void)topology;
    (void)cpu;
    (void)bus;
    return false;
}

unsigned orr_topology_object(const struct orr_topology *topology, int type,
                             int cpu)
{
    (void)topology;
    (void)type;
    (void)cpu;
    return UINT_MAX;
}

unsigned orr_topology_distance(const struct orr_topology *topology, int cpu,
                               int other)
{
    (void)topology;
    (void)cpu;
    (void)other;
    return UINT_MAX;
}

void *orr_topology_alloc(const struct orr_topology *topology, unsigned node,
                         size_t size, bool *bound)
{
    (void)topology;
    (void)node;
    *bound = true;
    return orr_pages_alloc(size);
}

void orr_topology_free(const struct orr_topology *topology, void *address,
                       size_t size)
{
    (void)topology;
    (void)size;
    free(address);
}

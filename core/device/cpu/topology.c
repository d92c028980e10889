/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/topology.c - processors and their cores as hwloc sees them,
 * for builds with hwloc. See topology.h.
 */
#include "core/device/cpu/topology.h"

#include <errno.h>
#include <hwloc.h>
#include <stdbool.h>
#include <stdlib.h>

static int load(const char *synthetic, hwloc_topology_t *ret)
{
    hwloc_topology_t topology;

    if (hwloc_topology_init(&topology) < 0)
        return -ENOMEM;
    if (synthetic && hwloc_topology_set_synthetic(topology, synthetic) < 0)
        goto destroy;
    if (hwloc_topology_load(topology) < 0)
        goto destroy;
    *ret = topology;
    return 0;

destroy:
    hwloc_topology_destroy(topology);
    return -ENODEV;
}

/* What the container and the affinity of this thread leave of the machine.
 * The caller frees the set; NULL without memory. */
static hwloc_bitmap_t allowed(hwloc_topology_t topology)
{
    hwloc_bitmap_t set =
        hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();

    if (set && bound && hwloc_topology_is_thissystem(topology) &&
        hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_THREAD) == 0 &&
        hwloc_bitmap_intersects(set, bound))
        hwloc_bitmap_and(set, set, bound);
    hwloc_bitmap_free(bound);
    return set;
}

/* The core above a processor, or the processor where cores are unknown. */
static hwloc_obj_t core_of(hwloc_topology_t topology, hwloc_obj_t pu)
{
    hwloc_obj_t core =
        hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);

    return core ? core : pu;
}

/* What the bus files count, whatever this process may use of it. */
static void count_all(hwloc_topology_t topology, struct orr_cpus *ret)
{
    int ncores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    int nmemories = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);

    if (ncores <= 0)
        ncores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    ret->ncores = ncores > 0 ? (unsigned)ncores : 1;
    ret->nmemories = nmemories > 0 ? (unsigned)nmemories : 1;
}

static int collect(hwloc_topology_t topology, hwloc_const_bitmap_t set,
                   struct orr_cpus *ret)
{
    int n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    struct orr_cpu *cpus = n > 0 ? calloc((size_t)n, sizeof(*cpus)) : NULL;
    hwloc_obj_t last_core = NULL, pu = NULL;
    unsigned kept = 0, rank = 0;

    if (!cpus)
        return n > 0 ? -ENOMEM : -ENODEV;
    while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
        hwloc_obj_t core = core_of(topology, pu);

        if (!hwloc_bitmap_isset(set, pu->os_index))
            continue;
        rank = core == last_core ? rank + 1 : 0;
        last_core = core;
        cpus[kept++] = (struct orr_cpu){(int)pu->os_index, rank};
    }
    if (kept == 0) {
        free(cpus);
        return -ENODEV;
    }
    *ret = (struct orr_cpus){.n = kept, .cpus = cpus};
    count_all(topology, ret);
    return 0;
}

int orr_cpus_find(const char *synthetic, struct orr_cpus *ret,
                  struct orr_error *err)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t set;
    int rc = load(synthetic, &topology);

    if (rc == -ENOMEM)
        return rc;
    if (rc < 0)
        return synthetic
                   ? orr_fail(err, rc, "hwloc cannot make \"%s\"", synthetic)
                   : orr_cpus_from_affinity(ret, err);
    set = allowed(topology);
    rc = set ? collect(topology, set, ret) : -ENOMEM;
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
    if (rc == -ENODEV && !synthetic)
        return orr_cpus_from_affinity(ret, err);
    return rc;
}

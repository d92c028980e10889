/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/cpu/memories.c - see memories.h; for builds with hwloc. */
#include "core/device/cpu/memories.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>

/* The processors that the calling thread may use; NULL without memory. */
static hwloc_bitmap_t usable(hwloc_topology_t topology)
{
    hwloc_bitmap_t set =
        hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();

    if (set && bound &&
        hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_THREAD) == 0)
        hwloc_bitmap_and(set, set, bound);
    hwloc_bitmap_free(bound);
    return set;
}

/* On a made-up machine there is nothing to bind to: no processors. */
static int fill_node(hwloc_topology_t topology, hwloc_const_bitmap_t set,
                     hwloc_obj_t node, struct orr_memory *ret)
{
    hwloc_bitmap_t near = hwloc_bitmap_dup(node->cpuset);
    unsigned cpu;
    int n;

    if (!near)
        return -ENOMEM;
    hwloc_bitmap_and(near, near, set);
    ret->bytes = node->attr->numanode.local_memory;
    n = hwloc_bitmap_weight(near);
    if (n <= 0 || !hwloc_topology_is_thissystem(topology)) {
        hwloc_bitmap_free(near);
        return 0;
    }
    ret->cpus = calloc((size_t)n, sizeof(*ret->cpus));
    if (!ret->cpus) {
        hwloc_bitmap_free(near);
        return -ENOMEM;
    }
    hwloc_bitmap_foreach_begin(cpu, near) ret->cpus[ret->ncpus++] = (int)cpu;
    hwloc_bitmap_foreach_end();
    hwloc_bitmap_free(near);
    return 0;
}

static int fill(struct orr_memories *memories)
{
    hwloc_topology_t topology = memories->topology;
    int n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), rc = 0;
    hwloc_bitmap_t set = usable(topology);

    memories->n = n > 0 ? (unsigned)n : 1;
    memories->list = calloc(memories->n, sizeof(*memories->list));
    if (!set || !memories->list) {
        hwloc_bitmap_free(set);
        return -ENOMEM;
    }
    for (int i = 0; i < n && rc == 0; i++)
        rc = fill_node(
            topology, set,
            hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, (unsigned)i),
            &memories->list[i]);
    hwloc_bitmap_free(set);
    return rc;
}

int orr_memories_open(struct orr_memories **ret, struct orr_error *err)
{
    struct orr_memories *memories = calloc(1, sizeof(*memories));
    hwloc_topology_t topology;
    int rc;

    if (!memories || hwloc_topology_init(&topology) < 0) {
        free(memories);
        return orr_fail(err, -ENOMEM, "no memory to look for memory nodes");
    }
    memories->topology = topology;
    if (hwloc_topology_load(topology) < 0)
        rc = orr_fail(err, -ENODEV,
                      "hwloc cannot read the topology of this machine: see "
                      "whether hwloc-ls works");
    else
        rc = fill(memories);
    if (rc < 0) {
        orr_memories_close(memories);
        return rc == -ENOMEM
                   ? orr_fail(err, rc, "no memory to look for memory nodes")
                   : rc;
    }
    *ret = memories;
    return 0;
}

void orr_memories_close(struct orr_memories *memories)
{
    if (!memories)
        return;
    for (unsigned i = 0; memories->list && i < memories->n; i++)
        free(memories->list[i].cpus);
    free(memories->list);
    hwloc_topology_destroy(memories->topology);
    free(memories);
}

int orr_memories_alloc(struct orr_memories *memories, unsigned node,
                       size_t size, uintptr_t *ret)
{
    hwloc_topology_t topology = memories->topology;
    hwloc_obj_t object =
        hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node);
    void *address = NULL;

    /* With one node there is nowhere else. */
    if (object && memories->n > 1 && hwloc_topology_is_thissystem(topology))
        address =
            hwloc_alloc_membind(topology, size, object->nodeset,
                                HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET);
    if (!address)
        address = hwloc_alloc(topology, size);
    if (!address)
        return -ENOMEM;
    *ret = (uintptr_t)address;
    return 0;
}

void orr_memories_free(struct orr_memories *memories, uintptr_t address,
                       size_t size)
{
    hwloc_free(memories->topology, (void *)address, size);
}

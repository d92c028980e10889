/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/cpu/topology.c - processors, cores and NUMA nodes as hwloc sees
 * them, for builds with hwloc. See topology.h.
 */
#include "core/device/cpu/topology.h"

#include "core/device/cpu/topology_private.h"

#include <errno.h>
#include <hwloc.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct orr_topology {
    hwloc_topology_t hwloc;   /* NULL: hwloc finds nothing here */
    hwloc_bitmap_t cpus;      /* may be used */
    unsigned nmemories;       /* at least 1 */
    struct orr_memory *known; /* nmemories */
    hwloc_obj_t *nodes;       /* nmemories, lent by hwloc; NULL without */
    unsigned quota;           /* see struct orr_cpus */
    size_t limit;             /* bytes, see orr_topology_limit */
};

/* -- opening -- */

/* Sets hwloc's source. hwloc's errors are numbers of its own. */
static int set_input(hwloc_topology_t hwloc,
                     const struct orr_topology_input *input,
                     struct orr_error *err)
{
    if (input->synthetic &&
        hwloc_topology_set_synthetic(hwloc, input->synthetic) < 0)
        return orr_fail(err, -ENODEV, "hwloc cannot make \"%s\"",
                        input->synthetic);
    if (input->xml && hwloc_topology_set_xml(hwloc, input->xml) < 0)
        return orr_fail(err, -EINVAL,
                        "hwloc cannot read \"%s\" (STARPU_HWLOC_INPUT): give a "
                        "file that lstopo wrote",
                        input->xml);
    return 0;
}

/* On x86 hwloc asks each processor after it has asked the system, bound to one after the
 * other: more than a third of its time, in virtual machines above all, for what nothing
 * here reads. Where the system does not tell (no /sys), it has to, and must not ask OpenCL:
 * PoCL, which finds no memory then, ends the process. */
static void leave_out_components(hwloc_topology_t hwloc,
                                 const struct orr_topology_input *input)
{
#if HWLOC_API_VERSION >= 0x00020100
    bool told =
        access("/sys/devices/system/cpu/cpu0/topology/core_id", R_OK) == 0;

    if (!input->synthetic && !input->xml)
        (void)hwloc_topology_set_components(
            hwloc, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
            told ? "x86" : "opencl");
#else
    (void)hwloc, (void)input;
#endif
}

static int topology_load(struct orr_topology *topology,
                         const struct orr_topology_input *input,
                         struct orr_error *err)
{
    int rc;

    if (hwloc_topology_init(&topology->hwloc) < 0)
        return -ENOMEM;
    rc = set_input(topology->hwloc, input, err);
    leave_out_components(topology->hwloc, input);
    /* Without permission there are none. */
    if (input->devices)
        (void)hwloc_topology_set_io_types_filter(
            topology->hwloc, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (input->bus)
        (void)hwloc_topology_set_type_filter(
            topology->hwloc, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (rc == 0 && hwloc_topology_load(topology->hwloc) < 0)
        rc = orr_fail(err, -ENODEV, "hwloc cannot read the topology%s%s",
                      input->xml ? " of " : "", input->xml ? input->xml : "");
    if (rc < 0) {
        hwloc_topology_destroy(topology->hwloc);
        topology->hwloc = NULL;
    }
    return rc;
}

/* Restricts it to what the container and the affinity of this thread allow. */
static int find_allowed(struct orr_topology *topology, bool ignore_affinity)
{
    hwloc_topology_t hwloc = topology->hwloc;
    hwloc_bitmap_t set =
        hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(hwloc));
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();

    if (set && bound && !ignore_affinity &&
        hwloc_topology_is_thissystem(hwloc) &&
        hwloc_get_cpubind(hwloc, bound, HWLOC_CPUBIND_THREAD) == 0 &&
        hwloc_bitmap_intersects(set, bound))
        hwloc_bitmap_and(set, set, bound);
    hwloc_bitmap_free(bound);
    topology->cpus = set;
    return set ? 0 : -ENOMEM;
}

/* A machine of which only the processors are known. */
static int one_memory(struct orr_topology *topology)
{
    topology->nmemories = 1;
    topology->known = calloc(1, sizeof(*topology->known));
    return topology->known ? 0 : -ENOMEM;
}

static int find_memories(struct orr_topology *topology)
{
    hwloc_topology_t hwloc = topology->hwloc;
    hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_nodeset(hwloc);
    int n = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_NUMANODE);
    hwloc_obj_t node = NULL;

    if (n <= 0)
        return one_memory(topology);
    topology->known = calloc((size_t)n, sizeof(*topology->known));
    topology->nodes = calloc((size_t)n, sizeof(hwloc_obj_t));
    if (!topology->known || !topology->nodes)
        return -ENOMEM;
    while (
        (node = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, node))) {
        if (!hwloc_bitmap_isset(allowed, node->os_index))
            continue;
        topology->known[topology->nmemories] = (struct orr_memory){
            (int)node->os_index, node->attr->numanode.local_memory};
        topology->nodes[topology->nmemories++] = node;
    }
    if (topology->nmemories == 0) {
        free(topology->known);
        free(topology->nodes);
        topology->nodes = NULL;
        return one_memory(topology);
    }
    return 0;
}

/* On this machine: a synthetic one is in no container. */
static void topology_apply_limits(struct orr_topology *topology,
                                  const char *root)
{
    struct orr_cgroup limits;

    if (!orr_topology_is_here(topology))
        return;
    limits = orr_cgroup_read(root ? root : "");
    topology->quota = orr_cpus_quota(&limits);
    topology->limit =
        orr_memories_limit(&limits, topology->nmemories, topology->known);
}

int orr_topology_open(const struct orr_topology_input *input,
                      struct orr_topology **ret, struct orr_error *err)
{
    static const struct orr_topology_input nothing;
    struct orr_topology *topology = calloc(1, sizeof(*topology));
    int rc;

    if (!topology)
        return -ENOMEM;
    if (!input)
        input = &nothing;
    rc = topology_load(topology, input, err);
    if (rc == -ENODEV && !input->synthetic && !input->xml)
        rc = one_memory(topology);
    else if (rc == 0) {
        rc = find_allowed(topology, input->ignore_affinity);
        if (rc == 0)
            rc = find_memories(topology);
    }
    if (rc < 0) {
        orr_topology_close(topology);
        return rc;
    }
    topology_apply_limits(topology, input->root);
    *ret = topology;
    return 0;
}

void orr_topology_close(struct orr_topology *topology)
{
    if (!topology)
        return;
    hwloc_bitmap_free(topology->cpus);
    free(topology->known);
    free(topology->nodes);
    if (topology->hwloc)
        hwloc_topology_destroy(topology->hwloc);
    free(topology);
}

bool orr_topology_is_here(const struct orr_topology *topology)
{
    return !topology->hwloc || hwloc_topology_is_thissystem(topology->hwloc);
}

/* -- processors -- */

/* The core above a processor, or the processor where cores are unknown. */
static hwloc_obj_t core_of(hwloc_topology_t hwloc, hwloc_obj_t pu)
{
    hwloc_obj_t core =
        hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_CORE, pu);

    return core ? core : pu;
}

/* The counts for the bus files, whatever this thread may use. */
static unsigned topology_count_cores(hwloc_topology_t hwloc)
{
    int n = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_CORE);

    if (n <= 0)
        n = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_PU);
    return n > 0 ? (unsigned)n : 1;
}

/* The memory next to a processor; the first where none is known. */
static unsigned pu_memory(const struct orr_topology *topology, hwloc_obj_t pu)
{
    for (unsigned i = 0; topology->nodes && i < topology->nmemories; i++)
        if (hwloc_bitmap_isset(topology->nodes[i]->cpuset, pu->os_index))
            return i;
    return 0;
}

static int topology_collect_cpus(const struct orr_topology *topology,
                                 struct orr_cpus *ret)
{
    hwloc_topology_t hwloc = topology->hwloc;
    int n = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_PU);
    struct orr_cpu *cpus = n > 0 ? calloc((size_t)n, sizeof(*cpus)) : NULL;
    hwloc_obj_t last_core = NULL, pu = NULL;
    unsigned kept = 0, rank = 0;

    if (!cpus)
        return n > 0 ? -ENOMEM : -ENODEV;
    while ((pu = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_PU, pu))) {
        hwloc_obj_t core = core_of(hwloc, pu);

        if (!hwloc_bitmap_isset(topology->cpus, pu->os_index))
            continue;
        rank = core == last_core ? rank + 1 : 0;
        last_core = core;
        cpus[kept++] =
            (struct orr_cpu){(int)pu->os_index, rank, core->logical_index,
                             pu_memory(topology, pu), pu->logical_index};
    }
    if (kept == 0) {
        free(cpus);
        return -ENODEV;
    }
    *ret = (struct orr_cpus){
        .n = kept,
        .cpus = cpus,
        .nall = (unsigned)n,
        .ncores = topology_count_cores(hwloc),
    };
    return 0;
}

int orr_topology_cpus(const struct orr_topology *topology, struct orr_cpus *ret,
                      struct orr_error *err)
{
    int rc = topology->hwloc ? topology_collect_cpus(topology, ret) : -ENODEV;

    if (rc == -ENODEV && orr_topology_is_here(topology))
        rc = orr_cpus_from_affinity(ret, err);
    if (rc == 0)
        ret->quota = topology->quota;
    if (rc != -ENODEV || orr_topology_is_here(topology))
        return rc;
    return orr_fail(err, rc, "the topology given to hwloc has no processor");
}

/* -- memory -- */

unsigned orr_topology_memories(const struct orr_topology *topology,
                               const struct orr_memory **ret)
{
    *ret = topology->known;
    return topology->nmemories;
}

size_t orr_topology_limit(const struct orr_topology *topology)
{
    return topology->limit;
}

struct hwloc_topology *orr_topology_hwloc(const struct orr_topology *topology)
{
    return topology->hwloc;
}

struct hwloc_bitmap_s *orr_topology_set(const struct orr_topology *topology,
                                        int cpu)
{
    hwloc_bitmap_t set;

    if (!topology->hwloc)
        return NULL;
    if (cpu < 0)
        return hwloc_bitmap_dup(
            hwloc_topology_get_topology_cpuset(topology->hwloc));
    set = hwloc_bitmap_alloc();
    if (set)
        hwloc_bitmap_only(set, (unsigned)cpu);
    return set;
}

struct hwloc_obj *orr_topology_processor(const struct orr_topology *topology,
                                         int cpu)
{
    if (!topology->hwloc)
        return NULL;
    return cpu < 0
               ? hwloc_get_root_obj(topology->hwloc)
               : hwloc_get_pu_obj_by_os_index(topology->hwloc, (unsigned)cpu);
}

bool orr_topology_is_near(const struct orr_topology *topology, int cpu,
                          unsigned node)
{
    return !topology->nodes ||
           hwloc_bitmap_isset(topology->nodes[node]->cpuset, (unsigned)cpu);
}

/* What the device is attached to, or NULL. */
static hwloc_obj_t above_bus(const struct orr_topology *topology,
                             const char *bus)
{
    hwloc_obj_t device =
        topology->hwloc ? hwloc_get_pcidev_by_busidstring(topology->hwloc, bus)
                        : NULL;

    return device ? hwloc_get_non_io_ancestor_obj(topology->hwloc, device)
                  : NULL;
}

bool orr_topology_knows_bus(const struct orr_topology *topology,
                            const char *bus)
{
    return above_bus(topology, bus) != NULL;
}

bool orr_topology_is_near_bus(const struct orr_topology *topology, int cpu,
                              const char *bus)
{
    hwloc_obj_t above = above_bus(topology, bus);

    return above && hwloc_bitmap_isset(above->cpuset, (unsigned)cpu);
}

unsigned orr_topology_distance(const struct orr_topology *topology, int cpu,
                               int other)
{
    hwloc_obj_t here = NULL, there = NULL;
    unsigned levels = 0;

    if (topology->hwloc && cpu >= 0 && other >= 0) {
        here = hwloc_get_pu_obj_by_os_index(topology->hwloc, (unsigned)cpu);
        there = hwloc_get_pu_obj_by_os_index(topology->hwloc, (unsigned)other);
    }
    if (!here || !there)
        return UINT_MAX;
    /* The first object above `cpu` that has both; NUMA nodes lie beside the
     * objects that they belong to. */
    while (here && !hwloc_bitmap_isset(here->cpuset, there->os_index)) {
        here = here->parent;
        levels++;
    }
    return levels;
}

long orr_topology_located(const struct orr_topology *topology,
                          const void *address, size_t size)
{
    hwloc_bitmap_t set = topology->hwloc ? hwloc_bitmap_alloc() : NULL;
    long found = 0;

    if (set && hwloc_get_area_memlocation(topology->hwloc, address, size, set,
                                          HWLOC_MEMBIND_BYNODESET) == 0)
        for (unsigned i = 0; i < topology->nmemories && i < 63; i++)
            if (hwloc_bitmap_isset(set, topology->nodes[i]->os_index))
                found |= 1L << i;
    hwloc_bitmap_free(set);
    return found ? found : -1;
}

unsigned orr_topology_object(const struct orr_topology *topology, int type,
                             int cpu)
{
    hwloc_topology_t hwloc = topology->hwloc;
    int n = hwloc ? hwloc_get_nbobjs_by_type(hwloc, (hwloc_obj_type_t)type) : 0;

    for (int i = 0; i < n && cpu >= 0; i++) {
        hwloc_obj_t object =
            hwloc_get_obj_by_type(hwloc, (hwloc_obj_type_t)type, (unsigned)i);

        if (object->cpuset && hwloc_bitmap_isset(object->cpuset, (unsigned)cpu))
            return (unsigned)i;
    }
    return UINT_MAX;
}

void *orr_topology_alloc(const struct orr_topology *topology, unsigned node,
                         size_t size, bool *bound)
{
    hwloc_topology_t hwloc = topology->hwloc;
    void *address = NULL;

    *bound = topology->nmemories == 1;
    if (!hwloc)
        return orr_pages_alloc(size);
    if (!*bound && hwloc_topology_is_thissystem(hwloc)) {
        address = hwloc_alloc_membind(
            hwloc, size, topology->nodes[node]->nodeset, HWLOC_MEMBIND_BIND,
            HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT);
        *bound = address != NULL;
    }
    return address ? address : hwloc_alloc(hwloc, size);
}

void orr_topology_free(const struct orr_topology *topology, void *address,
                       size_t size)
{
    if (topology->hwloc)
        (void)hwloc_free(topology->hwloc, address, size);
    else
        free(address);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/discover.c - see discover.h. No state. */
#include "platforms/discover.h"

#include "platforms/desc_build.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hwloc.h>
#include <libxml/xmlstring.h>

/* A filler, as StarPU writes it: kernels take what their models say. */
#define CPU_SPEED 2e9

/* The processors that the calling thread may use, NULL when out of memory. The
 * topology already leaves out what the cgroup forbids. */
static hwloc_bitmap_t usable_processors(hwloc_topology_t topology)
{
    hwloc_bitmap_t usable =
        hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();

    if (usable && bound && hwloc_topology_is_thissystem(topology) &&
        hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_THREAD) == 0 &&
        hwloc_bitmap_intersects(usable, bound))
        hwloc_bitmap_and(usable, usable, bound);
    hwloc_bitmap_free(bound);
    return usable;
}

/* Cores with a usable processor; a processor whose core the system does not
 * tell counts as one. */
static int count_cpus(hwloc_topology_t topology, unsigned *ret)
{
    hwloc_bitmap_t usable = usable_processors(topology);
    hwloc_obj_t pu = NULL, last_core = NULL;
    unsigned count = 0;

    if (!usable)
        return -ENOMEM;
    while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
        hwloc_obj_t core =
            hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);

        if (!hwloc_bitmap_isset(usable, pu->os_index))
            continue;
        count += !core || core != last_core;
        last_core = core;
    }
    hwloc_bitmap_free(usable);
    *ret = count;
    return count ? 0 : -ENODEV;
}

static const char *cpu_model(hwloc_topology_t topology)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = NULL;

    if (package)
        model = hwloc_obj_get_info_by_name(package, "CPUModel");
    if (!model)
        model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology),
                                           "CPUModel");
    return model && xmlCheckUTF8((const xmlChar *)model) ? model : NULL;
}

static void host_name(char name[static 256])
{
    if (gethostname(name, 256) < 0)
        name[0] = '\0';
    name[255] = '\0';
    name[strcspn(name, ".")] = '\0';
    if (!name[0] || !xmlCheckUTF8((const xmlChar *)name))
        snprintf(name, 256, "localhost");
}

static int add_main(struct orr_machine_desc *desc, const char *model)
{
    int host = orr_machine_desc_add_host(desc, "MAIN", 1);

    if (host < 0 || !model)
        return host < 0 ? host : 0;
    return orr_props_set(&desc->hosts[host].props, &desc->hosts[host].nprops,
                         "model", model);
}

static int fill(struct orr_machine_desc *desc, unsigned ncpu, const char *model)
{
    char id[32];
    int rc;

    rc = orr_desc_set_text(&desc->provenance, "measured");
    if (rc == 0)
        rc = orr_machine_desc_add_fluid_config(desc);
    if (rc == 0)
        rc = add_main(desc, model);
    for (unsigned i = 0; i < ncpu && rc >= 0; i++) {
        snprintf(id, sizeof(id), "CPU%u", i);
        rc = orr_machine_desc_add_host(desc, id, CPU_SPEED);
    }
    if (rc >= 0)
        rc = orr_machine_desc_add_host(desc, "RAM", 1);
    return rc < 0 ? rc : 0;
}

static int describe(hwloc_topology_t topology, struct orr_machine_desc **ret,
                    struct orr_error *err)
{
    struct orr_machine_desc *desc;
    char name[256];
    unsigned ncpu;
    int rc = count_cpus(topology, &ncpu);

    if (rc)
        return orr_fail(err, rc, "this machine: %s",
                        rc == -ENODEV ? "hwloc finds no processor that this "
                                        "process may use: check its affinity"
                                      : "out of memory");
    host_name(name);
    if (orr_machine_desc_new(name, &desc))
        return orr_fail(err, -ENOMEM, "this machine: out of memory");
    rc = fill(desc, ncpu, cpu_model(topology));
    if (rc)
        rc = orr_fail(err, rc, "this machine: %s", strerror(-rc));
    else
        rc = orr_machine_desc_finish(desc, err);
    if (rc)
        orr_machine_desc_free(desc);
    else
        *ret = desc;
    return rc;
}

int orr_machine_desc_discover(struct orr_machine_desc **ret,
                              struct orr_error *err)
{
    hwloc_topology_t topology;
    int rc;

    if (hwloc_topology_init(&topology) < 0)
        return orr_fail(err, -ENOMEM, "this machine: out of memory");
    if (hwloc_topology_load(topology) < 0)
        rc = orr_fail(err, -ENODEV,
                      "this machine: hwloc cannot read its "
                      "topology: see whether hwloc-ls works");
    else
        rc = describe(topology, ret, err);
    hwloc_topology_destroy(topology);
    return rc;
}

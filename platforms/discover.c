/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/discover.c - see discover.h. No state. */
#include "platforms/discover.h"

#include "core/base/host.h"
#include "core/device/cpu/topology.h"
#include "platforms/desc_build.h"
#include "platforms/locality.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hwloc.h>

/* A filler, as StarPU writes it: kernels take the time of their models. */
#define CPU_SPEED 2e9

enum { MAX_GPUS = 32 }; /* each has up to five properties */

/* The description under construction. */
struct discovery {
    const struct orr_topology *known;
    hwloc_topology_t topology; /* hwloc's, NULL: without hwloc */
    struct orr_machine_desc *desc;
};

static int set_text(struct orr_host_desc *host, const char *id,
                    const char *value)
{
    if (!value || !*value || !orr_is_utf8(value))
        return 0;
    return orr_props_set(&host->props, &host->nprops, id, value);
}

static int host_set_number(struct orr_host_desc *host, const char *id,
                           unsigned long long value)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", value);
    return set_text(host, id, text);
}

/* ---- processors ---- */

/* Place of an ancestor among those of its type, as a property; none without. */
static int set_place(hwloc_topology_t topology, struct orr_host_desc *host,
                     const char *id, hwloc_obj_type_t type, hwloc_obj_t pu)
{
    hwloc_obj_t above = hwloc_get_ancestor_obj_by_type(topology, type, pu);

    return above ? host_set_number(host, id, above->logical_index) : 0;
}

/* The memory next to an object, as a property; none where it is not known. */
static int set_memory_near(const struct discovery *d,
                           struct orr_host_desc *host, const char *id,
                           hwloc_obj_t object)
{
    const struct orr_memory *memories;
    unsigned n = orr_topology_memories(d->known, &memories);

    for (unsigned i = 0; object->nodeset && i < n; i++)
        if (hwloc_bitmap_isset(object->nodeset, (unsigned)memories[i].number))
            return host_set_number(host, id, i);
    return 0;
}

static int set_caches(struct orr_host_desc *host, hwloc_obj_t pu)
{
    char id[16];
    int rc = 0;

    for (hwloc_obj_t above = pu->parent; above && rc == 0;
         above = above->parent) {
        if (!hwloc_obj_type_is_dcache(above->type) ||
            above->attr->cache.size == 0)
            continue;
        snprintf(id, sizeof(id), "l%u-cache", above->attr->cache.depth);
        rc = host_set_number(host, id, above->attr->cache.size);
    }
    return rc;
}

/* Properties of a processor from hwloc. */
static int set_processor(const struct discovery *d, struct orr_host_desc *host,
                         int number)
{
    hwloc_obj_t pu =
        d->topology
            ? hwloc_get_pu_obj_by_os_index(d->topology, (unsigned)number)
            : NULL;
    int rc = host_set_number(host, "processor", (unsigned)number);

    if (rc || !pu)
        return rc;
    rc = set_place(d->topology, host, ORR_PROP_PACKAGE, HWLOC_OBJ_PACKAGE, pu);
    if (rc == 0)
        rc = set_memory_near(d, host, ORR_PROP_NUMA, pu);
    if (rc == 0)
        rc = set_place(d->topology, host, ORR_PROP_L3, HWLOC_OBJ_L3CACHE, pu);
    return rc ? rc : set_caches(host, pu);
}

/* A CPU for each processor that a worker takes by default. */
static int discovery_add_cpus(struct discovery *d, struct orr_error *err)
{
    const struct orr_cpu_request request = {.avoid = -1};
    struct orr_cpu_choice choice = {0, 0, NULL};
    struct orr_cpus cpus = {0};
    int rc = orr_topology_cpus(d->known, &cpus, err);

    if (rc == 0)
        rc = orr_cpus_choose(&cpus, &request, &choice, err);
    for (unsigned i = 0; rc >= 0 && i < choice.usual; i++) {
        char id[32];

        snprintf(id, sizeof(id), "CPU%u", i);
        rc = orr_machine_desc_add_host(d->desc, id, CPU_SPEED);
        if (rc >= 0)
            rc = set_processor(d, &d->desc->hosts[rc], choice.cpus[i].number);
    }
    free(choice.cpus);
    orr_cpus_done(&cpus);
    return rc < 0 ? rc : 0;
}

/* ---- memory ---- */

/* RAM, and how much of it lies on each NUMA node that may be used. */
static int add_memory(struct discovery *d)
{
    const struct orr_memory *memories;
    unsigned n = orr_topology_memories(d->known, &memories);
    int index = orr_machine_desc_add_host(d->desc, "RAM", 1), rc = 0;

    for (unsigned i = 0; index >= 0 && rc == 0 && i < n; i++) {
        char id[32];

        snprintf(id, sizeof(id), "numa%u-memory", i);
        if (memories[i].size)
            rc = host_set_number(&d->desc->hosts[index], id, memories[i].size);
    }
    return index < 0 ? index : rc;
}

/* ---- GPUs ---- */

/* Display controllers of vendors of compute devices; the others are the
 * consoles of servers and of virtual machines. */
static bool pci_is_gpu(const struct hwloc_pcidev_attr_s *pci)
{
    enum { DISPLAY = 0x03, NVIDIA = 0x10de, AMD = 0x1002, INTEL = 0x8086 };

    return pci->class_id >> 8 == DISPLAY &&
           (pci->vendor_id == NVIDIA || pci->vendor_id == AMD ||
            pci->vendor_id == INTEL);
}

/* Properties of the device from CUDA, NVML or OpenCL. */
static const char *pci_device_info(hwloc_obj_t pci, const char *name)
{
    const char *value = NULL;

    for (hwloc_obj_t child = pci->io_first_child; child && !value;
         child = child->next_sibling)
        if (child->type == HWLOC_OBJ_OS_DEVICE)
            value = hwloc_obj_get_info_by_name(child, name);
    return value;
}

static int set_gpu_memory(struct orr_host_desc *host, const char *id,
                          hwloc_obj_t pci)
{
    static const char *const names[] = {"CUDAGlobalMemorySize",
                                        "OpenCLGlobalMemorySize"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *kib = pci_device_info(pci, names[i]);
        unsigned long long value = kib ? strtoull(kib, NULL, 10) : 0;

        if (value > 0 && value < ULLONG_MAX >> 10)
            return host_set_number(host, id, value << 10);
    }
    return 0;
}

static int set_gpu_model(struct orr_host_desc *host, const char *id,
                         hwloc_obj_t pci)
{
    const char *model = pci_device_info(pci, "GPUModel");
    char ids[16];

    if (!model)
        model = hwloc_obj_get_info_by_name(pci, "PCIDevice");
    snprintf(ids, sizeof(ids), "%04x:%04x", pci->attr->pcidev.vendor_id,
             pci->attr->pcidev.device_id);
    return set_text(host, id, model ? model : ids);
}

static int set_gpu(const struct discovery *d, struct orr_host_desc *host,
                   unsigned number, hwloc_obj_t pci)
{
    const struct hwloc_pcidev_attr_s *at = &pci->attr->pcidev;
    char id[32], bus[32];
    int rc;

    snprintf(id, sizeof(id), "gpu%u", number);
    rc = set_gpu_model(host, id, pci);
    snprintf(id, sizeof(id), "gpu%u-pci", number);
    snprintf(bus, sizeof(bus), "%04x:%02x:%02x.%01x", at->domain, at->bus,
             at->dev, at->func);
    if (rc == 0)
        rc = set_text(host, id, bus);
    snprintf(id, sizeof(id), "gpu%u-memory", number);
    if (rc == 0)
        rc = set_gpu_memory(host, id, pci);
    snprintf(id, sizeof(id), "gpu%u-numa", number);
    if (rc == 0)
        rc = set_memory_near(d, host, id,
                             hwloc_get_non_io_ancestor_obj(d->topology, pci));
    /* hwloc has GB/s of the link as negotiated. */
    snprintf(id, sizeof(id), "gpu%u-bandwidth", number);
    if (rc == 0 && at->linkspeed > 0)
        rc = host_set_number(host, id,
                             (unsigned long long)((double)at->linkspeed * 1e9));
    return rc;
}

/* Properties of MAIN: how fast a GPU is reached must be measured before it can
 * be a host of the description. */
static int set_gpus(struct discovery *d, int main)
{
    hwloc_obj_t pci = NULL;
    unsigned count = 0;
    int rc = 0;

    while (rc == 0 && count < MAX_GPUS &&
           (pci = hwloc_get_next_pcidev(d->topology, pci)))
        if (pci_is_gpu(&pci->attr->pcidev))
            rc = set_gpu(d, &d->desc->hosts[main], count++, pci);
    return rc;
}

/* ---- the whole ---- */

static const char *cpu_model(hwloc_topology_t topology)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = NULL;

    if (package)
        model = hwloc_obj_get_info_by_name(package, "CPUModel");
    if (!model)
        model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology),
                                           "CPUModel");
    return model && orr_is_utf8(model) ? model : NULL;
}

static void host_name(char name[static 256])
{
    struct orr_error unused;

    if (gethostname(name, 256) < 0)
        name[0] = '\0';
    name[255] = '\0';
    name[strcspn(name, ".")] = '\0';
    if (orr_host_check(name, &unused) < 0)
        snprintf(name, 256, "localhost");
}

static int discovery_add_main_memory(struct discovery *d)
{
    static const struct {
        const char *id;
        hwloc_obj_type_t type;
    } counts[] = {{"packages", HWLOC_OBJ_PACKAGE},
                  {"numa-nodes", HWLOC_OBJ_NUMANODE},
                  {"cores", HWLOC_OBJ_CORE},
                  {"processors", HWLOC_OBJ_PU}};
    int host = orr_machine_desc_add_host(d->desc, "MAIN", 1), rc;

    if (host < 0 || !d->topology)
        return host < 0 ? host : 0;
    rc = set_text(&d->desc->hosts[host], "model", cpu_model(d->topology));
    for (unsigned i = 0; i < sizeof(counts) / sizeof(*counts) && rc == 0; i++) {
        int n = hwloc_get_nbobjs_by_type(d->topology, counts[i].type);

        if (n > 0)
            rc = host_set_number(&d->desc->hosts[host], counts[i].id,
                                 (unsigned)n);
    }
    return rc ? rc : set_gpus(d, host);
}

static int discovery_fill(struct discovery *d, struct orr_error *err)
{
    int rc = orr_desc_set_text(&d->desc->provenance, "measured");

    if (rc == 0)
        rc = orr_machine_desc_add_fluid_config(d->desc);
    if (rc == 0)
        rc = discovery_add_main_memory(d);
    if (rc == 0)
        rc = discovery_add_cpus(d, err);
    return rc < 0 ? rc : add_memory(d);
}

static int topology_describe(const struct orr_topology *known,
                             struct orr_machine_desc **ret,
                             struct orr_error *err)
{
    struct discovery d = {.known = known,
                          .topology = orr_topology_hwloc(known)};
    char name[256];
    int rc;

    host_name(name);
    rc = orr_machine_desc_new(name, &d.desc);
    if (rc == 0)
        rc = discovery_fill(&d, err);
    if (rc == 0)
        rc = orr_machine_desc_finish(d.desc, err);
    if (rc == 0) {
        *ret = d.desc;
        return 0;
    }
    orr_machine_desc_free(d.desc);
    return rc == -ENOMEM ? orr_fail(err, -ENOMEM, "this machine: out of memory")
                         : rc;
}

int orr_machine_desc_discover(struct orr_machine_desc **ret,
                              struct orr_error *err)
{
    const struct orr_topology_input input = {.devices = true};
    struct orr_topology *topology;
    int rc = orr_topology_open(&input, &topology, err);

    if (rc < 0)
        return rc == -ENOMEM ? orr_fail(err, rc, "this machine: out of memory")
                             : rc;
    rc = topology_describe(topology, ret, err);
    orr_topology_close(topology);
    return rc;
}

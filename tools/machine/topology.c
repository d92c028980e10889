/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/topology.c - see topology.h: hwloc's XML, and their
 * combination. What neither has is assumed and noted. One thread.
 */
#include "tools/machine/topology.h"
#include "tools/common/tool.h"

#include "platforms/places.h"
#include "platforms/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hwloc.h>

#define MAX_XML  ((size_t)64 << 20)
#define MAX_TEXT ((size_t)1 << 20)

/* Linux numbers up to 8,192 processors, and 1,024 memories. */
#define MAX_NUMBER (1 << 16)

#define NVIDIA 0x10de /* vendor number at the PCI-SIG */

/* One NVLink of generations 2 to 4 in one direction: NVIDIA's datasheets give
 * six on a V100 150 GB/s, twelve on an A100 300, eighteen on an H100 450. */
#define NVLINK_RATE 25e9

/* No device has more NVLinks than that: with more to all its peers together
 * they must lead to a switch. */
#define MAX_NVLINKS 18

struct topology {
    const struct machine_topology_options *options;
    hwloc_topology_t hwloc;
    hwloc_obj_t gpus[MACHINE_PLAN_MAX_DEVICES]; /* PCI devices, or NULL where
                                                 * only nvidia-smi saw them */
    unsigned ngpus;
    struct nvidia_topology nvidia; /* n 0: not given */
    struct machine_plan *plan;
};

/* ---- hwloc ---- */

/* NULL: hwloc cannot read the text, or there is no memory. */
static hwloc_topology_t read_hwloc(const char *text, size_t size)
{
    hwloc_topology_t hwloc = NULL;

    if (hwloc_topology_init(&hwloc) < 0)
        return NULL;
    hwloc_topology_set_io_types_filter(hwloc, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    /* Its size counts the 0 behind the text. */
    if (hwloc_topology_set_xmlbuffer(hwloc, text, (int)size + 1) < 0 ||
        hwloc_topology_load(hwloc) < 0) {
        hwloc_topology_destroy(hwloc);
        return NULL;
    }
    return hwloc;
}

/* Whether processors and memories have numbers as systems give them. hwloc takes what has none
 * for the last one of four billion, and then has sets of that many bits. */
static bool is_numbered(hwloc_topology_t hwloc)
{
    hwloc_obj_t root = hwloc_get_root_obj(hwloc);

    /* Above INT_MAX the last one is negative, as without end. */
    return (unsigned)hwloc_bitmap_last(root->complete_cpuset) < MAX_NUMBER &&
           (unsigned)hwloc_bitmap_last(root->complete_nodeset) < MAX_NUMBER;
}

/* Reads it in a process of its own: hwloc takes for granted what others may have taken out of
 * the file. Errors: -EINVAL hwloc cannot read it, or dies of it; -ERANGE what is not numbered. */
static int try_hwloc(const char *text, size_t size)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        struct rlimit none = {0, 0};
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        hwloc_topology_t hwloc;

        setrlimit(RLIMIT_CORE, &none);
        dup2(nowhere, STDERR_FILENO); /* it speaks once more below */
        hwloc = read_hwloc(text, size);
        _exit(!hwloc ? EINVAL : is_numbered(hwloc) ? 0 : ERANGE);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == ERANGE)
        return -ERANGE;
    return status == 0 ? 0 : -EINVAL;
}

static int load_hwloc(struct topology *t)
{
    const char *path = t->options->hwloc;
    struct orr_error err = {""};
    char *text = NULL;
    size_t size = 0;
    int rc = orr_file_read(path, MAX_XML, &text, &size, &err);

    if (rc < 0) {
        tool_error("%s", err.text);
        return rc;
    }
    rc = try_hwloc(text, size);
    if (rc == 0)
        t->hwloc = read_hwloc(text, size);
    if (rc == -ERANGE)
        tool_error(
            "%s: a processor or memory has no os_index, or one from %d on: write it "
            "with `lstopo --of xml %s`",
            path, MAX_NUMBER, path);
    else if (!t->hwloc)
        tool_error("%s: hwloc cannot read it: write it with `lstopo --of xml "
                   "%s`",
                   path, path);
    free(text);
    return t->hwloc ? 0 : -EINVAL;
}

/* The PCI device of an object of the system, NULL without. */
static hwloc_obj_t pci_of(hwloc_obj_t object)
{
    while (object && object->type != HWLOC_OBJ_PCI_DEVICE)
        object = object->parent;
    return object;
}

static void add_gpu(struct topology *t, hwloc_obj_t pci)
{
    if (pci && t->ngpus < MACHINE_PLAN_MAX_DEVICES)
        t->gpus[t->ngpus++] = pci;
}

/* GPUs in the order of CUDA, else of NVML, else of the bus. */
static void find_gpus(struct topology *t)
{
    static const char *const kinds[] = {"cuda", "nvml"};
    hwloc_obj_t pci = NULL;

    for (size_t k = 0; k < 2 && t->ngpus == 0; k++)
        for (bool found = true; found;) {
            char name[16];
            hwloc_obj_t object = NULL;

            snprintf(name, sizeof(name), "%s%u", kinds[k], t->ngpus);
            found = false;
            while (!found &&
                   (object = hwloc_get_next_osdev(t->hwloc, object)) != NULL)
                found = object->name && strcmp(object->name, name) == 0 &&
                        pci_of(object);
            if (found)
                add_gpu(t, pci_of(object));
            found &= t->ngpus < MACHINE_PLAN_MAX_DEVICES;
        }
    if (t->ngpus)
        return;
    while ((pci = hwloc_get_next_pcidev(t->hwloc, pci)) != NULL)
        if (pci->attr->pcidev.class_id >> 8 == 0x03 &&
            pci->attr->pcidev.vendor_id == NVIDIA)
            add_gpu(t, pci);
}

/* The role of an object of the system below a PCI device. */
static const char *info_below(hwloc_topology_t topology, hwloc_obj_t pci,
                              const char *name)
{
    hwloc_obj_t object = NULL;

    while ((object = hwloc_get_next_osdev(topology, object)) != NULL)
        if (pci_of(object) == pci) {
            const char *value = hwloc_obj_get_info_by_name(object, name);

            if (value)
                return value;
        }
    return NULL;
}

/* Bytes; 0: unknown. CUDA's and NVML's plugins of hwloc count KiB. */
static unsigned long long gpu_memory_bytes(const struct topology *t,
                                           hwloc_obj_t pci)
{
    static const char *const names[] = {"CUDAGlobalMemorySize",
                                        "GPUMemorySize"};

    for (size_t i = 0; pci && i < 2; i++) {
        const char *text = info_below(t->hwloc, pci, names[i]);

        if (text)
            return strtoull(text, NULL, 10) * 1024;
    }
    return 0;
}

static const char *gpu_model_name(const struct topology *t, hwloc_obj_t pci)
{
    const char *model = t->options->gpu;

    if (!model && pci)
        model = info_below(t->hwloc, pci, "GPUModel");
    if (!model && pci)
        model = hwloc_obj_get_info_by_name(pci, "PCIDevice");
    return model;
}

/* The main memories that have CPUs next to them are nodes, in their order. */
static hwloc_obj_t node_object(const struct topology *t, unsigned number)
{
    hwloc_obj_t node = NULL;

    while ((node = hwloc_get_next_obj_by_type(t->hwloc, HWLOC_OBJ_NUMANODE,
                                              node)) != NULL)
        if (node->cpuset && !hwloc_bitmap_iszero(node->cpuset) && number-- == 0)
            return node;
    return NULL;
}

/* The node that an object is next to, the first of several, 0 if unknown. */
static unsigned node_near(const struct topology *t, hwloc_obj_t object)
{
    hwloc_obj_t node;

    for (unsigned k = 0; (node = node_object(t, k)) != NULL; k++)
        if (object && object->nodeset && node->nodeset &&
            hwloc_bitmap_isset(object->nodeset, node->os_index))
            return k < t->plan->nnuma ? k : 0;
    return 0;
}

/* Of several nodes that are equally near, as on a machine's root, the first
 * counts. */
static unsigned gpu_numa_node(const struct topology *t, unsigned gpu)
{
    hwloc_obj_t node;

    if (t->nvidia.n && t->nvidia.numa[gpu] >= 0)
        for (unsigned k = 0; (node = node_object(t, k)) != NULL; k++)
            if (node->os_index == (unsigned)t->nvidia.numa[gpu])
                return k < t->plan->nnuma ? k : 0;
    if (!t->gpus[gpu])
        return 0;
    return node_near(t, hwloc_get_non_io_ancestor_obj(t->hwloc, t->gpus[gpu]));
}

/* Whether two devices are below one PCI bridge other than the processor's. */
static bool below_one_bridge(hwloc_obj_t a, hwloc_obj_t b)
{
    for (hwloc_obj_t x = a->parent; x && x->type == HWLOC_OBJ_BRIDGE;
         x = x->parent)
        for (hwloc_obj_t y = b->parent; y && y->type == HWLOC_OBJ_BRIDGE;
             y = y->parent)
            if (x == y && x->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI)
                return true;
    return false;
}

/* ---- both ---- */

static bool behind_one_switch(const struct topology *t, unsigned i, unsigned j)
{
    enum nvidia_relation relation;

    if (t->gpus[i] && t->gpus[j] && below_one_bridge(t->gpus[i], t->gpus[j]))
        return true;
    if (!t->nvidia.n)
        return false;
    relation = t->nvidia.cells[i * t->nvidia.n + j].relation;
    return relation == NVIDIA_PIX || relation == NVIDIA_PXB;
}

/* Devices behind one switch get its number. */
static void group_devices(const struct topology *t)
{
    struct machine_plan_device *devices = t->plan->devices;
    int ngroups = 0;

    for (unsigned i = 0; i < t->ngpus; i++)
        for (unsigned j = i + 1; j < t->ngpus; j++) {
            if (!behind_one_switch(t, i, j))
                continue;
            if (devices[i].group < 0)
                devices[i].group = ngroups++;
            devices[j].group = devices[i].group;
        }
}

static int read_nvidia(struct topology *t)
{
    const char *path = t->options->nvidia;
    struct orr_error err = {""};
    char *text = NULL;
    size_t size = 0;
    int rc;

    if (!path)
        return 0;
    rc = orr_file_read(path, MAX_TEXT, &text, &size, &err);
    if (rc < 0) {
        tool_error("%s", err.text);
        return rc;
    }
    rc = nvidia_topology_parse(path, text, &t->nvidia);
    free(text);
    if (rc < 0)
        return rc;
    if (t->ngpus && t->ngpus != t->nvidia.n) {
        tool_error("%s has %u GPUs and %s %u: they are not of one machine",
                   t->options->hwloc, t->ngpus, path, t->nvidia.n);
        return -EINVAL;
    }
    t->ngpus = t->nvidia.n;
    return 0;
}

/* The rate of a device's slot: as given, as hwloc reports, or the usual. */
static int rate_of(struct topology *t, unsigned gpu, double *ret)
{
    const char *given = t->options->pcie;
    hwloc_obj_t pci = t->gpus[gpu];
    double seen = pci ? (double)pci->attr->pcidev.linkspeed : 0;

    if (given) {
        *ret = given[1] ? 0 : machine_plan_pcie_rate((unsigned)(*given - '0'));
        if (*ret > 0)
            return machine_plan_assume(
                t->plan, "PCI Express %s, sixteen lanes, as given", given);
        tool_error("machine import: --pcie %s: 3, 4, 5 or 6 is expected",
                   given);
        return -EINVAL;
    }
    if (seen > 0) {
        /* Idle devices slow their links down, which hwloc then reports. */
        *ret = seen * 1e9;
        return machine_plan_assume(t->plan,
                                   "PCIe links of %.3g GB/s, as they ran when "
                                   "hwloc looked",
                                   seen);
    }
    *ret = machine_plan_pcie_rate(4);
    return machine_plan_assume(t->plan, "PCI Express 4, sixteen lanes");
}

static void name_bus(hwloc_obj_t pci, char name[static 16])
{
    const struct hwloc_pcidev_attr_s *at = &pci->attr->pcidev;

    snprintf(name, 16, "%04x:%02x:%02x.%01x", at->domain & 0xffffu, at->bus,
             at->dev, at->func & 0xfu);
}

static int topology_add_gpus(struct topology *t)
{
    for (unsigned i = 0; i < t->ngpus; i++) {
        const char *model = gpu_model_name(t, t->gpus[i]);
        double rate;
        int rc = rate_of(t, i, &rate);

        if (rc == 0)
            rc = machine_plan_add_devices(
                t->plan, model, 1, gpu_memory_bytes(t, t->gpus[i]), 0, rate);
        if (rc == -EINVAL && !t->options->pcie)
            tool_error("machine import: name the GPUs with --gpu");
        if (rc < 0)
            return rc;
        t->plan->devices[i].numa = gpu_numa_node(t, i);
        if (t->gpus[i])
            name_bus(t->gpus[i], t->plan->devices[i].pci);
        t->plan->no_peer |=
            strstr(t->plan->devices[i].model, "GeForce") != NULL;
    }
    group_devices(t);
    return 0;
}

/* ---- NVLink ---- */

/* Links of each device when all pairs have equally many, and more than a device
 * could have to each: then they lead to a switch. 0: they do not. */
static unsigned switched_links(const struct nvidia_topology *nvidia)
{
    unsigned links = nvidia->n > 1 ? nvidia->cells[1].links : 0;

    for (unsigned i = 0; i < nvidia->n; i++)
        for (unsigned j = 0; j < nvidia->n; j++)
            if (i != j && nvidia->cells[i * nvidia->n + j].links != links)
                return 0;
    return links * (nvidia->n - 1) > MAX_NVLINKS ? links : 0;
}

static int add_nvlinks(struct topology *t)
{
    const struct nvidia_topology *nvidia = &t->nvidia;
    unsigned n = nvidia->n, links = n ? switched_links(nvidia) : 0;
    bool any = links > 0;

    if (links) {
        t->plan->switch_rate = links * NVLINK_RATE;
    } else if (n) {
        t->plan->pair_rates = calloc((size_t)n * n, sizeof(double));
        if (!t->plan->pair_rates) {
            tool_error("out of memory");
            return -ENOMEM;
        }
        for (unsigned i = 0; i < n * n; i++) {
            t->plan->pair_rates[i] = nvidia->cells[i].links * NVLINK_RATE;
            any |= nvidia->cells[i].links > 0;
        }
        if (!any) {
            free(t->plan->pair_rates);
            t->plan->pair_rates = NULL;
        }
    }
    return any ? machine_plan_assume(t->plan, "%g GB/s each way of an NVLink",
                                     NVLINK_RATE / 1e9)
               : 0;
}

/* ---- processors ---- */

static unsigned topology_count_objects(const struct topology *t,
                                       hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(t->hwloc, type);

    return n > 0 ? (unsigned)n : 0;
}

static unsigned package_of(const struct topology *t, hwloc_obj_t object)
{
    hwloc_obj_t package =
        hwloc_get_ancestor_obj_by_type(t->hwloc, HWLOC_OBJ_PACKAGE, object);

    return package && package->logical_index < t->plan->npackages
               ? package->logical_index
               : 0;
}

/* Packages and NUMA nodes, before the processor is set. */
static void set_nodes(struct topology *t)
{
    struct machine_plan *plan = t->plan;
    hwloc_obj_t node;

    plan->npackages = topology_count_objects(t, HWLOC_OBJ_PACKAGE);
    if (plan->npackages == 0 || plan->npackages > MACHINE_PLAN_MAX_NODES)
        plan->npackages = 1;
    while (plan->nnuma < MACHINE_PLAN_MAX_NODES &&
           (node = node_object(t, plan->nnuma)) != NULL)
        plan->nodes[plan->nnuma++] = (struct machine_plan_node){
            package_of(t, node), node->attr->numanode.local_memory};
}

/* The third-level cache of a core, -1 without. */
static int cache_of(const struct topology *t, hwloc_obj_t core)
{
    hwloc_obj_t cache =
        hwloc_get_ancestor_obj_by_type(t->hwloc, HWLOC_OBJ_L3CACHE, core);

    return cache ? (int)cache->logical_index : -1;
}

/* Where each core is, and its caches. */
static int set_cores(struct topology *t)
{
    hwloc_obj_type_t type = topology_count_objects(t, HWLOC_OBJ_CORE)
                                ? HWLOC_OBJ_CORE
                                : HWLOC_OBJ_PU;
    struct machine_plan_core *cores =
        calloc(t->plan->ncores, sizeof(*t->plan->cores));

    t->plan->cores = cores;
    if (!cores) {
        tool_error("out of memory");
        return -ENOMEM;
    }
    for (unsigned i = 0; i < t->plan->ncores; i++) {
        hwloc_obj_t core = hwloc_get_obj_by_type(t->hwloc, type, i);

        cores[i].numa = node_near(t, core);
        cores[i].package = package_of(t, core);
        cores[i].l3 = cache_of(t, core);
        for (hwloc_obj_t above = core; above; above = above->parent)
            if (hwloc_obj_type_is_dcache(above->type) &&
                above->attr->cache.depth <= MACHINE_PLAN_CACHES)
                cores[i].caches[above->attr->cache.depth - 1] =
                    above->attr->cache.size;
    }
    return 0;
}

static int topology_set_processor(struct topology *t)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(t->hwloc, HWLOC_OBJ_PACKAGE, 0);
    const char *model =
        package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    unsigned cores = topology_count_objects(t, HWLOC_OBJ_CORE);
    char *name;
    int rc;

    if (!cores)
        cores = topology_count_objects(t, HWLOC_OBJ_PU);
    if (!cores || cores > MACHINE_PLAN_MAX_CORES) {
        tool_error("%s: %u cores: between 1 and %d are expected",
                   t->options->hwloc, cores, MACHINE_PLAN_MAX_CORES);
        return -EINVAL;
    }
    name = t->options->name ? strdup(t->options->name)
                            : orr_platform_name(t->options->hwloc);
    if (!name) {
        tool_error("out of memory");
        return -ENOMEM;
    }
    set_nodes(t);
    rc = machine_plan_set_processor(
        t->plan, name, model ? model : "processor without name", cores, 0, 0);
    free(name);
    return rc < 0 ? rc : set_cores(t);
}

int machine_topology_read(const struct machine_topology_options *options,
                          struct machine_plan *ret)
{
    struct machine_plan plan = {0};
    struct topology t = {.options = options, .plan = &plan};
    int rc = load_hwloc(&t);

    if (rc == 0)
        rc = topology_set_processor(&t);
    if (rc == 0) {
        find_gpus(&t);
        rc = read_nvidia(&t);
    }
    if (rc == 0)
        rc = topology_add_gpus(&t);
    if (rc == 0)
        rc = add_nvlinks(&t);
    if (rc == 0)
        rc = machine_plan_note_sockets(&plan);
    if (t.hwloc)
        hwloc_topology_destroy(t.hwloc);
    nvidia_topology_done(&t.nvidia);
    if (rc < 0)
        machine_plan_done(&plan);
    else
        *ret = plan;
    return rc;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/plan.c - see plan.h. One thread. */
#include "tools/machine/plan.h"
#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/machine/parts.h"

#include "platforms/desc_build.h"
#include "platforms/locality.h"
#include "platforms/places.h"
#include "platforms/rates.h"
#include "platforms/units.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a processor that is not known: three links of Ultra Path Interconnect at
 * 10.4 GT/s, two bytes wide (Intel Xeon Scalable family technical overview), one
 * direction. */
#define SOCKET_RATE (3 * 10.4e9 * 2)

static int plan_no_memory(void)
{
    tool_error("out of memory");
    return -ENOMEM;
}

void machine_plan_done(struct machine_plan *plan)
{
    for (unsigned i = 0; i < plan->ndevices; i++)
        free(plan->devices[i].model);
    free(plan->devices);
    free(plan->name);
    free(plan->processor);
    free(plan->pair_rates);
    free(plan->cores);
    free(plan->assumed);
    free(plan->origin);
    *plan = (struct machine_plan){0};
}

int machine_plan_assume(struct machine_plan *plan, const char *format, ...)
{
    char message[256];
    char *longer;
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (plan->assumed && strstr(plan->assumed, message))
        return 0;
    longer = tool_format("%s%s%s", plan->assumed ? plan->assumed : "",
                         plan->assumed ? "; " : "", message);
    if (!longer)
        return plan_no_memory();
    free(plan->assumed);
    plan->assumed = longer;
    return 0;
}

/* Adds where a part's figures are published, once. */
static int plan_cite_source(struct machine_plan *plan, const char *source)
{
    char *longer;

    if (plan->origin && strstr(plan->origin, source))
        return 0;
    longer = plan->origin ? tool_format("%s; %s", plan->origin, source)
                          : tool_format("published figures: %s", source);
    if (!longer)
        return plan_no_memory();
    free(plan->origin);
    plan->origin = longer;
    return 0;
}

/* PCI-SIG, PCI Express Base Specification: 8, 16, 32 GT/s a lane with 128b/130b
 * encoding; 64 GT/s in flits of 256 bytes, 242 of them data. */
double machine_plan_pcie_rate(unsigned generation)
{
    switch (generation) {
    case 3:
    case 4:
    case 5:
        return 8e9 * (1 << (generation - 3)) * 16 / 8 * 128 / 130;
    case 6:
        return 64e9 * 16 / 8 * 242 / 256;
    default:
        return 0;
    }
}

/* The share of a slot's rate that a copy reaches. Slots with fewer lanes are
 * taken for those of an older generation with sixteen: alike but for one
 * percent. */
static double pcie_efficiency(double rate)
{
    unsigned generation = 3;

    while (generation < 6 && rate > machine_plan_pcie_rate(generation) * 1.05)
        generation++;
    return machine_assumptions.pcie_efficiency[generation];
}

/* NVIDIA's H100, one direction: what is assumed of a device that is not known. */
#define NVLINK_RATE 450e9

double machine_plan_nvlink_rate(const char *model)
{
    const struct machine_device *known =
        model ? machine_device_find(model) : NULL;

    return known ? known->link_rate : NVLINK_RATE;
}

static double link_efficiency(const struct machine_plan *plan)
{
    const struct machine_device *known =
        plan->ndevices ? machine_device_find(plan->devices[0].model) : NULL;

    return known ? known->link_efficiency : machine_assumptions.link_efficiency;
}

/* Channels of memory, when the processor is not known: two of DDR4-3200 in
 * small machines, eight in large ones. */
static double usual_memory_rate(unsigned ncores)
{
    return (ncores > 16 ? 8 : 2) * 3200e6 * 8;
}

/* NUMA nodes of a package, which share its channels of memory. */
static double nodes_each(const struct machine_plan *plan)
{
    return plan->nnuma > plan->npackages ? (double)plan->nnuma / plan->npackages
                                         : 1;
}

void machine_plan_set_sockets(struct machine_plan *plan, unsigned n)
{
    plan->nnuma = plan->npackages = n;
    for (unsigned k = 0; k < n; k++)
        plan->nodes[k].package = k;
}

int machine_plan_set_processor(struct machine_plan *plan, const char *name,
                               const char *model, unsigned ncores, double ghz,
                               double flops)
{
    const struct machine_processor *known =
        model ? machine_processor_find(model) : NULL;

    plan->name = strdup(name);
    plan->processor = known   ? strdup(known->model)
                      : model ? strdup(model)
                              : tool_format("processor of %g GHz", ghz);
    if (!plan->name || !plan->processor)
        return plan_no_memory();
    plan->ncores = ncores;
    if (plan->nnuma == 0)
        plan->nnuma = 1;
    if (plan->npackages == 0)
        plan->npackages = plan->nnuma;
    plan->socket_rate = SOCKET_RATE;
    if (known) {
        plan->core_flops = known->clock * 1e9 * known->flops;
        plan->memory_rate = known->memory_rate / nodes_each(plan);
        if (known->socket_rate > 0)
            plan->socket_rate = known->socket_rate;
        return plan_cite_source(plan, known->source);
    }
    plan->memory_rate =
        usual_memory_rate(ncores / plan->npackages) / nodes_each(plan);
    if (ghz > 0) {
        plan->core_flops = ghz * 1e9 * (flops > 0 ? flops : 32);
        if (flops <= 0 &&
            machine_plan_assume(plan, "32 flop per cycle and core") < 0)
            return -ENOMEM;
    }
    return machine_plan_assume(plan, "main memory of %.4g GB/s%s",
                               plan->memory_rate / 1e9,
                               plan->nnuma > 1 ? " on each NUMA node" : "");
}

int machine_plan_add_devices(struct machine_plan *plan, const char *model,
                             unsigned n, unsigned long long memory,
                             double tflops, double pcie_rate)
{
    const struct machine_device *known =
        model ? machine_device_find(model) : NULL;
    struct machine_plan_device *devices;

    if (n > MACHINE_PLAN_MAX_DEVICES - plan->ndevices) {
        tool_error("more than %d devices", MACHINE_PLAN_MAX_DEVICES);
        return -E2BIG;
    }
    if (known && plan_cite_source(plan, known->source) < 0)
        return -ENOMEM;
    if (!memory && !known) {
        tool_error("the memory of a %s is not known here: give a model that "
                   "is, or its memory",
                   model ? model : "device without name");
        return -EINVAL;
    }
    devices = realloc(plan->devices,
                      (plan->ndevices + n + 1) * sizeof(*plan->devices));
    if (!devices)
        return plan_no_memory();
    plan->devices = devices;
    for (unsigned i = 0; i < n; i++) {
        struct machine_plan_device *device = &devices[plan->ndevices];

        *device = (struct machine_plan_device){
            .model = strdup(known   ? known->model
                            : model ? model
                                    : "device"),
            .tflops = tflops > 0 ? tflops
                      : known    ? known->tflops
                                 : 0,
            .memory = memory ? memory : known->memory,
            .pcie_rate = pcie_rate,
            .group = -1,
        };
        if (!device->model)
            return plan_no_memory();
        plan->ndevices++;
    }
    return 0;
}

int machine_plan_note_sockets(struct machine_plan *plan)
{
    if (plan->npackages < 2 || plan->nnuma < 2)
        return 0;
    return machine_plan_assume(
        plan,
        "%.3g GB/s each way between two sockets%s; without "
        "STARPU_USE_NUMA=1 main memory is node 0's",
        plan->socket_rate / (plan->npackages - 1) / 1e9,
        plan->npackages > 2 ? ", each joined to all others" : "");
}

/* ---- the description ---- */

struct build {
    const struct machine_plan *plan;
    struct orr_machine_desc *desc;
    int rc; /* the first error; everything after it is left out */
    unsigned ram, first_memory, first_device;
    /* Links, -1: none; `hosts` of each node, `sockets` of each two packages. */
    int *hosts, *sockets, *groups, *pcie, *ports;
};

static int build_check(struct build *b, int result)
{
    if (result < 0 && b->rc == 0)
        b->rc = result;
    return result;
}

static void build_set_prop(struct build *b, unsigned host, const char *id,
                           const char *value)
{
    if (b->rc == 0)
        build_check(b, orr_props_set(&b->desc->hosts[host].props,
                                     &b->desc->hosts[host].nprops, id, value));
}

static unsigned build_add_host(struct build *b, const char *kind, int number,
                               double speed)
{
    char id[32];
    int host;

    if (number < 0)
        snprintf(id, sizeof(id), "%s", kind);
    else
        snprintf(id, sizeof(id), "%s%d", kind, number);
    host = b->rc
               ? 0
               : build_check(b, orr_machine_desc_add_host(b->desc, id, speed));
    return host < 0 ? 0 : (unsigned)host;
}

static void set_property(struct build *b, unsigned host, const char *id,
                         unsigned long long value)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu", value);
    build_set_prop(b, host, id, text);
}

/* A rate; nothing when it is not known. */
static void set_rate(struct build *b, unsigned host, enum orr_rate rate,
                     double value)
{
    char number[ORR_NUMBER_MAX], text[ORR_NUMBER_MAX + 4];

    if (!(value > 0))
        return;
    orr_number_print(value, number);
    snprintf(text, sizeof(text), "%s%s", number,
             rate == ORR_RATE_MEMORY ? "Bps" : "f");
    build_set_prop(b, host, orr_rate_prop(rate), text);
}

static void set_device_rates(struct build *b, unsigned host,
                             const struct machine_plan_device *device)
{
    const struct machine_device *known = machine_device_find(device->model);

    set_rate(b, host, ORR_RATE_FP32, device->tflops * 1e12);
    if (!known || device->tflops != known->tflops)
        return; /* a peak of its own: the others are not known */
    set_rate(b, host, ORR_RATE_FP64, known->tflops64 * 1e12);
    set_rate(b, host, ORR_RATE_FP32_TENSOR, known->tflops_tensor * 1e12);
    set_rate(b, host, ORR_RATE_FP64_TENSOR, known->tflops64_tensor * 1e12);
    set_rate(b, host, ORR_RATE_MEMORY, known->bandwidth);
}

/* Nodes and packages have equal parts of the cores in turn, and so have caches,
 * whole ones on each package, of the processor's published number of cores. Said
 * where it tells cores apart. */
static void place_core(struct build *b, unsigned host, unsigned i)
{
    const struct machine_plan *plan = b->plan;
    const struct machine_processor *known =
        machine_processor_find(plan->processor);
    unsigned n = plan->ncores, packages = plan->npackages;
    unsigned shared = known ? known->l3_cores : n;
    unsigned package = (unsigned)((unsigned long long)i * packages / n);
    unsigned first = (package * n + packages - 1) / packages;
    unsigned caches = (n / packages + shared - 1) / shared;

    if (packages > 1)
        set_property(b, host, ORR_PROP_PACKAGE, package);
    if (plan->nnuma > 1)
        set_property(b, host, ORR_PROP_NUMA,
                     (unsigned long long)i * plan->nnuma / n);
    if (shared < n / packages)
        set_property(b, host, ORR_PROP_L3,
                     package * caches + (i - first) / shared);
}

static void add_core(struct build *b, unsigned i)
{
    const struct machine_plan *plan = b->plan;
    unsigned host = build_add_host(b, "CPU", (int)i, 2e9);

    if (!plan->cores) {
        place_core(b, host, i);
        return;
    }
    set_property(b, host, ORR_PROP_PACKAGE, plan->cores[i].package);
    set_property(b, host, ORR_PROP_NUMA, plan->cores[i].numa);
    if (plan->cores[i].l3 >= 0)
        set_property(b, host, ORR_PROP_L3, (unsigned)plan->cores[i].l3);
    for (unsigned level = 0; level < MACHINE_PLAN_CACHES; level++) {
        char id[16];

        snprintf(id, sizeof(id), "l%u-cache", level + 1);
        if (plan->cores[i].caches[level])
            set_property(b, host, id, plan->cores[i].caches[level]);
    }
}

/* RAM, and beside it what each of several nodes has. */
static void add_memories(struct build *b)
{
    const struct machine_plan *plan = b->plan;

    b->ram = build_add_host(b, "RAM", -1, 1);
    if (plan->nnuma == 1 && plan->nodes[0].memory)
        set_property(b, b->ram, "numa0-memory", plan->nodes[0].memory);
    for (unsigned k = 0; plan->nnuma > 1 && k < plan->nnuma; k++) {
        unsigned host = build_add_host(b, "RAM", (int)k, 1);

        if (k == 0)
            b->first_memory = host;
        if (plan->nodes[k].memory)
            set_property(b, host, "memsize", plan->nodes[k].memory);
    }
}

static void add_hosts(struct build *b)
{
    const struct machine_plan *plan = b->plan;

    unsigned main_host = build_add_host(b, "MAIN", -1, 1);

    build_set_prop(b, main_host, "model", plan->processor);
    set_rate(b, main_host, ORR_RATE_FP32, plan->core_flops);
    set_rate(b, main_host, ORR_RATE_FP64, plan->core_flops / 2);
    set_rate(b, main_host, ORR_RATE_MEMORY, machine_assumptions.core_stream);
    for (unsigned i = 0; i < plan->ncores; i++)
        add_core(b, i);
    for (unsigned i = 0; i < plan->ndevices; i++) {
        unsigned host = build_add_host(b, "CUDA", (int)i, 2e9);

        if (i == 0)
            b->first_device = host;
        build_set_prop(b, host, "model", plan->devices[i].model);
        set_property(b, host, "memsize", plan->devices[i].memory);
        if (plan->nnuma > 1)
            set_property(b, host, "numa", plan->devices[i].numa);
        set_device_rates(b, host, &plan->devices[i]);
        if (*plan->devices[i].pci)
            build_set_prop(b, host, "pci", plan->devices[i].pci);
        build_set_prop(
            b, host, "memcpy_peer",
            plan->no_peer && plan->switch_rate == 0 && !plan->pair_rates ? "0"
                                                                         : "1");
    }
    add_memories(b);
}

/* The rate is cut to whole megabytes per second, as in the catalogue. */
static int build_add_link(struct build *b, const char *id, double rate,
                          double latency, enum orr_link_sharing sharing)
{
    double mb = (double)(long long)(rate / 1e6);

    return b->rc ? -1
                 : build_check(b, orr_machine_desc_add_link(
                                      b->desc, id, mb * 1e6, latency, sharing));
}

static unsigned plan_group_size(const struct machine_plan *plan, int group)
{
    unsigned n = 0;

    for (unsigned i = 0; i < plan->ndevices; i++)
        n += plan->devices[i].group == group;
    return n;
}

static void add_device_links(struct build *b)
{
    const struct machine_assumptions *a = &machine_assumptions;
    const struct machine_plan *plan = b->plan;
    char id[64];

    for (unsigned i = 0; i < plan->ndevices; i++) {
        const struct machine_plan_device *device = &plan->devices[i];

        if (device->group >= 0 && b->groups[device->group] < 0 &&
            plan_group_size(plan, device->group) > 1) {
            snprintf(id, sizeof(id), "PCIe-switch%d", device->group);
            b->groups[device->group] = build_add_link(
                b, id, device->pcie_rate * pcie_efficiency(device->pcie_rate),
                0, ORR_LINK_SPLITDUPLEX);
        }
        snprintf(id, sizeof(id), "PCIe-CUDA%u", i);
        b->pcie[i] = build_add_link(
            b, id, device->pcie_rate * pcie_efficiency(device->pcie_rate),
            a->pcie_latency, ORR_LINK_SPLITDUPLEX);
        if (plan->switch_rate <= 0)
            continue;
        /* Half of the latency: a copy passes two of these. */
        snprintf(id, sizeof(id), "NVLink-CUDA%u", i);
        b->ports[i] =
            build_add_link(b, id, plan->switch_rate * link_efficiency(plan),
                           a->switch_latency / 2, ORR_LINK_SPLITDUPLEX);
    }
}

static void build_add_hop(struct build *b, int route, int link,
                          enum orr_hop_direction dir)
{
    if (b->rc == 0 && link >= 0)
        build_check(b, orr_route_desc_add_hop(&b->desc->routes[route],
                                              (unsigned)link, dir));
}

static int begin_route(struct build *b, unsigned src, unsigned dst)
{
    return b->rc
               ? -1
               : build_check(b, orr_machine_desc_add_route(b->desc, src, dst));
}

static void build_end_route(struct build *b, int route)
{
    if (b->rc == 0)
        build_check(b, orr_machine_desc_add_reverse(b->desc, (unsigned)route));
}

static int group_link(const struct build *b, unsigned device)
{
    int group = b->plan->devices[device].group;

    return group >= 0 ? b->groups[group] : -1;
}

/* The link between two nodes' packages, up towards the lower one; none within
 * a package. */
static void add_socket_hop(struct build *b, int route, unsigned from,
                           unsigned to)
{
    unsigned p = b->plan->nodes[from].package, q = b->plan->nodes[to].package;

    if (p != q)
        build_add_hop(b, route, b->sockets[p * MACHINE_PLAN_MAX_NODES + q],
                      p < q ? ORR_HOP_DOWN : ORR_HOP_UP);
}

/* Down is away from main memory. That of the machine as a whole, RAM, is taken
 * to be node 0's. */
static void add_memory_route(struct build *b, unsigned memory, unsigned node,
                             unsigned i)
{
    int route = begin_route(b, memory, b->first_device + i);

    build_add_hop(b, route, b->hosts[node], ORR_HOP_NONE);
    add_socket_hop(b, route, node, b->plan->devices[i].numa);
    build_add_hop(b, route, group_link(b, i), ORR_HOP_DOWN);
    build_add_hop(b, route, b->pcie[i], ORR_HOP_DOWN);
    build_end_route(b, route);
}

static void add_pcie_hops(struct build *b, int route, unsigned i, unsigned j)
{
    const struct machine_plan_device *from = &b->plan->devices[i];
    const struct machine_plan_device *to = &b->plan->devices[j];
    bool together = from->group >= 0 && from->group == to->group;
    double rate =
        from->pcie_rate < to->pcie_rate ? from->pcie_rate : to->pcie_rate;
    char id[64];

    build_add_hop(b, route, b->pcie[i], ORR_HOP_UP);
    if (!together) {
        build_add_hop(b, route, group_link(b, i), ORR_HOP_UP);
        /* What the host's bridges let through between two slots. */
        snprintf(id, sizeof(id), "PCIe-peer-CUDA%u-CUDA%u", i, j);
        build_add_hop(b, route,
                      build_add_link(b, id,
                                     rate * machine_assumptions.peer_efficiency,
                                     0, ORR_LINK_SPLITDUPLEX),
                      ORR_HOP_DOWN);
    }
    add_socket_hop(b, route, from->numa, to->numa);
    if (!together)
        build_add_hop(b, route, group_link(b, j), ORR_HOP_DOWN);
    build_add_hop(b, route, b->pcie[j], ORR_HOP_DOWN);
}

/* The fastest route between two devices; none when they cannot copy. */
static void build_add_peer_route(struct build *b, unsigned i, unsigned j)
{
    const struct machine_plan *plan = b->plan;
    double pair =
        plan->pair_rates ? plan->pair_rates[i * plan->ndevices + j] : 0;
    int link = -1, route;
    char id[64];

    if (pair <= 0 && plan->switch_rate <= 0 && plan->no_peer)
        return;
    if (pair > 0 && plan->switch_rate <= 0) {
        snprintf(id, sizeof(id), "NVLink-CUDA%u-CUDA%u", i, j);
        link = build_add_link(b, id, pair * link_efficiency(plan),
                              machine_assumptions.link_latency,
                              ORR_LINK_SPLITDUPLEX);
    }
    route = begin_route(b, b->first_device + i, b->first_device + j);
    if (link >= 0) {
        build_add_hop(b, route, link, ORR_HOP_UP);
    } else if (plan->switch_rate > 0) {
        build_add_hop(b, route, b->ports[i], ORR_HOP_UP);
        build_add_hop(b, route, b->ports[j], ORR_HOP_DOWN);
    } else {
        add_pcie_hops(b, route, i, j);
    }
    build_end_route(b, route);
}

/* All links of a package to others are shared out among them. */
static void add_node_links(struct build *b)
{
    const struct machine_assumptions *a = &machine_assumptions;
    const struct machine_plan *plan = b->plan;
    unsigned n = plan->nnuma > 1 ? plan->npackages : 0;
    char id[64] = "Host";

    for (unsigned k = 0; k < plan->nnuma; k++) {
        if (k)
            snprintf(id, sizeof(id), "Host%u", k);
        b->hosts[k] =
            build_add_link(b, id, plan->memory_rate * a->memory_efficiency, 0,
                           ORR_LINK_SHARED);
    }
    for (unsigned p = 0; p < n; p++)
        for (unsigned q = p + 1; q < n; q++) {
            int link;

            snprintf(id, sizeof(id), "Interconnect-%u-%u", p, q);
            link = build_add_link(
                b, id, plan->socket_rate / (n - 1) * a->socket_efficiency,
                a->socket_latency, ORR_LINK_SPLITDUPLEX);
            b->sockets[p * MACHINE_PLAN_MAX_NODES + q] = link;
            b->sockets[q * MACHINE_PLAN_MAX_NODES + p] = link;
        }
}

/* The routes between main memories and to devices, where there are several. */
static void add_node_routes(struct build *b)
{
    const struct machine_plan *plan = b->plan;

    for (unsigned k = 0; plan->nnuma > 1 && k < plan->nnuma; k++) {
        for (unsigned i = 0; i < plan->ndevices; i++)
            add_memory_route(b, b->first_memory + k, k, i);
        for (unsigned l = k + 1; l < plan->nnuma; l++) {
            int route =
                begin_route(b, b->first_memory + k, b->first_memory + l);

            build_add_hop(b, route, b->hosts[k], ORR_HOP_NONE);
            add_socket_hop(b, route, k, l);
            build_add_hop(b, route, b->hosts[l], ORR_HOP_NONE);
            build_end_route(b, route);
        }
    }
}

static void build_machine_desc(struct build *b)
{
    const struct machine_plan *plan = b->plan;

    build_check(b, orr_desc_set_text(&b->desc->provenance, "derived"));
    build_check(b, orr_machine_desc_add_fluid_config(b->desc));
    if (plan->origin && b->rc == 0)
        build_check(b, orr_props_set(&b->desc->props, &b->desc->nprops,
                                     ORR_PROP_ORIGIN, plan->origin));
    if (plan->assumed && b->rc == 0)
        build_check(b, orr_props_set(&b->desc->props, &b->desc->nprops,
                                     "orrery-assumed", plan->assumed));
    add_hosts(b);
    add_node_links(b);
    add_device_links(b);
    for (unsigned i = 0; i < plan->ndevices; i++)
        add_memory_route(b, b->ram, 0, i);
    add_node_routes(b);
    for (unsigned i = 0; i < plan->ndevices; i++)
        for (unsigned j = i + 1; j < plan->ndevices; j++)
            build_add_peer_route(b, i, j);
}

int machine_plan_describe(const struct machine_plan *plan,
                          struct orr_machine_desc **ret)
{
    int links[3][MACHINE_PLAN_MAX_DEVICES], hosts[MACHINE_PLAN_MAX_NODES];
    int sockets[MACHINE_PLAN_MAX_NODES * MACHINE_PLAN_MAX_NODES];
    struct build b = {.plan = plan,
                      .hosts = hosts,
                      .sockets = sockets,
                      .groups = links[0],
                      .pcie = links[1],
                      .ports = links[2]};
    struct orr_error err = {""};

    memset(links, -1, sizeof(links));
    memset(hosts, -1, sizeof(hosts));
    memset(sockets, -1, sizeof(sockets));
    if (orr_machine_desc_new(plan->name, &b.desc))
        return plan_no_memory();
    build_machine_desc(&b);
    if (b.rc == 0)
        b.rc = orr_machine_desc_finish(b.desc, &err);
    if (b.rc < 0) {
        tool_error("%s: %s", plan->name,
                   err.text[0] ? err.text : strerror(-b.rc));
        orr_machine_desc_free(b.desc);
        return b.rc;
    }
    *ret = b.desc;
    return 0;
}

/* ---- writing ---- */

/* The folder of the models of a platform file at any place. */
static char *models_beside(const char *path)
{
    const char *slash = strrchr(path, '/');

    return tool_format("%.*s" ORR_SAMPLING_CODELETS,
                       slash ? (int)(slash - path + 1) : 0, path);
}

/* The files to write, and the messages about them. */
struct writing {
    const struct machine_plan *plan;
    const struct machine_destination *where;
    struct orr_machine_desc *desc; /* owned */
    char *path, *folder, *name;    /* owned */
    char *source; /* owned; the machine whose models were scaled */
    struct machine_files files;
};

static int plan_scale_models(struct writing *w)
{
    if (!w->plan->models)
        return 0;
    return machine_scale_models(w->plan, w->plan->name, w->folder,
                                w->where->sampling_dirs, &w->files, &w->source);
}

static void plan_report_written(const struct writing *w)
{
    if (w->source)
        printf("kernel models: derived from those of %s by published peaks\n",
               w->source);
    printf("%s: %u CPUs, %u CUDA devices, figures derived\n", w->path,
           w->desc->ncpu, w->desc->ncuda);
    if (w->plan->assumed)
        printf("assumed: %s\n", w->plan->assumed);
    if (!w->where->output)
        printf("try: orrery run -m %s -- PROGRAM\n", w->plan->name);
}

static int say_json(const struct writing *w)
{
    json_t *root =
        json_pack("{s:s, s:s, s:i, s:i, s:s, s:s?, s:s?}", "machine", w->name,
                  "file", w->path, "cpus", (int)w->desc->ncpu, "cuda_devices",
                  (int)w->desc->ncuda, "provenance", "derived", "assumed",
                  w->plan->assumed, "models_scaled_from", w->source);

    if (tool_json_print(machine_files_json(root, &w->files)) == 0)
        return 0;
    return plan_no_memory();
}

static int plan_choose_path(struct writing *w)
{
    const struct machine_destination *where = w->where;
    int rc;

    if (where->output) {
        w->path = strdup(where->output);
        w->folder = models_beside(where->output);
        w->name = orr_platform_name(where->output);
        return w->path && w->folder && w->name ? 0 : plan_no_memory();
    }
    w->name = strdup(w->plan->name);
    if (!w->name)
        return plan_no_memory();
    rc = machine_place(where->sampling_dirs[0], w->name, &w->path, &w->folder);
    return rc < 0 ? rc
                  : machine_is_hidden(w->name, w->path, where->sampling_dirs);
}

int machine_plan_finish(const struct machine_plan *plan,
                        const struct machine_destination *where)
{
    struct writing w = {.plan = plan, .where = where};
    int rc = plan_choose_path(&w);

    if (rc == 0)
        rc = machine_plan_describe(plan, &w.desc);
    if (rc == 0)
        rc = (where->output ? machine_files_add_desc : machine_files_add_named)(
            &w.files, w.desc, w.path, w.name);
    if (rc == 0)
        rc = plan_scale_models(&w);
    if (rc == 0)
        rc = machine_files_write(&w.files, where->force);
    if (rc == 0 && where->json)
        rc = say_json(&w);
    else if (rc == 0)
        plan_report_written(&w);
    machine_files_done(&w.files);
    orr_machine_desc_free(w.desc);
    free(w.source);
    free(w.path);
    free(w.folder);
    free(w.name);
    return rc;
}

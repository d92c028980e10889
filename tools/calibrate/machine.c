/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/calibrate/machine.c - see machine.h. One thread. */
#include "tools/calibrate/machine.h"

#include "tools/common/tool.h"
#include "tools/perfmodel/core_rates.h"

#include "core/base/config.h"
#include "core/device/bus/bus.h"
#include "core/device/bus/store.h"
#include "core/device/disk/disk.h"
#include "core/device/kind.h"
#include "core/device/memory_machine.h"
#include "core/device/open.h"
#include "perfmodel/sampling.h"
#include "platforms/desc_build.h"
#include "platforms/doctor.h"
#include "platforms/present.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Concurrent copies share a link if together they carry less than this share of
 * what they carry alone. */
#define SHARED 0.9

/* ---- where ---- */

int calibrate_place_open(struct calibrate_place *place)
{
    const struct orr_host_options host = {.hostname =
                                              getenv("STARPU_HOSTNAME")};
    struct orr_error err = {"out of memory"};
    int rc;

    *place = (struct calibrate_place){.lock = -1};
    rc = orr_host_name(&host, &place->host, &err);
    if (rc == 0)
        rc = orr_sampling_from_env(orr_getenv, NULL, &place->sampling);
    if (rc == 0)
        rc = orr_bus_store_find(orr_sampling_dirs(place->sampling), place->host,
                                &place->stem);
    if (rc == 0) {
        place->path = tool_format("%s.machine.xml", place->stem);
        rc = place->path ? 0 : -ENOMEM;
    }
    if (rc == 0)
        return 0;
    tool_error("%s", err.text);
    calibrate_place_close(place);
    return -1;
}

void calibrate_place_close(struct calibrate_place *place)
{
    if (place->lock >= 0)
        orr_bus_store_unlock(place->lock);
    orr_sampling_free(place->sampling);
    free(place->host);
    free(place->stem);
    free(place->path);
    *place = (struct calibrate_place){.lock = -1};
}

int calibrate_place_lock(struct calibrate_place *place)
{
    struct orr_error err = {""};

    if (orr_bus_store_lock(place->stem, &place->lock, &err) == 0)
        return 0;
    tool_error("%s", err.text);
    return -1;
}

/* ---- what is measured ---- */

static int option_or_all(const struct orr_config *config, enum orr_config_id id)
{
    return orr_config_is_set(config, id) ? orr_config_int(config, id) : -1;
}

static int machine_add_devices(struct orr_machine *machine,
                               struct orr_error *err)
{
    struct orr_machine_options options = {0};
    struct orr_config config;
    int rc = orr_config_read(&config, err);

    if (rc < 0)
        return rc;
    orr_machine_options_devices(&options, &config);
    options.cuda.n = option_or_all(&config, ORR_CFG_NCUDA);
    options.hip.n = option_or_all(&config, ORR_CFG_NHIP);
    rc = orr_device_drivers_open(&options, machine, err);
    orr_config_done(&config);
    return rc;
}

/* "WAY:PATH", or a path. */
static struct starpu_disk_ops *disk_ops_of(const char *disk, const char **path)
{
    static const struct {
        const char *way;
        struct starpu_disk_ops *ops;
    } all[] = {{"stdio:", &starpu_disk_stdio_ops},
               {"unistd:", &starpu_disk_unistd_ops},
               {"unistd_o_direct:", &starpu_disk_unistd_o_direct_ops},
               {"hdf5:", &starpu_disk_hdf5_ops}};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strncmp(disk, all[i].way, strlen(all[i].way)) == 0) {
            *path = disk + strlen(all[i].way);
            return all[i].ops;
        }
    *path = disk;
    return &starpu_disk_unistd_ops;
}

static int add_disk(struct orr_machine *machine, const char *disk,
                    struct orr_error *err)
{
    const char *path;
    struct orr_disk_options options = {.ops = disk_ops_of(disk, &path),
                                       .size = -1};
    struct orr_error why = {""};
    int rc = orr_machine_reserve_nodes(machine);

    options.parameter = (void *)(uintptr_t)path;
    if (rc == 0)
        rc = orr_disks_add(machine, &options, &why);
    if (rc < 0)
        return orr_fail(err, rc, "--disk %.500s: %s", disk,
                        why.text[0] ? why.text : strerror(-rc));
    machine->nnodes++;
    return 0;
}

int calibrate_machine_open(struct orr_exec *exec, const char *disk,
                           struct orr_machine **ret, struct orr_error *err)
{
    struct orr_machine *machine;
    int rc = orr_memory_machine_open(exec, NULL, &machine, err);

    if (rc < 0)
        return rc;
    rc = machine_add_devices(machine, err);
    if (rc == 0 && disk)
        rc = add_disk(machine, disk, err);
    if (rc < 0)
        machine->ops->close(machine);
    else
        *ret = machine;
    return rc;
}

/* ---- links ---- */

struct builder {
    struct orr_machine_desc *desc;
    const struct orr_machine *machine;
    const struct orr_bus_measures *measures;
    /* Links that all share, that copies to all devices share, that those from
     * them do; -1: none. */
    int all, to_all, from_all;
    int rc;  /* the first error */
};

static void builder_note_error(struct builder *b, int rc)
{
    if (rc < 0 && b->rc == 0)
        b->rc = rc;
}

/* Each of several nodes of main memory is a host of its own beside RAM, which
 * stands for all of them. */
static void builder_host_name(const struct builder *b, unsigned node,
                              char name[32])
{
    const struct orr_node_desc *desc = &b->machine->nodes[node];
    unsigned nmain = 0;

    for (unsigned i = 0; i < b->machine->nnodes; i++)
        nmain += b->machine->nodes[i].kind == STARPU_CPU_RAM;
    if (desc->stores)
        snprintf(name, 32, "DISK%d", desc->devid);
    else if (desc->kind != STARPU_CPU_RAM)
        snprintf(name, 32, "%s%d",
                 orr_device_kind_of_memory(desc->kind)->name,
                 desc->devid);
    else if (nmain > 1)
        snprintf(name, 32, "RAM%d", desc->devid);
    else
        snprintf(name, 32, "RAM");
}

static int builder_get_host(struct builder *b, unsigned node)
{
    char name[32];
    int host;

    builder_host_name(b, node, name);
    host = orr_machine_desc_host(b->desc, name);
    if (host < 0) {
        host = orr_machine_desc_add_host(b->desc, name, 1);
        builder_note_error(b, host);
    }
    return host;
}

static void builder_set_number(struct builder *b, unsigned host, const char *id,
                               double value)
{
    struct orr_host_desc *h = &b->desc->hosts[host];
    char text[40];

    if (!isfinite(value))
        return;
    snprintf(text, sizeof(text), "%.6g", value);
    builder_note_error(b, orr_props_set(&h->props, &h->nprops, id, text));
}

static const struct orr_bus_group *
builder_find_group(const struct builder *b, enum orr_bus_group_kind kind,
                   unsigned link)
{
    for (unsigned c = 0; c < b->measures->ngroups; c++) {
        const struct orr_bus_group *group = &b->measures->groups[c];

        if (group->kind == kind && (group->links[0] == link ||
                                    (group->n > 1 && group->links[1] == link)))
            return group;
    }
    return NULL;
}

/* Size and speed of one node's memory: the bandwidth of a copy within it, alone
 * and with one copy per processor. */
static void describe_memory(struct builder *b, unsigned node)
{
    const struct orr_node_desc *desc = &b->machine->nodes[node];
    const struct orr_bus_link *link =
        orr_bus_measures_find(b->measures, node, node, false);
    const struct orr_bus_group *group;
    struct orr_host_desc *h;
    char bytes[32];
    int host = builder_get_host(b, node);

    if (host < 0)
        return;
    h = &b->desc->hosts[host];
    snprintf(bytes, sizeof(bytes), "%zu", desc->capacity);
    if (desc->capacity)
        builder_note_error(
            b, orr_props_set(&h->props, &h->nprops, "memsize", bytes));
    if (!link)
        return;
    group = builder_find_group(b, ORR_BUS_WITHIN,
                               (unsigned)(link - b->measures->links));
    builder_set_number(b, (unsigned)host, "orrery-copy-bandwidth",
                       link->bandwidth.median * 1e6);
    builder_set_number(b, (unsigned)host, "orrery-copy-spread",
                       link->bandwidth.spread);
    builder_set_number(b, (unsigned)host, "orrery-copy-latency",
                       link->latency.median / 1e6);
    if (group)
        builder_set_number(b, (unsigned)host, "orrery-copy-bandwidth-all",
                           group->total * 1e6);
}

/* Size of a device's memory, and its name. */
static void describe_device(struct builder *b, unsigned node)
{
    int host = builder_get_host(b, node);
    struct orr_host_desc *h;
    char bytes[32], model[64];

    if (host < 0 || b->machine->nodes[node].stores)
        return;
    h = &b->desc->hosts[host];
    snprintf(bytes, sizeof(bytes), "%zu",
             orr_bus_memsize(&b->machine->nodes[node]));
    builder_note_error(b,
                       orr_props_set(&h->props, &h->nprops, "memsize", bytes));
    for (unsigned w = 0; w < b->machine->nworkers; w++)
        if (b->machine->workers[w].node == node) {
            orr_bus_model(&b->machine->workers[w], model);
            builder_note_error(
                b, orr_props_set(&h->props, &h->nprops, "model", model));
        }
}

static double alone(const struct builder *b, const struct orr_bus_group *group)
{
    double sum = 0;

    for (unsigned i = 0; i < group->n; i++)
        sum += b->measures->links[group->links[i]].bandwidth.median;
    return sum;
}

/* A link for what the group's members share, -1 when they do not. */
static int shared_link(struct builder *b, const struct orr_bus_group *group,
                       const char *name)
{
    int link;

    if (!group || group->total > SHARED * alone(b, group))
        return -1;
    for (unsigned i = 0; i < b->desc->nlinks; i++)
        if (strcmp(b->desc->links[i].id, name) == 0)
            return (int)i;
    link = orr_machine_desc_add_link(b->desc, name, group->total * 1e6, 0,
                                     ORR_LINK_SHARED);
    builder_note_error(b, link);
    return link;
}

static void builder_add_hop(struct builder *b, int route, int link)
{
    if (route >= 0 && link >= 0)
        builder_note_error(b, orr_route_desc_add_hop(&b->desc->routes[route],
                                                     (unsigned)link,
                                                     ORR_HOP_NONE));
}

/* What all devices share, in one direction or in both. */
static void describe_group(struct builder *b, const struct orr_bus_group *group)
{
    switch (group->kind) {
    case ORR_BUS_TO_ALL:
        b->to_all = shared_link(b, group, "To devices");
        break;
    case ORR_BUS_FROM_ALL:
        b->from_all = shared_link(b, group, "From devices");
        break;
    case ORR_BUS_ALL:
        b->all = shared_link(b, group, "Interconnect");
        break;
    case ORR_BUS_BIDIRECTIONAL:
    case ORR_BUS_WITHIN:
        break;
    }
}

/* What the link's copies share with those of other devices. */
static void add_shared_hops(struct builder *b, int route,
                            const struct orr_bus_link *link)
{
    bool out = orr_node_is_main(&b->machine->nodes[link->src]);
    bool in = orr_node_is_main(&b->machine->nodes[link->dst]);

    if (b->machine->nodes[link->src].stores ||
        b->machine->nodes[link->dst].stores)
        return;
    if (out != in)
        builder_add_hop(b, route, out ? b->to_all : b->from_all);
    builder_add_hop(b, route, b->all);
}

static void describe_link(struct builder *b, const struct orr_bus_link *link)
{
    int src = builder_get_host(b, link->src),
        dst = builder_get_host(b, link->dst);
    unsigned number = (unsigned)(link - b->measures->links);
    const struct orr_bus_group *both =
        builder_find_group(b, ORR_BUS_BIDIRECTIONAL, number);
    char from[32], to[32], name[96];
    int own, route;

    if (src < 0 || dst < 0 ||
        orr_machine_desc_route(b->desc, (unsigned)src, (unsigned)dst) >= 0)
        return;
    builder_host_name(b, link->src, from);
    builder_host_name(b, link->dst, to);
    snprintf(name, sizeof(name), "%s-%s", from, to);
    own =
        orr_machine_desc_add_link(b->desc, name, link->bandwidth.median * 1e6,
                                  link->latency.median / 1e6, ORR_LINK_SHARED);
    builder_note_error(b, own);
    if (own >= 0 && isfinite(link->bandwidth.spread)) {
        struct orr_link_desc *described = &b->desc->links[own];

        snprintf(name, sizeof(name), "%.3g", link->bandwidth.spread);
        builder_note_error(b, orr_props_set(&described->props,
                                            &described->nprops,
                                            ORR_PROP_LINK_SPREAD, name));
    }
    route = orr_machine_desc_add_route(b->desc, (unsigned)src, (unsigned)dst);
    builder_note_error(b, route);
    builder_add_hop(b, route, own);
    if (both && link->src > link->dst)
        snprintf(name, sizeof(name), "%s-%s both ways", to, from);
    else
        snprintf(name, sizeof(name), "%s-%s both ways", from, to);
    builder_add_hop(b, route, shared_link(b, both, name));
    add_shared_hops(b, route, link);
}

int calibrate_describe_bus(struct orr_machine_desc *desc,
                           const struct orr_machine *machine,
                           const struct orr_bus_measures *measures,
                           struct orr_error *err)
{
    struct builder b = {.desc = desc,
                        .machine = machine,
                        .measures = measures,
                        .all = -1,
                        .to_all = -1,
                        .from_all = -1};

    for (unsigned i = 0; i < machine->nnodes; i++)
        if (orr_node_is_main(&machine->nodes[i]))
            describe_memory(&b, i);
        else
            describe_device(&b, i);
    for (unsigned c = 0; c < measures->ngroups; c++)
        describe_group(&b, &measures->groups[c]);
    for (unsigned l = 0; l < measures->nlinks; l++)
        if (measures->links[l].src != measures->links[l].dst &&
            (measures->links[l].pinned ||
             !orr_bus_measures_find(measures, measures->links[l].src,
                                    measures->links[l].dst, true)))
            describe_link(&b, &measures->links[l]);
    if (b.rc < 0)
        return orr_fail(err, b.rc, "%s: %s", desc->name, strerror(-b.rc));
    return orr_machine_desc_finish(desc, err);
}

/* ---- files ---- */

/* This machine with the costs and the rates of a core of the existing description. */
static int begin_anew(const struct calibrate_place *place,
                      struct orr_machine_desc **ret, struct orr_error *err)
{
    struct orr_machine_desc *old, *desc;
    int rc = orr_machine_desc_present(orr_sampling_dirs(place->sampling),
                                      place->host, &old, NULL, err);

    if (rc < 0)
        return rc;
    rc = orr_machine_desc_present(NULL, place->host, &desc, NULL, err);
    if (rc == 0 && orr_desc_set_text(&desc->host, place->host) < 0) {
        orr_machine_desc_free(desc);
        rc = orr_fail(err, -ENOMEM, "out of memory");
    }
    if (rc == 0) {
        for (unsigned i = 0; i < ORR_NCOSTS; i++)
            *orr_machine_desc_cost(desc, i) = orr_machine_desc_get_cost(old, i);
        rc = core_rates_copy(desc, old);
        *ret = desc;
    }
    orr_machine_desc_free(old);
    return rc;
}

/* Ends the description. */
static int write_machine_alone(const struct calibrate_place *place,
                               struct orr_machine_desc *desc, int rc,
                               struct orr_error *err)
{
    if (rc == 0)
        rc = orr_machine_desc_write_alone(desc, place->path, err);
    orr_machine_desc_free(desc);
    if (rc < 0)
        tool_error("%s", err->text);
    return rc < 0 ? -1 : 0;
}

int calibrate_write_bus(const struct calibrate_place *place,
                        const struct orr_machine *machine,
                        const struct orr_bus_measures *measures)
{
    struct orr_machine_desc *desc = NULL;
    struct orr_error err = {""};
    int rc = begin_anew(place, &desc, &err);

    if (rc == 0)
        rc = calibrate_describe_bus(desc, machine, measures, &err);
    return write_machine_alone(place, desc, rc, &err);
}

int calibrate_write_costs(const struct calibrate_place *place,
                          const double *costs)
{
    struct core_rates rates;
    struct orr_machine_desc *desc = NULL;
    struct orr_error err = {""};
    int rc = orr_machine_desc_present(orr_sampling_dirs(place->sampling),
                                      place->host, &desc, NULL, &err);

    if (rc == 0)
        rc = orr_desc_set_text(&desc->host, place->host);
    for (unsigned i = 0; rc == 0 && i < ORR_NCOSTS; i++)
        if (!isnan(costs[i]))
            *orr_machine_desc_cost(desc, i) = costs[i];
    if (rc == 0 && core_rates_measure(&rates))
        rc = core_rates_describe(desc, &rates);
    return write_machine_alone(place, desc, rc, &err);
}

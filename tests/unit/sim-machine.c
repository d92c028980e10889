/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/sim-machine.c - see sim-machine.h. */
#include "tests/unit/sim-machine.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine.h"

enum { BUS = 0 }; /* index of the shared link, when there is one */

static void add_host(struct orr_machine_desc *desc, const char *prefix,
                     unsigned number, bool numbered)
{
    struct orr_host_desc *host = &desc->hosts[desc->nhosts++];
    char id[32];

    if (numbered)
        snprintf(id, sizeof(id), "%s%u", prefix, number);
    else
        snprintf(id, sizeof(id), "%s", prefix);
    host->id = strdup(id);
    host->speed = 1e9;
}

static void add_prop(struct orr_host_desc *host, const char *id,
                     const char *value)
{
    struct orr_prop_desc *prop = &host->props[host->nprops++];

    prop->id = strdup(id);
    prop->value = strdup(value);
}

static void add_device(struct orr_machine_desc *desc, unsigned i, bool peer)
{
    struct orr_host_desc *host = &desc->hosts[desc->nhosts];

    add_host(desc, "CUDA", i, true);
    host->props = calloc(3, sizeof(*host->props));
    add_prop(host, "model", "Toy GPU");
    add_prop(host, "memsize", "4294967296");
    add_prop(host, "memcpy_peer", peer ? "1" : "0");
}

static unsigned add_link(struct orr_machine_desc *desc, const char *id,
                         double bandwidth, double latency)
{
    struct orr_link_desc *link = &desc->links[desc->nlinks];

    link->id = strdup(id);
    link->bandwidth = bandwidth;
    link->latency = latency;
    return desc->nlinks++;
}

static void add_route(struct orr_machine_desc *desc,
                      const struct sim_spec *spec, unsigned src, unsigned dst)
{
    struct orr_route_desc *route = &desc->routes[desc->nroutes++];
    char id[64];

    snprintf(id, sizeof(id), "%.20s-%.20s", desc->hosts[src].id,
             desc->hosts[dst].id);
    route->src = src;
    route->dst = dst;
    route->hops = calloc(2, sizeof(*route->hops));
    route->hops[route->nhops++].link = add_link(
        desc, id, spec->bandwidth > 0 ? spec->bandwidth : 1e9, spec->latency);
    if (spec->bus > 0)
        route->hops[route->nhops++].link = BUS;
}

static void add_routes(struct orr_machine_desc *desc,
                       const struct sim_spec *spec, unsigned ram)
{
    for (unsigned i = 0; i < spec->ncuda; i++) {
        add_route(desc, spec, ram, ram + 1 + i);
        add_route(desc, spec, ram + 1 + i, ram);
        for (unsigned k = 0; spec->peer && k < spec->ncuda; k++)
            if (k != i)
                add_route(desc, spec, ram + 1 + i, ram + 1 + k);
    }
}

static void set_costs(struct orr_machine_desc *desc, double value)
{
    desc->cost_submit = desc->cost_push = desc->cost_fetch = value;
    desc->cost_device_alloc = desc->cost_device_free = value;
    desc->cost_pinned_alloc_per_mib = value;
    desc->cost_kernel_queue = desc->cost_copy_queue = value;
}

struct orr_machine_desc *sim_desc_new(const struct sim_spec *spec)
{
    struct orr_machine_desc *desc = calloc(1, sizeof(*desc));
    unsigned n = spec->ncuda, ncpu = spec->ncpu ? spec->ncpu : 4;
    unsigned ram;

    desc->name = strdup("toy");
    desc->host = strdup("toy");
    desc->hosts = calloc(ncpu + n + 1, sizeof(*desc->hosts));
    desc->links = calloc((size_t)n * n + n + 1, sizeof(*desc->links));
    desc->routes = calloc((size_t)n * n + n + 1, sizeof(*desc->routes));
    for (unsigned i = 0; i < ncpu; i++)
        add_host(desc, "CPU", i, true);
    ram = desc->nhosts;
    add_host(desc, "RAM", 0, false);
    for (unsigned i = 0; i < n; i++)
        add_device(desc, i, spec->peer);
    if (spec->bus > 0)
        add_link(desc, "bus", spec->bus, 0);
    add_routes(desc, spec, ram);
    desc->ncpu = ncpu;
    desc->ncuda = n;
    set_costs(desc, spec->costs ? (double)NAN : 0);
    desc->cost_wake = spec->wake;
    desc->cost_wake_soon = spec->wake_soon > 0 ? spec->wake_soon : (double)NAN;
    return desc;
}

void sim_desc_free(struct orr_machine_desc *desc)
{
    for (unsigned i = 0; i < desc->nhosts; i++) {
        struct orr_host_desc *host = &desc->hosts[i];

        for (unsigned k = 0; k < host->nprops; k++) {
            free(host->props[k].id);
            free(host->props[k].value);
        }
        free(host->props);
        free(host->id);
    }
    for (unsigned i = 0; i < desc->nlinks; i++)
        free(desc->links[i].id);
    for (unsigned i = 0; i < desc->nroutes; i++)
        free(desc->routes[i].hops);
    free(desc->hosts);
    free(desc->links);
    free(desc->routes);
    free(desc->name);
    free(desc->host);
    free(desc);
}

struct orr_machine_options sim_options(void)
{
    return (struct orr_machine_options){
        .name = "toy", .ncpu = -1, .ncuda = -1, .nopencl = -1,
        .contexts = getenv("ORRERY_SIM_CONTEXTS")};
}

struct orr_machine *sim_machine_open(const struct sim_spec *spec)
{
    struct orr_machine_desc *desc = sim_desc_new(spec);
    struct orr_machine_options options = sim_options();
    struct orr_machine *machine = NULL;
    struct orr_error err = {.text = ""};
    int ret = orr_sim_open_desc(desc, &options, &machine, &err);

    sim_desc_free(desc);
    ck_assert_msg(ret == 0, "%d: %s", ret, err.text);
    return machine;
}

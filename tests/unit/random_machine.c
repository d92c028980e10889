/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/random_machine.c - see random_machine.h. */
#include "tests/unit/random_machine.h"

#include "platforms/desc_build.h"
#include "tests/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned below(uint64_t *state, unsigned n)
{
    return (unsigned)(rng_next(state) % n);
}

/* Between low and high, even over the orders of magnitude. */
static double draw_value(uint64_t *state, double low, double high)
{
    double u = (double)(rng_next(state) >> 11) / 9007199254740992.0;

    return low * pow(high / low, u);
}

static unsigned must(int index)
{
    if (index < 0)
        abort();
    return (unsigned)index;
}

static void add_hosts(struct orr_machine_desc *desc, uint64_t *state,
                      const char *kind, unsigned n)
{
    char text[64];

    for (unsigned i = 0; i < n; i++) {
        struct orr_host_desc *host;
        unsigned index;

        snprintf(text, sizeof(text), "%s%u", kind, i);
        index = must(
            orr_machine_desc_add_host(desc, text, draw_value(state, 1, 1e13)));
        host = &desc->hosts[index];
        if (below(state, 3) == 0)
            continue;
        snprintf(text, sizeof(text), "%u", 1000000u + below(state, 1u << 30));
        must(orr_props_set(&host->props, &host->nprops, "memsize", text));
        must(orr_props_set(&host->props, &host->nprops, "memcpy_peer",
                           below(state, 2) ? "1" : "0"));
        must(orr_props_set(&host->props, &host->nprops, "model",
                           "a <b> & \"c\" 'd'\n\té µ"));
    }
}

static void add_links(struct orr_machine_desc *desc, uint64_t *state)
{
    static const char *const forms[] = {"PCI:0000:[%02x-0f] up", "L%u", "a&%u",
                                        "\"q\" <%u>", "é %u"};
    unsigned n = 1 + below(state, 20);
    char id[64];

    for (unsigned i = 0; i < n; i++) {
        double latency = below(state, 3) ? draw_value(state, 1e-8, 1e-2) : 0;

        snprintf(id, sizeof(id), "%u ", i);
        /* Only our own formats above, each with one number. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(id + strlen(id), 40, forms[below(state, 5)], i);
#pragma GCC diagnostic pop
        must(orr_machine_desc_add_link(desc, id, draw_value(state, 1e3, 1e12),
                                       latency,
                                       (enum orr_link_sharing)below(state, 3)));
    }
}

static void add_route(struct orr_machine_desc *desc, uint64_t *state,
                      unsigned src, unsigned dst)
{
    unsigned route = must(orr_machine_desc_add_route(desc, src, dst));
    unsigned n = 1 + below(state, 5);

    for (unsigned i = 0; i < n; i++) {
        unsigned link = below(state, desc->nlinks);
        enum orr_hop_direction dir = ORR_HOP_NONE;

        if (desc->links[link].sharing == ORR_LINK_SPLITDUPLEX)
            dir = below(state, 2) ? ORR_HOP_UP : ORR_HOP_DOWN;
        must(orr_route_desc_add_hop(&desc->routes[route], link, dir));
    }
}

static bool is_device(const struct orr_host_desc *host)
{
    return orr_host_desc_number(host, "CUDA") >= 0 ||
           orr_host_desc_number(host, "OpenCL") >= 0;
}

static void add_routes(struct orr_machine_desc *desc, uint64_t *state)
{
    unsigned ram = must(orr_machine_desc_host(desc, "RAM"));

    for (unsigned i = 0; i < desc->nhosts; i++) {
        if (!is_device(&desc->hosts[i]))
            continue;
        add_route(desc, state, ram, i);
        if (below(state, 2))
            must(orr_machine_desc_add_reverse(desc, desc->nroutes - 1));
        else
            add_route(desc, state, i, ram);
        for (unsigned j = 0; j < i; j++)
            if (is_device(&desc->hosts[j]) && below(state, 2))
                add_route(desc, state, i, j);
    }
}

static void add_extras(struct orr_machine_desc *desc, uint64_t *state)
{
    if (below(state, 2))
        must(orr_machine_desc_add_fluid_config(desc));
    if (below(state, 2))
        must(orr_props_set(&desc->props, &desc->nprops, "note", "x=\"1\""));
    if (below(state, 2))
        must(orr_desc_set_text(&desc->provenance,
                               below(state, 2) ? "measured" : "derived"));
    if (below(state, 2))
        must(orr_desc_set_text(&desc->host, "some host"));
    for (unsigned i = 0; i < ORR_NCOSTS; i++)
        if (below(state, 2))
            *orr_machine_desc_cost(desc, i) = draw_value(state, 1e-3, 1e4);
}

static void add_measures(struct orr_machine_desc *desc, uint64_t *state)
{
    size_t n = (size_t)desc->nnodes * desc->nnodes;

    desc->bus_measured = true;
    for (size_t i = 0; i < n; i++) {
        if (i % (desc->nnodes + 1) == 0)
            continue;
        desc->bandwidth[i] = draw_value(state, 1, 1e6);
        desc->latency[i] =
            below(state, 9) ? draw_value(state, 0.1, 1e3) : (double)NAN;
    }
}

struct orr_machine_desc *random_machine(uint64_t seed)
{
    struct orr_machine_desc *desc;
    struct orr_error err = {{0}};
    uint64_t state = seed;

    must(orr_machine_desc_new("random", &desc));
    add_extras(desc, &state);
    must(orr_machine_desc_add_host(desc, "MAIN", 1));
    add_hosts(desc, &state, "CPU", below(&state, 13));
    add_hosts(desc, &state, "CUDA", below(&state, 7));
    add_hosts(desc, &state, "OpenCL", below(&state, 4));
    add_hosts(desc, &state, "DISK", below(&state, 2));
    must(orr_machine_desc_add_host(desc, "RAM", 1));
    add_links(desc, &state);
    add_routes(desc, &state);
    if (orr_machine_desc_finish(desc, &err)) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, err.text);
        abort();
    }
    if (below(&state, 3) == 0)
        add_measures(desc, &state);
    return desc;
}

/* ---- machines as they are built ---- */

enum { MAX_GPUS = 8 };

/* Sockets in a ring of links; on each, switches with devices behind them. */
struct node_plan {
    unsigned nsockets, nswitches, ngpus;
    bool split;    /* links carry both directions side by side */
    bool nvswitch; /* devices copy to each other over links of their own */
    unsigned memory[4], between[4], uplink[4], pci[MAX_GPUS], nvlink[MAX_GPUS];
};

static unsigned add_node_link(struct orr_machine_desc *desc, uint64_t *state,
                              const char *form, unsigned number, double rate,
                              enum orr_link_sharing sharing)
{
    char id[64];

    snprintf(id, sizeof(id), "%s%u", form, number);
    return must(orr_machine_desc_add_link(
        desc, id, draw_value(state, rate / 2, rate * 2),
        below(state, 2) ? draw_value(state, 1e-7, 2e-5) : 0, sharing));
}

static void add_node_links(struct orr_machine_desc *desc, uint64_t *state,
                           struct node_plan *plan)
{
    enum orr_link_sharing both =
        plan->split ? ORR_LINK_SPLITDUPLEX : ORR_LINK_SHARED;

    for (unsigned i = 0; i < plan->nsockets; i++) {
        plan->memory[i] =
            add_node_link(desc, state, "NUMA", i, 1e11,
                          below(state, 4) ? ORR_LINK_SHARED : ORR_LINK_FATPIPE);
        plan->between[i] = add_node_link(desc, state, "UPI", i, 2e10, both);
    }
    for (unsigned i = 0; i < plan->nswitches; i++)
        plan->uplink[i] = add_node_link(desc, state, "switch ", i, 2e10, both);
    for (unsigned i = 0; i < plan->ngpus; i++)
        plan->pci[i] = add_node_link(desc, state, "PCIe ", i, 1e10, both);
    for (unsigned i = 0; i < plan->ngpus && plan->nvswitch; i++)
        plan->nvlink[i] = add_node_link(desc, state, "NVLink ", i, 1e11, both);
}

static void add_hop(struct orr_machine_desc *desc, unsigned route,
                    unsigned link, enum orr_hop_direction dir)
{
    bool split = desc->links[link].sharing == ORR_LINK_SPLITDUPLEX;

    must(orr_route_desc_add_hop(&desc->routes[route], link,
                                split ? dir : ORR_HOP_NONE));
}

/* From a switch's socket to another, in the direction of rising numbers. */
static void add_sockets(struct orr_machine_desc *desc,
                        const struct node_plan *plan, unsigned route,
                        unsigned from, unsigned to)
{
    for (; from != to; from = (from + 1) % plan->nsockets)
        add_hop(desc, route, plan->between[from], ORR_HOP_UP);
}

static void add_node_routes(struct orr_machine_desc *desc, unsigned ram,
                            unsigned gpus, const struct node_plan *plan,
                            unsigned i)
{
    unsigned sw = i % plan->nswitches, socket = sw % plan->nsockets, route;

    route = must(orr_machine_desc_add_route(desc, ram, gpus + i));
    add_hop(desc, route, plan->memory[0], ORR_HOP_NONE);
    add_sockets(desc, plan, route, 0, socket);
    add_hop(desc, route, plan->uplink[sw], ORR_HOP_DOWN);
    add_hop(desc, route, plan->pci[i], ORR_HOP_DOWN);
    must(orr_machine_desc_add_reverse(desc, route));
    for (unsigned j = 0; j < i; j++) {
        unsigned other = j % plan->nswitches;

        route = must(orr_machine_desc_add_route(desc, gpus + i, gpus + j));
        if (plan->nvswitch) {
            add_hop(desc, route, plan->nvlink[i], ORR_HOP_UP);
            add_hop(desc, route, plan->nvlink[j], ORR_HOP_DOWN);
            must(orr_machine_desc_add_reverse(desc, route));
            continue;
        }
        add_hop(desc, route, plan->pci[i], ORR_HOP_UP);
        if (other != sw) {
            add_hop(desc, route, plan->uplink[sw], ORR_HOP_UP);
            add_sockets(desc, plan, route, socket, other % plan->nsockets);
            add_hop(desc, route, plan->uplink[other], ORR_HOP_DOWN);
        }
        add_hop(desc, route, plan->pci[j], ORR_HOP_DOWN);
        must(orr_machine_desc_add_reverse(desc, route));
    }
}

struct orr_machine_desc *random_node(uint64_t seed)
{
    struct orr_machine_desc *desc;
    struct orr_error err = {{0}};
    uint64_t state = ~seed;
    struct node_plan plan = {.nsockets = 1u << below(&state, 3)};
    unsigned gpus, ram;

    plan.nswitches = plan.nsockets * (1 + below(&state, 2));
    if (plan.nswitches > 4)
        plan.nswitches = 4;
    plan.ngpus = 1 + below(&state, MAX_GPUS);
    plan.split = below(&state, 3) > 0;
    plan.nvswitch = below(&state, 3) == 0;
    must(orr_machine_desc_new("node", &desc));
    must(orr_machine_desc_add_host(desc, "MAIN", 1));
    add_hosts(desc, &state, "CPU", plan.ngpus + below(&state, 64));
    ram = must(orr_machine_desc_add_host(desc, "RAM", 1));
    gpus = desc->nhosts;
    add_hosts(desc, &state, "CUDA", plan.ngpus);
    for (unsigned i = 0; i < plan.ngpus; i++) /* add_hosts leaves it out */
        must(orr_props_set(&desc->hosts[gpus + i].props,
                           &desc->hosts[gpus + i].nprops, "memcpy_peer",
                           below(&state, 8) ? "1" : "0"));
    add_node_links(desc, &state, &plan);
    for (unsigned i = 0; i < plan.ngpus; i++)
        add_node_routes(desc, ram, gpus, &plan, i);
    if (orr_machine_desc_finish(desc, &err)) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, err.text);
        abort();
    }
    return desc;
}

/* ---- comparing ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_value(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_props(const struct orr_prop_desc *a, unsigned na,
                       const struct orr_prop_desc *b, unsigned nb)
{
    if (na != nb)
        return false;
    for (unsigned i = 0; i < na; i++)
        if (strcmp(a[i].id, b[i].id) != 0 ||
            strcmp(a[i].value, b[i].value) != 0)
            return false;
    return true;
}

static bool same_hosts(const struct orr_machine_desc *a,
                       const struct orr_machine_desc *b)
{
    if (a->nhosts != b->nhosts)
        return false;
    for (unsigned i = 0; i < a->nhosts; i++)
        if (strcmp(a->hosts[i].id, b->hosts[i].id) != 0 ||
            a->hosts[i].speed != b->hosts[i].speed ||
            !same_props(a->hosts[i].props, a->hosts[i].nprops,
                        b->hosts[i].props, b->hosts[i].nprops))
            return false;
    return true;
}

static bool same_links(const struct orr_machine_desc *a,
                       const struct orr_machine_desc *b)
{
    if (a->nlinks != b->nlinks)
        return false;
    for (unsigned i = 0; i < a->nlinks; i++)
        if (strcmp(a->links[i].id, b->links[i].id) != 0 ||
            a->links[i].bandwidth != b->links[i].bandwidth ||
            a->links[i].latency != b->links[i].latency ||
            a->links[i].sharing != b->links[i].sharing ||
            !same_props(a->links[i].props, a->links[i].nprops,
                        b->links[i].props, b->links[i].nprops))
            return false;
    return true;
}

static bool same_route(const struct orr_route_desc *a,
                       const struct orr_route_desc *b)
{
    if (a->src != b->src || a->dst != b->dst || a->nhops != b->nhops)
        return false;
    for (unsigned i = 0; i < a->nhops; i++)
        if (a->hops[i].link != b->hops[i].link ||
            a->hops[i].direction != b->hops[i].direction)
            return false;
    return true;
}

static bool same_routes(const struct orr_machine_desc *a,
                        const struct orr_machine_desc *b)
{
    if (a->nroutes != b->nroutes)
        return false;
    for (unsigned i = 0; i < a->nroutes; i++)
        if (!same_route(&a->routes[i], &b->routes[i]))
            return false;
    return true;
}

static bool same_bus(const struct orr_machine_desc *a,
                     const struct orr_machine_desc *b)
{
    if (a->nnodes != b->nnodes || a->bus_measured != b->bus_measured)
        return false;
    for (size_t i = 0; i < (size_t)a->nnodes * a->nnodes; i++)
        if (!same_value(a->bandwidth[i], b->bandwidth[i]) ||
            !same_value(a->latency[i], b->latency[i]))
            return false;
    return true;
}

const char *machines_differ(const struct orr_machine_desc *a,
                            const struct orr_machine_desc *b)
{
    if (!same_text(a->provenance, b->provenance))
        return "provenance";
    if (!same_text(a->host, b->host))
        return "host";
    for (unsigned i = 0; i < ORR_NCOSTS; i++)
        if (!same_value(orr_machine_desc_get_cost(a, i),
                        orr_machine_desc_get_cost(b, i)))
            return orr_cost_fields[i].prop;
    if (!same_props(a->config, a->nconfig, b->config, b->nconfig))
        return "config";
    if (!same_props(a->props, a->nprops, b->props, b->nprops))
        return "properties of the zone";
    if (!same_hosts(a, b))
        return "hosts";
    if (!same_links(a, b))
        return "links";
    if (!same_routes(a, b))
        return "routes";
    if (a->ncpu != b->ncpu || a->ncuda != b->ncuda || a->nopencl != b->nopencl)
        return "counts";
    return same_bus(a, b) ? NULL : "bus parameters";
}

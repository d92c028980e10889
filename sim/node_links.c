/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/node_links.c - see node_links.h. Bandwidths, latencies and directions are those that
 * sim/fluid.c gives them. A fat pipe limits each transfer and is no port; nor is a link that
 * no route passes.
 */
#include "sim/node_links.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/options.h"

/* Of a transfer that no link limits, bytes per µs. */
static const double fastest = 1e9;

struct maker {
    const struct orr_machine_desc *desc;
    struct orr_inside *inside;
    unsigned *hosts;  /* of the ends */
    unsigned *places; /* of links and directions: 1 + their port; 0: none yet */
    unsigned nhops;
    double bandwidths, latencies; /* factors */
};

static int find_nic(const struct orr_machine_desc *desc, unsigned number)
{
    char id[32];

    snprintf(id, sizeof(id), "NIC%u", number);
    return orr_machine_desc_host(desc, id);
}

static unsigned count_nics(const struct orr_machine_desc *desc)
{
    unsigned n = 0;

    while (find_nic(desc, n) >= 0)
        n++;
    return n;
}

static unsigned node_links_port(struct maker *m, const struct orr_hop_desc *hop,
                                double capacity)
{
    unsigned *place = &m->places[2 * hop->link + (hop->direction == ORR_HOP_DOWN)];

    if (*place == 0) {
        m->inside->capacities[m->inside->nports] = capacity;
        *place = ++m->inside->nports;
    }
    return *place - 1;
}

/* A route that passes a link twice has half of it: a port is once in a route. */
static void add_port(struct maker *m, struct orr_inside_route *route, unsigned port,
                     double capacity)
{
    unsigned *hops = m->inside->hops + route->first, passes = 1;

    for (unsigned i = 0; i < route->nports; i++)
        passes += hops[i] == port;
    if (passes == 1)
        hops[route->nports++] = port;
    else
        route->limit = fmin(route->limit, capacity / passes);
}

static void node_links_add_route(struct maker *m, const struct orr_route_desc *from,
                                 struct orr_inside_route *to)
{
    *to = (struct orr_inside_route){.exists = true, .first = m->nhops, .limit = fastest};
    for (unsigned h = 0; h < from->nhops; h++) {
        const struct orr_link_desc *link = &m->desc->links[from->hops[h].link];
        double capacity = link->bandwidth * m->bandwidths * 1e-6;

        to->latency_us += link->latency * m->latencies * 1e6;
        if (link->sharing == ORR_LINK_FATPIPE)
            to->limit = fmin(to->limit, capacity);
        else if (capacity > 0)
            add_port(m, to, node_links_port(m, &from->hops[h], capacity), capacity);
    }
    m->nhops += to->nports;
}

static void add_routes(struct maker *m)
{
    unsigned n = orr_inside_nends(m->inside);

    for (unsigned i = 0; i < n * n; i++) {
        int route = i / n == i % n ? -1
                                   : orr_machine_desc_route(m->desc, m->hosts[i / n],
                                                            m->hosts[i % n]);

        if (route >= 0)
            node_links_add_route(m, &m->desc->routes[route], &m->inside->routes[i]);
    }
}

static int check_nics(const struct maker *m, struct orr_error *err)
{
    const struct orr_inside *inside = m->inside;

    for (unsigned i = 0; i < inside->nnics; i++) {
        unsigned nic = inside->nmemories + i;
        bool leaves = orr_inside_route(inside, 0, nic)->exists;

        if (!leaves || !orr_inside_route(inside, nic, 0)->exists)
            return orr_fail(err, -EINVAL,
                            "the machine's host NIC%u has no route %s %.40s: add it, or "
                            "take the host out",
                            i, leaves ? "to" : "from", m->desc->hosts[m->hosts[0]].id);
    }
    return 0;
}

static int make_arrays(struct maker *m)
{
    size_t nlinks = 2 * (size_t)m->desc->nlinks + 1, nhops = 1;
    size_t n = orr_inside_nends(m->inside);

    for (unsigned r = 0; r < m->desc->nroutes; r++)
        nhops += m->desc->routes[r].nhops;
    m->inside->capacities = calloc(nlinks, sizeof(double));
    m->inside->routes = calloc(n * n, sizeof(*m->inside->routes));
    m->inside->hops = calloc(nhops, sizeof(unsigned));
    m->hosts = calloc(n, sizeof(unsigned));
    m->places = calloc(nlinks, sizeof(unsigned));
    return m->inside->capacities && m->inside->routes && m->inside->hops && m->hosts &&
                   m->places
               ? 0
               : -ENOMEM;
}

static int fill(struct maker *m, const unsigned *endpoints, struct orr_error *err)
{
    struct orr_inside *inside = m->inside;
    int rc = make_arrays(m);

    if (rc < 0)
        return -ENOMEM;
    m->bandwidths = orr_sim_option(m->desc, "network/bandwidth-factor", 1);
    m->latencies = orr_sim_option(m->desc, "network/latency-factor", 1);
    for (unsigned i = 0; i < inside->nmemories; i++)
        m->hosts[i] = endpoints[i];
    for (unsigned i = 0; i < inside->nnics; i++)
        m->hosts[inside->nmemories + i] = (unsigned)find_nic(m->desc, i);
    add_routes(m);
    return check_nics(m, err);
}

int orr_node_links_new(const struct orr_machine_desc *desc, const unsigned *endpoints,
                       unsigned nendpoints, struct orr_inside **ret,
                       struct orr_error *err)
{
    struct maker m = {.desc = desc};
    unsigned nnics = count_nics(desc);
    int rc;

    *ret = NULL;
    if (nnics == 0)
        return 0;
    m.inside = calloc(1, sizeof(*m.inside));
    if (!m.inside)
        return -ENOMEM;
    m.inside->nmemories = nendpoints;
    m.inside->nnics = nnics;
    rc = fill(&m, endpoints, err);
    free(m.hosts);
    free(m.places);
    if (rc < 0)
        orr_node_links_free(m.inside);
    else
        *ret = m.inside;
    return rc;
}

void orr_node_links_free(struct orr_inside *inside)
{
    if (!inside)
        return;
    free(inside->capacities);
    free(inside->routes);
    free(inside->hops);
    free(inside);
}

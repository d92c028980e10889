/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/cluster/messages.c - see messages.h. */
#include "sim/cluster/messages.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "sim/cluster/flows.h"
#include "sim/cluster/interconnect.h"

/* A node whose links messages pass; `inside` is NULL of others. */
struct site {
    const struct orr_inside *inside;
    unsigned first; /* of its ports */
};

struct messages {
    struct orr_network network; /* first */
    struct orr_fabric fabric;
    struct orr_interconnect *net;
    struct orr_flows *flows;
    unsigned nnodes;
    unsigned nports;    /* of the network, of nodes, and of those that were ever attached */
    struct site *sites; /* [nnodes]; NULL: none was */
    unsigned *route;    /* of the message that starts now … */
    unsigned room;      /* … at most */
};

static struct messages *messages_of(struct orr_network *network)
{
    return (struct messages *)network;
}

/* ---- what a message costs ---- */

/* A request goes to the receiver, and its answer back (rendezvous). */
static double message_delay(double latency, double bytes, double eager)
{
    return bytes > eager ? 3 * latency : latency;
}

/* ---- links of nodes ---- */

static const struct orr_inside *inside_of(const struct messages *m, unsigned node)
{
    return m->sites ? m->sites[node].inside : NULL;
}

/* The flow passes the route of the node, too. */
static void pass_route(const struct messages *m, unsigned node,
                       const struct orr_inside_route *route,
                       struct orr_flow_desc *flow)
{
    const struct site *site = &m->sites[node];

    for (unsigned i = 0; i < route->nports; i++)
        m->route[flow->nports++] = site->first + site->inside->hops[route->first + i];
    if (route->limit < flow->limit)
        flow->limit = route->limit;
}

static const struct orr_inside_route *
route_by_nic(const struct orr_inside *inside, unsigned memory, unsigned nic, bool leaves)
{
    unsigned end = inside->nmemories + nic % inside->nnics;

    return leaves ? orr_inside_route(inside, memory, end) : orr_inside_route(inside, end, memory);
}

/* Between the memory and the NIC, by which the message leaves or arrives. */
static void pass_node(const struct messages *m, unsigned node, unsigned memory,
                      unsigned nic, bool leaves, struct orr_flow_desc *flow)
{
    const struct orr_inside *inside = inside_of(m, node);
    const struct orr_inside_route *route;

    if (!inside)
        return;
    route = route_by_nic(inside, memory, nic, leaves);
    if (!route->exists)
        route = route_by_nic(inside, 0, nic, leaves);
    pass_route(m, node, route, flow);
}

static unsigned longest_inside(const struct orr_inside *inside)
{
    unsigned n = orr_inside_nends(inside), longest = 0;

    for (unsigned i = 0; i < n * n; i++)
        if (inside->routes[i].nports > longest)
            longest = inside->routes[i].nports;
    return longest;
}

/* Room for a message between two such nodes. */
static int reserve_route(struct messages *m, unsigned longest)
{
    unsigned room = orr_interconnect_longest(m->net) + 2 * longest;
    unsigned *route;

    if (room <= m->room)
        return 0;
    route = realloc(m->route, room * sizeof(*route));
    if (!route)
        return -ENOMEM;
    m->route = route;
    m->room = room;
    return 0;
}

int orr_messages_attach(struct orr_network *network, unsigned node,
                        const struct orr_inside *inside)
{
    struct messages *m = messages_of(network);

    if (!m->sites && !(m->sites = calloc(m->nnodes, sizeof(*m->sites))))
        return -ENOMEM;
    if (reserve_route(m, longest_inside(inside)) < 0 ||
        orr_flows_add_ports(m->flows, inside->capacities, inside->nports) < 0)
        return -ENOMEM;
    m->sites[node] = (struct site){inside, m->nports};
    m->nports += inside->nports;
    return 0;
}

bool orr_messages_pass(const struct orr_network *network, unsigned node, unsigned memory,
                       bool leaves)
{
    const struct orr_inside *inside = inside_of((const struct messages *)network, node);
    bool all = inside && memory < inside->nmemories;

    for (unsigned i = 0; all && i < inside->nnics; i++)
        all = route_by_nic(inside, memory, i, leaves)->exists;
    return all;
}

void orr_messages_detach(struct orr_network *network, unsigned node)
{
    messages_of(network)->sites[node].inside = NULL;
}

int orr_messages_start_copy(struct orr_network *network, unsigned node,
                            const struct orr_node_copy *copy, double now_us,
                            struct orr_error *err)
{
    struct messages *m = messages_of(network);
    const struct orr_inside_route *route =
        orr_inside_route(inside_of(m, node), copy->src, copy->dst);
    struct orr_flow_desc flow = {.bytes = (double)copy->bytes,
                                 .ports = m->route,
                                 .limit = INFINITY,
                                 .delay_us = route->latency_us,
                                 .cookie = copy->cookie,
                                 .owner = copy->owner};

    if (!route->exists)
        return orr_fail(err, -EIO, "no route from memory node %u to %u", copy->src,
                        copy->dst);
    pass_route(m, node, route, &flow);
    if (orr_flow_start(m->flows, &flow, now_us, NULL) < 0)
        return orr_fail(err, -ENOMEM, "no memory for a copy of %zu bytes", copy->bytes);
    return 0;
}

/* ---- operations ---- */

/* Between two nodes. */
static void pass_network(const struct messages *m, const struct orr_cluster_message *desc,
                         struct orr_flow_desc *flow)
{
    const struct orr_fabric *fabric = &m->fabric;
    unsigned nic = orr_interconnect_nic(m->net, desc->src, desc->dst, desc->nic);

    flow->nports = orr_interconnect_route(m->net, desc->src, desc->dst, nic, m->route);
    flow->delay_us += message_delay(orr_interconnect_latency(m->net, flow->nports),
                                    flow->bytes, fabric->eager);
    flow->limit = fmin(fabric->bandwidth, orr_fabric_speed(&fabric->speeds, flow->bytes));
    pass_node(m, desc->src, desc->src_memory, nic, true, flow);
    pass_node(m, desc->dst, desc->dst_memory, nic, false, flow);
}

/* Between two ranks of a node: no links, but what all of them share there. */
static void stay_in_node(const struct messages *m, unsigned node, struct orr_flow_desc *flow)
{
    const struct orr_fabric_node *fabric = &m->fabric.node;

    flow->delay_us += message_delay(fabric->latency_us, flow->bytes, fabric->eager);
    flow->limit = orr_fabric_speed(&fabric->speeds, flow->bytes);
    if (fabric->total > 0)
        m->route[flow->nports++] = orr_interconnect_nports(m->net) + node;
}

int orr_messages_start(struct orr_network *network,
                       const struct orr_cluster_message *desc, double now_us,
                       struct orr_flow **ret, struct orr_error *err)
{
    struct messages *m = messages_of(network);
    struct orr_flow_desc flow = {.bytes = (double)desc->bytes,
                                 .ports = m->route,
                                 .delay_us = desc->delay_us,
                                 .light = desc->light,
                                 .cookie = desc->cookie};

    if (desc->src >= m->nnodes || desc->dst >= m->nnodes ||
        (desc->src == desc->dst && !m->fabric.node.takes_time))
        return orr_fail(err, -EINVAL,
                        "a message from node %u to node %u cannot pass a "
                        "network of %u nodes, from 0 on",
                        desc->src, desc->dst, m->nnodes);
    if (desc->src == desc->dst)
        stay_in_node(m, desc->src, &flow);
    else
        pass_network(m, desc, &flow);
    if (orr_flow_start(m->flows, &flow, now_us, ret) < 0)
        return orr_fail(err, -ENOMEM, "no memory for a message of %zu bytes",
                        desc->bytes);
    return 0;
}

void orr_messages_cancel(struct orr_network *network, struct orr_flow *message,
                         double now_us)
{
    orr_flow_cancel(messages_of(network)->flows, message, now_us);
}

static int messages_begin(struct orr_network *network, unsigned src,
                          unsigned dst, size_t bytes, void *cookie,
                          double now_us, struct orr_error *err)
{
    const struct orr_cluster_message desc = {
        .src = src,
        .dst = dst,
        .nic = ORR_ANY_NIC,
        .bytes = bytes,
        .cookie = cookie,
    };

    return orr_messages_start(network, &desc, now_us, NULL, err);
}

static double messages_next_us(struct orr_network *network)
{
    return orr_flows_next_us(messages_of(network)->flows);
}

static void messages_advance(struct orr_network *network)
{
    orr_flows_advance(messages_of(network)->flows);
}

void *orr_messages_take_ended(struct orr_network *network, void **ret_owner)
{
    struct orr_flows *flows = messages_of(network)->flows;

    *ret_owner = orr_flows_ended_owner(flows);
    return orr_flows_take_ended(flows);
}

static void *messages_take_ended(struct orr_network *network)
{
    return orr_flows_take_ended(messages_of(network)->flows);
}

static void messages_free(struct orr_network *network)
{
    struct messages *m = messages_of(network);

    orr_flows_free(m->flows);
    orr_interconnect_free(m->net);
    free(m->sites);
    free(m->route);
    free(m);
}

static const struct orr_network_ops messages_ops = {
    .start = messages_begin,
    .next_us = messages_next_us,
    .advance = messages_advance,
    .take_ended = messages_take_ended,
    .free = messages_free,
};

/* ---- making one ---- */

/* Behind the ports of the network one of each node, if messages share something there. */
static int make_flows(struct messages *m, double epsilon)
{
    unsigned nports = orr_interconnect_nports(m->net);
    double *capacities;
    int rc = -ENOMEM;

    m->nports = nports + (m->fabric.node.total > 0 ? m->nnodes : 0);
    capacities = malloc(m->nports * sizeof(*capacities));
    for (unsigned i = 0; capacities && i < m->nports; i++)
        capacities[i] = i < nports ? m->fabric.bandwidth : m->fabric.node.total;
    if (capacities)
        rc = orr_flows_new(capacities, m->nports, epsilon, &m->flows);
    free(capacities);
    return rc;
}

int orr_messages_new(const struct orr_fabric *fabric, unsigned nnodes,
                     double epsilon, struct orr_network **ret,
                     struct orr_error *err)
{
    struct messages *m = calloc(1, sizeof(*m));
    int rc;

    if (!m)
        return -ENOMEM;
    m->network.ops = &messages_ops;
    m->fabric = *fabric;
    m->nnodes = nnodes;
    rc = orr_interconnect_new(fabric, nnodes, &m->net, err);
    if (rc == 0)
        rc = reserve_route(m, 0);
    if (rc == 0)
        rc = make_flows(m, epsilon);
    if (rc < 0)
        messages_free(&m->network);
    else
        *ret = &m->network;
    return rc;
}

size_t orr_messages_bytes(const struct orr_network *network)
{
    const struct messages *m = (const struct messages *)network;

    return sizeof(*m) + orr_flows_bytes(m->flows) + m->room * sizeof(*m->route) +
           (m->sites ? m->nnodes * sizeof(*m->sites) : 0);
}

unsigned long orr_messages_looks(const struct orr_network *network)
{
    return orr_flows_looks(((const struct messages *)network)->flows);
}

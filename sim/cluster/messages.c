/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/cluster/messages.c - see messages.h. */
#include "sim/cluster/messages.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/cluster/flows.h"
#include "sim/cluster/interconnect.h"

struct messages {
    struct orr_network network; /* first */
    struct orr_fabric fabric;
    struct orr_interconnect *net;
    struct orr_flows *flows;
    unsigned nnodes;
    unsigned *route; /* of the message that starts now */
};

static struct messages *messages_of(struct orr_network *network)
{
    return (struct messages *)network;
}

/* ---- what a message costs ---- */

/* The factors of messages of that size. */
static struct orr_fabric_segment find_segment(const struct orr_fabric *fabric,
                                              double bytes)
{
    struct orr_fabric_segment segment = {0, 1, 1};

    for (unsigned i = 0; i < fabric->nsegments; i++)
        if (bytes >= fabric->segments[i].from)
            segment = fabric->segments[i];
    return segment;
}

static double message_delay(const struct messages *m, double bytes,
                            unsigned nports)
{
    double latency = orr_interconnect_latency(m->net, nports);
    double delay = latency * find_segment(&m->fabric, bytes).latency_factor;

    /* A request goes to the receiver, and its answer back (rendezvous). */
    return bytes > m->fabric.eager ? delay + 2 * latency : delay;
}

/* ---- operations ---- */

int orr_messages_start(struct orr_network *network,
                       const struct orr_cluster_message *desc, double now_us,
                       struct orr_flow **ret, struct orr_error *err)
{
    struct messages *m = messages_of(network);
    double bytes = (double)desc->bytes;
    struct orr_flow_desc flow = {
        .bytes = bytes, .ports = m->route, .cookie = desc->cookie};

    if (desc->src >= m->nnodes || desc->dst >= m->nnodes ||
        desc->src == desc->dst)
        return orr_fail(err, -EINVAL,
                        "a message from node %u to node %u cannot pass a "
                        "network of %u nodes, from 0 on",
                        desc->src, desc->dst, m->nnodes);
    flow.nports = orr_interconnect_route(m->net, desc->src, desc->dst,
                                         desc->nic, m->route);
    flow.delay_us = message_delay(m, bytes, flow.nports);
    flow.limit =
        m->fabric.bandwidth * find_segment(&m->fabric, bytes).bandwidth_factor;
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

static void *messages_take_ended(struct orr_network *network)
{
    return orr_flows_take_ended(messages_of(network)->flows);
}

static void messages_free(struct orr_network *network)
{
    struct messages *m = messages_of(network);

    orr_flows_free(m->flows);
    orr_interconnect_free(m->net);
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

static int make_flows(struct messages *m, double epsilon)
{
    unsigned nports = orr_interconnect_nports(m->net);
    double *capacities = malloc(nports * sizeof(*capacities));
    int rc = -ENOMEM;

    for (unsigned i = 0; capacities && i < nports; i++)
        capacities[i] = m->fabric.bandwidth;
    if (capacities)
        rc = orr_flows_new(capacities, nports, epsilon, &m->flows);
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
    if (rc == 0) {
        m->route = malloc(orr_interconnect_longest(m->net) * sizeof(*m->route));
        rc = m->route ? make_flows(m, epsilon) : -ENOMEM;
    }
    if (rc < 0)
        messages_free(&m->network);
    else
        *ret = &m->network;
    return rc;
}

size_t orr_messages_bytes(const struct orr_network *network)
{
    const struct messages *m = (const struct messages *)network;

    return sizeof(*m) + orr_flows_bytes(m->flows) +
           orr_interconnect_longest(m->net) * sizeof(*m->route);
}

unsigned long orr_messages_looks(const struct orr_network *network)
{
    return orr_flows_looks(((const struct messages *)network)->flows);
}

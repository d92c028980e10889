/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/network.c - see network.h.
 *
 * A message's bytes pass one NIC of each node, at its bandwidth at most, after a latency that
 * grows with the switches of its route; three of them where the sender asks before it sends, which
 * it does when the value is there (mpi/simulated/README.md). Where a further switch costs more than
 * a message to the next one, a value may come sooner by way of another rank; then all have the
 * least latency.
 */
#include "tools/bound/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bound/instance.h"
#include "core/base/grow.h"
#include "mpi/transport.h"
#include "sim/cluster/interconnect.h"
#include "tools/common/tool.h"

/* --- messages --- */

/* No message is faster than its NIC, nor than those of the size that is fastest alone. */
static void find_rate(struct bound_network *n)
{
    const struct orr_fabric *fabric = &n->cluster->fabric;
    double fastest = fabric->speeds.n ? 0 : INFINITY;

    for (unsigned i = 0; i < fabric->speeds.n; i++)
        fastest = fmax(fastest, fabric->speeds.at[i].bandwidth);
    n->rate = fmin(fabric->bandwidth, fastest);
}

static double latencies(const struct bound_network *n, double bytes)
{
    return bytes > fmax(n->cluster->fabric.eager, ORR_TRANSPORT_INSIDE) ? 3 : 1;
}

static double latency_us(const struct bound_network *n, unsigned from, unsigned to)
{
    const struct orr_fabric *fabric = &n->cluster->fabric;
    unsigned least = 2;

    if (fabric->hop_us <= fabric->latency_us)
        for (unsigned nic = 0; nic < fabric->nics; nic++) {
            unsigned nports = orr_interconnect_route(n->net, from, to, nic, n->ports);

            least = nic == 0 || nports < least ? nports : least;
        }
    return orr_interconnect_latency(n->net, least);
}

static double least_ms(void *arg, unsigned from, unsigned to, double bytes)
{
    const struct bound_network *n = arg;

    return (latencies(n, bytes) * latency_us(n, from, to) + bytes / n->rate) / 1e3;
}

static double delay_ms(void *arg, double bytes)
{
    const struct bound_network *n = arg;

    return latencies(n, bytes) * n->cluster->fabric.latency_us / 1e3;
}

/* --- cuts --- */

static struct orr_bound_cut *add_cut(struct bound_network *n, unsigned nparts, double rate)
{
    struct orr_bound_cut *cut = orr_array_add(n->cuts, n->ncuts);

    if (!cut)
        return NULL;
    *cut = (struct orr_bound_cut){.nparts = nparts,
                                  .part = orr_bound_array(n->cluster->nnodes, sizeof(*cut->part)),
                                  .rate = orr_bound_array(nparts, sizeof(*cut->rate)),
                                  .shared = n->cluster->fabric.half_duplex};
    if (!cut->part || !cut->rate)
        return NULL;
    for (unsigned part = 0; part < nparts; part++)
        cut->rate[part] = rate;
    return cut;
}

static int add_cuts(struct bound_network *n)
{
    const struct orr_cluster_desc *cluster = n->cluster;
    double link = 1e3 * cluster->fabric.bandwidth; /* bytes per ms */
    struct orr_bound_cut *cut = add_cut(n, cluster->nnodes, link * cluster->fabric.nics);
    unsigned *part = orr_bound_array(cluster->nnodes, sizeof(*part));
    struct orr_interconnect_division division;
    bool good = cut && part;

    for (unsigned node = 0; good && node < cluster->nnodes; node++)
        cut->part[node] = node;
    for (unsigned k = 0; good && orr_interconnect_divide(n->net, k, part, &division); k++) {
        cut = add_cut(n, division.nparts, link * division.links);
        good = cut != NULL;
        for (unsigned node = 0; good && node < cluster->nnodes; node++)
            cut->part[node] = part[node];
    }
    free(part);
    return good ? 0 : tool_fail(-1, "out of memory");
}

int bound_network_init(const struct orr_cluster_desc *cluster, struct bound_network *ret)
{
    unsigned nranks = cluster->nnodes * cluster->ranks_per_node;
    struct orr_error err = {"out of memory"};

    *ret = (struct bound_network){.cluster = cluster};
    if (orr_interconnect_new(&cluster->fabric, cluster->nnodes, &ret->net, &err) < 0)
        return tool_fail(-1, "bound: %s", err.text);
    ret->ports = orr_bound_array(orr_interconnect_longest(ret->net), sizeof(*ret->ports));
    ret->node = orr_bound_array(nranks, sizeof(*ret->node));
    if (!ret->ports || !ret->node)
        return tool_fail(-1, "out of memory");
    for (unsigned rank = 0; rank < nranks; rank++)
        ret->node[rank] = rank / cluster->ranks_per_node;
    find_rate(ret);
    return add_cuts(ret);
}

void bound_network_done(struct bound_network *network)
{
    for (unsigned c = 0; c < network->ncuts; c++) {
        free(network->cuts[c].part);
        free(network->cuts[c].rate);
    }
    free(network->cuts);
    free(network->ports);
    free(network->node);
    orr_interconnect_free(network->net);
    *network = (struct bound_network){0};
}

void bound_network_fill(struct bound_network *network, struct orr_bound_ranks *problem)
{
    problem->node = network->node;
    problem->nnodes = network->cluster->nnodes;
    problem->cuts = network->cuts;
    problem->ncuts = network->ncuts;
    problem->least_ms = least_ms;
    problem->delay_ms = delay_ms;
    problem->arg = network;
}

void bound_network_part_name(const struct bound_network *network, unsigned cut, unsigned part,
                             char *text, size_t size)
{
    const struct orr_bound_cut *of = &network->cuts[cut];
    unsigned first = 0, last = 0, n = 0;

    if (cut == 0) {
        snprintf(text, size, "the NICs of node %u", part);
        return;
    }
    for (unsigned node = 0; node < network->cluster->nnodes; node++)
        if (of->part[node] == part) {
            first = n++ ? first : node;
            last = node;
        }
    if (last - first + 1 == n)
        snprintf(text, size, "the links of nodes %u to %u", first, last);
    else
        snprintf(text, size, "the links of the half with node %u", first);
}

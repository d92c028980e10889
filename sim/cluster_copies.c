/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/cluster_copies.c - copies inside of a node whose links messages pass, too. The machine
 * has this network in place of its own: what it starts, the cluster moves, whose events are
 * those of all. When a copy has ended, the machine's transfers are called at the same date.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/grow.h"
#include "sim/cluster_private.h"
#include "sim/machine.h"
#include "sim/streaming.h"

struct orr_node_copies {
    struct orr_network network; /* first */
    struct orr_list link;       /* in the cluster's list */
    struct orr_cluster *cluster;
    struct orr_transfers *transfers; /* NULL: the machine has gone */
    struct orr_streaming *streaming; /* NULL: main memory has no bandwidth */
    double rate; /* of a message between main memory and a NIC that is alone */
    unsigned node;
    unsigned nflying;
    void **ended; /* cookies; there is room for those that fly */
    size_t room;
    unsigned nended, ntaken;
};

static struct orr_node_copies *copies_of(struct orr_network *network)
{
    return (struct orr_node_copies *)network;
}

static void copies_free(struct orr_node_copies *copies)
{
    orr_list_remove(&copies->link);
    free(copies->ended);
    free(copies);
}

void orr_node_copies_ended(struct orr_node_copies *copies, void *cookie)
{
    copies->nflying--;
    if (copies->transfers) {
        copies->ended[copies->nended++] = cookie;
        orr_transfers_rouse(copies->transfers);
    }
}

void orr_node_copies_free_all(struct orr_cluster *cluster)
{
    while (!orr_list_empty(&cluster->attached))
        copies_free(orr_container(cluster->attached.next, struct orr_node_copies, link));
}

/* ---- the machine's network ---- */

static int copies_start(struct orr_network *network, unsigned src, unsigned dst,
                        size_t bytes, void *cookie, double now_us,
                        struct orr_error *err)
{
    struct orr_node_copies *copies = copies_of(network);
    struct orr_cluster *cluster = copies->cluster;
    struct orr_node_copy copy = {
        .src = src, .dst = dst, .bytes = bytes, .cookie = cookie, .owner = copies};
    int rc = orr_grow(&copies->ended, &copies->room,
                      copies->nended + copies->nflying + 1U, sizeof(void *));

    if (rc < 0)
        return orr_fail(err, rc, "no memory for a copy of %zu bytes", bytes);
    rc = orr_messages_start_copy(cluster->network, copies->node, &copy, now_us, err);
    if (rc < 0)
        return rc;
    copies->nflying++;
    orr_cluster_arm(cluster);
    return 0;
}

static double copies_next_us(struct orr_network *network)
{
    const struct orr_node_copies *copies = copies_of(network);

    return copies->ntaken < copies->nended ? -(double)INFINITY : (double)INFINITY;
}

/* The cluster moves all. */
static void copies_advance(struct orr_network *network)
{
    (void)network;
}

static void *copies_take_ended(struct orr_network *network)
{
    struct orr_node_copies *copies = copies_of(network);

    if (copies->ntaken < copies->nended)
        return copies->ended[copies->ntaken++];
    copies->ntaken = copies->nended = 0;
    return NULL;
}

static void copies_leave(struct orr_network *network)
{
    struct orr_node_copies *copies = copies_of(network);
    struct orr_cluster *cluster = copies->cluster;

    copies->transfers = NULL;
    cluster->at[copies->node] = NULL;
    orr_messages_detach(cluster->network, copies->node);
    if (copies->nflying == 0)
        copies_free(copies);
    orr_cluster_leave(cluster);
}

static const struct orr_network_ops copies_ops = {
    .start = copies_start,
    .next_us = copies_next_us,
    .advance = copies_advance,
    .take_ended = copies_take_ended,
    .free = copies_leave,
};

/* ---- a machine comes ---- */

bool orr_node_copies_stream(struct orr_cluster *cluster, unsigned node, bool begins)
{
    const struct orr_node_copies *copies = cluster->at[node];

    if (!copies || !copies->streaming)
        return false;
    orr_streaming_copy(copies->streaming, 0, copies->rate, begins);
    return true;
}

static double narrowest(const struct orr_cluster *cluster, const struct orr_inside *inside)
{
    const struct orr_inside_route *route =
        orr_inside_route(inside, 0, inside->nmemories);
    double least = fmin(cluster->bandwidth, route->limit);

    for (unsigned i = 0; i < route->nports; i++)
        least = fmin(least, inside->capacities[inside->hops[route->first + i]]);
    return least;
}

static int replace_network(struct orr_cluster *cluster, unsigned node,
                           struct orr_sim_machine *m)
{
    struct orr_node_copies *copies = calloc(1, sizeof(*copies));

    if (!copies || orr_messages_attach(cluster->network, node, m->inside) < 0) {
        free(copies);
        return -ENOMEM;
    }
    copies->network.ops = &copies_ops;
    copies->cluster = cluster;
    copies->transfers = m->transfers;
    copies->streaming = m->streaming;
    copies->rate = narrowest(cluster, m->inside);
    copies->node = node;
    orr_list_append(&cluster->attached, &copies->link);
    cluster->at[node] = copies;
    cluster->nusers++;
    m->network->ops->free(m->network);
    m->network = &copies->network;
    orr_transfers_set_network(m->transfers, m->network);
    return 0;
}

int orr_cluster_attach(struct orr_cluster *cluster, unsigned node,
                       struct orr_machine *machine, struct orr_error *err)
{
    struct orr_sim_machine *m = (struct orr_sim_machine *)machine;
    int rc;

    if (node >= cluster->nnodes)
        return orr_fail(err, -EINVAL, "the network has no node %u, but nodes 0 to %u", node,
                        cluster->nnodes - 1);
    if (!m->inside || cluster->at[node])
        return 0;
    if (isfinite(m->network->ops->next_us(m->network)))
        return orr_fail(err, -EBUSY, "node %u is to have a network, but copies are under way "
                                     "in it already", node);
    rc = replace_network(cluster, node, m);
    return rc < 0 ? orr_fail(err, rc, "no memory for the links of node %u", node) : 0;
}
